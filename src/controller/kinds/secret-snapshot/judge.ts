import type { ClaimedSnapshot, SnapshotOrGone } from '../../../domain/resources/snapshots.ts';
import { parseDurationMs } from '../../../lib/duration.ts';
import { kubeTime } from '../../frame/conditions.ts';
import type { SecretSnapshot, SecretSnapshotSpec } from '../../generated/secret-snapshot.ts';
import type { Outcome, StatusFields } from '../../frame/outcome.ts';
import { environmentDeleted, held, snapshotGone } from './messages.ts';

/** The outcome for a snapshot that was found, and when it expires. Pure functions. */

/** When a resource expires, in milliseconds since the epoch; undefined if it never does. */
export function expiryOf({ expiresIn }: Pick<SecretSnapshotSpec, 'expiresIn'>, takenAt: Date): number | undefined {
  const lifeMs = expiresIn === undefined ? undefined : parseDurationMs(expiresIn);
  return lifeMs === undefined ? undefined : takenAt.getTime() + lifeMs;
}

/** Whether a resource whose policy is Delete has expired. */
export function isExpired(spec: SecretSnapshotSpec, found: SnapshotOrGone, nowMs: number): found is ClaimedSnapshot {
  if (found === 'gone' || found.adopted) return false;
  const expiresAtMs = expiryOf(spec, found.createdAt);
  return expiresAtMs !== undefined && expiresAtMs <= nowMs;
}

/** The outcome for the snapshot that the resource took or adopted. */
export function judge(spec: SecretSnapshotSpec, found: SnapshotOrGone, nowMs: number): Outcome<SecretSnapshot> {
  if (found === 'gone') return gone;
  const expiresAtMs = found.adopted ? undefined : expiryOf(spec, found.createdAt);
  const fields = fieldsOf(found, expiresAtMs);
  const next = expiresAtMs === undefined ? {} : ({ next: { kind: 'after', delayMs: expiresAtMs - nowMs } } as const);
  const place = placeOf(found);
  if (found.environmentDeleted) {
    const message = environmentDeleted(place);
    return { claim: { progress: 'stalled', reason: 'EnvironmentDeleted', message }, fields, ...next };
  }
  const message = held({ ...found, place });
  return { claim: { progress: 'done', reason: found.adopted ? 'Adopted' : 'Taken', message }, fields, ...next };
}

// The other fields keep the facts of the lost snapshot.
const gone: Outcome<SecretSnapshot> = {
  claim: {
    progress: 'stalled',
    reason: 'SnapshotGone',
    message: snapshotGone,
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
