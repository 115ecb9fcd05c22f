import { DomainError } from '../../../domain/errors/domain-error.ts';
import type { SnapshotRestore } from '../../generated/snapshot-restore.ts';
import { nothingApproved, unplannedRefused } from './refusals.ts';

/**
 * Restores without a plan: no hash says what was approved, so the spec itself must name all of it, and nothing is
 * waited for that could be something else by then.
 */

/** Whether a resource restores without a plan. */
export function isUnplanned({ spec }: SnapshotRestore): boolean {
  return spec.mode === 'Apply' && spec.planHash === undefined;
}

/**
 * Runs a restore without a plan, at once or never. Throws DomainError unplanned_refused if the spec does not say enough,
 * if it would have to wait, and if it was refused before; else what `restore` throws.
 */
export async function withoutWaiting<T>(resource: SnapshotRestore, restore: () => Promise<T>): Promise<T> {
  if (!resource.spec.allowUnplanned) throw nothingApproved();
  const before = refusedBefore(resource);
  if (before !== undefined) throw before;
  const missing = missingFields(resource);
  if (missing.length > 0) throw unplannedRefused(`It lacks ${missing.join(', ')}.`);
  try {
    return await restore();
  } catch (error) {
    if (!(error instanceof DomainError) || error.description.effect !== 'wait') throw error;
    throw unplannedRefused(error.detail, error);
  }
}

/** What the API server asks of a new resource; one that an earlier release stored may lack it. */
function missingFields({ spec }: SnapshotRestore): string[] {
  const { environmentRef, snapshotId, snapshotRef, backup } = spec;
  return [
    ...(environmentRef === undefined ? ['spec.environmentRef'] : []),
    ...(snapshotId === undefined && snapshotRef?.uid === undefined ? ['spec.snapshotId or spec.snapshotRef.uid'] : []),
    ...(backup ? [] : ['spec.backup: true']),
  ];
}

/** The status counts here, because it only keeps something from being done. */
function refusedBefore({ status }: SnapshotRestore): DomainError | undefined {
  const { reason } = unplannedRefused('').description;
  const failed = status?.conditions?.find(({ type, status: now }) => type === 'Failed' && now === 'True');
  return failed?.reason === reason ? new DomainError('unplanned_refused', failed.message) : undefined;
}
