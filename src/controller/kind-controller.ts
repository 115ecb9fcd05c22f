import { randomUUID } from 'node:crypto';
import type { ChangeEvent } from '../services/change-feed.ts';
import { isApiStatus } from '../kube/api-error.ts';
import { type ResourceKind, collectionPath } from '../kube/custom-resources.ts';
import { objectKey, parseObjectKey } from '../kube/objects.ts';
import { ReflectorGroup } from '../kube/reflector-group.ts';
import { errorFields } from '../lib/logger.ts';
import { EventChecks } from './event-checks.ts';
import { retryAfter, toDomainError } from './failure.ts';
import { Finalizers } from './finalizers.ts';
import type { KindContext, ManagedKind, NamedWatch } from './managed-kind.ts';
import { type Outcome, type StatusFields, failureOutcome, nextStatus } from './outcome.ts';
import { OwnWrites } from './own-writes.ts';
import { type Asked, type Resource, askedBy, isSameAsk, isSuspended } from './resource.ts';
import { type ReportMemory, StatusReporter, statusPatch } from './status-report.ts';
import { type Next, WorkQueue } from './work-queue.ts';

/** One reconcile of one resource. */
export interface Round<T extends Resource> {
  /** `namespace/name`; `/name` for a kind of the cluster's. */
  readonly key: string;
  readonly resource: T;
  /** Under which the audit keeps what this reconcile does. */
  readonly requestId: string;
}

/** What makes one kind; everything else is the same for all that are built on KindController. */
export interface KindRules<T extends Resource> {
  readonly kind: ResourceKind;
  /** The kind in the plural, for people. */
  readonly plural: string;
  readonly isNamespaced: boolean;
  /** What Events say was done: one word, such as Mint. */
  readonly action: string;
  /** What is not done while `spec.suspend` is true, as a sentence. */
  readonly suspendedMessage?: string;
  /** What else the status tells then. */
  readonly suspendedFields?: StatusFields<T>;
  /** Sees to it that things are as the resource says. What it throws becomes the condition (see `failureOutcome`). */
  readonly reconcile: (round: Round<T>) => Promise<Outcome<T>>;
  /** For a kind whose resources own what must go with them. */
  readonly cleanup?: Cleanup<T>;
  /** The keys that a commit concerns; none by default. */
  readonly concernedBy?: (event: ChangeEvent) => Iterable<string>;
  /** Told of every version of a resource, before it is reconciled. */
  readonly onSeen?: (resource: T) => void;
  /** Told when a resource is gone: what is kept of it is to be dropped. */
  readonly onGone?: (resource: T) => void;
}

export interface Cleanup<T extends Resource> {
  /** Whether the resource as it is now must be cleaned up after: it gets the finalizer before it is reconciled, or loses it. */
  readonly isNeeded: (resource: T) => boolean;
  /**
   * Undoes what a deleted resource owns, again and again until it returns without throwing. With
   * `keyframe.dev/force-finalize: "true"` the resource goes even if it throws.
   */
  readonly run: (round: Round<T>) => Promise<void>;
}

interface Memory<T extends Resource> extends ReportMemory<T> {
  /** What the resource asked for when the status was last told. */
  reconciled: Asked | undefined;
  readonly deferred: (() => boolean)[];
}

// A status that someone else changed is put right soon, but not at once: two controllers of different minds would
// otherwise keep each other busy.
const repairDelayMs = 1000;
const defaultSuspendedMessage = 'Nothing is done.';

/**
 * What the simple kinds share: the watch, the queue, suspend, `keyframe.dev/reconcile-at`, the finalizer, one status
 * patch where something differs, and an Event where Ready's reason changed. A reconcile reads the present state of
 * everything, so it may be asked for at any time; `wake` and its like ask for it.
 */
export class KindController<T extends Resource> implements ManagedKind {
  readonly watches: readonly NamedWatch[];
  readonly #context: KindContext;
  readonly #rules: KindRules<T>;
  readonly #queue: WorkQueue;
  readonly #checks: EventChecks;
  readonly #group: ReflectorGroup<T>;
  readonly #reporter: StatusReporter<T>;
  readonly #finalizers: Finalizers<T>;
  readonly #memories = new Map<string, Memory<T>>();

