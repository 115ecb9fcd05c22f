import { randomUUID } from 'node:crypto';
import { isDeepStrictEqual } from 'node:util';
import { collectionPath } from '../../kube/client/custom-resources.ts';
import { objectKey, parseObjectKey } from '../../kube/client/objects.ts';
import { ReflectorGroup } from '../../kube/informer/reflector-group.ts';
import { reconcileAtAnnotation } from '../annotations.ts';
import type { ReadyClaim } from './conditions.ts';
import { type ControllerEvent, Dependencies, Seen, isStale, staleEvents, union } from './dependencies.ts';
import { EventChecks } from './event-checks.ts';
import type { KindRules, ReconcileContext } from './kind-rules.ts';
import type { KindContext, ManagedKind } from './managed-kind.ts';
import { NamespaceKeys } from './namespace-keys.ts';
import { untilNamespaceEnded } from './namespaces.ts';
import type { NamedWatch } from './named-watch.ts';
import type { Outcome, ReportedOutcome } from './outcome.ts';
import { Expectations } from './expectations.ts';
import { type Processed, Reconciliations } from './reconciliations.ts';
import { type Request, type Resource, requestOf } from './resource.ts';
import { staleResources } from './resync.ts';
import { StatusLane, reasonOf, statusPatch } from './status-lane.ts';
import { Throttle, editThrottle } from './throttle.ts';
import { type Next, type Priority, WorkQueue } from './work-queue.ts';

/** The state of one resource between reconciles. All of it can be lost. */
interface ResourceState<T extends Resource> {
  readonly resource: Expectations<T>;
  /** The request of the resource at the last reconcile. */
  reconciled: Request | undefined;
  /** The reason of the last outcome, even if the status does not report it yet. */
  reason: string | undefined;
  /** Whether the last reconcile failed with an error that is retried. */
  isTransient: boolean;
  /** Checks of events about the resource itself that came during its reconcile. */
  readonly deferred: (() => boolean)[];
}

/** A reconcile in progress. */
interface Run<T extends Resource> {
  readonly resource: T;
  readonly state: ResourceState<T>;
  readonly term: number;
  /** The position of the event log before the first read. */
  readonly position: number;
  readonly seen: Seen;
}

// The delay before a status is repaired that another client has changed. Without it, two controllers that disagree would
// keep each other busy.
const repairDelayMs = 1000;
// Waits only for patches in progress. The next leader reports the rest.
const statusDrainMs = 2000;
// The minimum interval between reconciles of a resource whose events are throttled.
const throttleMs = 1000;
// The same for a resource whose work is large and fruitless.
const fruitlessMs = 10_000;

/**
 * The controller of one kind: the watch, the queue, suspension, `keyframe.dev/reconcile-at`, the finalizer, the status, and
 * the events that make a result stale. A reconcile reads the current state of everything that it needs, and notes what it
 * saw (`ReconcileContext.seen`). An event about any of these subjects causes another reconcile.
 */
export class KindController<T extends Resource, O extends ReportedOutcome = Outcome<T>> implements ManagedKind {
  readonly watch: NamedWatch;
  readonly watches: readonly NamedWatch[];
  readonly #context: KindContext;
  readonly #rules: KindRules<T, O>;
  readonly #queue: WorkQueue;
  readonly #statuses: StatusLane<T, O>;
  readonly #checks: EventChecks;
  readonly #edits: Throttle;
  readonly #throttle: Throttle;
  readonly #fruitless: Throttle;
  readonly #group: ReflectorGroup<T>;
  readonly #reconciliations: Reconciliations<T, O>;
  readonly #states = new Map<string, ResourceState<T>>();
  readonly #keys = new NamespaceKeys();
  readonly #dependencies = new Dependencies();
  readonly #runs = new Map<string, Run<T>>();
  /** How often this process has started or stopped leading. */
  #term = 0;

