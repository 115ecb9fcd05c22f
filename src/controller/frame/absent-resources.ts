import type { ReportedPage, ReportedResource } from '../../domain/fleet.ts';
import type { Namespaces } from './namespaces.ts';

export interface KnownResources {
  /** The uids of all resources of the kind that the watch shows. */
  readonly knownUids: () => Iterable<string>;
  /** Whether the API server has listed the resources of a namespace. */
  readonly isListed: (namespace: string) => boolean;
  readonly namespaces: Pick<Namespaces, 'isGone'>;
}

/**
 * The uids of resources of which something is stored, and which do not exist. `reported` returns a page of the former. A
 * namespace that is not listed proves nothing: it may not be watched, or another installation watches it.
 */
export async function absentUids(
  reported: (after: string | null) => Promise<ReportedPage>,
  { knownUids, isListed, namespaces }: KnownResources,
): Promise<string[]> {
  const stored: ReportedResource[] = [];
  let after: string | null = null;
  do {
    const { resources, next }: ReportedPage = await reported(after);
    stored.push(...resources);
    after = next;
  } while (after !== null);
  const known = new Set(knownUids());
  return stored
    .filter(({ uid, namespace }) => !known.has(uid) && (isListed(namespace) || namespaces.isGone(namespace)))
    .map(({ uid }) => uid);
}
