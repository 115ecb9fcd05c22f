import { type ReactNode, useEffect } from 'react';
import { Link, Navigate, NavLink, Outlet, useLocation, useNavigate } from 'react-router';
import { dashboardPaths } from '../../wire/dashboard-paths.ts';
import { type User, useMe } from '../api/me.ts';
import { useSignOut } from '../api/sessions.ts';
import { AccountMenu } from './account-menu.tsx';
import { Failure } from './failure.tsx';
import { Diamond } from './icons.tsx';

const pages = [
  [dashboardPaths.firstSteps, 'Get started'],
  [dashboardPaths.sessions, 'Sessions'],
] as const;

/** The header, and the page below it. A visitor without a session goes to the sign-in, and comes back after it. */
export function Frame(): ReactNode {
  const me = useMe();
  const location = useLocation();
  if (me.error?.status === 401) {
    // `ended` if the page was in use until then.
    return (
      <Navigate
        to={dashboardPaths.signIn}
        replace
        state={{ from: location.pathname + location.search, ended: me.data !== undefined }}
      />
    );
  }
  return (
    <>
      <a className="skip" href="#content">
        Skip to content
      </a>
      <header className="bar">
        <Link className="brand" to={dashboardPaths.firstSteps}>
          <Diamond />
          <span>Keyframe</span>
        </Link>
        <nav aria-label="Main">
          {pages.map(([path, name]) => (
            <NavLink key={path} to={path} end>
              {name}
            </NavLink>
          ))}
          {me.data?.waitingInvitations ? (
            <NavLink className="nav-wide" to={dashboardPaths.invitations} end>
              Invitations
            </NavLink>
          ) : undefined}
        </nav>
        {me.data === undefined ? <span className="account-space" /> : <Account user={me.data} />}
      </header>
      {me.data === undefined && me.error !== null ? (
        <main id="content" className="page">
          <h1 className="visually-hidden">Keyframe</h1>
          <Failure error={me.error} onRetry={() => void me.refetch()} />
        </main>
      ) : (
        <Outlet />
      )}
    </>
  );
}

function Account({ user }: { readonly user: User }): ReactNode {
  const signOut = useSignOut();
  const navigate = useNavigate();
  const { isSuccess } = signOut;
  useEffect(() => {
    if (isSuccess) void navigate(dashboardPaths.signIn, { replace: true });
  }, [isSuccess, navigate]);
  return (
    <AccountMenu
      name={user.name}
      isAdmin={user.instanceAdmin}
      invitations={user.waitingInvitations ?? 0}
      busy={signOut.isPending}
      error={signOut.error?.message}
      onSignOut={() => signOut.mutate()}
    />
  );
}
