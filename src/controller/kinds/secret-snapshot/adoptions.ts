import { parseObjectKey } from '../../../kube/objects.ts';
import { ReverseIndex } from '../../frame/reverse-index.ts';
import type { SnapshotLookup } from './lookup.ts';
import type { SnapshotReferences } from './references.ts';

/**
 * SecretSnapshots that stand for a snapshot which another one took: whoever adopts it, and whatever refers to that by
 * name, still needs it. Call before the SecretSnapshots are listed.
 */
export function adoptionsOf(snapshots: Pick<SnapshotLookup, 'isSynced' | 'find' | 'onChange'>): SnapshotReferences {
  const adopters = new ReverseIndex();
  snapshots.onChange((key) => adopters.set(key, snapshots.find(key)?.spec.source.snapshotId));
  return {
    get isSynced() {
      return snapshots.isSynced;
    },
    referrersOf: (_key, snapshotId) =>
      snapshotId === null ? [] : adopters.keysOf(snapshotId).map((key) => `SecretSnapshot ${parseObjectKey(key).name}`),
  };
}
