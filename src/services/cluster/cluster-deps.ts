import type { Asker } from '../../domain/asker.ts';
import type { ResourceCaller } from '../../domain/principal.ts';
import { resourceCaller } from '../access/cluster-access.ts';
import type { ResourceAccess } from '../managed/access.ts';

/** What each part needs that acts for the custom resources of one cluster. */
export interface ClusterDeps {
  readonly resourceAccess: ResourceAccess;
  /** The cluster's name in the database. Throws DomainError cluster_unavailable if it is unknown. */
  readonly cluster: () => string;
  /** Where the requests of its controller come from; null for the controller of this process. */
  readonly sourceAddress: string | null;
}

/** Makes the callers that the custom resources of a cluster are. Each call throws what `cluster` throws. */
export function callersOf({
  cluster,
  sourceAddress,
}: Pick<ClusterDeps, 'cluster' | 'sourceAddress'>): (asker: Asker) => ResourceCaller {
  return (asker) => resourceCaller({ cluster: cluster(), sourceAddress }, asker);
}
