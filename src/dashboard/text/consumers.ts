import type { ConsumerView } from '../../wire/consumers.ts';
import { isBehind, type Newest } from './newest.ts';

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

/** Whether a Secret is about to get the newest revision, as far as its controller reports. */
export function isUnderWay(consumers: readonly ConsumerView[], newest: Newest | undefined): boolean {
  if (newest === undefined) return false;
  return consumers.some(
    (consumer) => !consumer.stale && ['healthy', 'progressing'].includes(consumer.health) && isBehind(consumer, newest),
  );
}

/** What the Secret holds: "revision 7", "revision 6, 1 behind". */
export function shownRevision(consumer: ConsumerView, newest: Newest | undefined): string {
  const { syncedRevision, syncedRevisionId, pinned } = consumer;
  if (syncedRevisionId === null) return 'nothing yet';
  if (syncedRevision === null) return 'a revision that the environment lost';
  const distance = newest === undefined || pinned ? 0 : newest.revision - syncedRevision;
  return distance > 0 ? `revision ${syncedRevision}, ${distance} behind` : `revision ${syncedRevision}`;
}
