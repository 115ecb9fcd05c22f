import type { Asker } from '../../domain/asker.ts';
import type { SnapshotOrGone, TakeSnapshotInput } from '../../domain/resources/snapshots.ts';
import type { EnvironmentSlugs } from '../../domain/slugs.ts';

/**
 * The snapshots of SecretSnapshots: each takes or adopts one in its life. All throw DomainError store_unavailable and
 * cluster_unavailable.
 */
export interface SnapshotsBackend {
  /** The snapshot that the resource took or adopted; undefined if it did neither. */
  readonly find: (asker: Asker) => Promise<SnapshotOrGone | undefined>;
  /**
   * Takes the resource's snapshot, or returns the one that it has already. Throws DomainError forbidden without an
   * AccessGrant, which is audited, not_found, invalid_input for a bad name or description, and overloaded or too_large.
   */
  readonly take: (asker: Asker, slugs: EnvironmentSlugs, input: TakeSnapshotInput) => Promise<SnapshotOrGone>;
  /**
   * Adopts an existing snapshot. The resource never deletes it. Throws DomainError not_found if it does not exist or no
   * AccessGrant covers its environment, and conflict if the resource has another one already.
   */
  readonly adopt: (asker: Asker, snapshotId: string) => Promise<SnapshotOrGone>;
  /** Deletes what the resource took, if anything. The resource takes nothing afterwards. */
  readonly delete: (asker: Asker) => Promise<void>;
}
