import type { ReactNode } from 'react';
import { Link, useLocation } from 'react-router';
import { dashboardPaths } from '../../wire/dashboard-paths.ts';
import { useMe } from '../api/me.ts';
import { Notice } from './notice.tsx';

/** A link to the sign-in, and back to this page. */
export function SignInAgain(): ReactNode {
  const { pathname, search } = useLocation();
  return (
    <Link to={dashboardPaths.signIn} state={{ from: pathname + search, again: true }}>
      Sign in again
    </Link>
  );
}

/** Says, before the user begins, that an action needs a recent sign-in. Nothing if the session has one. `children`: "To do this". */
export function NeedsRecentSignIn({ children }: { readonly children: string }): ReactNode {
  if (useMe().data?.session?.recentSignIn !== false) return undefined;
  return (
    <Notice kind="info">
      {children}, you need a sign-in within the last 5 minutes. <SignInAgain />
    </Notice>
  );
}
