import type { ConsumerView } from '../../../wire/consumers.ts';
import { consumerName } from './consumers-api.ts';

/** How far the consumers of an environment are with a revision. */
export interface Convergence {
  /** Their Secrets hold the revision or a later one, and so do all pods of their workloads. */
  readonly reached: readonly ConsumerView[];
  readonly missing: readonly ConsumerView[];
  /** Those of the missing that do not reach it before a person acts. */
  readonly stuck: readonly ConsumerView[];
  /** Pinned and suspended ones, which never reach it. */
  readonly exempt: readonly ConsumerView[];
  /** What users selected and does not read the environment yet, as they read it. */
  readonly absent: readonly string[];
}

/** Judges consumers by what was last reported of them. Pure. */
export function convergenceOf(
  consumers: readonly ConsumerView[],
  revision: number,
  absent: readonly string[] = [],
): Convergence {
  const exempt = consumers.filter(isExempt);
  const awaited = consumers.filter((consumer) => !isExempt(consumer));
  const missing = awaited.filter((consumer) => !hasReached(consumer, revision));
  return {
    reached: awaited.filter((consumer) => hasReached(consumer, revision)),
    missing,
    stuck: missing.filter((consumer) => isStuck(consumer, revision)),
    exempt,
    absent,
  };
}

function isExempt({ pinned, health }: ConsumerView): boolean {
  return pinned || health === 'suspended';
}

function hasReached({ syncedRevision, rollout }: ConsumerView, revision: number): boolean {
  if (!isFrom(syncedRevision, revision)) return false;
  return rollout === null || (rollout.converged && isFrom(rollout.convergedRevision, revision));
}

/**
 * A stalled SecretSync that has not seen the revision yet may go on with it, unless it cannot read at all. What a stale
 * cluster last reported proves nothing.
 */
function isStuck({ stale, stalled, wantedRevision, syncedRevision, rollout }: ConsumerView, revision: number): boolean {
  if (stale) return false;
  if (stalled) return wantedRevision === null || wantedRevision >= revision;
  return rollout?.stalled === true && isFrom(syncedRevision, revision);
}

function isFrom(known: number | null, revision: number): boolean {
  return known !== null && known >= revision;
}

/** Where a consumer is, and what it has instead of the revision, on one line. */
export function missingText(consumer: ConsumerView): string {
  const { syncedRevision, syncedRevisionId, reason, stalled, rollout, stale } = consumer;
  const unknown = syncedRevisionId === null ? 'no revision' : 'an unknown revision';
  const held = syncedRevision === null ? unknown : `revision ${syncedRevision}`;
  const why = stalled || rollout === null || rollout.converged ? reason : `${reason}, rollout ${rollout.reason}`;
  return `${placeText(consumer)}: the Secret holds ${held} (${why}${stale ? ', stale' : ''})`;
}

/** Why a consumer is exempt, on one line. */
export function exemptText(consumer: ConsumerView): string {
  return `${placeText(consumer)} (${whyExempt(consumer)})`;
}

export function whyExempt({ pinned }: ConsumerView): 'pinned' | 'suspended' {
  return pinned ? 'pinned' : 'suspended';
}

/** Where a consumer is, as users write it. */
export function placeText(consumer: ConsumerView): string {
  return `SecretSync ${consumerName(consumer)} in cluster ${consumer.cluster}`;
}

/** The clusters that have not reported for 3 minutes, a line each. */
export function staleClusters(consumers: readonly ConsumerView[]): string[] {
  const seen = new Map(consumers.filter(({ stale }) => stale).map((one) => [one.cluster, one.clusterSeenAt]));
  return [...seen].map(([cluster, at]) => {
    const since = at === null ? 'has never reported' : `has not reported since ${at}`;
    return `Cluster ${cluster} ${since}: its SecretSyncs may have other revisions now`;
  });
}
