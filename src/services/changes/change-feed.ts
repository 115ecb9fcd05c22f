import type { ChangeSubscriber } from '../../domain/changes.ts';
import { errorFields, type Logger } from '../../observability/logger.ts';
import type { Listener } from '../../store/listener.ts';

export interface ChangeFeedDeps {
  readonly listener: Pick<Listener, 'start' | 'close'>;
  readonly logger: Logger;
}

/** A subscriber within this process. */
export interface FeedSubscriber extends ChangeSubscriber {
  /** From now on nothing is reported, until the next `onReady`. */
  onLost?(): void;
}

/** Reports what was committed, by any replica, as soon as it is (docs/internals/change-feed.md). */
export class ChangeFeed {
  readonly #deps: ChangeFeedDeps;
  readonly #subscribers = new Set<FeedSubscriber>();
  #ready = false;

  constructor(deps: ChangeFeedDeps) {
    this.#deps = deps;
  }

  /** Whether commits are received now. */
  get ready(): boolean {
    return this.#ready;
  }

  /** Starts to listen, and reconnects after each loss of the database. Call once. */
  start(): void {
    this.#deps.listener.start({
      onReady: () => {
        this.#ready = true;
        this.#publish((subscriber) => subscriber.onReady());
      },
      onLost: () => {
        this.#ready = false;
        this.#publish((subscriber) => subscriber.onLost?.());
      },
      onMessage: (message) => this.#publish((subscriber) => subscriber.onEvent(message)),
    });
  }

  async close(): Promise<void> {
    this.#subscribers.clear();
    await this.#deps.listener.close();
  }

  /** Adds a subscriber. The returned function removes it. */
  subscribe(subscriber: FeedSubscriber): () => void {
    // A new wrapper each time: the same object may subscribe twice.
    const own: FeedSubscriber = {
      onEvent: (event) => subscriber.onEvent(event),
      onReady: () => subscriber.onReady(),
      onLost: () => subscriber.onLost?.(),
    };
    this.#subscribers.add(own);
    if (this.#ready) queueMicrotask(() => this.#notify(own, () => own.onReady()));
    return () => void this.#subscribers.delete(own);
  }

  #publish(call: (subscriber: FeedSubscriber) => void): void {
    for (const subscriber of this.#subscribers) this.#notify(subscriber, call);
  }

  #notify(subscriber: FeedSubscriber, call: (subscriber: FeedSubscriber) => void): void {
    if (!this.#subscribers.has(subscriber)) return;
    try {
      call(subscriber);
    } catch (error) {
      this.#deps.logger.error(errorFields(error), 'a subscriber of changes failed');
    }
  }
}
