import { type BackoffOptions, backoffMs } from '../../lib/backoff.ts';
import type { Clock } from '../../lib/clock.ts';
import { type Logger, errorFields } from '../../observability/logger.ts';
import { parseObjectKey } from '../../kube/client/objects.ts';
import { workFailed } from './messages.ts';
import type { NamespaceShares } from './namespace-shares.ts';
import { NamespaceTurns } from './namespace-turns.ts';

/** When to work on a key again, if no event asks for it sooner. */
export type Next =
  | { readonly kind: 'done' }
  /** After this delay in milliseconds. The count of failures is reset. */
  | { readonly kind: 'after'; readonly delayMs: number }
  /** After an exponential backoff, but not before `minDelayMs`. */
  | { readonly kind: 'retry'; readonly minDelayMs?: number }
  /**
   * When `wait` calls its argument, behind all other keys and with the same priority. It is not a failure. `wait` returns a
   * function that cancels it.
   */
  | { readonly kind: 'when'; readonly wait: Wait };

type Wait = (ready: () => void) => () => void;

export interface WorkQueueDeps {
  readonly clock: Clock;
  readonly logger: Logger;
  /** Processes one key. An error is retried like the result `retry`. */
  readonly process: (key: string) => Promise<Next>;
  /** Called as soon as a key is no longer active. */
  readonly onInactive?: (key: string) => void;
  /** Whether a key goes before all others and need not wait for their workers. Default: none. */
  readonly isUrgent?: (key: string) => boolean;
  /**
   * The maximum number of active keys. With urgent keys, four times as many. One namespace has at most two thirds of them. A
   * function is called before each start. Default: 24.
   */
  readonly workers?: number | (() => number);
  /**
   * The processor time of the namespaces. A busy namespace has one worker at a time for each priority. Default: not counted.
   */
  readonly shares?: NamespaceShares | undefined;
  readonly backoff?: BackoffOptions;
}

const defaultWorkers = 24;
// The rest is for other namespaces, however long the work of one namespace takes.
const namespaceShare = 2 / 3;
// Urgent work mostly waits for the database and the API server.
const urgentFactor = 4;
// A namespace can stop being busy before the work of its one worker ends.
const recheckMs = 1_000;
const defaultBackoff: BackoffOptions = { initialMs: 500, maxMs: 300_000 };
// The share of the workers for keys of low priority. More would delay each change and hardly speed up a takeover.
const lowShare = 1 / 4;
// After this many keys of high priority, a key of low priority starts, so that a resync ends despite busy namespaces.
const maxHighInRow = 3;

/** A started key. An urgent key counts as one of high priority. */
interface Start {
  readonly key: string;
  readonly priority: Priority;
}

const none: Readonly<Record<Priority, number>> = { high: 0, low: 0 };

/** `low` for work without an event: after a change of the leader, at a resync, and after an outage. */
export type Priority = 'high' | 'low';

/**
 * A queue of keys. Each key waits only once, is never processed twice at the same time, and is processed again if it was added
 * in the meantime. Keys of high priority go first, but every fourth start takes a key of low priority. Keys of low priority
 * have at most a quarter of the workers. Within a priority, namespaces take turns, and none can use every worker. The queue
 * contains only keys, so the work reads the current state.
 */
