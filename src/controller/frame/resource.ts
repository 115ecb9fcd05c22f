import type { KubeObject } from '../../kube/client/objects.ts';
import type { Condition } from '../generated/condition.ts';
import { forceFinalizeAnnotation, reconcileAtAnnotation } from '../annotations.ts';

/** What all reconciling kinds have in common. */
export interface Resource extends KubeObject {
  readonly spec: object;
  status?: { observedGeneration?: number; conditions?: Condition[] };
}

export type StatusOf<T extends Resource> = NonNullable<T['status']>;

/** What a resource asks for now, as far as that decides whether a reconcile is due. */
export interface Request {
  readonly uid: string;
  readonly generation: number;
  readonly isDeleting: boolean;
  /** The values of the annotations that request a reconcile when they change. */
  readonly annotations: Readonly<Record<string, string | undefined>>;
}

const commonAnnotations = [reconcileAtAnnotation, forceFinalizeAnnotation];

/** What a resource asks for. Beside the annotations of every kind, those of `ownAnnotations` count. */
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

/** Whether a resource asks to be left alone; kinds without that field never do. */
export function isSuspended({ spec }: Resource): boolean {
  return 'suspend' in spec && spec.suspend === true;
}
