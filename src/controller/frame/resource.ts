import type { KubeObject, ObjectMeta } from '../../kube/objects.ts';
import type { Condition } from '../generated/condition.ts';
import { forceFinalizeAnnotation, reconcileAtAnnotation } from '../annotations.ts';

/** What all reconciling kinds have in common. */
export interface Resource extends KubeObject {
  readonly spec: object;
  status?: { observedGeneration?: number; conditions?: Condition[] };
}

export type StatusOf<T extends Resource> = NonNullable<T['status']>;

/** What a resource asks for now, as far as that decides whether a reconcile is due. */
export interface Asked {
  readonly uid: string;
  readonly generation: number;
  readonly isDeleting: boolean;
  readonly reconcileAt: string | undefined;
  readonly forceFinalize: string | undefined;
}

export function askedBy({ uid, generation = 0, annotations = {}, deletionTimestamp }: ObjectMeta): Asked {
  return {
    uid,
    generation,
    isDeleting: deletionTimestamp !== undefined,
    reconcileAt: annotations[reconcileAtAnnotation],
    forceFinalize: annotations[forceFinalizeAnnotation],
  };
}

export function isSameAsk(before: Asked, now: Asked): boolean {
  return (Object.keys(now) as (keyof Asked)[]).every((field) => before[field] === now[field]);
}

/** Whether a resource asks to be left alone; kinds without that field never do. */
export function isSuspended({ spec }: Resource): boolean {
  return 'suspend' in spec && spec.suspend === true;
}
