import type { ResourceAccess } from '../managed/access.ts';

/** What each part needs that acts for the custom resources of one cluster. */
export interface ClusterDeps {
  readonly resourceAccess: ResourceAccess;
  /** The cluster's name in the database. Throws DomainError cluster_unavailable if it is unknown. */
  readonly cluster: () => string;
  /** Where the requests of its controller come from; null for the controller of this process. */
  readonly sourceAddress: string | null;
}
