import { isApiStatus } from '../../kube/client/api-error.ts';
import type { ResourceKind } from '../../kube/client/custom-resources.ts';
import { keyframeApiVersion } from '../../kube/client/keyframe-kinds.ts';
import type { KubeObject } from '../../kube/client/objects.ts';
import type { ReflectorGroup } from '../../kube/informer/reflector-group.ts';

/** The objects that a watch shows, by `namespace/name`. */
export interface WatchedObjects {
  get(key: string): KubeObject | undefined;
  keys(): readonly string[];
  /** Adds a listener for every change; `object` is undefined for a deleted one. */
  onChange(listener: (key: string, object: KubeObject | undefined) => void): void;
}

/** The message for watches that the API server denies, without a full stop. */
export function watchDenied(names: readonly string[]): string {
  return `the API server does not let the controller list ${names.join(', ')}: apply the rules of charts/keyframe/files/ to its account`;
}

/** The message for kinds that the cluster does not know, without a full stop. */
export function definitionsMissing(kinds: readonly string[]): string {
  return `the cluster does not know ${kinds.join(', ')} (${keyframeApiVersion}): apply the custom resource definitions with \`kubectl apply -f crds/\``;
}

/** Why a watch has no list, and what to do, without a full stop; undefined if the watch will recover. */
export function watchError({ name, kind, group: { error } }: NamedWatch): string | undefined {
  if (isApiStatus(error, 401, 403)) return watchDenied([name]);
  return kind !== undefined && isApiStatus(error, 404) ? definitionsMissing([kind.kind]) : undefined;
}

/** A watch with a name for messages. Two kinds can share one. */
export interface NamedWatch {
  /** The plural of what is watched, for messages. */
  readonly name: string;
  /** The custom resource that is watched; undefined for built-in kinds of Kubernetes. */
  readonly kind?: ResourceKind;
  readonly group: Pick<ReflectorGroup<never>, 'start' | 'stop' | 'synced' | 'isSynced' | 'error'> & WatchedObjects;
}
