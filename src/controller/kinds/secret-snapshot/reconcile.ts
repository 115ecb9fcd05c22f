import type { Asker } from '../../../domain/asker.ts';
import { DomainError } from '../../../domain/errors/domain-error.ts';
import { limits } from '../../../domain/limits.ts';
import type { SnapshotOrGone } from '../../../domain/resources/snapshots.ts';
import { isApiStatus } from '../../../kube/client/api-error.ts';
import { deleteResource } from '../../../kube/client/custom-resources.ts';
import { secretSnapshotKind } from '../../../kube/client/keyframe-kinds.ts';
import type { SnapshotsBackend } from '../../backend/snapshots.ts';
import { retryAfter } from '../../frame/failure.ts';
import type { SecretSnapshot } from '../../generated/secret-snapshot.ts';
import type { ReconcileContext } from '../../frame/kind-rules.ts';
import type { KindContext } from '../../frame/managed-kind.ts';
import { type Outcome, failureOutcome } from '../../frame/outcome.ts';
import { type AskerDeps, askerOf } from '../asker-of.ts';
import type { Next } from '../../frame/work-queue.ts';
import { slugsOf } from '../../environment-ref.ts';
import { isExpired, judge } from './judge.ts';
import { noSource } from './messages.ts';

export interface SnapshotReconcilerDeps extends AskerDeps {
  readonly context: Pick<KindContext, 'kube' | 'serverNow'>;
  readonly backend: { readonly snapshots: SnapshotsBackend };
}

type SnapshotContext = ReconcileContext<SecretSnapshot>;

/** Takes or adopts the one snapshot of a SecretSnapshot, and deletes the resource when it expires. */
export class SnapshotReconciler {
  readonly #deps: SnapshotReconcilerDeps;

  constructor(deps: SnapshotReconcilerDeps) {
    this.#deps = deps;
  }

  /** Throws DomainError as the backend does, and ApiError. */
  async reconcile(context: SnapshotContext): Promise<Outcome<SecretSnapshot>> {
    try {
      const found = await this.#findOrObtain(context);
      if (found !== 'gone') {
        // A snapshot is immutable: only its deletion, or that of its environment, matters.
        context.seen.note('kept state', found.id);
        context.seen.note('environment history', found.environmentId);
      }
      return await this.#settle(context, found);
    } catch (error) {
      // The creation of an environment causes no event for this resource, so it is polled.
      const isAwaited = error instanceof DomainError && error.code === 'not_found' && !isAdopting(context.resource);
      if (isAwaited) return { ...failureOutcome<SecretSnapshot>(error), next: { kind: 'retry' } };
      throw error;
    }
  }

  /** The snapshot that the resource took or adopted; undefined if it has none. Throws DomainError as the backend does. */
  async find(context: Pick<SnapshotContext, 'resource' | 'requestId' | 'seen'>): Promise<SnapshotOrGone | undefined> {
    return await this.#deps.backend.snapshots.find(this.#askerOf(context));
  }

  /** Deletes the snapshot that a deleted resource took. Throws as `reconcile` does. */
  async cleanup(context: SnapshotContext): Promise<void> {
    await this.#deps.backend.snapshots.delete(this.#askerOf(context));
  }

  /** The snapshot that the resource has, even if its grant is gone; otherwise a new one, if a grant allows it. */
  async #findOrObtain(context: SnapshotContext): Promise<SnapshotOrGone> {
    return (await this.find(context)) ?? (await this.#obtain(this.#askerOf(context), context.resource));
  }

  async #obtain(asker: Asker, { metadata, spec }: SecretSnapshot): Promise<SnapshotOrGone> {
    const { snapshots } = this.#deps.backend;
    const { source, description, name = defaultName(metadata.name) } = spec;
    if (source.snapshotId !== undefined) return await snapshots.adopt(asker, source.snapshotId);
    const { environmentRef } = source;
    if (environmentRef === undefined) throw noSource();
    return await snapshots.take(asker, slugsOf({ environmentRef }), { name, description });
  }

  async #settle({ resource }: SnapshotContext, found: SnapshotOrGone): Promise<Outcome<SecretSnapshot>> {
    const nowMs = this.#deps.context.serverNow();
    const outcome = judge(resource.spec, found, nowMs);
    if (!isExpired(resource.spec, found, nowMs)) return outcome;
    return { ...outcome, next: await this.#expire(resource) };
  }

  /** Deletes the resource. Its finalizer then deletes the snapshot. */
  async #expire({ metadata: { namespace, name, uid, resourceVersion } }: SecretSnapshot): Promise<Next> {
    try {
      const deletion = { resource: { namespace, name }, uid, resourceVersion };
      await deleteResource(this.#deps.context.kube, secretSnapshotKind, deletion);
    } catch (error) {
      // The resource has changed, for example to be suspended: it is reconciled again.
      if (isApiStatus(error, 409)) return retryAfter(error);
      if (!isApiStatus(error, 404)) throw error;
    }
    return { kind: 'done' };
  }

  #askerOf(context: Pick<SnapshotContext, 'resource' | 'requestId' | 'seen'>): Asker {
    return askerOf(this.#deps, 'SecretSnapshot', context);
  }
}

/** The name of a snapshot whose resource sets none: that of the resource, unless it is too long for a snapshot. */
function defaultName(name: string): string | undefined {
  return name.length <= limits.nameLength ? name : undefined;
}

/** Whether a resource adopts an existing snapshot. */
export function isAdopting({ spec }: Pick<SecretSnapshot, 'spec'>): boolean {
  return spec.source.snapshotId !== undefined;
}
