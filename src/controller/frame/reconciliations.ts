import { DomainError } from '../../domain/errors/domain-error.ts';
import { isApiStatus } from '../../kube/client/api-error.ts';
import type { KubeClient } from '../../kube/client/client.ts';
import { type Logger, errorFields } from '../../observability/logger.ts';
import { isInternal, retryAfter } from './failure.ts';
import { Finalizers } from './finalizers.ts';
import type { KindRules, ReconcileContext } from './kind-rules.ts';
import { type NamedWatch, watchError } from './named-watch.ts';
import { untilNamespaceEnded } from './namespaces.ts';
import type { DeferredOutcome, ReportedOutcome } from './outcome.ts';
import { type Resource, isSuspended } from './resource.ts';
import type { StatusLane } from './status-lane.ts';
import type { Next } from './work-queue.ts';

export interface ReconciliationsDeps<T extends Resource, O extends ReportedOutcome> {
  readonly rules: KindRules<T, O>;
  readonly client: Pick<KubeClient, 'request'>;
  readonly logger: Logger;
  readonly statuses: Pick<StatusLane<T, O>, 'idle' | 'withNewestStatus'>;
  /** A resource as the watch shows it, or as an own write left it if the watch is behind. */
  readonly find: (key: string) => T | undefined;
}

/** What is known of the resource beside its context. */
export interface Surroundings<T extends Resource> {
  /** Whether its namespace is being deleted. */
  readonly isEnding: boolean;
  /** Called with the resource as it was before a write of its finalizers, and as that left it. */
  readonly onWritten: (base: T, changed: T) => void;
}

/** What a reconcile came to. */
export interface Processed<T extends Resource, O extends ReportedOutcome> {
  readonly next: Next;
  /** What is to be reported, and of which version of the resource; undefined if nothing is. */
  readonly reported: { readonly resource: T; readonly outcome: O } | undefined;
  /** Whether the resource was let go. */
  readonly released: boolean;
  /** See `ReportedOutcome`. */
  readonly isTransient: boolean;
}

/**
 * Runs the reconciles of one kind: waits for what a resource needs, sees to its finalizer, and calls the rules of the kind.
 * A resource that is deleted, or will be with its namespace, is let go once what it owns is undone.
 */
export class Reconciliations<T extends Resource, O extends ReportedOutcome> {
  readonly #deps: ReconciliationsDeps<T, O>;
  readonly #finalizers: Finalizers<T>;
  /** The ending namespaces in which finalizers stay, because the rights there went first. */
  readonly #lostAccess = new Set<string>();

  constructor(deps: ReconciliationsDeps<T, O>) {
    this.#deps = deps;
    this.#finalizers = new Finalizers<T>({ kind: deps.rules.kind, client: deps.client });
  }

  /** Whether a resource has the finalizer without need, or lacks it. */
  isFinalizerOff(resource: T): boolean {
    return this.#finalizers.isOff(resource, this.#isCleanupNeeded(resource));
  }

  /** A namespace begins to end: from now on, what cannot be let go in it is logged again. */
  namespaceEnds(name: string): void {
    this.#lostAccess.delete(name);
  }

  /** Reconciles a resource. Never throws for what the world does. */
  async run(context: ReconcileContext<T>, surroundings: Surroundings<T>): Promise<Processed<T, O>> {
    const { resource } = context;
    const missing = this.#deps.rules.needs?.(resource).find(({ group }) => !group.isSynced);
    if (missing !== undefined) return this.#wait(context, missing);
    // A namespace's end is that of all that is in it, and may take the rights there along at any moment.
    const isLeaving = resource.metadata.deletionTimestamp !== undefined || surroundings.isEnding;
    try {
      return await (isLeaving ? this.#leave(context, surroundings) : this.#converge(context, surroundings));
    } catch (error) {
      return this.#finalizerFailed(context, surroundings, error);
    }
  }

  /** Waits for a watch that has not listed everything yet; if it cannot, that is reported. */
  #wait(context: ReconcileContext<T>, watch: NamedWatch): Processed<T, O> {
    const message = watchError(watch);
    if (message === undefined) return { ...silent, next: { kind: 'retry' }, isTransient: true };
    const error = new DomainError('cluster_unavailable', message, { cause: watch.group.error });
    return reportOf(context.resource, this.#failed(context, error));
  }

  async #converge(context: ReconcileContext<T>, { onWritten }: Surroundings<T>): Promise<Processed<T, O>> {
    // Of a suspended resource, too: without the finalizer it could go and leave what it owns behind.
    const resource = await this.#withFinalizer(context, onWritten);
    const ready = { ...context, resource: this.#deps.statuses.withNewestStatus(context.key, resource) };
    return reportOf(ready.resource, await this.#outcomeOf(ready));
  }

  async #withFinalizer(context: ReconcileContext<T>, onWritten: Surroundings<T>['onWritten']): Promise<T> {
    if (!this.isFinalizerOff(context.resource)) return context.resource;
    const newest = await this.#newest(context);
    const changed = await this.#finalizers.ensure(newest, this.#isCleanupNeeded(newest));
    onWritten(newest, changed);
    return changed;
  }

  /** The resource after the write of its status that is under way: it is another version then. */
  async #newest({ key, resource }: ReconcileContext<T>): Promise<T> {
    await this.#deps.statuses.idle(key);
    const newest = this.#deps.find(key);
    return newest?.metadata.uid === resource.metadata.uid ? newest : resource;
  }

