import { createHash } from 'node:crypto';
import { invalidField } from '../../../domain/errors/domain-error.ts';
import type { PlannedKey, RestoreAction, RestoreRequest, StoredPlan } from '../../../store/restore.ts';
import type { EnvironmentSize } from '../../kernel/quota.ts';

/** What a restore does to each key, by key; without those that the snapshot does not have and that stay. */
export interface RestoreLists {
  readonly restored: readonly string[];
  /** Left alone because of `skipUnchanged`. */
  readonly unchanged: readonly string[];
  /** Deleted since the snapshot was made. */
  readonly skipped: readonly string[];
  /** Left as they are, because their values of then were destroyed. */
  readonly destroyed: readonly string[];
  readonly pruned: readonly string[];
}

/** The keys of a plan by what becomes of them. */
export function listsOf({ keys }: Pick<StoredPlan, 'keys'>): RestoreLists {
  const keysWith = (wanted: RestoreAction): string[] =>
    keys.filter(({ action }) => action === wanted).map(({ key }) => key);
  return {
    restored: keysWith('restore'),
    unchanged: keysWith('leave'),
    skipped: keysWith('skip'),
    destroyed: keysWith('destroyed'),
    pruned: keysWith('prune'),
  };
}

/** How large the environment is before the plan is carried out, and by how much it grows. */
export function sizesOf({ keys }: Pick<StoredPlan, 'keys'>): {
  readonly size: EnvironmentSize;
  readonly growth: EnvironmentSize;
} {
  const size = { secrets: 0, bytes: 0 };
  const growth = { secrets: 0, bytes: 0 };
  for (const planned of keys) {
    size.secrets += Number(planned.action !== 'skip');
    size.bytes += planned.presentBytes;
    growth.secrets -= Number(planned.action === 'prune');
    growth.bytes += bytesAfter(planned) - planned.presentBytes;
  }
  return { size, growth };
}

function bytesAfter({ action, presentBytes, snapshotBytes }: PlannedKey): number {
  if (action === 'prune') return 0;
  return action === 'restore' ? (snapshotBytes ?? 0) : presentBytes;
}

/** What was asked for, as far as the hash of its plan covers it. */
export interface HashedRequest extends RestoreRequest {
  /** Whether the present is kept in a snapshot first. */
  readonly backup: boolean;
}

/**
 * Shows whether a plan is still the same: the SHA-256, in 43 characters of base64url, over the environment, the
 * revision it is at, the snapshot, the options, and each key's action and versions. Each part is preceded by its
 * length and there are as many for each key, so that no two plans are written alike.
 */
export function planHash(
  request: HashedRequest,
  { revisionId, keys }: Pick<StoredPlan, 'revisionId' | 'keys'>,
): string {
  const { environmentId, snapshotId, prune, skipUnchanged, backup } = request;
  const parts = [
    'keyframe restore plan 1',
    environmentId,
    revisionId,
    snapshotId,
    ...[prune, skipUnchanged, backup].map(String),
    ...keys.flatMap(({ key, action, version, snapshotVersion }) => [
      key,
      action,
      String(version),
      String(snapshotVersion ?? '-'),
    ]),
  ];
  return digestOf(parts);
}

/**
 * The hash of a plan as it is reported to a custom resource: bound to the resource itself, by its cluster and uid. So
 * what was approved for one resource is not valid for another, and a resource that is created again from the same
 * manifest, in a rebuilt cluster and whatever state its database is in, holds a hash that none of its plans ever has.
 */
export function resourcePlanHash(hash: string, { cluster, uid }: { cluster: string; uid: string }): string {
  return digestOf(['keyframe resource restore plan 1', cluster, uid, hash]);
}

const planHashForm = /^[A-Za-z0-9_-]{43}$/;

/** Throws DomainError invalid_input for what is given as a plan's hash and cannot be one. */
export function checkPlanHash(hash: string | undefined): void {
  if (hash === undefined || planHashForm.test(hash)) return;
  throw invalidField('planHash', 'must be the planHash of a dry run');
}

/** SHA-256 in 43 characters of base64url over texts, each preceded by its length: no two lists have the same. */
export function digestOf(parts: readonly string[]): string {
  const encoded = parts.map((part) => `${Buffer.byteLength(part)}:${part}`).join('');
  return createHash('sha256').update(encoded).digest('base64url');
}
