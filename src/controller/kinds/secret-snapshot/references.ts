/**
 * Returns what refers to a SecretSnapshot (by its key `namespace/name`) or to its snapshot (by its UUID), as texts for
 * users such as `SecretSync web`.
 */
export type Referrers = (key: string, snapshotId: string | null) => readonly string[];

/** The references of one kind to SecretSnapshots. A schedule does not prune a SecretSnapshot that is referred to. */
export interface SnapshotReferences {
  /** Whether all references are known. Until then, any SecretSnapshot may be needed. */
  readonly isSynced: boolean;
  /** Collects the current references to the SecretSnapshots of a namespace, once for all of them. */
  readonly referrersIn: (namespace: string) => Referrers;
}

/** Combines the references of several kinds. */
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
