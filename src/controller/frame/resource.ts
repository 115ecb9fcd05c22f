import type { KubeObject } from '../../kube/client/objects.ts';
import type { Condition } from '../generated/condition.ts';
import { forceFinalizeAnnotation, reconcileAtAnnotation } from '../annotations.ts';

/** A resource of any reconciling kind. */
export interface Resource extends KubeObject {
  readonly spec: object;
  status?: { observedGeneration?: number; conditions?: Condition[] };
}

export type StatusOf<T extends Resource> = NonNullable<T['status']>;

/** The parts of a resource whose changes request a reconcile. */
export interface Request {
  readonly uid: string;
  readonly generation: number;
  readonly isDeleting: boolean;
  /** The values of the annotations that request a reconcile when they change. */
  readonly annotations: Readonly<Record<string, string | undefined>>;
}

const commonAnnotations = [reconcileAtAnnotation, forceFinalizeAnnotation];

/** The request of a resource. `ownAnnotations` count in addition to the annotations of every kind. */
export function requestOf(
  { metadata: { uid, generation = 0, annotations = {}, deletionTimestamp } }: KubeObject,
  ownAnnotations: readonly string[] = [],
): Request {
  const names = [...commonAnnotations, ...ownAnnotations];
  return {
    uid,
    generation,
    isDeleting: deletionTimestamp !== undefined,
    annotations: Object.fromEntries(names.map((name) => [name, annotations[name]])),
  };
}

/** Whether a resource is suspended. Kinds without that field never are. */
export function isSuspended({ spec }: Resource): boolean {
  return 'suspend' in spec && spec.suspend === true;
}