  /** `needs` are the watches of others that must have been listed before a resource may be reconciled. */
  constructor(context: KindContext, rules: KindRules<T>, needs: readonly NamedWatch[] = []) {
    const { kube, clock, logger, watchNamespaces, onWatchFailure, onRecovered, instance } = context;
    const { kind, plural, isNamespaced, action } = rules;
    this.#context = context;
    this.#rules = rules;
    this.#queue = new WorkQueue({
      clock,
      logger,
      process: async (key) => await this.#process(key),
      onInactive: (key) => this.#checks.afterReconcile(key),
    });
    this.#checks = new EventChecks({ queue: this.#queue, deferredOf: (key) => this.#memories.get(key)?.deferred });
    this.#group = new ReflectorGroup<T>({
      client: kube,
      clock,
      logger,
      namespaces: isNamespaced ? watchNamespaces : [],
      source: (namespace) => ({ path: collectionPath(kind, namespace) }),
      handler: { onUpsert: (resource) => this.#seen(resource), onDelete: (resource) => this.#gone(resource) },
      onFailure: onWatchFailure,
      onRecovered,
    });
    this.watches = [{ name: plural, kind, group: this.#group }, ...needs];
    const events = { controller: `${kind.group}/${kind.kind.toLowerCase()}`, instance };
    this.#reporter = new StatusReporter<T>({ kind, action, client: kube, clock, logger, events });
    this.#finalizers = new Finalizers<T>({ kind, client: kube });
  }

  get queueLength(): number {
    return this.#queue.length;
  }

  /** A resource as the watch shows it, or as an own write left it where the watch is behind. */
  find(key: string): T | undefined {
    return this.#memories.get(key)?.resource.current(this.#group.get(key));
  }

  /** The keys of all resources that exist. */
  keys(): Iterable<string> {
    return this.#memories.keys();
  }

  /** Has a resource reconciled, if it exists; once more, if it is being reconciled at this moment. */
  wake(key: string): void {
    if (this.#memories.has(key)) this.#queue.add(key);
  }

  /** Has all resources of some namespaces reconciled. */
  wakeNamespaces(namespaces: ReadonlySet<string>): void {
    for (const key of this.#memories.keys()) if (namespaces.has(parseObjectKey(key).namespace)) this.#queue.add(key);
  }

  work(): void {
    for (const key of this.#memories.keys()) this.#queue.add(key);
    this.#queue.start();
  }

  pause(): void {
    this.#queue.pause();
  }

  committed(event: ChangeEvent): void {
    for (const key of this.#rules.concernedBy?.(event) ?? []) this.wake(key);
  }

  /** Reconciles everything once: what is as it should be costs its reads and no write. */
  compare(): Promise<void> {
    for (const key of this.#memories.keys()) this.#queue.add(key);
    return Promise.resolve();
  }

  async drain(limitMs: number): Promise<void> {
    await this.#queue.stop(limitMs);
  }

  close(): Promise<void> {
    return Promise.resolve();
  }

  #seen(resource: T): void {
    const key = objectKey(resource.metadata);
    const memory = this.#memories.get(key) ?? newMemory<T>();
    this.#memories.set(key, memory);
    this.#rules.onSeen?.(resource);
    this.#checks.notice(key, () => {
      if (!memory.resource.observe(resource)) return false;
      if (memory.reconciled === undefined || !isSameAsk(memory.reconciled, askedBy(resource.metadata))) return true;
      if (this.#finalizers.isOff(resource, this.#isCleanupNeeded(resource))) return true;
      const statusDiffers = statusPatch(resource.status, memory.status ?? {}) !== undefined;
      if (statusDiffers) this.#queue.addAfter(key, repairDelayMs);
      return false;
    });
  }

  #gone(resource: T): void {
    const key = objectKey(resource.metadata);
    this.#queue.forget(key);
    this.#memories.delete(key);
    this.#rules.onGone?.(resource);
  }

  async #process(key: string): Promise<Next> {
    const memory = this.#memories.get(key);
    const resource = this.find(key);
    if (memory === undefined || resource === undefined) return { kind: 'done' };
    const { clock, metrics } = this.#context;
    const beganAt = clock.now();
    const round: Round<T> = { key, resource, requestId: randomUUID() };
    memory.failure = undefined;
    const isDeleting = resource.metadata.deletionTimestamp !== undefined;
    const { next, result } = isDeleting ? await this.#leave(round, memory) : await this.#converge(round, memory);
    if (result !== undefined) metrics.reconciled(this.#rules.kind.kind, result, clock.now() - beganAt);
    return next;
  }

  async #converge(round: Round<T>, memory: Memory<T>): Promise<Processed> {
    if (isSuspended(round.resource)) return await this.#report(round, memory, this.#suspended());
    try {
      const resource = await this.#finalizers.ensure(round.resource, this.#isCleanupNeeded(round.resource));
      if (resource !== round.resource) memory.resource.record(round.resource.metadata.resourceVersion, resource);
      const ready = { ...round, resource };
      return await this.#report(ready, memory, await this.#reconciled(ready, memory));
    } catch (error) {
      return await this.#finalizerFailed(round, memory, error);
    }
  }

  async #reconciled(round: Round<T>, memory: Memory<T>): Promise<Outcome<T>> {
    try {
      return await this.#rules.reconcile(round);
    } catch (error) {
      return this.#failed(round.key, memory, error);
    }
  }

  /** Lets a deleted resource go, once what it owns is undone. */
  async #leave(round: Round<T>, memory: Memory<T>): Promise<Processed> {
    const { resource, key } = round;
    if (!this.#finalizers.isHeld(resource)) return { next: { kind: 'done' }, result: undefined };
    try {
      if (this.#isCleanupNeeded(resource)) await this.#rules.cleanup?.run(round);
    } catch (error) {
      if (!this.#finalizers.isForced(resource)) {
        const claim = this.#finalizers.heldClaim(this.#failed(key, memory, error).claim);
        return await this.#report(round, memory, { claim, next: retryAfter(error) });
      }
      this.#context.logger.warn({ key, ...errorFields(error) }, 'a resource goes by force, and what it owns stays');
    }
    try {
      const released = await this.#finalizers.release(resource);
      memory.resource.record(resource.metadata.resourceVersion, released);
      return { next: { kind: 'done' }, result: 'Deleted' };
    } catch (error) {
      return await this.#finalizerFailed(round, memory, error);
    }
  }

  async #finalizerFailed(round: Round<T>, memory: Memory<T>, error: unknown): Promise<Processed> {
    // Gone, or changed by someone else: nothing that anybody has to be told.
    if (isApiStatus(error, 404)) return { next: { kind: 'done' }, result: undefined };
    if (isApiStatus(error, 409)) return { next: retryAfter(error), result: undefined };
    return await this.#report(round, memory, this.#failed(round.key, memory, error));
  }

  #failed(key: string, memory: Memory<T>, error: unknown): Outcome<T> {
    const failure = toDomainError(error);
    const { kind } = this.#rules.kind;
    if (failure.code === 'internal')
      this.#context.logger.error({ kind, key, ...errorFields(error) }, 'a reconcile failed');
    memory.failure = failure.code;
    return failureOutcome(failure);
  }

  #suspended(): Outcome<T> {
    const { suspendedMessage = defaultSuspendedMessage, suspendedFields: fields = {} } = this.#rules;
    const message = `spec.suspend is true. ${suspendedMessage}`;
    return { claim: { progress: 'suspended', reason: 'Suspended', message }, fields };
  }

  async #report({ key, resource }: Round<T>, memory: Memory<T>, outcome: Outcome<T>): Promise<Processed> {
    const { claim, next = { kind: 'done' } } = outcome;
    const status = nextStatus(resource, memory.status, outcome, this.#context.clock.now());
    const onTold = (): void => {
      memory.reconciled = askedBy(resource.metadata);
    };
    const told = await this.#reporter.report({ key, resource, memory }, { claim, status, next, onTold });
    return { next: told, result: claim.reason };
  }

  #isCleanupNeeded(resource: T): boolean {
    return this.#rules.cleanup?.isNeeded(resource) ?? false;
  }
}

interface Processed {
  readonly next: Next;
  /** The reason that was told; undefined where nothing was. */
  readonly result: string | undefined;
}

function newMemory<T extends Resource>(): Memory<T> {
  return {
    resource: new OwnWrites<T>(),
    status: undefined,
    reconciled: undefined,
    reason: undefined,
    failure: undefined,
    deferred: [],
  };
}
