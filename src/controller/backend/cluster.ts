import type { Hello, HelloAnswer } from '../../domain/clusters.ts';

/** Who this cluster is. */
export interface ClusterBackend {
  /**
   * Says who this cluster is. If its controller leads, it takes the cluster's name, if that is new, or if the cluster that
   * has it was not seen for 10 minutes. Throws DomainError protocol_unsupported, and cluster_unknown and
   * unauthenticated for a cluster that must be registered or changed first, and store_unavailable.
   */
  readonly hello: (hello: Hello) => Promise<HelloAnswer>;
}
