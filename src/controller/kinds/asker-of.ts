import type { Asker } from '../../domain/asker.ts';
import type { GrantedKindName } from '../../domain/kinds.ts';
import type { GrantIndex } from './access-grant/grant-index.ts';
import type { ReconcileContext } from '../frame/kind-rules.ts';
import type { Resource } from '../frame/resource.ts';

export interface AskerDeps {
  readonly grants: Pick<GrantIndex, 'rulesFor' | 'ownGrantOf'>;
}

/**
 * A custom resource as it asks the backend during one reconcile. Each read of `grants` returns the current grants of the
 * namespace, so the result depends on them.
 */
export function askerOf<K extends GrantedKindName>(
  { grants }: AskerDeps,
  kind: K,
  { resource, requestId, seen }: Pick<ReconcileContext<Resource>, 'resource' | 'requestId' | 'seen'>,
): Asker<K> {
  const { uid, name, namespace = null } = resource.metadata;
  if (namespace !== null) seen.note('grants', namespace);
  return {
    kind,
    namespace,
    name,
    uid,
    requestId,
    get grants() {
      return namespace === null ? [] : grants.rulesFor(namespace);
    },
    get ownGrant() {
      return namespace === null ? undefined : grants.ownGrantOf(namespace);
    },
  };
}
