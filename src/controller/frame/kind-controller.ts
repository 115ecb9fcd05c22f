import { randomUUID } from 'node:crypto';
import type { ChangeEvent } from '../../services/change-feed.ts';
import { type ApiError, isApiStatus } from '../../kube/api-error.ts';
import { collectionPath } from '../../kube/custom-resources.ts';
import { objectKey, parseObjectKey } from '../../kube/objects.ts';
import { ReflectorGroup } from '../../kube/reflector-group.ts';
import { errorFields } from '../../lib/logger.ts';
import { EventChecks } from './event-checks.ts';
import { retryAfter, toDomainError } from './failure.ts';
import { Finalizers } from './finalizers.ts';
import type { KindRules, Round } from './kind-rules.ts';
import type { KindContext, ManagedKind } from './managed-kind.ts';
import { untilNamespaceEnded } from './namespaces.ts';
import { type Outcome, failureOutcome, nextStatus } from './outcome.ts';
import { OwnWrites } from './own-writes.ts';
import { type Asked, type Resource, askedBy, isSameAsk, isSuspended } from './resource.ts';
import { type ReportMemory, StatusReporter, statusPatch } from './status-report.ts';
import { type WakeThrottle, editThrottle } from './wake-throttle.ts';
import { type Next, WorkQueue } from './work-queue.ts';
import type { NamedWatch } from './named-watch.ts';

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
  readonly #edits: WakeThrottle;
  readonly #group: ReflectorGroup<T>;
  readonly #reporter: StatusReporter<T>;
  readonly #finalizers: Finalizers<T>;
  readonly #memories = new Map<string, Memory<T>>();
  /** The ending namespaces in which finalizers stay, for the rights there went first. */
  readonly #stranded = new Set<string>();

  /** `needs` are the watches of others that must have been listed before a resource may be reconciled. */
  constructor(context: KindContext, rules: KindRules<T>, needs: readonly NamedWatch[] = []) {
    const { kube, clock, logger, watchNamespaces, onWatchFailure, onRecovered, instance, namespaces, shares } = context;
    const { kind, plural, isNamespaced, action } = rules;
    this.#context = context;
    this.#rules = rules;
    this.#queue = new WorkQueue({
      clock,
      logger,
      shares,
      process: async (key) => await this.#process(key),
      onInactive: (key) => this.#checks.afterReconcile(key),
      // A namespace that ends leaves little time.
      isUrgent: (key) => namespaces.isEnding(parseObjectKey(key).namespace),
    });
    this.#checks = new EventChecks({ queue: this.#queue, deferredOf: (key) => this.#memories.get(key)?.deferred });
    this.#edits = editThrottle(clock, (key) => this.#checks.notice(key, () => this.#isEdited(key)));
    this.#group = new ReflectorGroup<T>({
      client: kube,
      clock,
      logger,
      namespaces: isNamespaced ? watchNamespaces : [],
      isGone: (name) => namespaces.isGone(name),
      source: (namespace) => ({ path: collectionPath(kind, namespace) }),
      handler: { onUpsert: (resource) => this.#seen(resource), onDelete: (resource) => this.#gone(resource) },
      onFailure: onWatchFailure,
      onRecovered,
    });
    this.watches = [{ name: plural, kind, group: this.#group }, ...needs];
    const events = { controller: `${kind.group}/${kind.kind.toLowerCase()}`, instance };
    this.#reporter = new StatusReporter<T>({ kind, action, client: kube, clock, logger, events });
    this.#finalizers = new Finalizers<T>({ kind, client: kube });
    namespaces.onEnding((name) => {
      this.#stranded.delete(name);
      this.wakeNamespaces(new Set([name]));
    });
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
    for (const key of this.#memories.keys()) this.#queue.add(key, 'low');
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
    for (const key of this.#memories.keys()) this.#queue.add(key, 'low');
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
      if (!isReconciled(resource, memory)) {
        // What is being deleted is let go without delay.
        if (resource.metadata.deletionTimestamp !== undefined) return true;
        this.#edits.wake(key);
        return false;
      }
      if (this.#finalizers.isOff(resource, this.#isCleanupNeeded(resource))) return true;
      const statusDiffers = statusPatch(resource.status, memory.status ?? {}) !== undefined;
      if (statusDiffers) this.#queue.addAfter(key, repairDelayMs);
      return false;
    });
  }

  #gone(resource: T): void {
    const key = objectKey(resource.metadata);
    this.#queue.forget(key);
    this.#edits.forget(key);
    this.#memories.delete(key);
    this.#rules.onGone?.(resource);
  }

  /** Whether a resource still asks for something else than the status reports on. */
  #isEdited(key: string): boolean {
    const memory = this.#memories.get(key);
    const resource = this.find(key);
    return memory !== undefined && resource !== undefined && !isReconciled(resource, memory);
  }

  async #process(key: string): Promise<Next> {
    const memory = this.#memories.get(key);
    const resource = this.find(key);
    if (memory === undefined || resource === undefined) return { kind: 'done' };
    const { clock, metrics } = this.#context;
    const beganAt = clock.now();
    const round: Round<T> = { key, resource, requestId: randomUUID() };
    memory.failure = undefined;
    const { deletionTimestamp } = resource.metadata;
    // A namespace's end is that of all that is in it, and may take the rights there along at any moment.
    const isLeaving = deletionTimestamp !== undefined || this.#isInEnding(resource);
    const { next, result } = isLeaving ? await this.#leave(round, memory) : await this.#converge(round, memory);
    if (result !== undefined) metrics.reconciled(this.#rules.kind.kind, result, clock.now() - beganAt);
    return next;
  }

  async #converge(round: Round<T>, memory: Memory<T>): Promise<Processed> {
    try {
      // Of a suspended resource, too: without the finalizer it could go and leave what it owns behind.
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
      return isSuspended(round.resource) ? await this.#suspended(round) : await this.#rules.reconcile(round);
    } catch (error) {
      return this.#failed(round.key, memory, error);
    }
  }

  /** Lets a resource go that is deleted, or will be with its namespace, once what it owns is undone. */
  async #leave(round: Round<T>, memory: Memory<T>): Promise<Processed> {
    const { resource, key } = round;
    const released = this.#isInEnding(resource) ? untilNamespaceEnded : ({ kind: 'done' } as const);
    if (!this.#finalizers.isHeld(resource)) return { next: released, result: undefined };
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
      memory.resource.record(resource.metadata.resourceVersion, await this.#finalizers.release(resource));
      return { next: released, result: 'Deleted' };
    } catch (error) {
      return await this.#finalizerFailed(round, memory, error);
    }
  }

  async #finalizerFailed(round: Round<T>, memory: Memory<T>, error: unknown): Promise<Processed> {
    // Gone, or changed by someone else: nothing that anybody has to be told.
    if (isApiStatus(error, 404)) return { next: { kind: 'done' }, result: undefined };
    if (isApiStatus(error, 409)) return { next: retryAfter(error), result: undefined };
    if (isApiStatus(error, 403) && this.#isInEnding(round.resource)) return this.#strand(round.resource, error);
    return await this.#report(round, memory, this.#failed(round.key, memory, error));
  }

  /** The end of a namespace took the rights in it along, so that nothing can be told there either. */
  #strand({ metadata: { namespace = '' } }: T, error: ApiError): Processed {
    const { kind, plural } = this.#rules.kind;
    if (!this.#stranded.has(namespace))
      this.#context.logger.error({ kind, namespace }, strandedMessage(plural, namespace));
    this.#stranded.add(namespace);
    return { next: retryAfter(error), result: undefined };
  }

  #failed(key: string, memory: Memory<T>, error: unknown): Outcome<T> {
    const failure = toDomainError(error);
    const { kind } = this.#rules.kind;
    if (failure.code === 'internal')
      this.#context.logger.error({ kind, key, ...errorFields(error) }, 'a reconcile failed');
    memory.failure = failure.code;
    return failureOutcome(failure);
  }

  async #suspended(round: Round<T>): Promise<Outcome<T>> {
    const { suspendedMessage = defaultSuspendedMessage, suspendedFields: fields = {}, whileSuspended } = this.#rules;
    const { message: note, next } = (await whileSuspended?.(round)) ?? {};
    const message = ['spec.suspend is true.', suspendedMessage, ...(note === undefined ? [] : [note])].join(' ');
    const claim = { progress: 'suspended', reason: 'Suspended', message } as const;
    return { claim, fields, ...(next === undefined ? {} : { next }) };
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

  #isInEnding({ metadata: { namespace = '' } }: T): boolean {
    return this.#context.namespaces.isEnding(namespace);
  }

  #isCleanupNeeded(resource: T): boolean {
    return this.#rules.cleanup?.isNeeded(resource) ?? false;
  }
}

/** Whether the status reports on what a resource asks for now. */
function isReconciled<T extends Resource>({ metadata }: T, { reconciled }: Memory<T>): boolean {
  return reconciled !== undefined && isSameAsk(reconciled, askedBy(metadata));
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

function strandedMessage(plural: string, namespace: string): string {
  return (
    `the rights in namespace ${namespace} went with it before its ${plural} were let go: what they owned is undone, but ` +
    `their finalizer holds the namespace until an admin runs \`kubectl get ${plural} --namespace ${namespace} --output name | ` +
    `xargs -n 1 kubectl patch --namespace ${namespace} --type=merge --patch '{"metadata":{"finalizers":null}}'\``
  );
}
