import { type ReactNode, useMemo } from 'react';
import type { UseQueryResult } from '@tanstack/react-query';
import { generatePath, Link, NavLink, useParams } from 'react-router';
import { dashboardPaths } from '../../../wire/dashboard-paths.ts';
import type { SecretKeyListView } from '../../../wire/secrets.ts';
import type { ApiError } from '../../api/client.ts';
import { useLiveChanges } from '../../api/live-changes.ts';
import { type User, useMe } from '../../api/me.ts';
import { useEnvironment, useKeys } from '../../api/secrets.ts';
import { Page } from '../../parts/page.tsx';
import { pathOf, type Place, type Rights, rightsAt } from '../../text/place.ts';

/** What the pages of an environment have in common. */
export interface EnvironmentFacts {
  readonly place: Place;
  /** The present keys, which follow the changes of all users. */
  readonly keys: UseQueryResult<SecretKeyListView, ApiError>;
  /** Undefined while it loads. */
  readonly user: User | undefined;
  readonly rights: Rights;
  /** Whether the rights are known. Until then, they are the fewest. */
  readonly isReady: boolean;
}

export interface EnvironmentShellProps {
  /** Title of the document. */
  readonly documentTitle?: (environment: string) => string;
  readonly children: (facts: EnvironmentFacts) => ReactNode;
}

const tabs = [
  [dashboardPaths.environment, 'Keys'],
  [dashboardPaths.history, 'History'],
  [dashboardPaths.compare, 'Compare'],
  [dashboardPaths.consumers, 'Consumers'],
] as const;

/** A page of the environment in the path: its heading, what it is at, and the links to its other pages. */
export function EnvironmentShell(props: EnvironmentShellProps): ReactNode {
  const { organization = '', project = '', environment = '' } = useParams();
  const place = useMemo(() => ({ organization, project, environment }), [organization, project, environment]);
  // A new environment begins with nothing of the former one.
  return <ShellOf key={pathOf(place)} place={place} {...props} />;
}

function ShellOf({
  place,
  documentTitle = (environment) => environment,
  children,
}: EnvironmentShellProps & { readonly place: Place }): ReactNode {
  const { data: user } = useMe();
  const keys = useKeys(place);
  const { data: view, isPending } = useEnvironment(place);
  useLiveChanges(place);
  const isReady = user !== undefined && !isPending;
  const isProtected = view?.protected ?? false;
  // Until it is known, no button appears that may have to disappear.
  const rights = rightsAt(place, user ?? { organizations: [] }, { isProtected: isProtected || isPending });
  return (
    <Page
      title={place.environment}
      documentTitle={documentTitle(place.environment)}
      trail={
        <>
          <Link to={generatePath(dashboardPaths.environments, { organization: place.organization })}>
            {place.organization}
          </Link>
          {' / '}
          {place.project} /
        </>
      }
      intro={<Facts revision={keys.data?.revision} isProtected={isProtected} isReader={isReady && !rights.mayWrite} />}
      wide
    >
      <nav className="tabs" aria-label="Environment">
        {tabs.map(([path, name]) => (
          <NavLink key={path} to={generatePath(path, { ...place })} end>
            {name}
          </NavLink>
        ))}
      </nav>
      {children({ place, keys, user, rights, isReady })}
    </Page>
  );
}

interface FactsProps {
  /** Undefined while it loads. */
  readonly revision: number | undefined;
  readonly isProtected: boolean;
  /** Whether the user may read and not write. */
  readonly isReader: boolean;
}

function Facts({ revision, isProtected, isReader }: FactsProps): ReactNode {
  return (
    <span className="facts">
      <span>Revision {revision ?? '…'}</span>
      {isProtected ? <span className="badge">Protected</span> : undefined}
      {isReader ? <span>You may read this environment, not change it.</span> : undefined}
    </span>
  );
}
