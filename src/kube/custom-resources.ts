import { type KubeClient, metadataOnly } from './client.ts';
import type { KubeObject, NamespacedName, ObjectMeta } from './objects.ts';

/** A kind of custom resource. */
export interface ResourceKind {
  readonly group: string;
  readonly version: string;
  readonly kind: string;
  readonly plural: string;
}

/** The collection of a kind in a namespace, or in all of them. */
export function collectionPath({ group, version, plural }: ResourceKind, namespace?: string): string {
  const scope = namespace === undefined ? '' : `namespaces/${encodeURIComponent(namespace)}/`;
  return `/apis/${group}/${version}/${scope}${plural}`;
}

export interface StatusPatch {
  readonly resource: NamespacedName;
  /**
   * The version that was judged; on any other the API server answers 409. It stands for the uid too: a resource that
   * was deleted and made again has another version, and in a patch of a custom resource's status the API server
   * ignores the uid.
   */
  readonly resourceVersion: string;
  /** Merged into the status: null removes a field, an array replaces one. */
  readonly status: object;
}

/** Patches the status of one resource and answers its metadata. Throws ApiError. */
export async function patchStatus(
  client: Pick<KubeClient, 'request'>,
  kind: ResourceKind,
  { resource, resourceVersion, status }: StatusPatch,
): Promise<ObjectMeta> {
  const patched = await client.request<KubeObject>({
    method: 'PATCH',
    path: `${collectionPath(kind, resource.namespace)}/${encodeURIComponent(resource.name)}/status`,
    contentType: 'application/merge-patch+json',
    accept: metadataOnly,
    body: { metadata: { resourceVersion }, status },
  });
  return patched.metadata;
}
