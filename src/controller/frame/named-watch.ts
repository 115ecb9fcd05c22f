import { isApiStatus } from '../../kube/client/api-error.ts';
import type { ResourceKind } from '../../kube/client/custom-resources.ts';
import { keyframeApiVersion } from '../../kube/client/keyframe-kinds.ts';
import type { KubeObject } from '../../kube/client/objects.ts';
import type { ReflectorGroup } from '../../kube/informer/reflector-group.ts';

/** The objects that a watch shows, by `namespace/name`. */
export interface WatchedObjects {
  get(key: string): KubeObject | undefined;
  keys(): readonly string[];
  /** Calls a listener with every change; `object` is undefined for one that is gone. */
  onChange(listener: (key: string, object: KubeObject | undefined) => void): void;
}

/** What to do about watches that the API server does not allow, as a sentence without its full stop. */
export function watchDenied(names: readonly string[]): string {
  return `the API server does not let the controller list ${names.join(', ')}: apply the rules of charts/keyframe/files/ to its account`;
}

/** What to do about kinds that the cluster does not know, as a sentence without its full stop. */
export function definitionsMissing(kinds: readonly string[]): string {
  return `the cluster does not know ${kinds.join(', ')} (${keyframeApiVersion}): apply the custom resource definitions with \`kubectl apply -f crds/\``;
}

/** Why a watch has no list, and what to do, as a sentence without its full stop; undefined if that passes by itself. */
export function watchError({ name, kind, group: { error } }: NamedWatch): string | undefined {
  if (isApiStatus(error, 401, 403)) return watchDenied([name]);
  return kind !== undefined && isApiStatus(error, 404) ? definitionsMissing([kind.kind]) : undefined;
}

/** One watch of a kind's controller; two kinds may name the same one. */
export interface NamedWatch {
  /** What is watched, in the plural, for people. */
  readonly name: string;
  /** The custom resource that is watched; undefined for a kind of Kubernetes' own. */
  readonly kind?: ResourceKind;
  readonly group: Pick<ReflectorGroup<never>, 'start' | 'stop' | 'synced' | 'isSynced' | 'error'> & WatchedObjects;
}
