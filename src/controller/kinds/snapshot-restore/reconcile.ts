import { DomainError } from '../../../domain/domain-error.ts';
import type { ResourceCaller } from '../../../domain/principal.ts';
import type { EnvironmentPlaceAccess, ResourceAccess } from '../../../services/resource-access.ts';
import type { ResourcePlan, ResourceRestoreInput, ResourceRestores } from '../../../services/resource-restores.ts';
import { objectKey } from '../../../kube/objects.ts';
import { FollowedIds } from '../../frame/followed-ids.ts';
import type { SecretSnapshot } from '../../generated/secret-snapshot.ts';
import type { SnapshotRestore } from '../../generated/snapshot-restore.ts';
import type { Round } from '../../frame/kind-rules.ts';
import type { Outcome } from '../../frame/outcome.ts';
import { type CallerDeps, callerOf } from '../resource-caller.ts';
import type { SnapshotLookup } from '../secret-snapshot/lookup.ts';
import { judgeComplete, judgeFailure, judgeOutdated, judgePlanned } from './judge.ts';
import {
  environmentDeleted,
  restoreForgotten,
  snapshotGone,
  snapshotNotFound,
  snapshotNotReady,
  snapshotReplaced,
  wrongEnvironment,
} from './refusals.ts';
import { isUnplanned, withoutWaiting } from './unplanned.ts';

export interface RestoreServices {
  readonly resourceAccess: Pick<ResourceAccess, 'owner' | 'mayRestore'>;
  readonly resourceRestores: Pick<ResourceRestores, 'find' | 'plan' | 'restore'>;
}

export interface RestoreReconcilerDeps extends CallerDeps {
  readonly services: RestoreServices;
  readonly snapshots: Pick<SnapshotLookup, 'find' | 'claimed'>;
}

type RestoreRound = Round<SnapshotRestore>;

/** One restore that is asked for and admitted, and not done yet. */
interface Asked {
  readonly round: RestoreRound;
  readonly access: EnvironmentPlaceAccess<'snapshot.restore'>;
  readonly input: ResourceRestoreInput;
}

/** Which snapshot is restored, and whether the namespace knows of it by a SecretSnapshot. */
interface Source {
  readonly snapshotId: string;
  readonly isTold: boolean;
}

/** Plans the restore of a SnapshotRestore, and carries it out once it is approved. */
export class RestoreReconciler {
  /** By the environment that is to be restored: every commit there makes another plan. */
  readonly environments = new FollowedIds();
  /** By the snapshot. */
  readonly snapshots = new FollowedIds();
  /** The hash of the plan that each one was told last. */
  readonly #told = new Map<string, string>();
  readonly #deps: RestoreReconcilerDeps;

  constructor(deps: RestoreReconcilerDeps) {
    this.#deps = deps;
  }

  /** Throws what is no DomainError. */
  async reconcile(round: RestoreRound): Promise<Outcome<SnapshotRestore>> {
    const { key } = round;
    try {
      const look = async (): Promise<Outcome<SnapshotRestore>> => await this.#converge(round);
      return await this.snapshots.look(key, async () => await this.environments.look(key, look));
    } catch (error) {
      if (error instanceof DomainError) return judgeFailure(error);
      throw error;
    }
  }

  /** Drops what is kept of a resource that is gone, or done. */
  forget(key: string): void {
    this.environments.set(key, undefined);
    this.snapshots.set(key, undefined);
    this.#told.delete(key);
  }

