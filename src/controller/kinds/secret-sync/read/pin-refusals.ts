import { DomainError } from '../../../../domain/errors/domain-error.ts';
import type { KeyVersion } from '../../../../services/secrets/destroyed-versions.ts';
import type { ClaimedSnapshot } from '../../../../services/managed/snapshots.ts';
import type { SecretSync } from '../../../generated/secret-sync.ts';
import { targetOf } from '../spec/resource.ts';
import { type Source, environmentPath, fieldOf } from '../spec/source.ts';

/** Why a pinned state cannot be had: each says what to do, in names. The Secret stays as it was. */

const namesShown = 10;

/** The source whose pin it is. */
export interface Pinned {
  readonly resource: SecretSync;
  readonly source: Source;
}

/** The environment has not come so far; `newest` is its newest revision. */
export function revisionNotFound({ resource: sync, source }: Pinned, revision: number, newest: number): DomainError {
  return new DomainError(
    'revision_not_found',
    `Environment ${environmentPath(source)} has no revision ${revision}: its newest is ${newest}. ${stays(sync)} ` +
      `Set ${fieldOf(source, 'revision')} to a revision that it has; or wait until it comes to that one.`,
  );
}

/** There is no such resource. */
export function snapshotNotFound({ resource: sync, source }: Pinned, name: string): DomainError {
  return new DomainError(
    'snapshot_not_found',
    `There is no SecretSnapshot ${name} in this namespace. ${stays(sync)} Make it, or name another one in ${fieldOf(source, 'snapshotRef')}.`,
  );
}

/** The resource has no snapshot; `reason` is the one of its condition Ready. */
export function snapshotNotReady({ resource: sync }: Pinned, name: string, reason: string | undefined): DomainError {
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
export function snapshotGone({ resource: sync, source }: Pinned, name: string): DomainError {
  return new DomainError(
    'snapshot_gone',
    `The snapshot of the SecretSnapshot ${name} was deleted in Keyframe. ${stays(sync)} ` +
      `Name another one in ${fieldOf(source, 'snapshotRef')}, pin to a revision with ${fieldOf(source, 'revision')}, or take the pin away.`,
  );
}

/** The snapshot is there, but not of this environment; tells no more of it than the SecretSnapshot's own status. */
export function snapshotMismatch(
  { resource: sync, source }: Pinned,
  name: string,
  snapshot: ClaimedSnapshot,
): DomainError {
  const { organization, project, environment } = snapshot;
  const place = `${organization}/${project}/${environment}`;
  const own = environmentPath(source);
  // Purged and made anew under the same slugs.
  const whose = place === own ? `another environment than ${own} is now` : `environment ${place} and not of ${own}`;
  return new DomainError(
    'snapshot_mismatch',
    `The SecretSnapshot ${name} is of ${whose}. ${stays(sync)} Name one of that environment in ${fieldOf(source, 'snapshotRef')}, or correct ${fieldOf(source, 'environmentRef')}.`,
  );
}

/** Keys that the Secret shall have are at versions whose values were destroyed. It is never written without them. */
export function valuesDestroyed({ resource: sync, source }: Pinned, versions: readonly KeyVersion[]): DomainError {
  const shown = versions.slice(0, namesShown).map(({ key, version }) => `${key} (version ${version})`);
  const more = versions.length > namesShown ? ` and ${versions.length - namesShown} more` : '';
  return new DomainError(
    'version_destroyed',
    `The values that the pinned state has of these keys were destroyed in Keyframe: ${shown.join(', ')}${more}. ` +
      `${stays(sync)} If it has such a value, it still holds it. Pin to another state, take the pin away, or leave ` +
      `the keys out by ${fieldOf(source, 'keys.exclude')}.`,
  );
}

function stays(sync: SecretSync): string {
  return `Secret ${targetOf(sync).name} stays as it was.`;
}
