import { type ReactNode, useMemo } from 'react';
import type { ConsumerView } from '../../wire/consumers.ts';
import { useConsumers } from '../api/fleet.ts';
import { CopyCommand } from '../parts/copy-command.tsx';
import { Empty } from '../parts/empty.tsx';
import { Loaded } from '../parts/loaded.tsx';
import { Skeleton } from '../parts/skeleton.tsx';
import { Status } from '../parts/status.tsx';
import { clustersOf, type Head, isBehind } from '../text/consumers.ts';
import { counted } from '../text/counted.ts';
import type { Place } from '../text/place.ts';
import { ClusterSection } from './consumers/cluster-section.tsx';
import { type EnvironmentFacts, EnvironmentShell } from './environment/shell.tsx';

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
  return (
    <Loaded query={query} waiting={<Skeleton name="Loading the consumers" rows={6} look="tall" />}>
      {(consumers) => <Found place={place} consumers={consumers} head={keys.data} />}
    </Loaded>
  );
}

interface FoundProps {
  readonly place: Place;
  readonly consumers: readonly ConsumerView[];
  /** Undefined while it loads. */
  readonly head: Head | undefined;
}

function Found({ place, consumers, head }: FoundProps): ReactNode {
  const clusters = useMemo(() => clustersOf(consumers), [consumers]);
  if (consumers.length === 0) return <Nothing place={place} />;
  return (
    <>
      <p className="consumers-verdict">
        <Verdict consumers={consumers} head={head} />
      </p>
      {clusters.map((cluster) => (
        <ClusterSection key={cluster.name} cluster={cluster} place={place} head={head} />
      ))}
    </>
  );
}

function Verdict({ consumers, head }: Omit<FoundProps, 'place'>): ReactNode {
  if (head === undefined) return <Status tone="neutral">Comparing with the newest revision…</Status>;
  const behind = consumers.filter((consumer) => isBehind(consumer, head)).length;
  const pinned = consumers.filter((consumer) => consumer.pinned).length;
  const rest = pinned === 0 ? '' : ` ${counted(pinned, 'is', 'are')} pinned.`;
  if (behind > 0) {
    return (
      <Status tone="warn">
        {behind} of {counted(consumers.length, 'Secret')} {behind === 1 ? 'does' : 'do'} not hold revision{' '}
        {head.revision}.{rest}
      </Status>
    );
  }
  const unhealthy = consumers.filter(({ health }) => health === 'stalled' || health === 'progressing').length;
  if (unhealthy > 0) {
    return (
      <Status tone="warn">
        All Secrets hold revision {head.revision}; {counted(unhealthy, 'SecretSync is', 'SecretSyncs are')} not healthy.
        {rest}
      </Status>
    );
  }
  if (consumers.some(({ stale }) => stale)) {
    return (
      <Status tone="warn">
        All Secrets held revision {head.revision} when their clusters last reported.{rest}
      </Status>
    );
  }
  return (
    <Status tone="good">
      All Secrets hold revision {head.revision}.{rest}
    </Status>
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
