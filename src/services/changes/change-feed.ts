import type { ChangeSubscriber } from '../../domain/changes.ts';
import { Subscribers } from '../../lib/subscribers.ts';
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
  readonly #subscribers: Subscribers<FeedSubscriber>;
  #ready = false;

  constructor(deps: ChangeFeedDeps) {
    this.#deps = deps;
    this.#subscribers = new Subscribers((error) => {
      deps.logger.error(errorFields(error), 'a subscriber of changes failed');
    });
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
        this.#subscribers.notifyAll((subscriber) => subscriber.onReady());
      },
      onLost: () => {
        this.#ready = false;
        this.#subscribers.notifyAll((subscriber) => subscriber.onLost?.());
      },
      onMessage: (message) => this.#subscribers.notifyAll((subscriber) => subscriber.onEvent(message)),
    });
  }

  async close(): Promise<void> {
    this.#subscribers.clear();
    await this.#deps.listener.close();
  }

  /** Adds a subscriber. The returned function removes it. */
  subscribe(subscriber: FeedSubscriber): () => void {
    const own = this.#subscribers.add(subscriber);
    if (this.#ready) queueMicrotask(() => own.notify((notified) => notified.onReady()));
    return () => own.remove();
  }
}