  /** `others` are the watches that the rules need besides that of the kind. */
  constructor(context: KindContext, rules: KindRules<T, O>, others: readonly NamedWatch[] = []) {
    const { kube, clock, serverNow, logger, shares, instance, namespaces } = context;
    const { watchNamespaces, onWatchFailure, onRecovered } = context;
    const { kind, plural, isNamespaced } = rules;
    this.#context = context;
    this.#rules = rules;
    this.#queue = new WorkQueue({
      clock,
      logger,
      shares,
      process: async (key) => await this.#process(key),
      onInactive: (key) => this.#settle(key),
      // The rights in a namespace that is being deleted can be deleted at any time.
      isUrgent: (key) => rules.endsWithNamespace !== true && namespaces.isEnding(parseObjectKey(key).namespace),
    });
    this.#statuses = new StatusLane<T, O>({
      rules,
      client: kube,
      clock,
      serverNow,
      logger,
      shares,
      events: { controller: `${kind.group}/${kind.kind.toLowerCase()}`, instance },
      find: (key) => this.find(key),
      areReconcilesWaiting: () => this.#queue.isSaturated,
      onPatched: (key, base, patched) => this.#states.get(key)?.resource.record(base, patched),
      onInactive: (key) => this.#judgeOwnEvents(key),
    });
    this.#checks = new EventChecks({
      queue: { add: (key) => this.#queue.add(key), isActive: (key) => this.#isBusy(key) },
      deferredOf: (key) => this.#states.get(key)?.deferred,
    });
    this.#edits = editThrottle(clock, (key) => this.#checks.notice(key, () => this.#isEdited(key)));
    const enqueue = (key: string): void => this.enqueue(key);
    this.#throttle = new Throttle({ clock, intervalMs: throttleMs, enqueue });
    this.#fruitless = new Throttle({ clock, intervalMs: fruitlessMs, enqueue });
    this.#group = new ReflectorGroup<T>({
      client: kube,
      clock,
      logger,
      namespaces: isNamespaced ? watchNamespaces : [],
      isGone: (name) => namespaces.isGone(name),
      source: (namespace) => ({ path: collectionPath(kind, namespace) }),
      handler: { onUpsert: (resource) => this.#appeared(resource), onDelete: (resource) => this.#gone(resource) },
      onFailure: onWatchFailure,
      onRecovered,
    });
    this.watch = { name: plural, kind, group: this.#group };
    this.watches = [this.watch, ...others];
    this.#reconciliations = new Reconciliations<T, O>({
      rules,
      client: kube,
      logger,
      statuses: this.#statuses,
      find: (key) => this.find(key),
    });
    context.events.onEvent((event) => this.#onEvent(event));
    if (rules.endsWithNamespace !== true) namespaces.onEnding((name) => this.#namespaceEnds(name));
  }

  get queueLength(): number {
    return this.#queue.length;
  }

  /** A resource from the watch, or from an own write that is newer. */
  find(key: string): T | undefined {
    return this.#states.get(key)?.resource.current(this.#group.get(key));
  }

  /** The keys of all resources that exist. */
  keys(): Iterable<string> {
    return this.#states.keys();
  }

  /** The keys of all resources in a namespace. */
  keysIn(namespace: string): Iterable<string> {
    return this.#keys.in(namespace);
  }

  /** Whether the resources of a namespace have been listed. Returns false for one that is not watched. */
  hasListed(namespace: string): boolean {
    return this.#group.hasListed(namespace);
  }

  /** Enqueues a resource if it exists. If it is being reconciled now, it is reconciled again afterwards. */
  enqueue(key: string, priority: Priority = 'high'): void {
    if (this.#states.has(key)) this.#queue.add(key, priority);
  }

  /** Reports the newest outcome of a resource again, with other parts of its status updated. Does not reconcile it. */
  refreshStatus(key: string): void {
    this.#statuses.refresh(key);
  }

  startLeading(): void {
    this.#term += 1;
    for (const key of this.#states.keys()) this.#queue.add(key, 'low');
    this.#queue.start();
    this.#statuses.start();
  }

  stopLeading(): void {
    this.#term += 1;
    this.#queue.pause();
    this.#statuses.pause();
    // A standby needs no dependencies: when it leads again, it reconciles everything.
    this.#dependencies.clear();
  }

  async resync(): Promise<void> {
    const { changes } = this.#rules;
    const all = this.#states.keys();
    const due = new Set(changes === undefined ? all : await staleResources(this.#dependencies, all, changes));
    for (const [key, { isTransient }] of this.#states) {
      // A reconcile reports the status anyway.
      if (isTransient || due.has(key)) this.#queue.add(key, 'low');
      else this.#statuses.retry(key);
    }
  }

  async drain(limitMs: number): Promise<void> {
    await this.#queue.stop(limitMs);
    await this.#statuses.drain(Math.min(limitMs, statusDrainMs));
  }

  close(): Promise<void> {
    return Promise.resolve();
  }

  #onEvent(event: ControllerEvent): void {
    for (const [key, dependency] of this.#dependencies.dependents(event)) {
      // Events during a reconcile are checked at its end.
      if (!this.#queue.isActive(key) && isStale(dependency, event)) this.#becameStale(key, [event]);
    }
  }

  #becameStale(key: string, events: readonly ControllerEvent[]): void {
    const { isThrottled, isFruitless } = this.#rules;
    if (events.every(({ kind }) => kind === 'environment') && isFruitless?.(key) === true) this.#fruitless.enqueue(key);
    else if (events.every((event) => isThrottled?.(key, event) === true)) this.#throttle.enqueue(key);
    else this.enqueue(key);
  }

  /** Checks the events that came during a reconcile. Call it as soon as the resource is no longer active. */
  #settle(key: string): void {
    const run = this.#runs.get(key);
    this.#runs.delete(key);
    const isSame = run !== undefined && run.state === this.#states.get(key) && run.term === this.#term;
    if (isSame) this.#settleRun(key, run);
    // It was deleted during the reconcile, which may have stored something about it.
    if (run !== undefined && !this.#states.has(key)) this.#rules.onGone?.(run.resource);
    this.#judgeOwnEvents(key);
    if (this.#queue.isIdle) this.#statuses.endHold();
  }

  #settleRun(key: string, { state, position, seen }: Run<T>): void {
    const { dependencies: fresh } = seen;
    const dependencies = state.isTransient ? union(this.#dependencies.of(key), fresh) : fresh;
    this.#dependencies.set(key, dependencies);
    const events = this.#context.events.since(position);
    this.#rules.onSettled?.(key, dependencies);
    if (events === undefined) {
      // Events about objects that the controller itself writes may have been dropped.
      for (const { expectations } of dependencies.values()) expectations?.reset();
      this.enqueue(key);
      return;
    }
    const stale = staleEvents(dependencies, events);
    if (stale.length > 0) this.#becameStale(key, stale);
  }

  /** Whether the resource itself may be written at the moment. */
  #isBusy(key: string): boolean {
    return this.#queue.isActive(key) || this.#statuses.isActive(key);
  }

  #judgeOwnEvents(key: string): void {
    if (!this.#isBusy(key)) this.#checks.afterReconcile(key);
  }

  #appeared(resource: T): void {
    const key = objectKey(resource.metadata);
    const state = this.#states.get(key) ?? newState<T>();
    this.#states.set(key, state);
    this.#keys.add(key);
    this.#rules.onSeen?.(resource);
    this.#checks.notice(key, () => {
      const isExternal = state.resource.observe(resource.metadata.resourceVersion);
      this.#statuses.retry(key);
      // A later write of the status may have replaced the version with the request.
      const newest = this.find(key) ?? resource;
      if (!this.#isReconciled(newest, state)) {
        // A deletion is handled without delay.
        if (newest.metadata.deletionTimestamp !== undefined) return true;
        this.#edits.enqueue(key);
        return false;
      }
      if (!isExternal) return false;
      if (this.#reconciliations.isFinalizerOff(resource)) return true;
      if (this.#isStatusChanged(key, resource)) this.#queue.addAfter(key, repairDelayMs);
      return false;
    });
  }

  /** Whether another client has changed the status. */
  #isStatusChanged(key: string, { status }: T): boolean {
    return this.#statuses.isReported(key) && statusPatch(status, this.#statuses.known(key) ?? {}) !== undefined;
  }

  #gone(resource: T): void {
    const key = objectKey(resource.metadata);
    this.#queue.forget(key);
    this.#statuses.forget(key);
    this.#edits.forget(key);
    this.#throttle.forget(key);
    this.#fruitless.forget(key);
    this.#states.delete(key);
    this.#keys.delete(key);
    this.#dependencies.delete(key);
    this.#rules.onGone?.(resource);
  }

  #namespaceEnds(name: string): void {
    this.#reconciliations.namespaceEnds(name);
    for (const key of this.keysIn(name)) this.#queue.add(key);
  }

  /** Whether the request of a resource differs from that of its last reconcile. */
  #isEdited(key: string): boolean {
    const state = this.#states.get(key);
    const resource = this.find(key);
    return state !== undefined && resource !== undefined && !this.#isReconciled(resource, state);
  }

  #isReconciled(resource: T, { reconciled }: ResourceState<T>): boolean {
    return isDeepStrictEqual(reconciled, this.#requestOf(resource));
  }

  #requestOf(resource: T): Request {
    return requestOf(resource, this.#rules.requestAnnotations);
  }

  async #process(key: string): Promise<Next> {
    const state = this.#states.get(key);
    const resource = this.find(key);
    if (state === undefined || resource === undefined) return { kind: 'done' };
    const isEnding = this.#context.namespaces.isEnding(parseObjectKey(key).namespace);
    if (isEnding && this.#rules.endsWithNamespace === true) return untilNamespaceEnded;
    const { clock, metrics, events } = this.#context;
    const beganAt = clock.now();
    const run: Run<T> = { resource, state, term: this.#term, position: events.position, seen: new Seen() };
    this.#runs.set(key, run);
    const context: ReconcileContext<T> = {
      key,
      resource,
      requestId: randomUUID(),
      seen: run.seen,
      isForced: isForced(resource, state),
    };
    const processed = await this.#reconciliations.run(context, {
      isEnding,
      onWritten: (base, changed) => state.resource.record(base.metadata.resourceVersion, changed),
    });
    const { next, result } = this.#report(context, run, processed);
    if (result !== undefined) metrics.reconciled(this.#rules.kind.kind, result, clock.now() - beganAt);
    return next;
  }

  #report({ key }: ReconcileContext<T>, { state, term }: Run<T>, processed: Processed<T, O>): Finished {
    state.isTransient = processed.isTransient;
    const { next, released, reported } = processed;
    if (reported === undefined) return { next, result: released ? 'Deleted' : undefined };
    const { resource, outcome } = reported;
    const { claim } = outcome;
    this.#log(key, claim, state.reason ?? reasonOf(resource.status, 'Ready'));
    state.reason = claim.reason;
    // Otherwise another process leads or has led since, and reports.
    if (term === this.#term && this.#states.get(key) === state) {
      state.reconciled = this.#requestOf(resource);
      this.#statuses.report(key, resource, outcome);
    }
    return { next, result: claim.reason };
  }

  #log(key: string, { progress, reason, message }: ReadyClaim, reasonBefore: string | undefined): void {
    const level = reason === reasonBefore ? 'debug' : progress === 'done' || progress === 'suspended' ? 'info' : 'warn';
    this.#context.logger[level]({ kind: this.#rules.kind.kind, key, reason }, message);
  }
}

interface Finished {
  readonly next: Next;
  /** The result for the metrics; undefined if nothing was done. */
  readonly result: string | undefined;
}

function newState<T extends Resource>(): ResourceState<T> {
  return {
    resource: new Expectations<T>(),
    reconciled: undefined,
    reason: undefined,
    isTransient: false,
    deferred: [],
  };
}

function isForced<T extends Resource>({ metadata }: T, { reconciled }: ResourceState<T>): boolean {
  const asked = metadata.annotations?.[reconcileAtAnnotation];
  return reconciled !== undefined && reconciled.annotations[reconcileAtAnnotation] !== asked;
}
