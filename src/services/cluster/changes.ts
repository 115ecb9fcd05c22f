import type { ChangeEvent, ChangeSubscriber, PresentState, StateQuestion } from '../../domain/changes.ts';
import { DomainError } from '../../domain/errors/domain-error.ts';
import { backoffMs } from '../../lib/backoff.ts';
import { type Clock, systemClock } from '../../lib/clock.ts';
import { errorFields, type Logger } from '../../observability/logger.ts';
import { findKnownOrganizations, findPresentState, type KnownOrganizations } from '../../store/changes.ts';
import type { Database } from '../../store/database.ts';
import type { ChangeFeed } from '../changes/change-feed.ts';
import type { ClusterDeps } from './cluster-deps.ts';

export interface ClusterChangesDeps extends Pick<ClusterDeps, 'cluster'> {
  readonly database: Pick<Database, 'pool'>;
  readonly feed: Pick<ChangeFeed, 'subscribe'>;
  readonly logger: Logger;
  readonly clock?: Clock;
}

/** What was committed, without what one cluster may not know of (docs/internals/change-feed.md). */
export class ClusterChanges {
  readonly #deps: ClusterChangesDeps;

  constructor(deps: ClusterChangesDeps) {
    this.#deps = deps;
  }

  /** See `ChangesBackend.subscribe`. */
  subscribe(subscriber: ChangeSubscriber): () => void {
    const filter = new ClusterFilter(this.#deps, subscriber);
    const leave = this.#deps.feed.subscribe(filter);
    return () => {
      leave();
      filter.close();
    };
  }

  /** See `ChangesBackend.compare`. Throws DomainError cluster_unavailable too. */
  async compare(question: StateQuestion): Promise<PresentState> {
    return findPresentState(this.#deps.database.pool, question, this.#deps.cluster());
  }
}

// The name of a cluster is known a moment after the start, and a busy database answers a moment later.
const retry = { initialMs: 100, maxMs: 1_000 };

/**
 * Passes on to one cluster what it may know of. Which organizations these are is read once the feed is ready; then it
 * follows the events, which come in the order of the commits. It is nothing that decides access.
 */
class ClusterFilter implements ChangeSubscriber {
  readonly #deps: ClusterChangesDeps;
  readonly #subscriber: ChangeSubscriber;
  #known: Known | undefined;
  /** What came while it was read. */
  #meanwhile: OwnEvent[] = [];
  #name: string | undefined;
  /** Of the last call to read: an older one has no effect. */
  #reading = 0;
  /** Since the last read that succeeded. */
  #isFaultLogged = false;
  #cancel: () => void = () => {};

  constructor(deps: ClusterChangesDeps, subscriber: ChangeSubscriber) {
    this.#deps = deps;
    this.#subscriber = subscriber;
  }

  onReady(): void {
    this.#known = undefined;
    this.#cancel();
    this.#reading += 1;
    void this.#read(this.#reading, 1);
  }

  onEvent(event: ChangeEvent): void {
    if (event.kind === 'user') return;
    if (event.kind !== 'cluster' && event.kind !== 'cluster_rules') {
      if (this.#known?.has(event.organizationId) === true) this.#subscriber.onEvent(event);
    } else if (this.#known === undefined) this.#meanwhile.push(event);
    else if (event.cluster === this.#name) {
      this.#subscriber.onEvent(event);
      if (this.#known.isReplacedBy(event)) this.onReady();
      // What was committed while the cluster could not know of it was not passed on.
      else if (this.#known.widens(event)) this.#subscriber.onReady();
    }
  }

  close(): void {
    this.#reading += 1;
    this.#cancel();
  }

  async #read(reading: number, attempt: number): Promise<void> {
    this.#meanwhile = [];
    try {
      this.#name = this.#deps.cluster();
      const known = new Known(await findKnownOrganizations(this.#deps.database.pool, this.#name));
      if (reading !== this.#reading) return;
      const meanwhile = this.#meanwhile.filter(({ cluster }) => cluster === this.#name);
      for (const event of meanwhile) this.#subscriber.onEvent(event);
      if (meanwhile.some((event) => known.isReplacedBy(event))) return this.onReady();
      for (const event of meanwhile) known.widens(event);
      this.#known = known;
      this.#subscriber.onReady();
      this.#isFaultLogged = false;
    } catch (error) {
      if (reading !== this.#reading) return;
      const { clock = systemClock, logger } = this.#deps;
      if (!isAway(error) && !this.#isFaultLogged) {
        this.#isFaultLogged = true;
        logger.error(errorFields(error), 'the changes of a cluster cannot be passed on; trying again');
      }
      this.#cancel = clock.after(backoffMs(attempt, retry), () => void this.#read(reading, attempt + 1));
    }
  }
}

/** Whether the name of the cluster is not known yet, or the database is away. */
function isAway(error: unknown): boolean {
  return error instanceof DomainError && (error.code === 'cluster_unavailable' || error.description.isOutage === true);
}

type OwnEvent = Extract<ChangeEvent, { readonly cluster: string }>;

/** The organizations that a cluster may know of. */
class Known {
  readonly #isHome: boolean;
  /** Known to no home cluster, or known to another cluster. */
  readonly #exceptions: Set<string>;
  #isEnabled: boolean;

  constructor({ state, isHome, exceptions }: KnownOrganizations) {
    this.#isHome = isHome;
    this.#exceptions = new Set(exceptions);
    this.#isEnabled = state === 'enabled';
  }

  has(organizationId: string): boolean {
    return this.#isEnabled && this.#allows(organizationId);
  }

  /** Whether a change makes all others the exceptions, so that they must be read again. */
  isReplacedBy(event: OwnEvent): boolean {
    return event.kind === 'cluster' && event.isHome !== this.#isHome;
  }

  /** Notes a change. Returns whether the cluster may know of more since. */
  widens(event: OwnEvent): boolean {
    if (event.kind === 'cluster') {
      const before = this.#isEnabled;
      this.#isEnabled = event.state === 'enabled';
      return this.#isEnabled && !before;
    }
    const before = this.#allows(event.organizationId);
    if (event.isNothing === this.#isHome) this.#exceptions.add(event.organizationId);
    else this.#exceptions.delete(event.organizationId);
    return !event.isNothing && !before;
  }

  #allows(organizationId: string): boolean {
    return this.#isHome !== this.#exceptions.has(organizationId);
  }
}
