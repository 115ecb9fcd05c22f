import { DomainError } from '../../domain/errors/domain-error.ts';
import { isApiStatus } from '../../kube/client/api-error.ts';
import type { KubeClient } from '../../kube/client/client.ts';
import { type Logger, errorFields } from '../../observability/logger.ts';
import { noteRefusal, refusedReasons } from './cluster-ceiling.ts';
import { isInternal, retryAfter } from './failure.ts';
import { Finalizers } from './finalizers.ts';
import type { KindRules, ReconcileContext } from './kind-rules.ts';
import { accessLost, reconcileFailed, releasedByForce } from './messages.ts';
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
  /** A resource from the watch, or from an own write that is newer. */
  readonly find: (key: string) => T | undefined;
}

/** Facts about the resource besides its context. */
export interface Surroundings<T extends Resource> {
  /** Whether its namespace is being deleted. */
  readonly isEnding: boolean;
  /** Called with the resource before and after a write of its finalizers. */
  readonly onWritten: (base: T, changed: T) => void;
}

/** The result of a reconcile. */
export interface Processed<T extends Resource, O extends ReportedOutcome> {
  readonly next: Next;
  /** The outcome to report, and the version of the resource that it is for; undefined if there is none. */
  readonly reported: { readonly resource: T; readonly outcome: O } | undefined;
  /** Whether the finalizer was removed from a deleted resource. */
  readonly released: boolean;
  /** See `ReportedOutcome`. */
  readonly isTransient: boolean;
}

/**
 * Runs the reconciles of one kind: waits for the watches that a resource needs, adds or removes its finalizer, and calls the
 * rules of the kind. A resource that is being deleted, or whose namespace is, is released after its cleanup.
 */
export class Reconciliations<T extends Resource, O extends ReportedOutcome> {
  readonly #deps: ReconciliationsDeps<T, O>;
  readonly #finalizers: Finalizers<T>;
  /** The namespaces in which finalizers cannot be removed, because the rights there were deleted first. */
  readonly #lostAccess = new Set<string>();

  constructor(deps: ReconciliationsDeps<T, O>) {
    this.#deps = deps;
    this.#finalizers = new Finalizers<T>({ kind: deps.rules.kind, client: deps.client });
  }

  /** Whether a resource has the finalizer without needing it, or needs it without having it. */
  isFinalizerOff(resource: T): boolean {
    return this.#finalizers.isOff(resource, this.#isCleanupNeeded(resource));
  }

  /** The deletion of a namespace starts: from now on, lost access in it is logged again. */
  namespaceEnds(name: string): void {
    this.#lostAccess.delete(name);
  }

  /** Reconciles a resource. Errors become outcomes. */
  async run(context: ReconcileContext<T>, surroundings: Surroundings<T>): Promise<Processed<T, O>> {
    const { resource } = context;
    const missing = this.#deps.rules.needs?.(resource).find(({ group }) => !group.isSynced);
    if (missing !== undefined) return this.#wait(context, missing);
    // A deleted namespace deletes its resources, and can delete the rights in it at any time.
    const isLeaving = resource.metadata.deletionTimestamp !== undefined || surroundings.isEnding;
    try {
      return await (isLeaving ? this.#leave(context, surroundings) : this.#converge(context, surroundings));
    } catch (error) {
      return this.#finalizerFailed(context, surroundings, error);
    }
  }

  /** Waits for a watch that is not synced. If it cannot sync, that is reported. */
  #wait(context: ReconcileContext<T>, watch: NamedWatch): Processed<T, O> {
    const message = watchError(watch);
    if (message === undefined) return { ...silent, next: { kind: 'retry' }, isTransient: true };
    const error = new DomainError('cluster_unavailable', message, { cause: watch.group.error });
    return reportOf(context.resource, this.#failed(context, error));
  }

  async #converge(context: ReconcileContext<T>, { onWritten }: Surroundings<T>): Promise<Processed<T, O>> {
    // Also for a suspended resource: without the finalizer, its deletion would skip the cleanup.
    const resource = await this.#withFinalizer(context, onWritten);
    const ready = { ...context, resource: this.#deps.statuses.withNewestStatus(context.key, resource) };
    const outcome = await this.#outcomeOf(ready);
    if ('claim' in outcome && refusedReasons.has(outcome.claim.reason)) noteRefusal(context.seen);
    return reportOf(ready.resource, outcome);
  }

  async #withFinalizer(context: ReconcileContext<T>, onWritten: Surroundings<T>['onWritten']): Promise<T> {
    if (!this.isFinalizerOff(context.resource)) return context.resource;
    const newest = await this.#newest(context);
    const changed = await this.#finalizers.ensure(newest, this.#isCleanupNeeded(newest));
    onWritten(newest, changed);
    return changed;
  }

  /** The resource after the write of its status that is in progress, which creates another version. */
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
      this.#deps.logger.warn({ key, ...errorFields(error) }, releasedByForce);
    }
    const newest = await this.#newest(context);
    onWritten(newest, await this.#finalizers.release(newest));
    return { ...silent, next, released: true };
  }

  #finalizerFailed(context: ReconcileContext<T>, { isEnding }: Surroundings<T>, error: unknown): Processed<T, O> {
    // Deleted: there is nothing to report.
    if (isApiStatus(error, 404)) return silent;
    const again = { ...silent, next: retryAfter(error), isTransient: true };
    if (isApiStatus(error, 409)) return again;
    if (isApiStatus(error, 403) && isEnding) {
      this.#reportLostAccess(context.resource);
      return again;
    }
    return reportOf(context.resource, this.#failed(context, error));
  }

  /** Logs that the rights in a namespace were deleted with it. No status can be written there either. */
  #reportLostAccess({ metadata: { namespace = '' } }: T): void {
    const { kind, plural } = this.#deps.rules.kind;
    if (!this.#lostAccess.has(namespace)) this.#deps.logger.error({ kind, namespace }, accessLost(plural, namespace));
    this.#lostAccess.add(namespace);
  }

  #failed(context: ReconcileContext<T>, error: unknown): O {
    const { kind, failed } = this.#deps.rules;
    if (isInternal(error)) {
      this.#deps.logger.error({ kind: kind.kind, key: context.key, ...errorFields(error) }, reconcileFailed);
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
