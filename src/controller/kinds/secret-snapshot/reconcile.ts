import { DomainError } from '../../../domain/domain-error.ts';
import type { ResourceCaller } from '../../../domain/principal.ts';
import type { ResourceAccess } from '../../../services/resource-access.ts';
import type { ResourceSnapshots, SnapshotOrGone } from '../../../services/resource-snapshots.ts';
import { isApiStatus } from '../../../kube/api-error.ts';
import { deleteResource } from '../../../kube/custom-resources.ts';
import { secretSnapshotKind } from '../../../kube/keyframe-kinds.ts';
import { retryAfter } from '../../frame/failure.ts';
import { FollowedIds } from '../../frame/followed-ids.ts';
import type { SecretSnapshot } from '../../generated/secret-snapshot.ts';
import type { Round } from '../../frame/kind-rules.ts';
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

type SnapshotRound = Round<SecretSnapshot>;

/** Sees to it that a SecretSnapshot has its one snapshot, and to its end when its time has come. */
export class SnapshotReconciler {
  /** By the snapshot that a resource stands for. */
  readonly snapshots = new FollowedIds();
  /** By that snapshot's environment. */
  readonly environments = new FollowedIds();
  readonly #deps: SnapshotReconcilerDeps;

  constructor(deps: SnapshotReconcilerDeps) {
    this.#deps = deps;
  }

  /** Throws DomainError as the services do, and ApiError. */
  async reconcile(round: SnapshotRound): Promise<Outcome<SecretSnapshot>> {
    try {
      const found = await this.#follow(round.key, async () => await this.#findOrObtain(round));
      return await this.#settle(round, found);
    } catch (error) {
      // An environment that is made later tells nobody who waits for it.
      const isAwaited = error instanceof DomainError && error.code === 'not_found' && !isAdopting(round.resource);
      if (isAwaited) return { ...failureOutcome<SecretSnapshot>(error), next: { kind: 'retry' } };
      throw error;
    }
  }

  /** What the resource took or adopted; undefined where it did neither. Throws DomainError as the services do. */
  async find(round: SnapshotRound): Promise<SnapshotOrGone | undefined> {
    const { resourceAccess, resourceSnapshots } = this.#deps.services;
    return await resourceSnapshots.find(await resourceAccess.owner(this.#callerOf(round), 'snapshot.find'));
  }

  /** Deletes what a deleted resource took; throws as `reconcile`. */
  async cleanup(round: SnapshotRound): Promise<void> {
    const { resourceAccess, resourceSnapshots } = this.#deps.services;
    await resourceSnapshots.delete(await resourceAccess.owner(this.#callerOf(round), 'snapshot.delete'));
  }

  /** Drops what is kept of a resource that is gone. */
  forget(key: string): void {
    this.snapshots.set(key, undefined);
    this.environments.set(key, undefined);
  }

  async #follow(key: string, find: () => Promise<SnapshotOrGone>): Promise<SnapshotOrGone> {
    const both = async (): Promise<SnapshotOrGone> => {
      const found = await find();
      this.snapshots.set(key, found === 'gone' ? undefined : found.id);
      this.environments.set(key, found === 'gone' ? undefined : found.environmentId);
      return found;
    };
    return await this.snapshots.look(key, async () => await this.environments.look(key, both));
  }

  /** What the resource took or adopted before, whatever it is granted now; else what it may have. */
  async #findOrObtain(round: SnapshotRound): Promise<SnapshotOrGone> {
    return (await this.find(round)) ?? (await this.#obtain(this.#callerOf(round), round.resource));
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

  async #settle({ resource }: SnapshotRound, found: SnapshotOrGone): Promise<Outcome<SecretSnapshot>> {
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

  #callerOf(round: SnapshotRound): ResourceCaller {
    return callerOf(this.#deps, 'SecretSnapshot', round);
  }
}

/** Whether a resource stands for a snapshot that it did not take. */
export function isAdopting({ spec }: Pick<SecretSnapshot, 'spec'>): boolean {
  return spec.source.snapshotId !== undefined;
}
