/** One place in the list: the same subscriber may have several. */
interface Entry<Subscriber> {
  readonly subscriber: Subscriber;
}

/** A subscriber in the list. */
export interface Subscription<Subscriber> {
  /** Calls it, unless it was removed. */
  notify(call: (subscriber: Subscriber) => void): void;
  remove(): void;
}

/** Whom something is reported to. One that throws keeps nothing from the others. */
export class Subscribers<Subscriber> {
  readonly #entries = new Set<Entry<Subscriber>>();
  readonly #onError: (error: unknown) => void;

  constructor(onError: (error: unknown) => void) {
    this.#onError = onError;
  }

  get size(): number {
    return this.#entries.size;
  }

  add(subscriber: Subscriber): Subscription<Subscriber> {
    const entry = { subscriber };
    this.#entries.add(entry);
    return {
      notify: (call) => this.#notify(entry, call),
      remove: () => void this.#entries.delete(entry),
    };
  }

  notifyAll(call: (subscriber: Subscriber) => void): void {
    for (const entry of this.#entries) this.#notify(entry, call);
  }

  clear(): void {
    this.#entries.clear();
  }

  #notify(entry: Entry<Subscriber>, call: (subscriber: Subscriber) => void): void {
    if (!this.#entries.has(entry)) return;
    try {
      call(entry.subscriber);
    } catch (error) {
      this.#onError(error);
    }
  }
}
