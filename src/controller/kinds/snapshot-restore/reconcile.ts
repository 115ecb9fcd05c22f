import type { Asker } from '../../../domain/asker.ts';
import { DomainError } from '../../../domain/errors/domain-error.ts';
import type { ResourcePlan, ResourceRestoreOptions, RestoreSource } from '../../../domain/resources/restores.ts';
import type { EnvironmentPlace } from '../../../domain/slugs.ts';
import { objectKey } from '../../../kube/client/objects.ts';
import type { SecretSnapshot } from '../../generated/secret-snapshot.ts';
import type { SnapshotRestore } from '../../generated/snapshot-restore.ts';
import type { RestoresBackend } from '../../backend/restores.ts';
import type { ReconcileContext } from '../../frame/kind-rules.ts';
import type { Outcome } from '../../frame/outcome.ts';
import { type AskerDeps, askerOf } from '../asker-of.ts';
import type { SnapshotLookup } from '../secret-snapshot/lookup.ts';
import { judgeComplete, judgeFailure, judgeOutdated, judgePlanned, keepsPlan } from './judge.ts';
import {
  environmentDeleted,
  restoreForgotten,
  snapshotGone,
  snapshotNotFound,
  snapshotNotReady,
  snapshotReplaced,
  wrongEnvironment,
} from './messages.ts';
import { isUnplanned, withoutWaiting } from './unplanned.ts';
import type { WaitingPlans } from './waiting-plans.ts';

export interface RestoreReconcilerDeps extends AskerDeps {
  readonly backend: { readonly restores: RestoresBackend };
  readonly snapshots: Pick<SnapshotLookup, 'find' | 'claimed'>;
  readonly waiting: Pick<WaitingPlans, 'end'>;
}

type RestoreContext = ReconcileContext<SnapshotRestore>;

/** A restore that the grants allow and that is not complete. */
interface AdmittedRestore {
  readonly context: RestoreContext;
  readonly asker: Asker;
  readonly source: RestoreSource;
  readonly options: ResourceRestoreOptions;
}

/** Plans the restore of a SnapshotRestore, and carries it out after its approval. */
export class RestoreReconciler {
  /** The hash of the newest plan of each SnapshotRestore. */
  readonly #reportedHashes = new Map<string, string>();
  readonly #deps: RestoreReconcilerDeps;

  constructor(deps: RestoreReconcilerDeps) {
    this.#deps = deps;
  }

  /** Returns DomainErrors as outcomes and throws all others. */
  async reconcile(context: RestoreContext): Promise<Outcome<SnapshotRestore>> {
    try {
      return await this.#converge(context);
    } catch (error) {
      if (!(error instanceof DomainError)) throw error;
      if (!keepsPlan(error)) await this.#endWaiting(context);
      return judgeFailure(error);
    }
  }

  /** While it is suspended, no approval has an effect. */
  async suspended(context: RestoreContext): Promise<void> {
    await this.#endWaiting(context);
  }

  /** Drops the state of a deleted resource. */
  forget(key: string): void {
    this.#reportedHashes.delete(key);
  }

  async #converge(context: RestoreContext): Promise<Outcome<SnapshotRestore>> {
    const { resource } = context;
    const asker = askerOf(this.#deps, 'SnapshotRestore', context);
    const done = await this.#deps.backend.restores.find(asker);
    if (done !== undefined) {
      await this.#end(context);
      return judgeComplete(done);
    }
    // The status is trusted only to do nothing. Otherwise a database that was recovered to the state before the restore
    // would be restored again.
    if (resource.status?.completionTime !== undefined) throw restoreForgotten();
    const proceed = async (): Promise<Outcome<SnapshotRestore>> => await this.#proceed(context, asker);
    return isUnplanned(resource) ? await withoutWaiting(resource, proceed) : await proceed();
  }

