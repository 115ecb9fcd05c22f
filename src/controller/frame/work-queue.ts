import { type BackoffOptions, backoffMs } from '../../lib/backoff.ts';
import type { Clock } from '../../lib/clock.ts';
import { type Logger, errorFields } from '../../observability/logger.ts';
import { parseObjectKey } from '../../kube/client/objects.ts';
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
   * How many keys are worked on at once; default 24. With keys that are urgent, four times as many. One namespace has two
   * thirds of them at most. A function is called before each start.
   */
  readonly workers?: number | (() => number);
  /**
   * What the namespaces use; default: it is not counted. A namespace that uses more than its share has one worker at a time
   * for each priority.
   */
  readonly shares?: NamespaceShares | undefined;
  readonly backoff?: BackoffOptions;
}

const defaultWorkers = 24;
// The rest is for other namespaces, however long the work of one namespace takes.
const namespaceShare = 2 / 3;
// What is urgent waits for the database and the API server for the most part.
const urgentFactor = 4;
// A namespace that was busy may have all its workers again before the work of its one worker ends.
const recheckMs = 1_000;
const defaultBackoff: BackoffOptions = { initialMs: 500, maxMs: 300_000 };
// Of the workers, how many keys of low priority may have. More of them make each change slower, and a takeover hardly quicker.
const lowShare = 1 / 4;
// A key of low priority starts after at most so many keys of high priority, so that a resync ends beside busy namespaces.
const maxHighInRow = 3;

/** A key that is started. What is urgent counts as of high priority. */
interface Start {
  readonly key: string;
  readonly priority: Priority;
}

const none: Readonly<Record<Priority, number>> = { high: 0, low: 0 };

/** `low` for work that no event asked for: after a change of the leader, at a resync, and after an outage. */
export type Priority = 'high' | 'low';

/**
 * Keys to work on: each waits once however often it is added, is never worked on twice at the same time, and is worked
 * on once more when it was added meanwhile. Keys of high priority go first, but every fourth start takes a key of low
 * priority, which have a quarter of the workers at most. Within a priority namespaces take turns, and none can occupy every worker.
 * The queue holds keys alone, so the work reads the present state.
 */
export class WorkQueue {
  readonly #deps: WorkQueueDeps;
  readonly #backoff: BackoffOptions;
  readonly #waiting: Readonly<Record<'urgent' | Priority, NamespaceTurns>> = {
    urgent: new NamespaceTurns(),
    high: new NamespaceTurns(),
    low: new NamespaceTurns(),
  };
  /** With the priority that they were started at. */
  readonly #active = new Map<string, Priority>();
  /** How many keys of each namespace are active. */
  readonly #activeByNamespace = new Map<string, Readonly<Record<Priority, number>>>();
  /** Added while active, with the priority to start them at. */
  readonly #again = new Map<string, Priority>();
  /** How many keys of high priority have started since the last one of low priority. */
  #highInRow = 0;
  readonly #timers = new Map<string, () => void>();
  /** Failures in a row. */
  readonly #failures = new Map<string, number>();
  #state: 'paused' | 'started' | 'stopped' = 'paused';
  #drained: (() => void) | undefined;
  /** Cancels the look at keys that waited because their namespace was busy. */
  #cancelRecheck: (() => void) | undefined;

  constructor(deps: WorkQueueDeps) {
    this.#deps = deps;
    this.#backoff = deps.backoff ?? defaultBackoff;
  }

  /** How many keys wait for a worker; those that wait for a timer are not counted. */
  get length(): number {
    return this.#lanes.reduce((sum, { size }) => sum + size, 0);
  }

  /** Whether keys wait because workers are busy: all of them, or as many as one namespace may have. */
  get isSaturated(): boolean {
    return this.length > 0 && this.#active.size >= Math.ceil(this.#maxActive * namespaceShare);
  }

  /** Whether no key waits for a worker or has one. */
  get isIdle(): boolean {
    return this.#active.size === 0 && this.length === 0;
  }

  /** Begins to work on what was added so far, or goes on after a pause. */
  start(): void {
    if (this.#state === 'paused') this.#state = 'started';
    this.pump();
  }

  /** Begins no further work until `start`. Keys are kept, and work under way ends as it would. */
  pause(): void {
    if (this.#state === 'started') this.#state = 'paused';
  }

  /** Works on a key as soon as a worker is free. While the queue is paused, every key gets low priority. */
  add(key: string, priority: Priority = 'high'): void {
    if (this.#state === 'stopped') return;
    // Whatever happens before the start, the start asks for everything.
    const effective = this.#state === 'paused' ? 'low' : priority;
    if (this.#active.has(key)) {
      if (this.#again.get(key) !== 'high') this.#again.set(key, effective);
      return;
    }
    this.#wait(key, effective);
    this.pump();
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
    for (const lane of this.#lanes) lane.delete(key);
    this.#again.delete(key);
    this.#failures.delete(key);
    this.#cancelTimer(key);
  }

  /** Takes nothing more on, and resolves when the work under way has ended, or after `limitMs`. */
  async stop(limitMs: number): Promise<void> {
    this.#state = 'stopped';
    for (const lane of this.#lanes) lane.clear();
    this.#again.clear();
    for (const cancel of this.#timers.values()) cancel();
    this.#timers.clear();
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

  /** Starts what may start. Call it if `workers` returns more than before. */
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

  /** Whether keys of low priority have all the workers that they may have. */
  #isLowFull(): boolean {
    let active = 0;
    for (const { low } of this.#activeByNamespace.values()) active += low;
    return active >= Math.ceil(this.#maxActive * lowShare);
  }

  /**
   * Whether a namespace uses more than its share and has work of this priority, or of a higher one, under way; its keys are
   * looked at again later then. So what an event asks for does not wait for a resync of the same namespace.
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
    // The work decides again when to come back.
    this.#cancelTimer(key);
    const next = await this.#process(key);
    this.#active.delete(key);
    this.#countActive({ key, priority }, -1);
    if (this.#state === 'stopped') {
      if (this.#active.size === 0) this.#drained?.();
      return;
    }
    this.#settle(key, next);
    this.#deps.onInactive?.(key);
    this.pump();
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
    const again = this.#again.get(key);
    this.#again.delete(key);
    if (again !== undefined) this.#wait(key, again);
    else if (next.kind === 'after') this.addAfter(key, next.delayMs);
    else if (next.kind === 'retry')
      this.addAfter(key, Math.max(next.minDelayMs ?? 0, backoffMs(failures, this.#backoff)));
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

  #cancelTimer(key: string): void {
    this.#timers.get(key)?.();
    this.#timers.delete(key);
  }
}
