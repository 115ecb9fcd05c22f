import type { ReactNode } from 'react';
import { Link, useLocation } from 'react-router';
import { dashboardPaths } from '../../wire/dashboard-paths.ts';
import type { ApiError } from '../api/client.ts';
import { Notice } from './notice.tsx';

/** Why an action was refused. If it needs a recent sign-in, a link leads there and back. */
export function Refusal({ error }: { readonly error: ApiError }): ReactNode {
  const { pathname, search } = useLocation();
  return (
    <Notice>
      {error.message}{' '}
      {error.code === 'recent_sign_in_required' ? (
        <Link to={dashboardPaths.signIn} state={{ from: pathname + search, again: true }}>
          Sign in again
        </Link>
      ) : undefined}
    </Notice>
  );
}
