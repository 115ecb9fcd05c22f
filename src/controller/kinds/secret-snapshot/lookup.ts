import type { SnapshotOrGone } from '../../../domain/resources/snapshots.ts';
import type { SecretSnapshot } from '../../generated/secret-snapshot.ts';

/** Identifies the state of a SecretSnapshot, as far as other kinds depend on it. */
export function snapshotVersionOf(resource: SecretSnapshot | undefined): string {
  if (resource === undefined) return 'absent';
  const ready = resource.status?.conditions?.find(({ type }) => type === 'Ready');
  return [resource.metadata.uid, resource.status?.snapshotId, ready?.reason].join('/');
}

/** SecretSnapshots as other kinds see them. Their keys are `namespace/name`. */
export interface SnapshotLookup {
  /** Whether they are listed. Until then, one that is not found may exist. */
  readonly isSynced: boolean;
  readonly find: (key: string) => SecretSnapshot | undefined;
  /** The keys of all. */
  readonly keys: () => Iterable<string>;
  /**
   * The snapshot that a resource took or adopted, according to the database and not to its status; undefined if it has
   * none. Throws DomainError store_unavailable, and cluster_unavailable if the cluster is unknown.
   */
  readonly claimed: (resource: SecretSnapshot, requestId: string) => Promise<SnapshotOrGone | undefined>;
  /** Adds a listener, which gets the key of each one that is created, changed or deleted. */
  readonly onChange: (listener: (key: string) => void) => void;
}
