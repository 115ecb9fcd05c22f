import type { Asker } from '../../domain/asker.ts';
import { type ResourceCaller, resourceName } from '../../domain/principal.ts';

/** The only place that makes principals of what a cluster vouches for. */

/** The principal of a custom resource. Each read of its grants is one of the asker's. */
export function resourceCaller(cluster: string, asker: Asker): ResourceCaller {
  const { kind, namespace, uid, requestId } = asker;
  return {
    principal: {
      type: 'resource',
      id: uid,
      name: resourceName(asker),
      cluster,
      kind,
      namespace,
      get grants() {
        return asker.grants;
      },
      get ownGrant() {
        return asker.ownGrant;
      },
    },
    requestId,
    sourceAddress: null,
  };
}
