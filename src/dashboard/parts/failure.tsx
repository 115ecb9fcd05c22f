import type { ReactNode } from 'react';
import type { ApiError } from '../api/client.ts';
import { Button } from './button.tsx';
import { Notice } from './notice.tsx';

/** What a page shows if its content could not be loaded. */
export function Failure({ error, onRetry }: { readonly error: ApiError; readonly onRetry: () => void }): ReactNode {
  return (
    <div className="failure">
      <Notice>{error.message}</Notice>
      <Button onClick={onRetry}>Try again</Button>
    </div>
  );
}
