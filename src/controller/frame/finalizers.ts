import type { KubeClient } from '../../kube/client/client.ts';
import { type ResourceKind, patchFinalizers } from '../../kube/client/custom-resources.ts';
import type { ObjectMeta } from '../../kube/client/objects.ts';
import type { ReadyClaim } from './conditions.ts';
import type { Resource } from './resource.ts';
import { finalizer, forceFinalizeAnnotation } from '../annotations.ts';

export interface FinalizersDeps {
  readonly kind: ResourceKind;
  readonly client: Pick<KubeClient, 'request'>;
}

/** Puts our finalizer on resources that own what must go with them, and takes it away; those of others stay. */
export class Finalizers<T extends Resource> {
  readonly #deps: FinalizersDeps;

  constructor(deps: FinalizersDeps) {
    this.#deps = deps;
  }

  /** Whether a resource has our finalizer. */
  isHeld({ metadata }: T): boolean {
    return metadata.finalizers?.includes(finalizer) ?? false;
  }

  /** Whether a resource that is not being deleted has our finalizer though it needs none, or lacks it though it does. */
  isOff(resource: T, isNeeded: boolean): boolean {
    return resource.metadata.deletionTimestamp === undefined && this.isHeld(resource) !== isNeeded;
  }

  /** The resource with our finalizer if it needs it, without if not. Throws ApiError, 409 where it is another version now. */
  async ensure(resource: T, isNeeded: boolean): Promise<T> {
    if (!this.isOff(resource, isNeeded)) return resource;
    if (!isNeeded) return await this.release(resource);
    return await this.#patch(resource, [...(resource.metadata.finalizers ?? []), finalizer]);
  }

  /** Takes our finalizer away; a deleted resource then goes, if it was the last. Throws as `ensure`. */
  async release(resource: T): Promise<T> {
    return await this.#patch(
      resource,
      (resource.metadata.finalizers ?? []).filter((name) => name !== finalizer),
    );
  }

  /** Whether a deleted resource must go although what it owns could not be undone. */
  isForced({ metadata }: T): boolean {
    return metadata.annotations?.[forceFinalizeAnnotation] === 'true';
  }

  /** What is reported of a deleted resource that does not go yet. */
  heldClaim({ reason, message }: ReadyClaim): ReadyClaim {
    const advice = `The resource goes when what it made is undone; to let it go without that, annotate it with ${forceFinalizeAnnotation}="true".`;
    return { progress: 'reconciling', reason, message: `${message} ${advice}` };
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
