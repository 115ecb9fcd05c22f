import { type BackoffOptions, backoffMs } from '../../lib/backoff.ts';
import type { Clock } from '../../lib/clock.ts';
import { type Logger, errorFields } from '../../lib/logger.ts';
import { parseObjectKey } from '../../kube/objects.ts';
import type { NamespaceShares } from './namespace-shares.ts';
import { NamespaceTurns } from './namespace-turns.ts';

/** When to work on a key again, if no event asks for it sooner. */
export type Next =
  | { readonly kind: 'done' }
  /** After so many milliseconds; the failures before are forgotten. */
  | { readonly kind: 'after'; readonly delayMs: number }
  /** After a backoff that grows with each failure in a row, but not before `minDelayMs`. */
  | { readonly kind: 'retry'; readonly minDelayMs?: number };

export interface WorkQueueDeps {
  readonly clock: Clock;
  readonly logger: Logger;
  /** Works on one key. One that throws is tried again like one that answers `retry`. */
  readonly process: (key: string) => Promise<Next>;
  /** Called in the moment in which a key ceases to be active. */
  readonly onInactive?: (key: string) => void;
  /** Whether a key goes before all others that wait, and need not wait for their workers; default: none does. */
  readonly isUrgent?: (key: string) => boolean;
  /**
   * How many keys are worked on at once; default 12. With keys that are urgent, four times as many. One namespace has two
   * thirds of them at most.
   */
  readonly workers?: number;
  /**
   * What the namespaces use; default: it is not counted. A namespace that uses more than its share has one worker at a time
   * for keys that are not urgent.
   */
  readonly shares?: NamespaceShares | undefined;
  readonly backoff?: BackoffOptions;
}

const defaultWorkers = 12;
// The rest is for other namespaces, however long the work of one namespace takes.
const namespaceShare = 2 / 3;
// What is urgent waits for the database and the API server for the most part.
const urgentFactor = 4;
// A namespace that was busy may have all its workers again before the work of its one worker ends.
const barredMs = 1_000;
const defaultBackoff: BackoffOptions = { initialMs: 500, maxMs: 300_000 };

/**
 * Keys to work on: each waits once however often it is added, is never worked on twice at the same time, and is worked
 * on once more when it was added meanwhile. Namespaces take turns, and none can occupy every worker. It holds keys
 * alone, so the work reads the present state.
 */
export class WorkQueue {
  readonly #deps: WorkQueueDeps;
  readonly #workers: number;
  readonly #backoff: BackoffOptions;
  readonly #waiting = new NamespaceTurns();
  /** The same, of those that go first. */
  readonly #urgent = new NamespaceTurns();
  readonly #active = new Set<string>();
  /** How many keys of each namespace are active. */
  readonly #activeByNamespace = new Map<string, number>();
  /** Added while active. */
  readonly #again = new Set<string>();
  readonly #timers = new Map<string, () => void>();
  /** Failures in a row. */
  readonly #failures = new Map<string, number>();
  #state: 'paused' | 'started' | 'stopped' = 'paused';
  #drained: (() => void) | undefined;
  /** Cancels the look at keys that waited because their namespace was busy. */
  #cancelLook: (() => void) | undefined;

  constructor(deps: WorkQueueDeps) {
    this.#deps = deps;
    this.#workers = deps.workers ?? defaultWorkers;
    this.#backoff = deps.backoff ?? defaultBackoff;
  }

  /** How many keys wait for a worker; those that wait for a timer are not counted. */
  get length(): number {
    return this.#urgent.size + this.#waiting.size;
  }