  async #converge(round: RestoreRound): Promise<Outcome<SnapshotRestore>> {
    const { resourceAccess, resourceRestores } = this.#deps.services;
    const { key, resource } = round;
    const caller = this.#callerOf(round);
    const done = await resourceRestores.find(await resourceAccess.owner(caller, 'restore.find'));
    if (done !== undefined) {
      this.forget(key);
      return judgeComplete(done);
    }
    // Not as authority to do anything, but to leave it: a database that was recovered to the state before a restore would
    // otherwise see it done again.
    if (resource.status?.completionTime !== undefined) throw restoreForgotten();
    const proceed = async (): Promise<Outcome<SnapshotRestore>> => await this.#proceed(round, caller);
    return isUnplanned(resource) ? await withoutWaiting(resource, proceed) : await proceed();
  }

  async #proceed(round: RestoreRound, caller: ResourceCaller): Promise<Outcome<SnapshotRestore>> {
    const { resourceAccess } = this.#deps.services;
    const { key, resource } = round;
    const source = await this.#sourceOf(round);
    this.snapshots.set(key, source.snapshotId);
    const access = await resourceAccess.mayRestore(caller, source);
    this.environments.set(key, access.environmentId);
    checkEnvironment(resource, access);
    const { prune, skipUnchanged, backup } = resource.spec;
    const asked = { round, access, input: { snapshotId: source.snapshotId, prune, skipUnchanged, backup } };
    return resource.spec.mode === 'Apply'
      ? await this.#apply(asked)
      : judgePlanned(resource.metadata, await this.#plan(asked));
  }

  async #apply(asked: Asked): Promise<Outcome<SnapshotRestore>> {
    const { spec, metadata } = asked.round.resource;
    if (spec.planHash === undefined) return await this.#restore(asked, null);
    const plan = await this.#plan(asked);
    if (plan.planHash !== spec.planHash) return judgeOutdated(metadata, plan);
    try {
      return await this.#restore(asked, spec.planHash);
    } catch (error) {
      // A commit came in between.
      const isOutdated = error instanceof DomainError && error.code === 'plan_outdated';
      if (isOutdated) return judgeOutdated(metadata, await this.#plan(asked));
      throw error;
    }
  }

  async #plan({ round: { key }, access, input }: Asked): Promise<ResourcePlan> {
    const plan = await this.#deps.services.resourceRestores.plan(access, input, this.#told.get(key));
    this.#told.set(key, plan.planHash);
    return plan;
  }

  async #restore({ round: { key }, access, input }: Asked, planHash: string | null): Promise<Outcome<SnapshotRestore>> {
    const done = await this.#deps.services.resourceRestores.restore(access, input, planHash);
    this.forget(key);
    return judgeComplete(done);
  }

  async #sourceOf({ resource, requestId }: RestoreRound): Promise<Source> {
    const { snapshotRef = { name: '' }, snapshotId } = resource.spec;
    if (snapshotId !== undefined) return { snapshotId, isTold: false };
    const { namespace = '' } = resource.metadata;
    const { name } = snapshotRef;
    const found = await this.#deps.snapshots.claimed(this.#secretSnapshotOf(namespace, snapshotRef), requestId);
    if (found === undefined) throw snapshotNotReady(name, namespace);
    if (found === 'gone') throw snapshotGone(name);
    if (found.environmentDeleted) throw environmentDeleted(found);
    return { snapshotId: found.id, isTold: true };
  }

  /** The SecretSnapshot that a spec names. Throws DomainError snapshot_not_found, and snapshot_gone for another uid. */
  #secretSnapshotOf(
    namespace: string,
    { name, uid }: { readonly name: string; readonly uid?: string },
  ): SecretSnapshot {
    const found = this.#deps.snapshots.find(objectKey({ namespace, name }));
    if (found === undefined) throw snapshotNotFound(name);
    if (uid !== undefined && found.metadata.uid !== uid) throw snapshotReplaced(name, uid);
    return found;
  }

  #callerOf(round: RestoreRound): ResourceCaller {
    return callerOf(this.#deps, 'SnapshotRestore', round);
  }
}

/** Throws DomainError snapshot_mismatch if the spec names another environment than the snapshot's. */
function checkEnvironment(
  { spec: { environmentRef } }: SnapshotRestore,
  { asked: { organization, project, environment } }: Asked['access'],
): void {
  if (environmentRef === undefined || project === null || environment === null) return;
  const isSame =
    environmentRef.organization === organization &&
    environmentRef.project === project &&
    environmentRef.name === environment;
  if (!isSame) throw wrongEnvironment({ organization, project, environment }, environmentRef);
}
