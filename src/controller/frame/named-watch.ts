import type { ResourceKind } from '../../kube/custom-resources.ts';
import type { KubeObject } from '../../kube/objects.ts';
import type { ReflectorGroup } from '../../kube/reflector-group.ts';

/** The objects that a watch shows, by `namespace/name`. */
export interface WatchedObjects {
  get(key: string): KubeObject | undefined;
  keys(): readonly string[];
}

/** What to do about watches that the API server does not allow, as a sentence without its full stop. */
export function watchDenied(names: readonly string[]): string {
  return `the API server does not let the controller list ${names.join(', ')}: apply the rules of charts/keyframe/files/ to its account`;
}

/** One watch of a kind's controller; two kinds may name the same one. */
export interface NamedWatch {
  /** What is watched, in the plural, for people. */
  readonly name: string;
  /** The custom resource that is watched; undefined for a kind of Kubernetes' own. */
  readonly kind?: ResourceKind;
  readonly group: Pick<ReflectorGroup<never>, 'start' | 'stop' | 'synced' | 'isSynced' | 'fault'> & WatchedObjects;
}
