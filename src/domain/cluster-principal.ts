/**
 * The controller of a cluster, as it presents itself over HTTPS. It is no `Principal`: only the routes below
 * `/api/v1/cluster` take it, and what its resources may do is judged for each of them.
 */
export interface ClusterPrincipal {
  /** The name of the cluster. */
  readonly name: string;
  /** Whether the operator of this installation runs it: it presented the home token. */
  readonly isHome: boolean;
  readonly credential: 'home_token' | 'jwt';
  /** When the credential is no longer accepted; null for a home token that was not replaced. */
  readonly acceptedUntil: Date | null;
}

/** Whose share of each limit a cluster uses. All home clusters have one, because the home token proves any of their names. */
export function limitsOwner({ name, isHome }: Pick<ClusterPrincipal, 'name' | 'isHome'>): string {
  return isHome ? 'home clusters' : `cluster ${name}`;
}
