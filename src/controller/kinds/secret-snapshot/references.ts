/** What still needs SecretSnapshots, as one kind tells it: a schedule prunes none of these. */
export interface SnapshotReferences {
  /** Whether all are known: until then, one that is not named may be needed. */
  readonly isSynced: boolean;
  /**
   * What refers to a SecretSnapshot, by its key `namespace/name`, or to the snapshot that it took, by its UUID; for people,
   * such as `SecretSync web`.
   */
  readonly referrersOf: (key: string, snapshotId: string | null) => readonly string[];
}

/** Several as one. */
export function allReferences(each: readonly SnapshotReferences[]): SnapshotReferences {
  return {
    get isSynced() {
      return each.every(({ isSynced }) => isSynced);
    },
    referrersOf: (key, snapshotId) => each.flatMap(({ referrersOf }) => referrersOf(key, snapshotId)),
  };
}
