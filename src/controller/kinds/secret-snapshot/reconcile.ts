import { DomainError } from '../../../domain/errors/domain-error.ts';
import type { ResourceCaller } from '../../../domain/principal.ts';
import type { ResourceAccess } from '../../../services/managed/access.ts';
import type { ResourceSnapshots, SnapshotOrGone } from '../../../services/managed/snapshots.ts';
import { isApiStatus } from '../../../kube/client/api-error.ts';
import { deleteResource } from '../../../kube/client/custom-resources.ts';
import { secretSnapshotKind } from '../../../kube/client/keyframe-kinds.ts';
import { retryAfter } from '../../frame/failure.ts';
import type { SecretSnapshot } from '../../generated/secret-snapshot.ts';
import type { ReconcileContext } from '../../frame/kind-rules.ts';
import type { KindContext } from '../../frame/managed-kind.ts';
import { type Outcome, failureOutcome } from '../../frame/outcome.ts';
import { type CallerDeps, callerOf } from '../resource-caller.ts';
import type { Next } from '../../frame/work-queue.ts';
import { isExpired, judge } from './judge.ts';

export interface SnapshotServices {
  readonly resourceAccess: Pick<ResourceAccess, 'owner' | 'maySnapshot' | 'mayAdopt'>;
  readonly resourceSnapshots: Pick<ResourceSnapshots, 'find' | 'take' | 'adopt' | 'delete'>;
}

export interface SnapshotReconcilerDeps extends CallerDeps {
  readonly context: Pick<KindContext, 'kube' | 'clock'>;
  readonly services: SnapshotServices;
}

type SnapshotContext = ReconcileContext<SecretSnapshot>;

/** Sees to it that a SecretSnapshot has its one snapshot, and to its end when its time has come. */
export class SnapshotReconciler {
  readonly #deps: SnapshotReconcilerDeps;

  constructor(deps: SnapshotReconcilerDeps) {
    this.#deps = deps;
  }

  /** Throws DomainError as the services do, and ApiError. */
  async reconcile(context: SnapshotContext): Promise<Outcome<SecretSnapshot>> {
    try {
      const found = await this.#findOrObtain(context);
      if (found !== 'gone') {
        // A snapshot never changes: only its end, or that of its environment, is news.
        context.seen.note('kept state', found.id);
        context.seen.note('environment history', found.environmentId);
      }
      return await this.#settle(context, found);
    } catch (error) {
      // An environment that is made later tells nobody who waits for it.
      const isAwaited = error instanceof DomainError && error.code === 'not_found' && !isAdopting(context.resource);
      if (isAwaited) return { ...failureOutcome<SecretSnapshot>(error), next: { kind: 'retry' } };
      throw error;
    }
  }

  /** What the resource took or adopted; undefined where it did neither. Throws DomainError as the services do. */
  async find(context: Pick<SnapshotContext, 'resource' | 'requestId' | 'seen'>): Promise<SnapshotOrGone | undefined> {
    const { resourceAccess, resourceSnapshots } = this.#deps.services;
    return await resourceSnapshots.find(await resourceAccess.owner(this.#callerOf(context), 'snapshot.find'));
  }

  /** Deletes what a deleted resource took; throws as `reconcile`. */
  async cleanup(context: SnapshotContext): Promise<void> {
    const { resourceAccess, resourceSnapshots } = this.#deps.services;
    await resourceSnapshots.delete(await resourceAccess.owner(this.#callerOf(context), 'snapshot.delete'));
  }

  /** What the resource took or adopted before, whatever it is granted now; else what it may have. */
  async #findOrObtain(context: SnapshotContext): Promise<SnapshotOrGone> {
    return (await this.find(context)) ?? (await this.#obtain(this.#callerOf(context), context.resource));
  }

  async #obtain(caller: ResourceCaller, { spec }: SecretSnapshot): Promise<SnapshotOrGone> {
    const { resourceAccess, resourceSnapshots } = this.#deps.services;
    const { source, name, description } = spec;
    if (source.snapshotId !== undefined) {
      return await resourceSnapshots.adopt(await resourceAccess.mayAdopt(caller, source.snapshotId), source.snapshotId);
    }
    // The API server lets no resource pass that has neither.
    if (source.environmentRef === undefined) throw new DomainError('invalid_input', 'spec.source names nothing');
    const { organization, project, name: environment } = source.environmentRef;
    const access = await resourceAccess.maySnapshot(caller, { organization, project, environment });
    return await resourceSnapshots.take(access, { name, description });
  }

  async #settle({ resource }: SnapshotContext, found: SnapshotOrGone): Promise<Outcome<SecretSnapshot>> {
    const nowMs = this.#deps.context.clock.now();
    const outcome = judge(resource.spec, found, nowMs);
    if (!isExpired(resource.spec, found, nowMs)) return outcome;
    return { ...outcome, next: await this.#expire(resource) };
  }

  /** Deletes the resource itself; its finalizer then has the snapshot deleted. */
  async #expire({ metadata: { namespace, name, uid, resourceVersion } }: SecretSnapshot): Promise<Next> {
    try {
      const deletion = { resource: { namespace, name }, uid, resourceVersion };
      await deleteResource(this.#deps.context.kube, secretSnapshotKind, deletion);
    } catch (error) {
      // Changed meanwhile, perhaps to be suspended: judged anew.
      if (isApiStatus(error, 409)) return retryAfter(error);
      if (!isApiStatus(error, 404)) throw error;
    }
    return { kind: 'done' };
  }

  #callerOf(context: Pick<SnapshotContext, 'resource' | 'requestId' | 'seen'>): ResourceCaller {
    return callerOf(this.#deps, 'SecretSnapshot', context);
  }
}

/** Whether a resource stands for a snapshot that it did not take. */
export function isAdopting({ spec }: Pick<SecretSnapshot, 'spec'>): boolean {
  return spec.source.snapshotId !== undefined;
}
