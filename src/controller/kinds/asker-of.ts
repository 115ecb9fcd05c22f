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
  deps: AskerDeps,
  kind: K,
  context: Pick<ReconcileContext<Resource>, 'resource' | 'requestId' | 'seen'>,
): Asker<K> {
  const { namespace } = context.resource.metadata;
  if (namespace !== undefined) context.seen.note('grants', namespace);
  return describeAsker(deps, kind, context);
}

/** The same without the dependency: the caller judges events of the grants itself. */
export function describeAsker<K extends GrantedKindName>(
  { grants }: AskerDeps,
  kind: K,
  { resource, requestId }: Pick<ReconcileContext<Resource>, 'resource' | 'requestId'>,
): Asker<K> {
  const { uid, name, namespace = null } = resource.metadata;
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
