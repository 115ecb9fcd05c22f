import type { ControllerEvent } from './dependencies.ts';

// A few seconds of a busy installation. A reconcile during which more events come is repeated.
const defaultCapacity = 10_000;

/**
 * The newest events of one controller, in memory. A reconcile notes the position before its first read. At its end, when
 * its dependencies are known, it reads the events since that position. Listeners get each event when it is published.
 */
export class EventLog {
  readonly #capacity: number;
  readonly #listeners: ((event: ControllerEvent) => void)[] = [];
  readonly #events: ControllerEvent[] = [];
  /** The position of the first event in `#events`. */
  #first = 0;

  constructor(capacity = defaultCapacity) {
    this.#capacity = capacity;
  }

  /** The position of the next event. */
  get position(): number {
    return this.#first + this.#events.length;
  }

  /** Adds a listener, which gets every event from now on. */
  onEvent(listener: (event: ControllerEvent) => void): void {
    this.#listeners.push(listener);
  }

  publish(event: ControllerEvent): void {
    this.#events.push(event);
    // Half of the events at once, because each removal at the beginning moves all others.
    if (this.#events.length > this.#capacity) this.#drop(this.#events.length - Math.floor(this.#capacity / 2));
    for (const listener of this.#listeners) listener(event);
  }

  /** Events before this moment may be missing. */
  markGap(): void {
    this.#drop(this.#events.length);
    // A reconcile that noted the current position started before this gap.
    this.#first += 1;
  }

  /** The events since a position, the oldest first; undefined if some may be missing. */
  since(position: number): readonly ControllerEvent[] | undefined {
    return position < this.#first ? undefined : this.#events.slice(position - this.#first);
  }

  #drop(count: number): void {
    this.#events.splice(0, count);
    this.#first += count;
  }
}
