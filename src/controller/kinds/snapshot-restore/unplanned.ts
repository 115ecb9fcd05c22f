import type { ErrorEffect } from '../../../domain/errors/description.ts';
import { DomainError } from '../../../domain/errors/domain-error.ts';
import type { SnapshotRestore } from '../../generated/snapshot-restore.ts';
import { fieldsMissing, nothingApproved, unplannedRefused } from './messages.ts';

/**
 * Restores without a plan. No hash says what was approved, so the spec itself must name everything. Such a restore never
 * waits, because what it waits for could change.
 */

// Errors that can end without a change of the resource, and without a retry.
const endsWithoutResource: ReadonlySet<ErrorEffect> = new Set(['block', 'wait']);

/** Whether a resource restores without a plan. */
export function isUnplanned({ spec }: SnapshotRestore): boolean {
  return spec.mode === 'Apply' && spec.planHash === undefined;
}

/**
 * Runs a restore without a plan now or never. Throws DomainError unplanned_refused if the spec is incomplete, if the
 * restore would have to wait, or if it was refused before. Otherwise throws what `restore` throws.
 */
export async function withoutWaiting<T>(resource: SnapshotRestore, restore: () => Promise<T>): Promise<T> {
  if (!resource.spec.allowUnplanned) throw nothingApproved();
  const before = refusedBefore(resource);
  if (before !== undefined) throw before;
  const missing = missingFields(resource);
  if (missing.length > 0) throw unplannedRefused(fieldsMissing(missing));
  try {
    return await restore();
  } catch (error) {
    if (!(error instanceof DomainError) || !endsWithoutResource.has(error.description.effect)) throw error;
    throw unplannedRefused(error.detail, error);
  }
}

/** The required fields that a resource lacks. The API server requires them only since a later release. */
function missingFields({ spec }: SnapshotRestore): string[] {
  const { environmentRef, snapshotId, snapshotRef, backup } = spec;
  return [
    ...(environmentRef === undefined ? ['spec.environmentRef'] : []),
    ...(snapshotId === undefined && snapshotRef?.uid === undefined ? ['spec.snapshotId or spec.snapshotRef.uid'] : []),
    ...(backup ? [] : ['spec.backup: true']),
  ];
}

/** The refusal in the status. The status is trusted here, because it only prevents a restore. */
function refusedBefore({ status }: SnapshotRestore): DomainError | undefined {
  const { reason } = unplannedRefused('').description;
  const failed = status?.conditions?.find(({ type, status: now }) => type === 'Failed' && now === 'True');
  return failed?.reason === reason ? new DomainError('unplanned_refused', failed.message) : undefined;
}
