/** The parts of Kubernetes objects that Keyframe reads and writes, in the API server's JSON form. */

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
  /** Set while the object is being deleted and still has finalizers. */
  deletionTimestamp?: string;
  labels?: Record<string, string>;
  annotations?: Record<string, string>;
  ownerReferences?: OwnerReference[];
  finalizers?: string[];
  /** Never kept: the reflector strips it. */
  managedFields?: unknown;
}

/** kubectl's copy of the last applied object, which contains the values of a Secret. Reflectors store it empty. */
export const lastAppliedAnnotation = 'kubectl.kubernetes.io/last-applied-configuration';

/** Any object, or the metadata-only form of one. */
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

/** Removes large and secret parts that a cache does not need. Changes the given object. */
export function stripped<T extends KubeObject>(object: T): T {
  delete object.metadata.managedFields;
  const { annotations } = object.metadata;
  // It contains all values of a Secret that kubectl applied. The name stays, to show that it exists.
  if (annotations?.[lastAppliedAnnotation] !== undefined) annotations[lastAppliedAnnotation] = '';
  return object;
}
