import type { ClusterState } from './cluster-ceiling.ts';

/** Another cluster, which holds a name now. */
export interface NameHolder {
  /** The uid of its namespace kube-system. */
  readonly heldBy: string;
  /** By the database's clock. */
  readonly seenAt: Date;
}

/** What a controller says of itself and its cluster. */
export interface Hello {
  /** The uid of the namespace kube-system. */
  readonly uid: string;
  /** Whether the process holds the Lease. Only then its cluster counts as seen. */
  readonly isLeading: boolean;
}

export interface HelloAnswer {
  /** Unless it is enabled, nothing is done for the cluster. */
  readonly state: ClusterState;
  /** The cluster that has the name, if that is another one. */
  readonly holder: NameHolder | undefined;
  /** The database's time. */
  readonly now: Date;
}