  /** Begins to work on what was added so far, or goes on after a pause. */
  start(): void {
    if (this.#state === 'paused') this.#state = 'started';
    this.#pump();
  }

  /** Begins no further work until `start`. Keys are kept, and work under way ends as it would. */
  pause(): void {
    if (this.#state === 'started') this.#state = 'paused';
  }

  /** Works on a key as soon as a worker is free. */
  add(key: string): void {
    if (this.#state === 'stopped') return;
    if (this.#active.has(key)) {
      this.#again.add(key);
      return;
    }
    this.#wait(key);
    this.#pump();
  }

  /** Adds a key after a delay in milliseconds; a key has one timer, and the last call sets it. */
  addAfter(key: string, delayMs: number): void {
    if (this.#state === 'stopped') return;
    this.#cancelTimer(key);
    const cancel = this.#deps.clock.after(delayMs, () => {
      this.#timers.delete(key);
      this.add(key);
    });
    this.#timers.set(key, cancel);
  }

  /** Whether a key is being worked on at this moment. */
  isActive(key: string): boolean {
    return this.#active.has(key);
  }

  /** Drops what is known of a key: its place, its timer and its failures. Work under way ends as it would. */
  forget(key: string): void {
    this.#waiting.delete(key);
    this.#urgent.delete(key);
    this.#again.delete(key);
    this.#failures.delete(key);
    this.#cancelTimer(key);
  }

  /** Takes nothing more on, and resolves when the work under way has ended, or after `limitMs`. */
  async stop(limitMs: number): Promise<void> {
    this.#state = 'stopped';
    this.#waiting.clear();
    this.#urgent.clear();
    this.#again.clear();
    for (const cancel of this.#timers.values()) cancel();
    this.#timers.clear();
    this.#cancelLook?.();
    if (this.#active.size === 0) return;
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#drained = resolve;
    const cancel = this.#deps.clock.after(limitMs, resolve);
    await promise;
    cancel();
  }

  #wait(key: string): void {
    if (this.#deps.isUrgent?.(key) === true) {
      this.#waiting.delete(key);
      this.#urgent.add(key);
    } else if (!this.#urgent.has(key)) this.#waiting.add(key);
  }

  #pump(): void {
    this.#begin(this.#urgent, this.#workers * urgentFactor, () => false);
    this.#begin(this.#waiting, this.#workers, (namespace) => this.#isBarred(namespace));
  }

  #begin(keys: NamespaceTurns, workers: number, isBarred: (namespace: string) => boolean): void {
    const maxOfNamespace = Math.ceil(workers * namespaceShare);
    const mayStart = (namespace: string): boolean =>
      (this.#activeByNamespace.get(namespace) ?? 0) < maxOfNamespace && !isBarred(namespace);
    while (this.#state === 'started' && this.#active.size < workers) {
      const key = keys.take(mayStart);
      if (key === undefined) return;
      void this.#work(key);
    }
  }

  /** Whether a namespace uses more than its share and has work under way; its keys are looked at again later then. */
  #isBarred(namespace: string): boolean {
    if (!this.#activeByNamespace.has(namespace) || this.#deps.shares?.isBusy(namespace) !== true) return false;
    this.#cancelLook ??= this.#deps.clock.after(barredMs, () => {
      this.#cancelLook = undefined;
      this.#pump();
    });
    return true;
  }

  async #work(key: string): Promise<void> {
    this.#active.add(key);
    this.#countActive(key, 1);
    // The work decides anew when to come back.
    this.#cancelTimer(key);
    const next = await this.#process(key);
    this.#active.delete(key);
    this.#countActive(key, -1);
    if (this.#state === 'stopped') {
      if (this.#active.size === 0) this.#drained?.();
      return;
    }
    this.#settle(key, next);
    this.#deps.onInactive?.(key);
    this.#pump();
  }

  async #process(key: string): Promise<Next> {
    try {
      return await this.#deps.process(key);
    } catch (error) {
      this.#deps.logger.error({ key, ...errorFields(error) }, 'work on a key failed');
      return { kind: 'retry' };
    }
  }

  #settle(key: string, next: Next): void {
    const failures = next.kind === 'retry' ? (this.#failures.get(key) ?? 0) + 1 : 0;
    if (failures === 0) this.#failures.delete(key);
    else this.#failures.set(key, failures);
    if (this.#again.delete(key)) this.#wait(key);
    else if (next.kind === 'after') this.addAfter(key, next.delayMs);
    else if (next.kind === 'retry')
      this.addAfter(key, Math.max(next.minDelayMs ?? 0, backoffMs(failures, this.#backoff)));
  }

  #countActive(key: string, change: 1 | -1): void {
    const { namespace } = parseObjectKey(key);
    if (change === 1) this.#deps.shares?.begin(namespace);
    else this.#deps.shares?.end(namespace);
    const count = (this.#activeByNamespace.get(namespace) ?? 0) + change;
    if (count === 0) this.#activeByNamespace.delete(namespace);
    else this.#activeByNamespace.set(namespace, count);
  }

  #cancelTimer(key: string): void {
    this.#timers.get(key)?.();
    this.#timers.delete(key);
  }
}
