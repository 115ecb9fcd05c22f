import type { ChangeSubscriber, PresentState, StateQuestion } from '../../domain/changes.ts';

/** What was committed, as soon as it is (docs/internals/change-feed.md). */
export interface ChangesBackend {
  /** Adds a subscriber, to which nothing comes that the cluster may not know of. The returned function removes it. */
  readonly subscribe: (subscriber: ChangeSubscriber) => () => void;
  /**
   * The revision ids of environments, which credentials and service tokens are live, and which revisions and snapshots
   * exist completely, all at one moment. A deleted environment, or one under a deleted project or organization, is
   * absent. So is all of an organization that allows the cluster nothing, and all while the cluster is disabled. Throws
   * DomainError store_unavailable, and cluster_unavailable if its name is unknown.
   */
  readonly compare: (question: StateQuestion) => Promise<PresentState>;
}
