import { type ReactNode, useMemo } from 'react';
import { useParams } from 'react-router';
import { useClusterRules, useClusters } from '../../api/clusters.ts';
import { useFleetConsumers } from '../../api/fleet.ts';
import { useMe } from '../../api/me.ts';
import { Empty } from '../../parts/empty.tsx';
import { Failure } from '../../parts/failure.tsx';
import { Loaded } from '../../parts/loaded.tsx';
import { Page } from '../../parts/page.tsx';
import { Portion } from '../../parts/portion.tsx';
import { Skeleton } from '../../parts/skeleton.tsx';
import { adminOf } from '../../text/admin-of.ts';
import { type ClusterFacts, shownClusters } from '../../text/clusters.ts';
import { ClusterCard } from './cluster-card.tsx';

/** The clusters, what the organization allows each, and how its SecretSyncs are. */
export function ClustersPage(): ReactNode {
  const { organization = '' } = useParams();
  const { data: user } = useMe();
  const isAdmin = user === undefined ? undefined : adminOf(organization, user).isAdmin;
  return (
    <Page title="Clusters" intro={`What each cluster may do in ${organization}, and how its SecretSyncs are.`} wide>
      {isAdmin === false ? (
        <Empty title="Only admins see the clusters">
          <p>Ask an admin or owner of {organization} for the role.</p>
        </Empty>
      ) : (
        <Clusters
          organization={organization}
          enabled={isAdmin === true}
          seesStates={user?.instanceAdmin === true}
          serverVersion={user?.serverVersion}
        />
      )}
    </Page>
  );
}

interface ClustersProps {
  readonly organization: string;
  readonly enabled: boolean;
  /** Whether the user is an instance admin. */
  readonly seesStates: boolean;
  readonly serverVersion: string | undefined;
}

function Clusters({ organization, enabled, seesStates, serverVersion }: ClustersProps): ReactNode {
  const rules = useClusterRules(organization, { enabled });
  const consumers = useFleetConsumers(organization);
  const served = useClusters({ enabled: enabled && seesStates });
  // All at once: a state that appears later would move the others.
  const waiting = <Skeleton name="Loading the clusters" rows={4} look="tall" />;
  if (served.isLoading) return waiting;
  if (served.error !== null && served.data === undefined) {
    return <Failure error={served.error} onRetry={() => void served.refetch()} />;
  }
  return (
    <Loaded query={rules} waiting={waiting}>
      {(own) => (
        <Loaded query={consumers} waiting={waiting}>
          {(list) => <Found rules={own} consumers={list} served={served.data} serverVersion={serverVersion} />}
        </Loaded>
      )}
    </Loaded>
  );
}

interface FoundProps extends ClusterFacts {
  readonly serverVersion: string | undefined;
}

function Found({ rules, consumers, served, serverVersion }: FoundProps): ReactNode {
  const clusters = useMemo(() => shownClusters({ rules, consumers, served }), [rules, consumers, served]);
  if (clusters.length === 0) {
    return (
      <Empty title="No cluster is connected yet">
        <p>
          A cluster is in this list as soon as its controller has reached the server. The first steps have the commands.
        </p>
      </Empty>
    );
  }
  return (
    <Portion entries={clusters}>
      {(shown) => (
        <div className="groups">
          {shown.map((cluster) => (
            <ClusterCard key={cluster.name} cluster={cluster} serverVersion={serverVersion} />
          ))}
        </div>
      )}
    </Portion>
  );
}
