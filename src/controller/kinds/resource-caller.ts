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
 * A custom resource as the services know it during one reconcile, with the grants of its namespace as they are at each
 * look. The result rests on these grants. Throws DomainError cluster_unavailable if the cluster is not known.
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
