import { type KubeClient, metadataOnly, metadataOnlyList } from './client.ts';
import type { KubeObject, ObjectMeta } from './objects.ts';

/** A kind of custom resource. */
export interface ResourceKind {
  readonly group: string;
  readonly version: string;
  readonly kind: string;
  readonly plural: string;
}

/** The path of a kind's collection in a namespace, or in all namespaces. */
export function collectionPath({ group, version, plural }: ResourceKind, namespace?: string): string {
  const scope = namespace === undefined ? '' : `namespaces/${encodeURIComponent(namespace)}/`;
  return `/apis/${group}/${version}/${scope}${plural}`;
}

/** The name of a resource. A cluster-scoped one has no namespace. */
export interface ResourceName {
  readonly namespace?: string | undefined;
  readonly name: string;
}

/**
 * Reads the metadata of one resource from etcd, not from a cache; undefined if it does not exist. It uses a list of one, which
 * needs only the right to list. Throws ApiError.
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

// About half a megabyte of metadata.
const pageSize = 500;

/**
 * Lists the metadata of all resources of a kind page by page, in a namespace or in all. Throws ApiError, also with 410 if a
 * page was requested so late that the list must start again.
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

/**
 * One version of one resource: for any other version the API server returns 409. The version also identifies the uid: a
 * resource that was deleted and created again has another version, and in a patch of a custom resource's status the API
 * server ignores the uid.
 */
export interface ExpectedResource {
  readonly resource: ResourceName;
  readonly resourceVersion: string;
}

export interface StatusPatch extends ExpectedResource {
  /** Merged into the status: null removes a field, an array replaces one. */
  readonly status: object;
}

/** Patches the status of one resource and returns its metadata. Throws ApiError. */
export async function patchStatus(
  client: Pick<KubeClient, 'request'>,
  kind: ResourceKind,
  { resource, resourceVersion, status }: StatusPatch,
): Promise<ObjectMeta> {
  const path = `${resourcePath(kind, resource)}/status`;
  return await mergePatch(client, path, { metadata: { resourceVersion }, status });
}

export interface FinalizersPatch extends ExpectedResource {
  /** All finalizers that the resource must have. */
  readonly finalizers: readonly string[];
}

/**
 * Sets the finalizers of one resource and returns its metadata. A resource that is being deleted is gone without finalizers.
 * Throws ApiError.
 */
export async function patchFinalizers(
  client: Pick<KubeClient, 'request'>,
  kind: ResourceKind,
  { resource, resourceVersion, finalizers }: FinalizersPatch,
): Promise<ObjectMeta> {
  return await patchResource(client, kind, { resource, resourceVersion, patch: { metadata: { finalizers } } });
}

export interface ResourcePatch extends ExpectedResource {
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

/** Creates one resource and returns its metadata. Throws ApiError, 409 if the name exists. */
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

export interface ResourceDeletion extends ExpectedResource {
  readonly uid: string;
}

/** Deletes one resource if it has the expected version. Finalizers can delay the deletion. Throws ApiError. */
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
