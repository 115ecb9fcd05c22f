import { isApiStatus } from '../../kube/client/api-error.ts';
import type { ResourceKind } from '../../kube/client/custom-resources.ts';
import type { KubeObject } from '../../kube/client/objects.ts';
import type { ReflectorGroup } from '../../kube/informer/reflector-group.ts';
import { definitionsMissing, watchDenied } from './messages.ts';

/** The objects that a watch shows, by `namespace/name`. */
export interface WatchedObjects {
  get(key: string): KubeObject | undefined;
  keys(): readonly string[];
  /** Adds a listener for every change; `object` is undefined for a deleted one. */
  onChange(listener: (key: string, object: KubeObject | undefined) => void): void;
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
