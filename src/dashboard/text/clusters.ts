import type { ClusterRulesView, ClusterView } from '../../wire/clusters.ts';
import type { FleetConsumerView } from '../../wire/consumers.ts';
import { type ReasonGroup, reasonGroups } from './fleet-summary.ts';

export interface ShownCluster {
  readonly name: string;
  readonly isHome: boolean;
  /** A line each; null if the organization set none. */
  readonly rules: readonly string[] | null;
  /** Undefined unless the user is an instance admin. */
  readonly state: ClusterView['state'] | undefined;
  /** When its controller was last seen; null if it never was, undefined if the user may not know. */
  readonly seenAt: string | null | undefined;
  /** Of its controller; null if it is not known, undefined if the user may not know. */
  readonly release: string | null | undefined;
  /** What its controller reports of the organization; undefined if that is nothing. */
  readonly report: { readonly seenAt: string | null; readonly isStale: boolean } | undefined;
  /** Its SecretSyncs that read the organization. */
  readonly groups: readonly ReasonGroup[];
}

export interface ClusterFacts {
  readonly rules: readonly ClusterRulesView[];
  readonly consumers: readonly FleetConsumerView[];
  /** Undefined unless the user is an instance admin. */
  readonly served: readonly ClusterView[] | undefined;
}

/** The clusters with what is known of each, in the order of the rules. */
export function shownClusters({ rules, consumers, served }: ClusterFacts): readonly ShownCluster[] {
  const present = consumers.filter(({ environmentDeleted }) => !environmentDeleted);
  const readers = Map.groupBy(present, ({ cluster }) => cluster);
  const states = new Map(served?.map((cluster) => [cluster.name, cluster]));
  return rules.map(({ name, isHome, rules: own }) => {
    const reading = readers.get(name) ?? [];
    const [first] = reading;
    return {
      name,
      isHome,
      rules: own?.map(ruleText) ?? null,
      state: states.get(name)?.state,
      seenAt: states.get(name)?.seenAt,
      release: releaseOf(states.get(name)),
      report: first && { seenAt: first.clusterSeenAt, isStale: first.stale },
      groups: reasonGroups(reading),
    };
  });
}

function releaseOf(cluster: ClusterView | undefined): string | null | undefined {
  return cluster === undefined ? undefined : (cluster.controller?.release ?? null);
}

/** "Read and write in shop / dev, prod for SecretSync, ServiceToken" */
function ruleText({
  project,
  environments,
  permission,
  kinds,
}: NonNullable<ClusterRulesView['rules']>[number]): string {
  const verb = permission === 'read' ? 'Read' : 'Read and write';
  const named = environments.includes('*') ? 'all environments' : environments.join(', ');
  const place = project === '*' ? 'all projects' : `${project} / ${named}`;
  return `${verb} in ${place} for ${kinds.join(', ')}`;
}
