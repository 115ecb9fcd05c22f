/**
 * A keyed digest of a Secret's data, independent of the order of its entries. The key is this cluster's. Throws DomainError
 * cluster_unavailable if the cluster is unknown.
 */
export type Fingerprint = (context: string, entries: Iterable<readonly [string, Uint8Array]>) => Buffer<ArrayBuffer>;