export class WorkQueue {
  readonly #deps: WorkQueueDeps;
  readonly #backoff: BackoffOptions;
  readonly #waiting: Readonly<Record<'urgent' | Priority, NamespaceTurns>> = {
    urgent: new NamespaceTurns(),
    high: new NamespaceTurns(),
    low: new NamespaceTurns(),
  };
  /** The active keys, with the priority of their start. */
  readonly #active = new Map<string, Priority>();
  /** How many keys of each namespace are active. */
  readonly #activeByNamespace = new Map<string, Readonly<Record<Priority, number>>>();
  /** The keys that were added while active, with the priority of their next start. */
  readonly #again = new Map<string, Priority>();
  /** How many keys of high priority have started since the last one of low priority. */
  #highInRow = 0;
  /** Cancels what each key waits for: a timer, or another call back. */
  readonly #waits = new Map<string, () => void>();
  /** The number of failures in a row. */
  readonly #failures = new Map<string, number>();
  #state: 'paused' | 'started' | 'stopped' = 'paused';
  #drained: (() => void) | undefined;
  /** Cancels the timer that checks the keys of busy namespaces again. */
  #cancelRecheck: (() => void) | undefined;

  constructor(deps: WorkQueueDeps) {
    this.#deps = deps;
    this.#backoff = deps.backoff ?? defaultBackoff;
  }

  /** How many keys wait for a worker; those that wait for a timer are not counted. */
  get length(): number {
    return this.#lanes.reduce((sum, { size }) => sum + size, 0);
  }

  /** Whether keys wait because all workers are busy, or as many as one namespace may have. */
  get isSaturated(): boolean {
    return this.length > 0 && this.#active.size >= Math.ceil(this.#maxActive * namespaceShare);
  }

  /** Whether no key is waiting or active. */
  get isIdle(): boolean {
    return this.#active.size === 0 && this.length === 0;
  }

  /** Starts to process keys, or continues after a pause. */
  start(): void {
    if (this.#state === 'paused') this.#state = 'started';
    this.pump();
  }

  /** Starts no further work until `start`. Keys are kept, and work in progress continues. */
  pause(): void {
    if (this.#state === 'started') this.#state = 'paused';
  }

  /** Adds a key, which is processed as soon as a worker is free. While the queue is paused, every key gets low priority. */
  add(key: string, priority: Priority = 'high'): void {
    if (this.#state === 'stopped') return;
    // The start enqueues everything anyway, with low priority.
    const effective = this.#state === 'paused' ? 'low' : priority;
    if (this.#active.has(key)) {
      if (this.#again.get(key) !== 'high') this.#again.set(key, effective);
      return;
    }
    this.#wait(key, effective);
    this.pump();
  }

  /** Adds a key after a delay in milliseconds. A key has one timer, which the last call sets. */
  addAfter(key: string, delayMs: number): void {
    if (this.#state === 'stopped') return;
    this.#addWhen(key, (ready) => this.#deps.clock.after(delayMs, ready));
  }

  #addWhen(key: string, wait: Wait, priority: Priority = 'high'): void {
    this.#cancelWait(key);
    const cancel = wait(() => {
      this.#waits.delete(key);
      this.add(key, priority);
    });
    this.#waits.set(key, cancel);
  }

  /** Whether a key is being processed now. */
  isActive(key: string): boolean {
    return this.#active.has(key);
  }

  /** Drops the state of a key: its place, its timer and its failures. Work in progress continues. */
  forget(key: string): void {
    for (const lane of this.#lanes) lane.delete(key);
    this.#again.delete(key);
    this.#failures.delete(key);
    this.#cancelWait(key);
  }

  /** Starts nothing more. Resolves when the work in progress has ended, or after `limitMs`. */
  async stop(limitMs: number): Promise<void> {
    this.#state = 'stopped';
    for (const lane of this.#lanes) lane.clear();
    this.#again.clear();
    for (const cancel of this.#waits.values()) cancel();
    this.#waits.clear();
    this.#cancelRecheck?.();
    if (this.#active.size === 0) return;
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#drained = resolve;
    const cancel = this.#deps.clock.after(limitMs, resolve);
    await promise;
    cancel();
  }

  get #maxActive(): number {
    const { workers = defaultWorkers } = this.#deps;
    return typeof workers === 'number' ? workers : workers();
  }

  get #lanes(): readonly NamespaceTurns[] {
    return Object.values(this.#waiting);
  }

  #wait(key: string, priority: Priority): void {
    const { urgent, high, low } = this.#waiting;
    const lane = this.#deps.isUrgent?.(key) === true ? 'urgent' : priority;
    if (urgent.has(key) || (lane === 'low' && high.has(key))) return;
    if (lane === 'urgent') high.delete(key);
    low.delete(key);
    this.#waiting[lane].add(key);
  }

  /** Starts as many keys as possible. Call it if `workers` returns more than before. */
  pump(): void {
    const { urgent } = this.#waiting;
    this.#begin(urgentFactor, (mayStart) => {
      const key = urgent.take(mayStart);
      return key === undefined ? undefined : { key, priority: 'high' };
    });
    this.#begin(1, (mayStart) => this.#take(mayStart));
  }

  #begin(factor: number, take: (mayStart: (namespace: string) => boolean) => Start | undefined): void {
    const workers = factor * this.#maxActive;
    const maxOfNamespace = Math.ceil(workers * namespaceShare);
    const mayStart = (namespace: string): boolean => {
      const { high, low } = this.#activeByNamespace.get(namespace) ?? none;
      return high + low < maxOfNamespace;
    };
    while (this.#state === 'started' && this.#active.size < workers) {
      const start = take(mayStart);
      if (start === undefined) return;
      void this.#work(start);
    }
  }

  /** Removes and returns the key to start next. */
  #take(mayStart: (namespace: string) => boolean): Start | undefined {
    const order: readonly Priority[] = this.#highInRow < maxHighInRow ? ['high', 'low'] : ['low', 'high'];
    for (const priority of order) {
      if (priority === 'low' && this.#isLowFull()) continue;
      const key = this.#waiting[priority].take(
        (namespace) => mayStart(namespace) && !this.#isLimited(namespace, priority),
      );
      if (key === undefined) continue;
      this.#highInRow = priority === 'high' ? this.#highInRow + 1 : 0;
      return { key, priority };
    }
    return undefined;
  }

  /** Whether keys of low priority use all their workers. */
  #isLowFull(): boolean {
    let active = 0;
    for (const { low } of this.#activeByNamespace.values()) active += low;
    return active >= Math.ceil(this.#maxActive * lowShare);
  }

  /**
   * Whether a namespace is busy and has work of this or a higher priority in progress. Its keys are then checked again
   * later. So work for an event does not wait for a resync of the same namespace.
   */
  #isLimited(namespace: string, priority: Priority): boolean {
    const { high, low } = this.#activeByNamespace.get(namespace) ?? none;
    const isAlone = priority === 'high' ? high === 0 : high + low === 0;
    if (isAlone || this.#deps.shares?.isBusy(namespace) !== true) return false;
    this.#cancelRecheck ??= this.#deps.clock.after(recheckMs, () => {
      this.#cancelRecheck = undefined;
      this.pump();
    });
    return true;
  }

  async #work({ key, priority }: Start): Promise<void> {
    this.#active.set(key, priority);
    this.#countActive({ key, priority }, 1);
    // The result of this work sets the next timer.
    this.#cancelWait(key);
    const next = await this.#process(key);
    this.#active.delete(key);
    this.#countActive({ key, priority }, -1);
    if (this.#state === 'stopped') {
      if (this.#active.size === 0) this.#drained?.();
      return;
    }
    this.#settle({ key, priority }, next);
    this.#deps.onInactive?.(key);
    this.pump();
  }

  async #process(key: string): Promise<Next> {
    try {
      return await this.#deps.process(key);
    } catch (error) {
      this.#deps.logger.error({ key, ...errorFields(error) }, workFailed);
      return { kind: 'retry' };
    }
  }

  #settle({ key, priority }: Start, next: Next): void {
    const failures = this.#failuresAfter(key, next);
    if (failures === 0) this.#failures.delete(key);
    else this.#failures.set(key, failures);
    const again = this.#again.get(key);
    this.#again.delete(key);
    if (again !== undefined) this.#wait(key, again);
    else if (next.kind === 'when') this.#addWhen(key, next.wait, priority);
    else if (next.kind === 'after') this.addAfter(key, next.delayMs);
    else if (next.kind === 'retry')
      this.addAfter(key, Math.max(next.minDelayMs ?? 0, backoffMs(failures, this.#backoff)));
  }

  #failuresAfter(key: string, { kind }: Next): number {
    const failures = this.#failures.get(key) ?? 0;
    if (kind === 'when') return failures;
    return kind === 'retry' ? failures + 1 : 0;
  }

  #countActive({ key, priority }: Start, change: 1 | -1): void {
    const { namespace } = parseObjectKey(key);
    if (change === 1) this.#deps.shares?.begin(namespace);
    else this.#deps.shares?.end(namespace);
    const before = this.#activeByNamespace.get(namespace) ?? none;
    const counts = { ...before, [priority]: before[priority] + change };
    if (counts.high + counts.low === 0) this.#activeByNamespace.delete(namespace);
    else this.#activeByNamespace.set(namespace, counts);
  }

  #cancelWait(key: string): void {
    this.#waits.get(key)?.();
    this.#waits.delete(key);
  }
}
