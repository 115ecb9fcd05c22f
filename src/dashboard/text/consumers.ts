import type { ConsumerView } from '../../wire/consumers.ts';

/** The consumers of an environment in one cluster. */
export interface ClusterConsumers {
  readonly name: string;
  /** Null if the controller never reported everything. */
  readonly seenAt: string | null;
  readonly isStale: boolean;
  /** First what a person must mend. */
  readonly consumers: readonly ConsumerView[];
}

const urgency: readonly ConsumerView['health'][] = ['stalled', 'progressing', 'suspended', 'healthy'];

/** Consumers by the name of their cluster. */
export function clustersOf(consumers: readonly ConsumerView[]): readonly ClusterConsumers[] {
  return [...Map.groupBy(consumers, ({ cluster }) => cluster)]
    .map(([name, members]) => ({
      name,
      seenAt: members[0]?.clusterSeenAt ?? null,
      isStale: members[0]?.stale ?? true,
      consumers: members.toSorted((a, b) => urgency.indexOf(a.health) - urgency.indexOf(b.health)),
    }))
    .toSorted((a, b) => (a.name < b.name ? -1 : 1));
}

/** A revision of an environment. */
export interface Head {
  readonly revision: number;
  readonly revisionId: string;
}

/** Whether the Secret of a consumer holds the newest revision. A pinned one stays where it is by intent. */
export function isBehind({ pinned, syncedRevisionId }: ConsumerView, head: Head): boolean {
  return !pinned && syncedRevisionId !== head.revisionId;
}

/** Whether a Secret is about to get the newest revision, as far as its controller reports. */
export function isUnderWay(consumers: readonly ConsumerView[], head: Head | undefined): boolean {
  if (head === undefined) return false;
  return consumers.some(
    (consumer) => !consumer.stale && ['healthy', 'progressing'].includes(consumer.health) && isBehind(consumer, head),
  );
}

/** What the Secret holds: "revision 7", "revision 6, 1 behind". */
export function shownRevision(consumer: ConsumerView, head: Head | undefined): string {
  const { syncedRevision, syncedRevisionId, pinned } = consumer;
  if (syncedRevisionId === null) return 'nothing yet';
  if (syncedRevision === null) return 'a revision that the environment lost';
  const distance = head === undefined || pinned ? 0 : head.revision - syncedRevision;
  return distance > 0 ? `revision ${syncedRevision}, ${distance} behind` : `revision ${syncedRevision}`;
}
