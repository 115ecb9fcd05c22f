import type { ReactNode } from 'react';
import { useParams } from 'react-router';
import { useFleet } from '../../api/fleet.ts';
import { usePlaces } from '../../api/places.ts';
import { useWaitingRestores } from '../../api/waiting-restores.ts';
import { Loaded } from '../../parts/loaded.tsx';
import { Page } from '../../parts/page.tsx';
import { Skeleton } from '../../parts/skeleton.tsx';
import { useIsOld } from '../../parts/use-is-old.ts';
import { FirstStepsPage } from '../first-steps/index.tsx';
import { Attention } from './attention.tsx';
import { Clusters } from './clusters.tsx';
import { EnvironmentTable } from './environment-table.tsx';
import { Figures, FleetVerdict } from './figures.tsx';
import { WaitingRestores } from './waiting-restores.tsx';

/**
 * Whether all is well in an organization. One without environments shows the first steps. Its sections appear
 * together, because each pushes the next one down.
 */
export function OverviewPage(): ReactNode {
  const { organization = '' } = useParams();
  const fleet = useFleet(organization);
  const places = usePlaces(organization);
  const restores = useWaitingRestores(organization);
  const isOld = useIsOld(fleet);
  const environments = places.data?.flatMap((place) => place.environments).length;
  if (environments === 0) return <FirstStepsPage organization={organization} />;
  return (
    <Page title="Overview" intro={<FleetVerdict fleet={fleet.data} isOld={isOld} />} wide>
      {fleet.isPending || places.isPending || restores.isPending ? (
        <>
          <Figures fleet={undefined} environments={environments} />
          <Skeleton name="Loading the overview" rows={6} />
        </>
      ) : (
        <>
          <Loaded query={restores}>
            {(waiting) => <WaitingRestores organization={organization} count={waiting.length} />}
          </Loaded>
          <Loaded query={fleet}>
            {(found) => (
              <>
                <Figures fleet={found} environments={environments} />
                <Attention organization={organization} groups={found.groups} />
              </>
            )}
          </Loaded>
          <section className="section">
            <h2>Environments</h2>
            <Loaded query={places}>
              {(projects) => (
                <EnvironmentTable organization={organization} projects={projects} readers={fleet.data?.environments} />
              )}
            </Loaded>
          </section>
          {fleet.data === undefined ? undefined : <Clusters clusters={fleet.data.clusters} />}
        </>
      )}
    </Page>
  );
}
