import { isDeepStrictEqual } from 'node:util';
import {
  type ConditionClaim,
  type ReadyClaim,
  conditionClaims,
  earliest,
  kubeTime,
  mergeConditions,
} from '../conditions.ts';
import type { SecretSync, SecretSyncStatus } from '../generated/secret-sync.ts';
import type { RolloutOutcome } from '../rollout/rollouts.ts';
import type { SideClaim } from '../status-report.ts';

/** What one reconcile came to, as far as the status tells it. */
export interface Outcome {
  readonly claim: ReadyClaim;
  /** The sources as they were read; undefined where they were not. */
  readonly sources: readonly SourceState[] | undefined;
  /** The target as it was written or found right; undefined where it was not. */
  readonly synced: SyncedTarget | undefined;
  readonly rollout: RolloutOutcome;
}

/** At which state a source was read. */
export interface SourceState {
  /** Undefined for the one source of a SecretSync without spec.sources. */
  readonly name: string | undefined;
  readonly environmentId: string;
  readonly revision: number;
  readonly revisionId: string;
}

export interface SyncedTarget {
  readonly secretCount: number;
  readonly target: NonNullable<SecretSyncStatus['target']>;
}

/**
 * The status after an outcome. What the outcome does not tell stays as the resource has it. Times change only with what
 * they are about, so that nothing changes where nothing did; `known` is the status that the controller wrote last.
 */
export function nextStatus(
  sync: SecretSync,
  known: SecretSyncStatus | undefined,
  { claim, sources, synced, rollout }: Outcome,
  nowMs: number,
): SecretSyncStatus {
  const { workloads: _, ...present } = sync.status ?? {};
  const { claim: converged, workloads } = rollout;
  const only = sources?.[0];
  const claims = [...conditionClaims(claim), ...(converged === undefined ? [] : [converged])];
  const now = kubeTime(nowMs);
  const generation = sync.metadata.generation ?? 0;
  const context = { present: present.conditions, known: known?.conditions, generation, now };
  return {
    ...present,
    observedGeneration: generation,
    ...sourceFields([present, known ?? {}], { only, synced }, now),
    ...(workloads === undefined ? {} : { workloads: [...workloads] }),
    conditions: mergeConditions(claims, context).filter(({ type }) => type !== 'Converged' || converged !== undefined),
  };
}

function sourceFields(
  before: readonly SecretSyncStatus[],
  { only, synced }: { readonly only: SourceState | undefined; readonly synced: SyncedTarget | undefined },
  now: string,
): SecretSyncStatus {
  if (only === undefined) return {};
  return { ...wantedFields(only), ...(synced === undefined ? {} : syncedFields(before, { ...synced, ...only }, now)) };
}

function wantedFields({ environmentId, revision, revisionId }: SourceState): SecretSyncStatus {
  return { environmentId, wantedRevision: revision, wantedRevisionId: revisionId };
}

function syncedFields(
  before: readonly SecretSyncStatus[],
  { revision, revisionId, secretCount, target }: SyncedTarget & SourceState,
  now: string,
): SecretSyncStatus {
  const same = before.filter(
    (status) => status.syncedRevisionId === revisionId && isDeepStrictEqual(status.target, target),
  );
  const lastSyncTime = earliest(same.map((status) => status.lastSyncTime)) ?? now;
  return { syncedRevision: revision, syncedRevisionId: revisionId, secretCount, target, lastSyncTime };
}

// What passes by itself, and what is as it should be.
const calmReasons: ReadonlySet<string> = new Set(['Converged', 'RollingOut', 'RolloutPending', 'Suspended']);

/** The condition Converged as an Event tells of it. */
export function convergedClaim(claim: ConditionClaim | undefined): SideClaim | undefined {
  return claim === undefined ? undefined : { claim, action: 'Rollout', isTrouble: !calmReasons.has(claim.reason) };
}
