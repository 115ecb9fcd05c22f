import { type ReactNode, useMemo } from 'react';
import type { ConsumerView } from '../../../wire/consumers.ts';
import { useConsumers } from '../../api/fleet.ts';
import { CopyCommand } from '../../parts/copy-command.tsx';
import { Empty } from '../../parts/empty.tsx';
import { Loaded } from '../../parts/loaded.tsx';
import { Skeleton } from '../../parts/skeleton.tsx';
import { Status } from '../../parts/status.tsx';
import { useIsOld } from '../../parts/use-is-old.ts';
import { Verdict } from '../../parts/verdict.tsx';
import { clustersOf } from '../../text/consumers.ts';
import { type Newest, whereIsNewest } from '../../text/newest.ts';
import type { Place } from '../../text/place.ts';
import { ClusterSection } from './cluster-section.tsx';
import { type EnvironmentFacts, EnvironmentShell } from '../environment/shell.tsx';

/** Where the values of an environment go: SecretSyncs, Secrets and workloads, by cluster. */
export function ConsumersPage(): ReactNode {
  return (
    <EnvironmentShell documentTitle={(environment) => `Consumers of ${environment}`}>
      {(facts) => <Consumers {...facts} />}
    </EnvironmentShell>
  );
}

function Consumers({ place, keys }: EnvironmentFacts): ReactNode {
  const query = useConsumers(place, keys.data);
  const isOld = useIsOld(query) || keys.isError;
  return (
    <Loaded query={query} waiting={<Skeleton name="Loading the consumers" rows={6} look="tall" />}>
      {(consumers) => <Found place={place} consumers={consumers} newest={keys.data} isOld={isOld} />}
    </Loaded>
  );
}

interface FoundProps {
  readonly place: Place;
  readonly consumers: readonly ConsumerView[];
  /** Undefined while it loads. */
  readonly newest: Newest | undefined;
  /** Whether the newest attempt to read any of it failed. */
  readonly isOld: boolean;
}

function Found({ place, consumers, newest, isOld }: FoundProps): ReactNode {
  const clusters = useMemo(() => clustersOf(consumers), [consumers]);
  if (consumers.length === 0) return <Nothing place={place} />;
  return (
    <>
      <p className="consumers-verdict">
        {newest === undefined ? (
          <Status tone="neutral">Comparing with the newest revision…</Status>
        ) : (
          <Verdict
            where={whereIsNewest(consumers.map((consumer) => ({ consumer, newest })))}
            newest={`revision ${newest.revision}`}
            isOld={isOld}
          />
        )}
      </p>
      {clusters.map((cluster) => (
        <ClusterSection key={cluster.name} cluster={cluster} place={place} newest={newest} />
      ))}
    </>
  );
}

function Nothing({ place: { organization, project, environment } }: { readonly place: Place }): ReactNode {
  return (
    <Empty title="No SecretSync reads this environment">
      <p>Apply one in a cluster, in a namespace whose AccessGrant allows it.</p>
      <CopyCommand name="a SecretSync for this environment">{`kubectl apply -f - <<'EOF'
apiVersion: keyframe.dev/v1alpha1
kind: SecretSync
metadata: { name: ${environment}, namespace: default }
spec:
  environmentRef: { organization: ${organization}, project: ${project}, name: ${environment} }
EOF`}</CopyCommand>
    </Empty>
  );
}
