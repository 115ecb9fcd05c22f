/**
 * What refers to a SecretSnapshot, by its key `namespace/name`, or to the snapshot that it took, by its UUID; for people, such
 * as `SecretSync web`.
 */
export type Referrers = (key: string, snapshotId: string | null) => readonly string[];

/** What still needs SecretSnapshots, as one kind tells it: a schedule prunes none of these. */
export interface SnapshotReferences {
  /** Whether all are known: until then, one that is not named may be needed. */
  readonly isSynced: boolean;
  /** Looks through all that may refer to SecretSnapshots of a namespace now, once for all of these. */
  readonly referrersIn: (namespace: string) => Referrers;
}

/** Several as one. */
export function allReferences(each: readonly SnapshotReferences[]): SnapshotReferences {
  return {
    get isSynced() {
      return each.every(({ isSynced }) => isSynced);
    },
    referrersIn(namespace) {
      const all = each.map(({ referrersIn }) => referrersIn(namespace));
      return (key, snapshotId) => all.flatMap((referrersOf) => referrersOf(key, snapshotId));
    },
  };
}

/** Groups names by what they refer to. */
export function namesBy(
  references: Iterable<readonly [to: string, name: string]>,
): ReadonlyMap<string, readonly string[]> {
  const names = new Map<string, string[]>();
  for (const [to, name] of references) {
    const known = names.get(to);
    if (known === undefined) names.set(to, [name]);
    else known.push(name);
  }
  return names;
}
