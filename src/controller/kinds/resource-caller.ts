import type { ResourceKindName } from '../../domain/kinds.ts';
import type { ResourceCaller } from '../../domain/principal.ts';
import type { GrantIndex } from './access-grant/grant-index.ts';
import type { ReconcileContext } from '../frame/kind-rules.ts';
import type { Resource } from '../frame/resource.ts';

export interface CallerDeps {
  readonly grants: Pick<GrantIndex, 'rulesFor' | 'ownGrantOf'>;
  readonly cluster: () => string;
}

/**
 * The principal of a custom resource for the services during one reconcile. Each read of `grants` returns the current
 * grants of the namespace, so the result depends on them. Throws DomainError cluster_unavailable if the cluster is unknown.
 */
export function callerOf(
  { grants, cluster }: CallerDeps,
  kind: ResourceKindName,
  { resource, requestId, seen }: Pick<ReconcileContext<Resource>, 'resource' | 'requestId' | 'seen'>,
): ResourceCaller {
  const { uid, name, namespace = null } = resource.metadata;
  if (namespace !== null) seen.note('grants', namespace);
  return {
    principal: {
      type: 'resource',
      id: uid,
      name: `${kind} ${namespace === null ? '' : `${namespace}/`}${name}`,
      cluster: cluster(),
      kind,
      namespace,
      get grants() {
        return namespace === null ? [] : grants.rulesFor(namespace);
      },
      get ownGrant() {
        return namespace === null ? undefined : grants.ownGrantOf(namespace);
      },
    },
    requestId,
    sourceAddress: null,
  };
}
