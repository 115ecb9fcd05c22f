import { type ReactNode, useEffect, useRef, useState } from 'react';
import { generatePath, Link, Navigate, NavLink, Outlet, useLocation, useMatch, useNavigate } from 'react-router';
import { dashboardPaths } from '../../wire/dashboard-paths.ts';
import { type User, useMe } from '../api/me.ts';
import { useSignOut } from '../api/sessions.ts';
import { useIsChanging } from '../api/use-change.ts';
import { adminOf } from '../text/admin-of.ts';
import { organizationsOf } from '../text/organizations.ts';
import { AccountMenu } from './account-menu.tsx';
import { Failure } from './failure.tsx';
import { Diamond } from './icons.tsx';
import { OrganizationChoice } from './organization-choice.tsx';
import { useLeaveQuestion } from './use-leave-question.ts';

/** The pages of an organization in the header. */
const pages = [
  { path: dashboardPaths.overview, name: 'Overview', end: true },
  { path: dashboardPaths.environments, name: 'Environments' },
  { path: dashboardPaths.restores, name: 'Restores' },
  { path: dashboardPaths.members, name: 'Members' },
  { path: dashboardPaths.tokens, name: 'Tokens', for: 'tokenAdmins' },
  { path: dashboardPaths.grants, name: 'Grants' },
  { path: dashboardPaths.clusters, name: 'Clusters', for: 'admins' },
  { path: dashboardPaths.audit, name: 'Audit', for: 'admins' },
] as const satisfies readonly OrganizationPage[];

interface OrganizationPage {
  readonly path: string;
  readonly name: string;
  /** Whether paths below it are other pages. */
  readonly end?: boolean;
  /** Who has the link, if not everyone: admins of the organization, or also those of a project. */
  readonly for?: 'admins' | 'tokenAdmins';
}

/** The header, and the page below it. A visitor without a session goes to the sign-in, and comes back after it. */
export function Frame(): ReactNode {
  const me = useMe();
  const location = useLocation();
  useLeaveQuestion(useIsChanging());
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
        <Link className="brand" to={dashboardPaths.home}>
          <Diamond />
          <span>Keyframe</span>
        </Link>
        {me.data === undefined ? <nav aria-label="Main" /> : <Navigation user={me.data} />}
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

function Navigation({ user }: { readonly user: User }): ReactNode {
  const navigate = useNavigate();
  const organizations = organizationsOf(user);
  const organization = useOrganization(organizations);
  const { pathname } = useLocation();
  const links = useRef<HTMLElement>(null);
  // On a phone the links scroll sideways: the one of this page must be in view, also after it was turned.
  useEffect(() => {
    const show = (): void => {
      const all = [...(links.current?.querySelectorAll('a') ?? [])];
      const link = all.findLast(({ pathname: path }) => `${pathname}/`.startsWith(`${path}/`));
      link?.scrollIntoView({ block: 'nearest', inline: 'nearest' });
    };
    show();
    addEventListener('resize', show);
    return () => removeEventListener('resize', show);
  }, [pathname]);
  return (
    <>
      {organization === undefined ? undefined : (
        <OrganizationChoice
          organization={organization}
          organizations={organizations}
          onChoose={(chosen) => void navigate(generatePath(dashboardPaths.overview, { organization: chosen }))}
        />
      )}
      <nav ref={links} aria-label="Main">
        {organization === undefined ? (
          <>
            <NavLink to={dashboardPaths.home} end>
              Get started
            </NavLink>
            <NavLink to={dashboardPaths.sessions} end>
              Sessions
            </NavLink>
          </>
        ) : (
          pagesFor(user, organization).map(({ path, name, end = false }) => (
            <NavLink key={path} to={generatePath(path, { organization })} end={end}>
              {name}
            </NavLink>
          ))
        )}
        {user.waitingInvitations ? (
          <NavLink className="nav-wide" to={dashboardPaths.invitations} end>
            Invitations
          </NavLink>
        ) : undefined}
      </nav>
    </>
  );
}

function pagesFor(user: User, organization: string): readonly OrganizationPage[] {
  const { isAdmin, projects } = adminOf(organization, user);
  return pages.filter(
    (page: OrganizationPage) =>
      page.for === undefined || isAdmin || (page.for === 'tokenAdmins' && projects.length > 0),
  );
}

/** The organization of the page; on a page without one the last one, and before that the first of the user. */
function useOrganization(organizations: readonly string[]): string | undefined {
  const shown = useMatch(`${dashboardPaths.overview}/*`)?.params.organization;
  const [last, setLast] = useState(shown);
  if (shown !== undefined && shown !== last) setLast(shown);
  const remembered = last !== undefined && organizations.includes(last) ? last : organizations[0];
  return shown ?? remembered;
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
      invitations={user.waitingInvitations}
      busy={signOut.isPending}
      error={signOut.error?.message}
      onSignOut={() => signOut.mutate()}
    />
  );
}
