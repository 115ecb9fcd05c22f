/** The parts of Kubernetes objects that this program reads and writes, as the API server's JSON has them. */

export interface OwnerReference {
  apiVersion: string;
  kind: string;
  name: string;
  uid: string;
  controller?: boolean;
  blockOwnerDeletion?: boolean;
}

export interface ObjectMeta {
  name: string;
  namespace?: string;
  uid: string;
  resourceVersion: string;
  generation?: number;
  creationTimestamp?: string;
  /** Set while the object is being deleted and finalizers still hold it. */
  deletionTimestamp?: string;
  labels?: Record<string, string>;
  annotations?: Record<string, string>;
  ownerReferences?: OwnerReference[];
  finalizers?: string[];
  /** Never kept: the reflector strips it. */
  managedFields?: unknown;
}

/** Any object; alone, the metadata-only form of one. */
export interface KubeObject {
  metadata: ObjectMeta;
}

export interface NamespacedName {
  readonly namespace: string;
  readonly name: string;
}

/** The key of a namespaced object in caches and queues: `namespace/name`. */
export function objectKey({ namespace, name }: { readonly namespace?: string; readonly name: string }): string {
  return `${namespace ?? ''}/${name}`;
}

/** The namespace and name of a key made by `objectKey`. */
export function parseObjectKey(key: string): NamespacedName {
  const slash = key.indexOf('/');
  return { namespace: key.slice(0, slash), name: key.slice(slash + 1) };
}