  async #proceed(context: RestoreContext, asker: Asker): Promise<Outcome<SnapshotRestore>> {
    const { resource, seen } = context;
    const source = await this.#sourceOf(context);
    seen.note('kept state', source.snapshotId);
    const place = await this.#deps.backend.restores.admit(asker, source);
    // Every commit changes the plan.
    seen.note('environment', place.environmentId);
    seen.note('environment history', place.environmentId);
    checkEnvironment(resource, place);
    const { prune, skipUnchanged, backup, includeDeleted, keys } = resource.spec;
    const asked = { context, asker, source, options: { prune, skipUnchanged, backup, includeDeleted, keys } };
    if (resource.spec.mode === 'Apply') return await this.#apply(asked);
    return judgePlanned(resource.metadata, await this.#plan(asked, undefined));
  }

  async #apply(asked: AdmittedRestore): Promise<Outcome<SnapshotRestore>> {
    const { metadata, spec } = asked.context.resource;
    if (spec.planHash === undefined) return await this.#restore(asked, null);
    const plan = await this.#plan(asked, spec.planHash);
    if (plan.planHash !== spec.planHash) return judgeOutdated(metadata, plan);
    try {
      return await this.#restore(asked, spec.planHash);
    } catch (error) {
      // There was a commit since the plan.
      const isOutdated = error instanceof DomainError && error.code === 'plan_outdated';
      if (isOutdated) return judgeOutdated(metadata, await this.#plan(asked, undefined));
      throw error;
    }
  }

  /** Plans. Unless the plan is the approved one, it waits for an approval from now on. */
  async #plan(
    { context: { key }, asker, source, options }: AdmittedRestore,
    approved: string | undefined,
  ): Promise<ResourcePlan> {
    const known = this.#reportedHashes.get(key);
    const plan = await this.#deps.backend.restores.plan(asker, source, options, { known, approved });
    this.#reportedHashes.set(key, plan.planHash);
    return plan;
  }

  async #endWaiting({ resource }: RestoreContext): Promise<void> {
    await this.#deps.waiting.end(resource.metadata.uid);
  }

  async #restore(
    { context, asker, source, options }: AdmittedRestore,
    planHash: string | null,
  ): Promise<Outcome<SnapshotRestore>> {
    const done = await this.#deps.backend.restores.restore(asker, source, options, planHash);
    await this.#end(context);
    return judgeComplete(done);
  }

  /** The result of a completed restore depends on nothing. */
  async #end(context: RestoreContext): Promise<void> {
    await this.#endWaiting(context);
    this.forget(context.key);
    context.seen.forget();
  }

  async #sourceOf({ resource, requestId, seen }: RestoreContext): Promise<RestoreSource> {
    const { snapshotRef = { name: '' }, snapshotId } = resource.spec;
    if (snapshotId !== undefined) return { snapshotId, secretSnapshotUid: null };
    const { namespace = '' } = resource.metadata;
    const { name } = snapshotRef;
    seen.note('SecretSnapshot', objectKey({ namespace, name }));
    const secretSnapshot = this.#secretSnapshotOf(namespace, snapshotRef);
    const found = await this.#deps.snapshots.claimed(secretSnapshot, requestId);
    if (found === undefined) throw snapshotNotReady(name, namespace);
    if (found === 'gone') throw snapshotGone(name);
    if (found.environmentDeleted) throw environmentDeleted(found);
    return { snapshotId: found.id, secretSnapshotUid: secretSnapshot.metadata.uid };
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
}

/** Throws DomainError snapshot_mismatch if the spec names another environment than the snapshot's. */
function checkEnvironment(
  { spec: { environmentRef } }: SnapshotRestore,
  { organization, project, environment }: EnvironmentPlace,
): void {
  if (environmentRef === undefined) return;
  const isSame =
    environmentRef.organization === organization &&
    environmentRef.project === project &&
    environmentRef.name === environment;
  if (!isSame) throw wrongEnvironment({ organization, project, environment }, environmentRef);
}
