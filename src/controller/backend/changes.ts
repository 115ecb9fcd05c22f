import type { ChangeSubscriber, PresentState, StateQuestion } from '../../domain/changes.ts';

/** What was committed, as soon as it is (docs/internals/change-feed.md). */
export interface ChangesBackend {
  /** Adds a subscriber. The returned function removes it. */
  readonly subscribe: (subscriber: ChangeSubscriber) => () => void;
  /**
   * The revision ids of environments, which credentials and service tokens are live, and which revisions and snapshots
   * exist completely, all at one moment. A deleted environment, or one under a deleted project or organization, is
   * absent. Throws DomainError store_unavailable.
   */
  readonly compare: (question: StateQuestion) => Promise<PresentState>;
}
