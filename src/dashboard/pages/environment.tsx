import { type ReactNode, useMemo } from 'react';
import { generatePath, Link, useParams } from 'react-router';
import { dashboardPaths } from '../../wire/dashboard-paths.ts';
import { useLiveChanges } from '../api/live-changes.ts';
import { useMe } from '../api/me.ts';
import { useEnvironment, useKeys } from '../api/secrets.ts';
import { Loaded } from '../parts/loaded.tsx';
import { Page } from '../parts/page.tsx';
import { Skeleton } from '../parts/skeleton.tsx';
import { useDraft } from '../state/drafts.ts';
import { pathOf, type Place, rightsAt } from '../text/place.ts';
import { Secrets } from './environment/secrets.tsx';

/** The keys of an environment. Other users' changes appear by themselves. */
export function EnvironmentPage(): ReactNode {
  const { organization = '', project = '', environment = '' } = useParams();
  const place = useMemo(() => ({ organization, project, environment }), [organization, project, environment]);
  // A new environment begins with nothing of the former one.
  return <EnvironmentOf key={pathOf(place)} place={place} />;
}

function EnvironmentOf({ place }: { readonly place: Place }): ReactNode {
  const { data: user } = useMe();
  const keys = useKeys(place);
  const { data: view } = useEnvironment(place);
  const { draft, change } = useDraft(user?.id ?? '', pathOf(place));
  useLiveChanges(place);
  const isProtected = view?.protected ?? false;
  const rights = rightsAt(place, user ?? { organizations: [] }, { isProtected });
  return (
    <Page
      title={place.environment}
      trail={
        <>
          <Link to={generatePath(dashboardPaths.environments, { organization: place.organization })}>
            {place.organization}
          </Link>
          {' / '}
          {place.project} /
        </>
      }
      intro={
        <Facts
          revision={keys.data?.revision}
          isProtected={isProtected}
          isReader={user !== undefined && !rights.mayWrite}
        />
      }
      wide
    >
      <Loaded query={keys} waiting={<Skeleton name="Loading the keys" rows={10} look="tall" />}>
        {(list) => <Secrets place={place} list={list} rights={rights} draft={draft} change={change} />}
      </Loaded>
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
