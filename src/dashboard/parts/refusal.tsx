import type { ReactNode } from 'react';
import type { ApiError } from '../api/client.ts';
import { SignInAgain } from './needs-recent-sign-in.tsx';
import { Notice } from './notice.tsx';

/** Why an action was refused; nothing if it was not. If it needs a recent sign-in, a link leads there and back. */
export function Refusal({ error }: { readonly error: ApiError | null }): ReactNode {
  if (error === null) return undefined;
  return (
    <Notice>
      {error.message} {error.code === 'recent_sign_in_required' ? <SignInAgain /> : undefined}
    </Notice>
  );
}
