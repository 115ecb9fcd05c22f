import type { Asker } from '../../domain/asker.ts';
import type {
  ClaimedRestore,
  PlanHashes,
  ResourcePlan,
  ResourceRestoreOptions,
  RestoreSource,
} from '../../domain/resources/restores.ts';
import type { EnvironmentPlace } from '../../domain/slugs.ts';

/**
 * The restores of SnapshotRestores: each restores once in its life. What takes a source needs an AccessGrant for the
 * snapshot's environment. Without one it throws DomainError forbidden, or not_found if the namespace may not know where
 * the snapshot lies; both are audited. All throw store_unavailable and cluster_unavailable.
 */
export interface RestoresBackend {
  /** What the resource restored; undefined if it did not. */
  readonly find: (asker: Asker) => Promise<ClaimedRestore | undefined>;
  /** The environment of a snapshot that the resource may restore. */
  readonly admit: (asker: Asker, source: RestoreSource) => Promise<EnvironmentPlace>;
  /**
   * What the restore would do now. It is audited unless its hash is `known`. Unless its hash is `approved`, it waits for an
   * approval from now on, and is listed for those who look without kubectl.
   */
  readonly plan: (
    asker: Asker,
    source: RestoreSource,
    options: ResourceRestoreOptions,
    hashes: PlanHashes,
  ) => Promise<ResourcePlan>;
  /**
   * Restores exactly as the plan of the hash says or, with null, without a plan, and returns what was done; or returns
   * what this resource did before. Throws DomainError plan_outdated for the hash of another plan, and already_restored
   * without a plan if a resource of the same name restored the environment before.
   */
  readonly restore: (
    asker: Asker,
    source: RestoreSource,
    options: ResourceRestoreOptions,
    planHash: string | null,
  ) => Promise<ClaimedRestore>;
}
