import type { NameHolder } from '../../domain/clusters.ts';

/** Who this cluster is. */
export interface ClusterBackend {
  /**
   * Records that a controller of this cluster leads, and takes the cluster's name if it is new, or if the cluster that has
   * it was not seen for 10 minutes. `uid` is that of the namespace kube-system. Throws DomainError store_unavailable.
   */
  readonly claim: (uid: string) => Promise<'ours' | NameHolder>;
}
