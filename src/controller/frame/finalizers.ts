import type { KubeClient } from '../../kube/client/client.ts';
import { type ResourceKind, patchFinalizers } from '../../kube/client/custom-resources.ts';
import type { ObjectMeta } from '../../kube/client/objects.ts';
import type { ReadyClaim } from './conditions.ts';
import { cleanupFailed } from './messages.ts';
import type { Resource } from './resource.ts';
import { finalizer, forceFinalizeAnnotation } from '../annotations.ts';

export interface FinalizersDeps {
  readonly kind: ResourceKind;
  readonly client: Pick<KubeClient, 'request'>;
}

/** Adds Keyframe's finalizer to resources that need a cleanup, and removes it. Other finalizers stay. */
export class Finalizers<T extends Resource> {
  readonly #deps: FinalizersDeps;

  constructor(deps: FinalizersDeps) {
    this.#deps = deps;
  }

  /** Whether a resource has Keyframe's finalizer. */
  isHeld({ metadata }: T): boolean {
    return metadata.finalizers?.includes(finalizer) ?? false;
  }

  /** Whether a resource that is not being deleted has the finalizer without needing it, or needs it without having it. */
  isOff(resource: T, isNeeded: boolean): boolean {
    return resource.metadata.deletionTimestamp === undefined && this.isHeld(resource) !== isNeeded;
  }

  /** Adds or removes the finalizer. Returns the new resource. Throws ApiError, 409 if the resource has changed. */
  async ensure(resource: T, isNeeded: boolean): Promise<T> {
    if (!this.isOff(resource, isNeeded)) return resource;
    if (!isNeeded) return await this.release(resource);
    return await this.#patch(resource, [...(resource.metadata.finalizers ?? []), finalizer]);
  }

  /** Removes the finalizer. A deleted resource without finalizers is then gone. Throws as `ensure` does. */
  async release(resource: T): Promise<T> {
    return await this.#patch(
      resource,
      (resource.metadata.finalizers ?? []).filter((name) => name !== finalizer),
    );
  }

  /** Whether a deleted resource must be released even if its cleanup fails. */
  isForced({ metadata }: T): boolean {
    return metadata.annotations?.[forceFinalizeAnnotation] === 'true';
  }

  /** The condition Ready of a deleted resource whose cleanup failed. */
  heldClaim({ reason, message }: ReadyClaim): ReadyClaim {
    return { progress: 'reconciling', reason, message: cleanupFailed(message) };
  }

  async #patch(resource: T, finalizers: readonly string[]): Promise<T> {
    const { kind, client } = this.#deps;
    const { namespace, name, resourceVersion } = resource.metadata;
    const patched = await patchFinalizers(client, kind, { resource: { namespace, name }, resourceVersion, finalizers });
    const metadata: ObjectMeta = {
      ...resource.metadata,
      resourceVersion: patched.resourceVersion,
      finalizers: [...finalizers],
    };
    return { ...resource, metadata };
  }
}
