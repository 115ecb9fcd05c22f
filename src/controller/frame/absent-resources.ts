import type { Namespaces } from './namespaces.ts';

export interface KnownResources {
  /** The uids of all resources of the kind that the watch shows. */
  readonly knownUids: () => Iterable<string>;
  /** Whether the API server has listed the resources of a namespace. */
  readonly isListed: (namespace: string) => boolean;
  readonly namespaces: Pick<Namespaces, 'isGone'>;
}

/** A resource of which something is stored. */
interface StoredResource {
  readonly uid: string;
  readonly namespace: string;
}

/**
 * The uids of stored resources that do not exist. A namespace that is not listed proves nothing: it may not be watched, or
 * another installation watches it.
 */
export function absentUids(
  stored: readonly StoredResource[],
  { knownUids, isListed, namespaces }: KnownResources,
): string[] {
  const known = new Set(knownUids());
  return stored
    .filter(({ uid, namespace }) => !known.has(uid) && (isListed(namespace) || namespaces.isGone(namespace)))
    .map(({ uid }) => uid);
}
