import type { ConsumerView, FleetConsumerView } from '../../wire/consumers.ts';
import { type ComparedConsumer, type Whereabouts, whereIsNewest } from './newest.ts';

type Health = FleetConsumerView['health'];

/** SecretSyncs that need the same. */
export interface ReasonGroup {
  readonly reason: string;
  readonly health: Health;
  /** By cluster, namespace and name. */
  readonly consumers: readonly FleetConsumerView[];
}

export interface ClusterSummary {
  readonly name: string;
  /** Null if the controller never reported everything. */
  readonly seenAt: string | null;
  readonly isStale: boolean;
  readonly consumers: number;
}

/** What reads an environment. */
export interface ReadEnvironment extends Whereabouts {
  /** Its newest revision. */
  readonly revision: number;
}

export interface FleetSummary extends Whereabouts {
  /** What is not healthy: first what a person must mend, the largest group first. */
  readonly groups: readonly ReasonGroup[];
  /** By name. */
  readonly clusters: readonly ClusterSummary[];
  /** By the id of the environment. */
  readonly environments: ReadonlyMap<string, ReadEnvironment>;
}

const urgency: readonly Health[] = ['stalled', 'progressing', 'suspended', 'healthy'];

/** Sums up what reads the environments of an organization. Entries of deleted environments are left out. */
export function summarizeFleet(all: readonly FleetConsumerView[]): FleetSummary {
  const consumers = all.filter(({ environmentDeleted }) => !environmentDeleted);
  const clusters = Map.groupBy(consumers, ({ cluster }) => cluster);
  const environments = Map.groupBy(consumers, ({ environmentId }) => environmentId);
  return {
    ...whereIsNewest(consumers.map(comparedOf)),
    groups: reasonGroups(consumers.filter(({ health }) => health !== 'healthy')),
    clusters: [...clusters].map(([name, members]) => clusterOf(name, members)).toSorted(byName),
    environments: new Map([...environments].map(([id, members]) => [id, environmentOf(members)])),
  };
}

/** Consumers by health and reason: first what a person must mend, the largest group first. */
export function reasonGroups(consumers: readonly FleetConsumerView[]): readonly ReasonGroup[] {
  const groups = Map.groupBy(consumers, (consumer) => `${consumer.health} ${reasonOf(consumer)}`);
  return [...groups.values()]
    .map((members) => groupOf(members))
    .toSorted(
      (a, b) => urgency.indexOf(a.health) - urgency.indexOf(b.health) || b.consumers.length - a.consumers.length,
    );
}

/** The reason that a person should read: that of the workloads, if the Secret itself is in sync. */
export function reasonOf({ ready, reason, rollout }: Pick<ConsumerView, 'ready' | 'reason' | 'rollout'>): string {
  return ready && rollout !== null && !rollout.converged ? rollout.reason : reason;
}

function comparedOf(consumer: FleetConsumerView): ComparedConsumer {
  const { environmentRevision: revision, environmentRevisionId: revisionId } = consumer;
  return { consumer, newest: { revision, revisionId } };
}

function environmentOf(consumers: readonly FleetConsumerView[]): ReadEnvironment {
  const revision = Math.max(...consumers.map(({ environmentRevision }) => environmentRevision));
  return { ...whereIsNewest(consumers.map(comparedOf)), revision };
}

function groupOf(consumers: readonly FleetConsumerView[]): ReasonGroup {
  const [first] = consumers;
  if (first === undefined) throw new Error('a group has no member');
  return { reason: reasonOf(first), health: first.health, consumers };
}

function clusterOf(name: string, consumers: readonly FleetConsumerView[]): ClusterSummary {
  const [first] = consumers;
  return {
    name,
    seenAt: first?.clusterSeenAt ?? null,
    isStale: first?.stale ?? true,
    consumers: consumers.length,
  };
}

function byName(a: { readonly name: string }, b: { readonly name: string }): number {
  return a.name < b.name ? -1 : 1;
}
