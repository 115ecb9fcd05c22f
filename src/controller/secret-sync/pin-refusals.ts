import { DomainError } from '../../domain/domain-error.ts';
import type { KeyVersion } from '../../services/destroyed-versions.ts';
import type { ClaimedSnapshot } from '../../services/resource-snapshots.ts';
import type { SecretSync } from '../generated/secret-sync.ts';
import { environmentPath, targetOf } from './resource.ts';

/** Why a pinned state cannot be had: each says what to do, in names. The Secret stays as it was. */

const namesShown = 10;

/** The environment has not come so far; `newest` is its newest revision. */
export function revisionNotFound(sync: SecretSync, revision: number, newest: number): DomainError {
  return new DomainError(
    'revision_not_found',
    `Environment ${environmentPath(sync)} has no revision ${revision}: its newest is ${newest}. ${stays(sync)} ` +
      `Set spec.revision to a revision that it has; or wait until it comes to that one.`,
  );
}

/** There is no such resource. */
export function snapshotNotFound(sync: SecretSync, name: string): DomainError {
  return new DomainError(
    'snapshot_not_found',
    `There is no SecretSnapshot ${name} in this namespace. ${stays(sync)} Make it, or name another one in spec.snapshotRef.`,
  );
}

/** The resource has no snapshot; `reason` is the one of its condition Ready. */
export function snapshotNotReady(sync: SecretSync, name: string, reason: string | undefined): DomainError {
  const { namespace = '' } = sync.metadata;
  // Who may write a status can write anything into it.
  const why = reason !== undefined && /^[A-Za-z]{1,64}$/.test(reason) ? ` (${reason})` : '';
  return new DomainError(
    'snapshot_not_ready',
    `The SecretSnapshot ${name} has no snapshot yet${why}. ${stays(sync)} It is taken up as soon as there is one; ` +
      `\`kubectl describe secretsnapshot -n ${namespace} ${name}\` tells why there is none.`,
  );
}

/** The snapshot was deleted, and its resource takes no other one. */
export function snapshotGone(sync: SecretSync, name: string): DomainError {
  return new DomainError(
    'snapshot_gone',
    `The snapshot of the SecretSnapshot ${name} was deleted in Keyframe. ${stays(sync)} ` +
      'Name another one in spec.snapshotRef, pin to a revision with spec.revision, or take the pin away.',
  );
}

/** The snapshot is there, but not of this environment; tells no more of it than the SecretSnapshot's own status. */
export function snapshotMismatch(sync: SecretSync, name: string, snapshot: ClaimedSnapshot): DomainError {
  const { organization, project, environment } = snapshot;
  const place = `${organization}/${project}/${environment}`;
  const own = environmentPath(sync);
  // Purged and made anew under the same slugs.
  const whose = place === own ? `another environment than ${own} is now` : `environment ${place} and not of ${own}`;
  return new DomainError(
    'snapshot_mismatch',
    `The SecretSnapshot ${name} is of ${whose}. ${stays(sync)} Name one of that environment in spec.snapshotRef, or correct spec.environmentRef.`,
  );
}

/** Keys that the Secret shall have are at versions whose values were destroyed. It is never written without them. */
export function valuesDestroyed(sync: SecretSync, versions: readonly KeyVersion[]): DomainError {
  const shown = versions.slice(0, namesShown).map(({ key, version }) => `${key} (version ${version})`);
  const more = versions.length > namesShown ? ` and ${versions.length - namesShown} more` : '';
  return new DomainError(
    'version_destroyed',
    `The values that the pinned state has of these keys were destroyed in Keyframe: ${shown.join(', ')}${more}. ` +
      `${stays(sync)} If it has such a value, it still holds it. Pin to another state, take the pin away, or leave ` +
      'the keys out by spec.keys.exclude.',
  );
}

function stays(sync: SecretSync): string {
  return `Secret ${targetOf(sync).name} stays as it was.`;
}
