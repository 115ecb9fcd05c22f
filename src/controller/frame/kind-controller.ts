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

/** What is remembered of one resource between reconciles. All of it can be lost. */
interface ResourceState<T extends Resource> {
  readonly resource: Expectations<T>;
  /** What the resource asked for at the last reconcile. */
  reconciled: Request | undefined;
  /** The reason that the last reconcile came to, whether or not the status reports it yet. */
  reason: string | undefined;
  /** Whether the last reconcile failed with something that passes by itself. */
  isTransient: boolean;
  /** Events about the resource itself that came while it was worked on. */
  readonly deferred: (() => boolean)[];
}

/** A reconcile under way. */
interface Run<T extends Resource> {
  readonly resource: T;
  readonly state: ResourceState<T>;
  readonly term: number;
  /** The position of the event log before the first look. */
  readonly position: number;
  readonly seen: Seen;
}

// A status that another client changed is put right soon, but not at once: two controllers of different minds would
// otherwise keep each other busy.
const repairDelayMs = 1000;
// Only the patches under way are waited for: the next leader reports the rest.
const statusDrainMs = 2000;
// The interval of resources that must wait after an event.
const throttleMs = 1000;

/**
 * The controller of one kind: the watch, the queue, suspension, `keyframe.dev/reconcile-at`, the finalizer, the status, and
 * the events that make a result stale. A reconcile reads the present state of everything it needs, and notes what it saw
 * (`ReconcileContext.seen`). An event about any of that has the resource reconciled again.
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
  readonly #group: ReflectorGroup<T>;
  readonly #reconciliations: Reconciliations<T, O>;
  readonly #states = new Map<string, ResourceState<T>>();
  readonly #keys = new NamespaceKeys();
  readonly #dependencies = new Dependencies();
  readonly #runs = new Map<string, Run<T>>();
  /** Counts the times in which this process began or ceased to lead. */
  #term = 0;

  /** `others` are the watches that the rules need beside that of the kind. */
  constructor(context: KindContext, rules: KindRules<T, O>, others: readonly NamedWatch[] = []) {
    const { kube, clock, logger, watchNamespaces, onWatchFailure, onRecovered, instance, namespaces, shares } = context;
    const { kind, plural, isNamespaced } = rules;
    this.#context = context;
    this.#rules = rules;
    this.#queue = new WorkQueue({
      clock,
      logger,
      shares,
      process: async (key) => await this.#process(key),
      onInactive: (key) => this.#settle(key),
      // A namespace that ends leaves little time.
      isUrgent: (key) => rules.endsWithNamespace !== true && namespaces.isEnding(parseObjectKey(key).namespace),
    });
    this.#statuses = new StatusLane<T, O>({
      rules,
      client: kube,
      clock,
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
    this.#throttle = new Throttle({ clock, intervalMs: throttleMs, enqueue: (key) => this.enqueue(key) });
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

  /** A resource as the watch shows it, or as an own write left it if the watch is behind. */
  find(key: string): T | undefined {
    return this.#states.get(key)?.resource.current(this.#group.get(key));
  }

  /** The keys of all resources that exist. */
  keys(): Iterable<string> {
    return this.#states.keys();
  }

  /** The keys of those of a namespace. */
  keysIn(namespace: string): Iterable<string> {
    return this.#keys.in(namespace);
  }

  /** Has a resource reconciled, if it exists; once more, if it is being reconciled at this moment. */
  enqueue(key: string, priority: Priority = 'high'): void {
    if (this.#states.has(key)) this.#queue.add(key, priority);
  }

  /** Reports the newest outcome of a resource again, with what has changed beside it. Nothing else is looked at. */
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
    // A stand-by needs to know of nothing: when it leads again, it reconciles everything.
    this.#dependencies.clear();
  }

  async resync(): Promise<void> {
    const { changes } = this.#rules;
    const all = this.#states.keys();
    const due = new Set(changes === undefined ? all : await staleResources(this.#dependencies, all, changes));
    for (const [key, { isTransient }] of this.#states) {
      // A reconcile reports anyway.
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
      // At its end, a reconcile judges what came meanwhile.
      if (!this.#queue.isActive(key) && isStale(dependency, event)) this.#becameStale(key, [event]);
    }
  }

  #becameStale(key: string, events: readonly ControllerEvent[]): void {
    const { isThrottled } = this.#rules;
    if (events.every((event) => isThrottled?.(key, event) === true)) this.#throttle.enqueue(key);
    else this.enqueue(key);
  }

  /** Judges what came during a reconcile. Call it at the moment in which the resource is no longer active. */
  #settle(key: string): void {
    const run = this.#runs.get(key);
    this.#runs.delete(key);
    const isSame = run !== undefined && run.state === this.#states.get(key) && run.term === this.#term;
    if (isSame) this.#settleRun(key, run);
    // It was deleted before the reconcile made a note of it.
    if (run !== undefined && !this.#states.has(key)) this.#rules.onGone?.(run.resource);
    this.#judgeOwnEvents(key);
    if (this.#queue.isIdle) this.#statuses.reconcilesEnded();
  }

  #settleRun(key: string, { state, position, seen }: Run<T>): void {
    const { dependencies: fresh } = seen;
    const dependencies = state.isTransient ? union(this.#dependencies.of(key), fresh) : fresh;
    this.#dependencies.set(key, dependencies);
    const events = this.#context.events.since(position);
    this.#rules.onSettled?.(key, dependencies);
    if (events === undefined) {
      // Events about what the controller itself writes may be among those that were dropped.
      for (const { expectations } of dependencies.values()) expectations?.reset();
      this.enqueue(key);
      return;
    }
    const stale = staleEvents(dependencies, events);
    if (stale.length > 0) this.#becameStale(key, stale);
  }

  /** Whether the resource itself may be being written. */
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
      // A status that was written since may have replaced the very version that asks for something.
      const newest = this.find(key) ?? resource;
      if (!this.#isReconciled(newest, state)) {
        // What is being deleted is let go without delay.
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
    this.#states.delete(key);
    this.#keys.delete(key);
    this.#dependencies.delete(key);
    this.#rules.onGone?.(resource);
  }

  #namespaceEnds(name: string): void {
    this.#reconciliations.namespaceEnds(name);
    for (const key of this.keysIn(name)) this.#queue.add(key);
  }

  /** Whether a resource still asks for something else than at its last reconcile. */
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
    // Another one leads, or has led since: it reports.
    if (term === this.#term && this.#states.get(key) === state) {
      state.reconciled = this.#requestOf(resource);
      this.#statuses.report(key, resource, outcome);
    }
    return { next, result: claim.reason };
  }

  #log(key: string, { progress, reason, message }: ReadyClaim, reasonBefore: string | undefined): void {
    const level =
      reason === reasonBefore ? 'debug' : progress === 'reconciling' || progress === 'stalled' ? 'warn' : 'info';
    this.#context.logger[level]({ kind: this.#rules.kind.kind, key, reason }, message);
  }
}

interface Finished {
  readonly next: Next;
  /** What the metrics count; undefined if nothing was done. */
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