  async #outcomeOf(context: ReconcileContext<T>): Promise<O | DeferredOutcome> {
    const { reconcile, suspended } = this.#deps.rules;
    try {
      return await (isSuspended(context.resource) ? suspended(context) : reconcile(context));
    } catch (error) {
      return this.#failed(context, error);
    }
  }

  async #leave(context: ReconcileContext<T>, { isEnding, onWritten }: Surroundings<T>): Promise<Processed<T, O>> {
    const { resource, key } = context;
    const next: Next = isEnding ? untilNamespaceEnded : { kind: 'done' };
    if (!this.#finalizers.isHeld(resource)) return { ...silent, next };
    try {
      if (this.#isCleanupNeeded(resource)) await this.#deps.rules.cleanup?.run(context);
    } catch (error) {
      if (!this.#finalizers.isForced(resource)) {
        const failed = this.#failed(context, error);
        const claim = this.#finalizers.heldClaim(failed.claim);
        return reportOf(resource, { ...failed, claim, next: retryAfter(error), isTransient: true });
      }
      this.#deps.logger.warn({ key, ...errorFields(error) }, 'a resource goes by force, and what it owns stays');
    }
    const newest = await this.#newest(context);
    onWritten(newest, await this.#finalizers.release(newest));
    return { ...silent, next, released: true };
  }

  #finalizerFailed(context: ReconcileContext<T>, { isEnding }: Surroundings<T>, error: unknown): Processed<T, O> {
    // Gone, or changed by another client: there is nothing to report.
    if (isApiStatus(error, 404)) return silent;
    const again = { ...silent, next: retryAfter(error), isTransient: true };
    if (isApiStatus(error, 409)) return again;
    if (isApiStatus(error, 403) && isEnding) {
      this.#reportLostAccess(context.resource);
      return again;
    }
    return reportOf(context.resource, this.#failed(context, error));
  }

  /** The end of a namespace took the rights in it along, so that nothing can be reported there either. */
  #reportLostAccess({ metadata: { namespace = '' } }: T): void {
    const { kind, plural } = this.#deps.rules.kind;
    if (!this.#lostAccess.has(namespace))
      this.#deps.logger.error({ kind, namespace }, lostAccessMessage(plural, namespace));
    this.#lostAccess.add(namespace);
  }

  #failed(context: ReconcileContext<T>, error: unknown): O {
    const { kind, failed } = this.#deps.rules;
    if (isInternal(error)) {
      this.#deps.logger.error({ kind: kind.kind, key: context.key, ...errorFields(error) }, 'a reconcile failed');
    }
    return failed(error, context);
  }

  #isCleanupNeeded(resource: T): boolean {
    return this.#deps.rules.cleanup?.isNeeded(resource) ?? false;
  }
}

/** Nothing is reported. */
const silent = { next: { kind: 'done' }, reported: undefined, released: false, isTransient: false } as const;

function reportOf<T extends Resource, O extends ReportedOutcome>(
  resource: T,
  outcome: O | DeferredOutcome,
): Processed<T, O> {
  const { next = { kind: 'done' } } = outcome;
  if ('isDeferred' in outcome) return { ...silent, next, isTransient: true };
  return { next, reported: { resource, outcome }, released: false, isTransient: outcome.isTransient === true };
}

function lostAccessMessage(plural: string, namespace: string): string {
  return (
    `the rights in namespace ${namespace} went with it before its ${plural} were let go: what they owned is undone, but ` +
    `their finalizer holds the namespace until an admin runs \`kubectl get ${plural} --namespace ${namespace} --output name | ` +
    `xargs -n 1 kubectl patch --namespace ${namespace} --type=merge --patch '{"metadata":{"finalizers":null}}'\``
  );
}
