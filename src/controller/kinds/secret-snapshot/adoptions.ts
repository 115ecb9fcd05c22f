import { parseObjectKey } from '../../../kube/client/objects.ts';
import type { SnapshotLookup } from './lookup.ts';
import { type SnapshotReferences, namesBy } from './references.ts';

/**
 * SecretSnapshots that adopted the snapshot of another SecretSnapshot. The snapshot must stay while one of them, or a
 * reference to one of them, needs it.
 */
export function adoptionsOf(snapshots: Pick<SnapshotLookup, 'isSynced' | 'find' | 'keys'>): SnapshotReferences {
  return {
    get isSynced() {
      return snapshots.isSynced;
    },
    referrersIn() {
      const adopters = namesBy(
        [...snapshots.keys()].flatMap((key) => {
          const { snapshotId } = snapshots.find(key)?.spec.source ?? {};
          return snapshotId === undefined ? [] : [[snapshotId, `SecretSnapshot ${parseObjectKey(key).name}`] as const];
        }),
      );
      return (_key, snapshotId) => (snapshotId === null ? [] : (adopters.get(snapshotId) ?? []));
    },
  };
}
