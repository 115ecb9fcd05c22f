import { type KubeClient, metadataOnly, metadataOnlyList } from './client.ts';
import type { KubeObject, ObjectMeta } from './objects.ts';

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

/** The name of a resource, without a namespace for one of the cluster's. */
export interface ResourceName {
  readonly namespace?: string | undefined;
  readonly name: string;
}

/**
 * One resource as etcd has it, not as some cache does; undefined where there is none. By a list of one, for which the right
 * to list is enough. Throws ApiError.
 */
export async function findResource(
  client: Pick<KubeClient, 'request'>,
  kind: ResourceKind,
  { namespace, name }: ResourceName,
): Promise<KubeObject | undefined> {
  const query = { fieldSelector: `metadata.name=${name}` };
  const path = collectionPath(kind, namespace);
  const { items } = await client.request<{ readonly items?: readonly KubeObject[] }>({
    method: 'GET',
    path,
    query,
    accept: metadataOnlyList,
  });
  return items?.[0];
}

// Of metadata alone, about half a megabyte.
const pageSize = 500;

/**
 * The metadata of all resources of a kind, in a namespace or in all of them, a page at a time. Throws ApiError, also where a
 * page was asked for so late (410) that the list has to begin again.
 */
export async function* listResources(
  client: Pick<KubeClient, 'request'>,
  kind: ResourceKind,
  namespace?: string,
): AsyncGenerator<ObjectMeta> {
  const path = collectionPath(kind, namespace);
  let next: string | undefined = '';
  while (next !== undefined) {
    const query = { limit: String(pageSize), ...(next === '' ? {} : { continue: next }) };
    const page: ResourcePage = await client.request({ method: 'GET', path, query, accept: metadataOnlyList });
    for (const { metadata } of page.items ?? []) yield metadata;
    next = page.metadata?.continue || undefined;
  }
}

interface ResourcePage {
  readonly metadata?: { readonly continue?: string };
  readonly items?: readonly KubeObject[] | null;
}

export interface StatusPatch {
  readonly resource: ResourceName;
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
  const path = `${resourcePath(kind, resource)}/status`;
  return await mergePatch(client, path, { metadata: { resourceVersion }, status });
}

export interface FinalizersPatch {
  readonly resource: ResourceName;
  /** The version that was judged; on any other the API server answers 409. */
  readonly resourceVersion: string;
  /** All that the resource shall have. */
  readonly finalizers: readonly string[];
}

/**
 * Sets the finalizers of one resource and answers its metadata. One that is being deleted goes with its last finalizer.
 * Throws ApiError.
 */
export async function patchFinalizers(
  client: Pick<KubeClient, 'request'>,
  kind: ResourceKind,
  { resource, resourceVersion, finalizers }: FinalizersPatch,
): Promise<ObjectMeta> {
  return await mergePatch(client, resourcePath(kind, resource), { metadata: { resourceVersion, finalizers } });
}

export interface SpecPatch {
  readonly resource: ResourceName;
  /** The version that was judged; on any other the API server answers 409. */
  readonly resourceVersion: string;
  /** Merged into the spec: null removes a field. */
  readonly spec: object;
}

/** Patches the spec of one resource. Throws ApiError. */
export async function patchSpec(
  client: Pick<KubeClient, 'request'>,
  kind: ResourceKind,
  { resource, resourceVersion, spec }: SpecPatch,
): Promise<void> {
  await mergePatch(client, resourcePath(kind, resource), { metadata: { resourceVersion }, spec });
}

export interface ResourcePatch {
  readonly resource: ResourceName;
  /** The version that was judged; on any other the API server answers 409. */
  readonly resourceVersion: string;
  /** Merged into the metadata and the spec: null removes a field, an array replaces one. */
  readonly patch: { readonly metadata?: object; readonly spec?: object };
}

/** Patches the metadata and the spec of one resource and returns its metadata. Throws ApiError. */
export async function patchResource(
  client: Pick<KubeClient, 'request'>,
  kind: ResourceKind,
  { resource, resourceVersion, patch: { metadata, ...rest } }: ResourcePatch,
): Promise<ObjectMeta> {
  return await mergePatch(client, resourcePath(kind, resource), {
    metadata: { ...metadata, resourceVersion },
    ...rest,
  });
}

export interface NewResource {
  readonly metadata: Pick<ObjectMeta, 'name'> &
    Partial<Pick<ObjectMeta, 'namespace' | 'ownerReferences' | 'labels' | 'annotations'>>;
  readonly spec: object;
}

/** Makes one resource and answers its metadata; 409 where one of that name exists. Throws ApiError. */
export async function createResource(
  client: Pick<KubeClient, 'request'>,
  kind: ResourceKind,
  { metadata, spec }: NewResource,
): Promise<ObjectMeta> {
  const apiVersion = `${kind.group}/${kind.version}`;
  const body = { apiVersion, kind: kind.kind, metadata, spec };
  const path = collectionPath(kind, metadata.namespace);
  const made = await client.request<KubeObject>({ method: 'POST', path, accept: metadataOnly, body });
  return made.metadata;
}

export interface ResourceDeletion {
  readonly resource: ResourceName;
  readonly uid: string;
  /** The version that was judged; on any other the API server answers 409. */
  readonly resourceVersion: string;
}

/** Deletes one resource, if it is still the one that was judged; finalizers may hold it for a while. Throws ApiError. */
export async function deleteResource(
  client: Pick<KubeClient, 'request'>,
  kind: ResourceKind,
  { resource, uid, resourceVersion }: ResourceDeletion,
): Promise<void> {
  const body = { apiVersion: 'v1', kind: 'DeleteOptions', preconditions: { uid, resourceVersion } };
  await client.request({ method: 'DELETE', path: resourcePath(kind, resource), accept: metadataOnly, body });
}

function resourcePath(kind: ResourceKind, { namespace, name }: ResourceName): string {
  return `${collectionPath(kind, namespace)}/${encodeURIComponent(name)}`;
}

async function mergePatch(client: Pick<KubeClient, 'request'>, path: string, body: object): Promise<ObjectMeta> {
  const contentType = 'application/merge-patch+json';
  const patched = await client.request<KubeObject>({ method: 'PATCH', path, contentType, accept: metadataOnly, body });
  return patched.metadata;
}
