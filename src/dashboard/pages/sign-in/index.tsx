import type { ReactNode } from 'react';
import { Navigate, useLocation } from 'react-router';
import { useQuery } from '@tanstack/react-query';
import { dashboardPaths } from '../../../wire/dashboard-paths.ts';
import { meQuery } from '../../api/me.ts';
import { signInQuery } from '../../api/sign-in.ts';
import { Diamond } from '../../parts/icons.tsx';
import { Notice } from '../../parts/notice.tsx';
import { useTitle } from '../../parts/page.tsx';
import { waysOf } from './ways.tsx';

interface SignInState {
  readonly from?: unknown;
  readonly ended?: unknown;
  /** Whether a signed-in user must sign in once more. */
  readonly again?: unknown;
}

/** The sign-in: one section for each way that the server offers. A user who is signed in goes on. */
export function SignInPage(): ReactNode {
  const location = useLocation();
  const { from, ended, again } = (location.state ?? {}) as SignInState;
  useTitle('Sign in');
  const offer = useQuery(signInQuery).data;
  const { data: user, isLoading } = useQuery({ ...meQuery, refetchInterval: false, retryOnMount: false });
  if (user !== undefined && ended !== true && again !== true) return <Navigate to={pathOf(from)} replace />;
  return (
    <main className="sign-in" aria-busy={isLoading}>
      <div className="sign-in-head">
        <Diamond />
        <h1>Sign in to Keyframe</h1>
        <p className="muted">{window.location.host}</p>
      </div>
      {ended === true ? <Notice kind="info">Your session has ended. Sign in again.</Notice> : undefined}
      {again === true ? (
        <Notice kind="info">This needs a sign-in within the last 5 minutes. Sign in again.</Notice>
      ) : undefined}
      {offer?.open === false ? (
        <Notice kind="info">
          Sign-in is closed, but for personal tokens. An instance admin opens it with{' '}
          <code>keyframe user open-sign-in</code>.
        </Notice>
      ) : undefined}
      {waysOf(offer?.methods).map(({ type, Way, method }) => (
        <Way key={type} method={method} returnTo={pathOf(from)} again={again === true} />
      ))}
    </main>
  );
}

/** Only a path of this server. */
function pathOf(from: unknown): string {
  return typeof from === 'string' && /^\/(?!\/)/.test(from) ? from : dashboardPaths.home;
}
