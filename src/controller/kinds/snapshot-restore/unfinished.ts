import { objectKey } from '../../../kube/client/objects.ts';
import type { SnapshotRestore } from '../../generated/snapshot-restore.ts';
import { type Referrers, type SnapshotReferences, namesBy } from '../secret-snapshot/references.ts';

interface Need {
  readonly name: string;
  /** The key of the SecretSnapshot that is named; undefined if none is. */
  readonly snapshotKey: string | undefined;
  readonly snapshotId: string | undefined;
}

/** The snapshots that incomplete SnapshotRestores need. A plan that waits for its approval needs its snapshot. */
export class UnfinishedRestores implements SnapshotReferences {
  readonly #needs = new Map<string, Need>();
  readonly #isSynced: () => boolean;

  /** `isSynced` returns whether all SnapshotRestores are listed. */
  constructor(isSynced: () => boolean) {
    this.#isSynced = isSynced;
  }

  get isSynced(): boolean {
    return this.#isSynced();
  }

  /** Call it with each version of a SnapshotRestore. */
  seen({ metadata, spec, status }: SnapshotRestore, snapshotKey: string | undefined): void {
    const isComplete = status?.conditions?.some(({ type, status: now }) => type === 'Complete' && now === 'True');
    const key = objectKey(metadata);
    if (isComplete === true) this.#needs.delete(key);
    else this.#needs.set(key, { name: metadata.name, snapshotKey, snapshotId: spec.snapshotId });
  }

  /** Call it with the key of each SnapshotRestore that was deleted. */
  gone(key: string): void {
    this.#needs.delete(key);
  }

  /** See `SnapshotReferences`. */
  readonly referrersIn = (): Referrers => {
    const needs = [...this.#needs.values()].map(({ name, ...need }) => ({ ...need, name: `SnapshotRestore ${name}` }));
    const byKey = namesBy(
      needs.flatMap(({ snapshotKey, name }) => (snapshotKey === undefined ? [] : [[snapshotKey, name] as const])),
    );
    const byId = namesBy(
      needs.flatMap(({ snapshotId, name }) => (snapshotId === undefined ? [] : [[snapshotId, name] as const])),
    );
    return (key, snapshotId) => [
      ...(byKey.get(key) ?? []),
      ...(snapshotId === null ? [] : (byId.get(snapshotId) ?? [])),
    ];
  };
}
