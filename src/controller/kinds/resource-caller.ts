import type { ResourceKindName } from '../../domain/kinds.ts';
import type { ResourceCaller } from '../../domain/principal.ts';
import { resourceCaller } from '../../services/access/cluster-access.ts';
import type { ReconcileContext } from '../frame/kind-rules.ts';
import type { Resource } from '../frame/resource.ts';
import { type AskerDeps, askerOf } from './asker-of.ts';

export interface CallerDeps extends AskerDeps {
  readonly cluster: () => string;
}

/** `askerOf` for the services. Throws DomainError cluster_unavailable if the cluster is unknown. */
export function callerOf(
  { grants, cluster }: CallerDeps,
  kind: ResourceKindName,
  context: Pick<ReconcileContext<Resource>, 'resource' | 'requestId' | 'seen'>,
): ResourceCaller {
  const asker = askerOf({ grants }, kind, context);
  return resourceCaller(cluster(), asker);
}
