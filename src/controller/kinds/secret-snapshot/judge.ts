import type { ClaimedSnapshot, SnapshotOrGone } from '../../../services/managed/snapshots.ts';
import { parseDurationMs } from '../../../lib/duration.ts';
import { kubeTime } from '../../frame/conditions.ts';
import type { SecretSnapshot, SecretSnapshotSpec } from '../../generated/secret-snapshot.ts';
import type { Outcome, StatusFields } from '../../frame/outcome.ts';

/** What the status tells of a snapshot that was found, and when it goes. Pure. */

/** When a resource deletes itself, in milliseconds since the epoch; undefined where it does not. */
export function expiryOf({ expiresIn }: Pick<SecretSnapshotSpec, 'expiresIn'>, takenAt: Date): number | undefined {
  const lifeMs = expiresIn === undefined ? undefined : parseDurationMs(expiresIn);
  return lifeMs === undefined ? undefined : takenAt.getTime() + lifeMs;
}

/** Whether a resource, the policy of which is to delete what it took, shall be deleted now. */
export function isExpired(spec: SecretSnapshotSpec, found: SnapshotOrGone, nowMs: number): found is ClaimedSnapshot {
  if (found === 'gone' || found.adopted) return false;
  const expiresAtMs = expiryOf(spec, found.createdAt);
  return expiresAtMs !== undefined && expiresAtMs <= nowMs;
}

/** What a reconcile that found what the resource took or adopted comes to. */
export function judge(spec: SecretSnapshotSpec, found: SnapshotOrGone, nowMs: number): Outcome<SecretSnapshot> {
  if (found === 'gone') return gone;
  const expiresAtMs = found.adopted ? undefined : expiryOf(spec, found.createdAt);
  const fields = fieldsOf(found, expiresAtMs);
  const next = expiresAtMs === undefined ? {} : ({ next: { kind: 'after', delayMs: expiresAtMs - nowMs } } as const);
  const place = placeOf(found);
  if (found.environmentDeleted) {
    const message = `Environment ${place} was deleted, and this snapshot with it; nothing can be restored from it. Delete this resource.`;
    return { claim: { progress: 'stalled', reason: 'EnvironmentDeleted', message }, fields, ...next };
  }
  const secrets = found.secretCount === 1 ? '1 secret' : `${found.secretCount} secrets`;
  const message = `Snapshot ${found.id} holds ${secrets} of ${place} at revision ${found.revision}.`;
  return { claim: { progress: 'done', reason: found.adopted ? 'Adopted' : 'Taken', message }, fields, ...next };
}

// The other fields still tell which one it was.
const gone: Outcome<SecretSnapshot> = {
  claim: {
    progress: 'stalled',
    reason: 'SnapshotGone',
    message:
      'The snapshot was deleted in Keyframe, and this resource takes no other one. Delete this resource; make another one for another snapshot.',
  },
  fields: { expiresAt: undefined },
};

function fieldsOf(found: ClaimedSnapshot, expiresAtMs: number | undefined): StatusFields<SecretSnapshot> {
  const { id, environmentId, revision, revisionId, secretCount, digest, createdAt } = found;
  return {
    snapshotId: id,
    environmentId,
    environment: placeOf(found),
    revision,
    revisionId: revisionId ?? undefined,
    secretCount,
    digest,
    takenAt: kubeTime(createdAt.getTime()),
    expiresAt: expiresAtMs === undefined ? undefined : kubeTime(expiresAtMs),
  };
}

function placeOf({ organization, project, environment }: ClaimedSnapshot): string {
  return `${organization}/${project}/${environment}`;
}
