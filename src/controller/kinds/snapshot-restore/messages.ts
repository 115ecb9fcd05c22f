import { DomainError } from '../../../domain/errors/domain-error.ts';
import type { EnvironmentSlugs } from '../../../domain/slugs.ts';
import { type NamesEnvironment, environmentPath } from '../../environment-ref.ts';

/** Every sentence that conditions of SnapshotRestores contain. Their Events repeat these. */

/** How many keys a restore affects, by what happens to them. */
export interface KeyCounts {
  readonly restored: number;
  readonly recreated: number;
  readonly unchanged: number;
  readonly skipped: number;
  readonly destroyed: number;
  readonly pruned: number;
}

export interface PlanFacts {
  /** `organization/project/environment`. */
  readonly environment: string;
  readonly revision: number;
  readonly snapshotId: string;
  readonly counts: KeyCounts;
}

/** The SnapshotRestore, and the hash that approves its plan. */
export interface ApprovalFacts {
  readonly namespace: string;
  readonly name: string;
  readonly planHash: string;
}

export const suspended = 'spec.suspend is true: nothing is planned or restored. Set spec.suspend to false to resume.';

/** The condition Planned, and the plan in other messages. */
export function plan({ environment, revision, snapshotId, counts }: PlanFacts): string {
  return `Restoring ${environment}, which is at revision ${revision}, from snapshot ${snapshotId}: ${countsText(counts)}.`;
}

/** A plan waits for its approval. */
export function planned(facts: PlanFacts, approved: ApprovalFacts): string {
  return `${plan(facts)} Nothing is restored until the plan is approved: ${approval(approved)}`;
}

/** spec.planHash is not the hash of the current plan. */
export function outdated(facts: PlanFacts, approved: ApprovalFacts): string {
  return (
    'spec.planHash does not match the current plan. The environment or the snapshot has changed since that plan was made, ' +
    'or the hash is mistyped or belongs to something else, such as another SnapshotRestore. Nothing was restored. ' +
    `The current plan: ${plan(facts)} To approve it: ${approval(approved)}`
  );
}

export interface CompleteFacts extends PlanFacts {
  readonly backupSnapshotId: string | null;
}

/** `revision` is the one after the restore. */
export function complete({ environment, revision, snapshotId, counts, backupSnapshotId }: CompleteFacts): string {
  const isChange = counts.restored + counts.recreated + counts.pruned > 0;
  const what = isChange ? `which created revision ${revision}.` : `so nothing changed at revision ${revision}.`;
  const backup = backupSnapshotId === null ? '' : ` Snapshot ${backupSnapshotId} holds the state before the restore.`;
  return `${environment} was restored from snapshot ${snapshotId}: ${countsText(counts)}, ${what}${backup}`;
}

/** spec.snapshotRef names nothing that exists. */
export function snapshotNotFound(name: string): DomainError {
  return new DomainError(
    'snapshot_not_found',
    `There is no SecretSnapshot ${name} in this namespace. Create it, or create a SnapshotRestore that names another one.`,
  );
}

/** The SecretSnapshot has no snapshot yet. */
export function snapshotNotReady(name: string, namespace: string): DomainError {
  return new DomainError(
    'snapshot_not_ready',
    `SecretSnapshot ${name} has no snapshot yet. The restore continues as soon as it has one. ` +
      `See why it has none: \`kubectl describe secretsnapshots.keyframe.dev -n ${namespace} ${name}\`.`,
  );
}

/** The snapshot was deleted, and its SecretSnapshot takes no other one. */
export function snapshotGone(name: string): DomainError {
  return new DomainError(
    'snapshot_gone',
    `The snapshot of SecretSnapshot ${name} was deleted in Keyframe. Create a SnapshotRestore that names another one.`,
  );
}

/** The SecretSnapshot was deleted, and another one has its name. */
export function snapshotReplaced(name: string, uid: string): DomainError {
  return new DomainError(
    'snapshot_gone',
    `SecretSnapshot ${name} does not have the uid ${uid} that spec.snapshotRef names: another one has its name now. ` +
      'Nothing is restored. Create a SnapshotRestore with the uid of the intended SecretSnapshot.',
  );
}

/** The environment was deleted, and its snapshots with it. */
export function environmentDeleted({ organization, project, environment }: EnvironmentSlugs): DomainError {
  return new DomainError(
    'environment_deleted',
    `Environment ${organization}/${project}/${environment} was deleted, and its snapshots with it. ` +
      'There is nothing to restore. Delete this resource.',
  );
}

/** The snapshot is of another environment than the spec names. Reveals no more than the resource's own plan. */
export function wrongEnvironment(
  found: EnvironmentSlugs,
  environmentRef: NamesEnvironment['environmentRef'],
): DomainError {
  return new DomainError(
    'snapshot_mismatch',
    `The snapshot is of environment ${found.organization}/${found.project}/${found.environment}, but ` +
      `spec.environmentRef names ${environmentPath({ environmentRef })}. Nothing is restored. Create a SnapshotRestore whose ` +
      'environmentRef and snapshot match.',
  );
}

/** The status reports a restore that the database does not contain. */
export function restoreForgotten(): DomainError {
  return new DomainError(
    'restore_forgotten',
    'The status reports a completed restore, but the database does not contain it. The database was recovered to an ' +
      'earlier state, or it is another database. Nothing is restored again. To restore now, create another SnapshotRestore.',
  );
}

/** The API server accepts no such resource. */
export function nothingApproved(): DomainError {
  return new DomainError('invalid_input', 'spec.mode Apply requires spec.planHash, or spec.allowUnplanned: true');
}

/** The fields that a restore without a plan lacks. */
export function fieldsMissing(fields: readonly string[]): string {
  return `It lacks ${fields.join(', ')}.`;
}

/** A restore without a plan is incomplete or would have to wait; `why` says which, in sentences. */
export function unplannedRefused(why: string, cause?: DomainError): DomainError {
  const ended = /[.\n]$/.test(why) ? why : `${why}.`;
  return new DomainError(
    'unplanned_refused',
    'Nothing was restored, and this SnapshotRestore will not restore anything. Without spec.planHash it must name ' +
      'environmentRef, and snapshotId or snapshotRef.uid, keep a backup, and find everything ready. Create another ' +
      `SnapshotRestore; with mode Plan it waits. ${ended}`,
    ...(cause === undefined ? [] : [{ cause }]),
  );
}

function approval({ namespace, name, planHash }: ApprovalFacts): string {
  const patch = JSON.stringify({ spec: { mode: 'Apply', planHash } });
  return `\`kubectl patch snapshotrestores.keyframe.dev ${name} -n ${namespace} --type merge -p '${patch}'\``;
}

function countsText({ restored, recreated, unchanged, skipped, destroyed, pruned }: KeyCounts): string {
  // Only a restore that includes deleted keys recreates any.
  const added = recreated === 0 ? {} : { recreated };
  const counts = Object.entries({ restored, ...added, unchanged, skipped, destroyed, pruned });
  return counts.map(([what, count]) => `${count} ${what}`).join(', ');
}
