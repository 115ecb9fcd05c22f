import { DomainError } from '../../../domain/errors/domain-error.ts';
import type { ClaimedSnapshot } from '../../../services/managed/snapshots.ts';
import type { EnvironmentSlugs } from '../../../services/kernel/slugs.ts';
import type { SnapshotRestoreSpec } from '../../generated/snapshot-restore.ts';

type EnvironmentRef = NonNullable<SnapshotRestoreSpec['environmentRef']>;

/** Why there is nothing to restore from: each says what to do, in names. Nothing is restored. */

/** There is no such resource. */
export function snapshotNotFound(name: string): DomainError {
  const detail = `There is no SecretSnapshot ${name} in this namespace. Make it, or make a SnapshotRestore that names another one.`;
  return new DomainError('snapshot_not_found', detail);
}

/** The resource has no snapshot yet. */
export function snapshotNotReady(name: string, namespace: string): DomainError {
  return new DomainError(
    'snapshot_not_ready',
    `The SecretSnapshot ${name} has no snapshot yet. It goes on as soon as there is one; ` +
      `\`kubectl describe secretsnapshot -n ${namespace} ${name}\` tells why there is none.`,
  );
}

/** The snapshot was deleted, and its resource takes no other one. */
export function snapshotGone(name: string): DomainError {
  const detail = `The snapshot of the SecretSnapshot ${name} was deleted in Keyframe. Make a SnapshotRestore that names another one.`;
  return new DomainError('snapshot_gone', detail);
}

/** The environment was deleted, and the snapshot with it. */
export function environmentDeleted({ organization, project, environment }: ClaimedSnapshot): DomainError {
  const place = `${organization}/${project}/${environment}`;
  const detail = `Environment ${place} was deleted, and its snapshots with it; there is nothing to restore. Delete this resource.`;
  return new DomainError('environment_deleted', detail);
}

/** The status reports a restore that the database does not know. */
export function restoreForgotten(): DomainError {
  return new DomainError(
    'restore_forgotten',
    'The status tells that this was restored, and the database knows nothing of it: it was recovered to a state before ' +
      'that, or is another one. Nothing is restored again. Make another SnapshotRestore where it shall be.',
  );
}

/** The API server lets no such resource pass. */
export function nothingApproved(): DomainError {
  return new DomainError('invalid_input', 'spec.mode Apply needs spec.planHash, or spec.allowUnplanned: true');
}

/** A restore without a plan that does not say all that it does, or would have to wait; `why` says which, as sentences. */
export function unplannedRefused(why: string, cause?: DomainError): DomainError {
  const ended = /[.\n]$/.test(why) ? why : `${why}.`;
  return new DomainError(
    'unplanned_refused',
    'Nothing was restored, and this SnapshotRestore restores nothing any more: without spec.planHash it must name ' +
      'environmentRef, and snapshotId or snapshotRef.uid, keep a backup, and find everything ready. Make another ' +
      `SnapshotRestore; with mode Plan it waits. ${ended}`,
    ...(cause === undefined ? [] : [{ cause }]),
  );
}

/** The snapshot is not of the environment that the spec names. Says no more than the SnapshotRestore's own plan. */
export function wrongEnvironment(
  found: EnvironmentSlugs,
  { organization, project, name }: EnvironmentRef,
): DomainError {
  return new DomainError(
    'snapshot_mismatch',
    `The snapshot is of environment ${found.organization}/${found.project}/${found.environment}, and ` +
      `spec.environmentRef names ${organization}/${project}/${name}. Nothing is restored. Make a SnapshotRestore whose ` +
      'environmentRef and snapshot belong together.',
  );
}

/** Another SecretSnapshot has the name. */
export function snapshotReplaced(name: string, uid: string): DomainError {
  return new DomainError(
    'snapshot_gone',
    `The SecretSnapshot ${name} has not the uid ${uid} that spec.snapshotRef names: another one has its name now. ` +
      'Nothing is restored. Make a SnapshotRestore that names the uid of the one that is meant.',
  );
}
