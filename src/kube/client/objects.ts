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

/** Where kubectl keeps the whole object that it applied last: of a Secret, its values too. Reflectors keep it empty. */
export const lastAppliedAnnotation = 'kubectl.kubernetes.io/last-applied-configuration';

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

/** An object without what is large or secret and of no use to a cache; the object given is changed. */
export function stripped<T extends KubeObject>(object: T): T {
  delete object.metadata.managedFields;
  const { annotations } = object.metadata;
  // Of a Secret that kubectl applied it holds all the values. The name stays, to tell that it is there.
  if (annotations?.[lastAppliedAnnotation] !== undefined) annotations[lastAppliedAnnotation] = '';
  return object;
}
