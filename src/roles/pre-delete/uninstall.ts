import { DomainError } from '../../domain/errors/domain-error.ts';
import { isApiStatus } from '../../kube/client/api-error.ts';
import type { KubeClient } from '../../kube/client/client.ts';
import { type ResourceKind, listResources, patchFinalizers } from '../../kube/client/custom-resources.ts';
import { secretEnvironmentKind, secretSnapshotKind, serviceTokenKind } from '../../kube/client/keyframe-kinds.ts';
import { type Lease, maxLeaseSeconds } from '../../kube/lease.ts';
import type { ObjectMeta } from '../../kube/client/objects.ts';
import type { Clock, SteadyNow } from '../../lib/clock.ts';
import type { Logger } from '../../observability/logger.ts';
import { leaseDurationSeconds } from '../../controller/frame/leadership.ts';
import { finalizer } from '../../controller/annotations.ts';

/** The kinds that Keyframe's finalizer may hold, and what stays undone if a deleted one loses it. */
export const finalizedKinds: readonly { readonly kind: ResourceKind; readonly undone: string }[] = [
  { kind: serviceTokenKind, undone: 'its token was not revoked' },
  { kind: secretSnapshotKind, undone: 'its snapshot was not deleted' },
  { kind: secretEnvironmentKind, undone: 'its environment was not deleted' },
];

/**
 * How long the Lease is held after the last renewal, in seconds. By then the controllers must have stopped: they stand by
 * during their shutdown delay, and half a minute is for the cluster to signal them.
 */
export function uninstallLeaseSeconds(shutdownDelayMs: number): number {
  return Math.min(maxLeaseSeconds, shutdownDelayMs / 1000 + 30);
}

export interface UninstallDeps {
  readonly kube: Pick<KubeClient, 'request'>;
  /** Of the installation's controllers, held for `uninstallLeaseSeconds`. */
  readonly lease: Pick<Lease, 'seize'>;
  /** Empty for all namespaces. */
  readonly watchNamespaces: readonly string[];
  readonly clock: Pick<Clock, 'after'>;
  readonly steadyNow: SteadyNow;
  readonly logger: Logger;
}

// As long as a standby waits before it takes over from a leader that does not renew: by then that leader writes no more.
const silenceMs = leaseDurationSeconds * 1000;
const renewMs = 5000;
const callTimeoutMs = 10_000;
// Each round finds only what changed during the one before.
const maxRounds = 20;

/**
 * Removes Keyframe's finalizer from every resource, so that none waits for a controller that no longer runs. Nothing is
 * deleted: resources, tokens, snapshots, environments and Secrets stay. It takes the controllers' Lease first, because they
 * would add the finalizers again, and leaves it held: they stand by until they are deleted. If they are not deleted, one of
 * them resumes when the Lease has expired.
 */
export class Uninstall {
  readonly #deps: UninstallDeps;
  #renewedAt = -Infinity;
  /** Until when a controller that led may still be writing, on the steady clock. */
  #silentAt = -Infinity;

  constructor(deps: UninstallDeps) {
    this.#deps = deps;
  }

  /**
   * Returns how many resources it freed. Throws ApiError, and DomainError conflict if the finalizers are added again in
   * every round.
   */
  async run(): Promise<number> {
    let freed = 0;
    for (let round = 1; round <= maxRounds; round += 1) {
      await this.#hold();
      await this.#silence();
      const { removed, isClean } = await this.#round();
      freed += removed;
      // A last round that began while no other controller could write, and found nothing.
      if (isClean && removed === 0) return freed;
    }
    throw new DomainError(
      'conflict',
      `finalizers come back after ${maxRounds} rounds: something other than this installation's controllers sets ${finalizer}; stop it and run this again`,
    );
  }

  async #hold(): Promise<void> {
    const { lease, steadyNow, logger } = this.#deps;
    if (steadyNow() - this.#renewedAt < renewMs) return;
    const leader = await lease.seize({ timeoutMs: callTimeoutMs });
    this.#renewedAt = steadyNow();
    if (leader === undefined) return;
    this.#silentAt = this.#renewedAt + silenceMs;
    logger.info({ leader }, 'the controllers stand by');
  }

  async #silence(): Promise<void> {
    const delayMs = this.#silentAt - this.#deps.steadyNow();
    if (delayMs <= 0) return;
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#deps.clock.after(delayMs, resolve);
    await promise;
    // The wait may be longer than the Lease is fresh.
    await this.#hold();
  }

  /** Whether no controller took the Lease and nothing was changed by others meanwhile; and how many resources were freed. */
  async #round(): Promise<{ removed: number; isClean: boolean }> {
    const silentAt = this.#silentAt;
    let [removed, isChanged] = [0, false];
    for (const { kind, undone } of finalizedKinds) {
      for (const namespace of this.#namespacesOf(kind)) {
        const outcome = await this.#freeAll(kind, { namespace, undone });
        removed += outcome.removed;
        isChanged ||= outcome.isChanged;
      }
    }
    return { removed, isClean: !isChanged && this.#silentAt === silentAt };
  }

  #namespacesOf(kind: ResourceKind): readonly (string | undefined)[] {
    const { watchNamespaces } = this.#deps;
    return kind === secretEnvironmentKind || watchNamespaces.length === 0 ? [undefined] : watchNamespaces;
  }

  async #freeAll(
    kind: ResourceKind,
    { namespace, undone }: { readonly namespace: string | undefined; readonly undone: string },
  ): Promise<{ removed: number; isChanged: boolean }> {
    let [removed, isChanged] = [0, false];
    try {
      for await (const metadata of listResources(this.#deps.kube, kind, namespace)) {
        if (metadata.finalizers?.includes(finalizer) !== true) continue;
        await this.#hold();
        if (await this.#free(kind, metadata)) {
          removed += 1;
          this.#report(kind, metadata, undone);
        } else isChanged = true;
      }
    } catch (error) {
      // Without its definition a kind has no resources.
      if (isApiStatus(error, 404)) return { removed, isChanged };
      if (isApiStatus(error, 410)) return { removed, isChanged: true };
      throw error;
    }
    return { removed, isChanged };
  }

  /** False if the resource has changed since it was listed. */
  async #free(kind: ResourceKind, { namespace, name, resourceVersion, finalizers }: ObjectMeta): Promise<boolean> {
    const others = (finalizers ?? []).filter((held) => held !== finalizer);
    try {
      await patchFinalizers(this.#deps.kube, kind, {
        resource: { namespace, name },
        resourceVersion,
        finalizers: others,
      });
      return true;
    } catch (error) {
      if (isApiStatus(error, 404, 409)) return false;
      throw error;
    }
  }

  #report({ kind }: ResourceKind, { namespace, name, deletionTimestamp }: ObjectMeta, undone: string): void {
    const { logger } = this.#deps;
    const place = { kind, namespace, name };
    if (deletionTimestamp === undefined) logger.info(place, 'the finalizer is removed, the resource stays');
    else logger.warn(place, `the resource was being deleted and is gone now, and ${undone}`);
  }
}
