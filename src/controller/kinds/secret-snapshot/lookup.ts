import type { SnapshotOrGone } from '../../../services/managed/snapshots.ts';
import type { SecretSnapshot } from '../../generated/secret-snapshot.ts';

/** Tells one state of a SecretSnapshot from another, as far as other kinds look at it. */
export function snapshotVersionOf(resource: SecretSnapshot | undefined): string {
  if (resource === undefined) return 'absent';
  const ready = resource.status?.conditions?.find(({ type }) => type === 'Ready');
  return [resource.metadata.uid, resource.status?.snapshotId, ready?.reason].join('/');
}

/** SecretSnapshots as other kinds see them. Their keys are `namespace/name`. */
export interface SnapshotLookup {
  /** Whether they have been listed: until then, one that is not found may be there. */
  readonly isSynced: boolean;
  readonly find: (key: string) => SecretSnapshot | undefined;
  /** The keys of all. */
  readonly keys: () => Iterable<string>;
  /**
   * What a resource took or adopted, as the database knows it and whatever its status says; undefined where it did
   * neither. Throws DomainError store_unavailable, and cluster_unavailable where the cluster is not known.
   */
  readonly claimed: (resource: SecretSnapshot, requestId: string) => Promise<SnapshotOrGone | undefined>;
  /** Calls the listener with the key of each one that appears, changes or goes, from now on. */
  readonly onChange: (listener: (key: string) => void) => void;
}
