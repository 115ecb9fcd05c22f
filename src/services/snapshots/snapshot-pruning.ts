import { DomainError, invalidField } from '../../domain/errors/domain-error.ts';
import { judgeRetention, keepsSomething, type Retention, type RetentionVerdict } from '../../domain/retention.ts';
import { isTimeZone } from '../../lib/time-zone.ts';
import type { HeldSnapshot } from '../../store/snapshots.ts';
import { checkName, checkWhole } from '../kernel/checks.ts';
import { checkPlanHash, digestOf } from '../kernel/plan-hash.ts';

export interface PruneSnapshotsInput {
  readonly retention: Retention;
  /** IANA; default UTC. */
  readonly timeZone?: string | undefined;
  /** Only snapshots with this prefix are judged, and may be deleted; default all. */
  readonly namePrefix?: string | undefined;
  /** Nothing is deleted. */
  readonly dryRun?: boolean | undefined;
  /** `planHash` of a dry run: nothing but what it named is deleted. */
  readonly planHash?: string | undefined;
}

export interface PrunedSnapshot {
  readonly id: string;
  readonly name: string | null;
  readonly createdAt: Date;
}

export interface KeptSnapshot extends PrunedSnapshot {
  /** Why, for people; never empty. */
  readonly reasons: readonly string[];
}

/** What was kept and pruned, or would be; each newest first. */
export interface SnapshotPruning {
  readonly kept: readonly KeptSnapshot[];
  readonly pruned: readonly PrunedSnapshot[];
  /** Hash of everything that is pruned. */
  readonly planHash: string;
}

// As many as a SnapshotSchedule may keep.
const maxKept = 10_000;

/** Throws DomainError invalid_input for invalid input of a pruning. */
export function checkPruning({ retention, timeZone, namePrefix, planHash }: PruneSnapshotsInput): void {
  checkPlanHash(planHash);
  for (const [field, count] of Object.entries(retention)) {
    if (count !== undefined) checkWhole(`retention.${field}`, count, { min: 1, max: maxKept });
  }
  if (!keepsSomething(retention)) throw invalidField('retention', 'must keep something, such as keepLast: 10');
  if (timeZone !== undefined && !isTimeZone(timeZone)) {
    throw invalidField('timeZone', 'must be an IANA time zone such as Europe/Berlin');
  }
  if (namePrefix !== undefined) checkName('namePrefix', namePrefix);
}

/**
 * Judges the snapshots of an environment. One that a custom resource took or stands for is that resource's to delete:
 * it is kept whatever the retention says, and does not count. Throws DomainError plan_outdated if a plan is named
 * and the result differs from it.
 */
export function planPruning(
  snapshots: readonly HeldSnapshot[],
  { retention, timeZone = 'UTC', namePrefix = '', planHash: approved }: PruneSnapshotsInput,
): SnapshotPruning {
  const judged = snapshots.filter(({ name }) => (name ?? '').startsWith(namePrefix));
  const byId = new Map(judged.map((snapshot) => [snapshot.id, snapshot]));
  const candidates = judged.map(({ id, createdAt, heldBy }) => ({
    id,
    atMs: createdAt.getTime(),
    isSuccessful: true,
    isOwn: heldBy === null,
    references: [],
  }));
  const kept: KeptSnapshot[] = [];
  const pruned: PrunedSnapshot[] = [];
  for (const verdict of judgeRetention(candidates, retention, timeZone)) {
    const snapshot = byId.get(verdict.id);
    if (snapshot === undefined) continue;
    const { id, name, createdAt } = snapshot;
    if (verdict.reasons.length === 0) pruned.push({ id, name, createdAt });
    else kept.push({ id, name, createdAt, reasons: reasonsOf(verdict, snapshot) });
  }
  const planHash = digestOf(['keyframe prune plan 1', ...pruned.map(({ id }) => id)]);
  if (approved !== undefined && approved !== planHash) throw outdated();
  return { kept, pruned, planHash };
}

function outdated(): DomainError {
  const detail = 'other snapshots would go now than when this was planned, or the options are others; plan again';
  return new DomainError('plan_outdated', detail);
}

function reasonsOf({ reasons }: RetentionVerdict, { heldBy }: HeldSnapshot): readonly string[] {
  return heldBy === null ? reasons : [`held by ${heldBy}`];
}
