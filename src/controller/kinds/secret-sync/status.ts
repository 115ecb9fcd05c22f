import { isDeepStrictEqual } from 'node:util';
import {
  type ConditionClaim,
  type SideClaim,
  conditionClaims,
  earliest,
  kubeTime,
  mergeConditions,
} from '../../frame/conditions.ts';
import type { SecretSync, SecretSyncStatus } from '../../generated/secret-sync.ts';
import { environmentPath } from '../../environment-ref.ts';
import type { SourceState, SyncOutcome, SyncedTarget } from './model.ts';
import { targetOf } from './spec/resource.ts';
import { type RolloutOutcome, revisionIdOf, syncedRevisionIdOf } from '../rollout/model.ts';

/** The outcome of a reconcile, with the state of the workloads since. */
interface Outcome extends SyncOutcome {
  readonly rollout: RolloutOutcome;
}

/**
 * The status after an outcome. Fields that the outcome does not report stay as they are. A time changes only with the value
 * that it belongs to, so that an unchanged state causes no write. `known` is the status that the controller wrote last.
 */
export function nextStatus(
  sync: SecretSync,
  known: SecretSyncStatus | undefined,
  outcome: Outcome,
  nowMs: number,
): SecretSyncStatus {
  const { claim, sources, synced, rolledBack, rollout } = outcome;
  const { workloads, converged } = rollout;
  const present = keptOf(sync.status ?? {}, outcome);
  const claims = [...conditionClaims(claim), ...sideClaims(outcome)];
  const now = kubeTime(nowMs);
  const generation = sync.metadata.generation ?? 0;
  const context = { present: present.conditions, known: known?.conditions, generation, now };
  return {
    ...(sources === undefined ? present : sourceFields(present, sources, synced)),
    observedGeneration: generation,
    secretName: targetOf(sync).name,
    source: sourceText(sync),
    ...(synced === undefined ? {} : syncedFields([present, known ?? {}], synced, now)),
    ...(workloads === undefined ? {} : { workloads: [...workloads] }),
    ...(converged === undefined ? {} : { converged }),
    ...(rolledBack === undefined ? {} : { rolledBack }),
    conditions: mergeConditions(claims, context),
  };
}

/** What is read, for the column SOURCE; the definition requires one of the two fields. */
function sourceText({ spec: { environmentRef, sources = [] } }: SecretSync): string {
  if (environmentRef === undefined) return sources.length === 1 ? '1 source' : `${sources.length} sources`;
  return environmentPath({ environmentRef });
}

/** The fields of a status that stay unless the outcome reports them. */
function keptOf(status: SecretSyncStatus, { synced, rolledBack, rollout, isTargetLost }: Outcome): SecretSyncStatus {
  const { workloads: _, converged, rolledBack: before, conditions, target, ...kept } = status;
  const isRestarting = rollout.claim !== undefined;
  // A target that was not observed may still be rolled back.
  const mayBeBack = synced === undefined || rolledBack !== undefined;
  const goes = (type: string): boolean =>
    (type === 'Converged' && !isRestarting) || (type === 'RolledBack' && !mayBeBack);
  return {
    ...kept,
    ...(target === undefined || isTargetLost === true ? {} : { target }),
    ...(isRestarting && converged !== undefined ? { converged } : {}),
    ...(mayBeBack && before !== undefined ? { rolledBack: before } : {}),
    ...(conditions === undefined ? {} : { conditions: conditions.filter(({ type }) => !goes(type)) }),
  };
}

/** The conditions that only this kind has. */
function sideClaims({ claim: { reason, message }, rolledBack, rollout }: Outcome): readonly ConditionClaim[] {
  const back: ConditionClaim = { type: 'RolledBack', status: 'True', reason, message };
  return [...(rollout.claim === undefined ? [] : [rollout.claim]), ...(rolledBack === undefined ? [] : [back])];
}

/** The status of the sources: separate fields for a single one, a list for named ones. */
function sourceFields(
  present: SecretSyncStatus,
  sources: readonly SourceState[],
  synced: SyncedTarget | undefined,
): SecretSyncStatus {
  const [only] = sources;
  if (only?.name === undefined) {
    const { sources: _, ...rest } = present;
    return { ...rest, ...(only === undefined ? {} : statesFields(only, synced)) };
  }
  const rest = { ...present };
  for (const field of fieldsOfOne) delete rest[field];
  const named = sources.flatMap((source) => {
    const before = present.sources?.find(({ name }) => name === source.name);
    return source.name === undefined ? [] : [{ ...before, name: source.name, ...statesFields(source, synced) }];
  });
  return { ...rest, sources: named };
}

const fieldsOfOne = [
  'environmentId',
  'wantedRevision',
  'wantedRevisionId',
  'syncedRevision',
  'syncedRevisionId',
] as const satisfies readonly (keyof SecretSyncStatus)[];

type StateFields = Pick<SecretSyncStatus, (typeof fieldsOfOne)[number]>;

function statesFields(
  { name, environmentId, revision, revisionId }: SourceState,
  synced: SyncedTarget | undefined,
): StateFields {
  const wanted = { environmentId, wantedRevision: revision, wantedRevisionId: revisionId };
  const held = synced?.sources.find((source) => source.name === name);
  if (held === undefined) return wanted;
  return { ...wanted, syncedRevision: held.revision, syncedRevisionId: held.revisionId };
}

function syncedFields(
  before: readonly SecretSyncStatus[],
  { sources, secretCount, target }: SyncedTarget,
  now: string,
): SecretSyncStatus {
  const same = before.filter(
    (status) => syncedRevisionIdOf(status) === revisionIdOf(sources) && isDeepStrictEqual(status.target, target),
  );
  const lastSyncTime = earliest(same.map((status) => status.lastSyncTime)) ?? now;
  return { secretCount, target, lastSyncTime };
}

// The states that end by themselves, and the good one.
const calmReasons: ReadonlySet<string> = new Set(['Converged', 'RollingOut', 'RolloutPending', 'Suspended']);

/** The condition Converged, as an Event reports it. */
export function convergedClaim(claim: ConditionClaim | undefined): SideClaim | undefined {
  return claim === undefined ? undefined : { claim, action: 'Rollout', isTrouble: !calmReasons.has(claim.reason) };
}
