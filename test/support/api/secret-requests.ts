import type { ProxiedRequest, RequestMatch } from '../faults/api-proxy.ts';
import type { SyncSite } from '../cluster/sync-site.ts';

type WriteMethod = 'POST' | 'PUT' | 'PATCH' | 'DELETE';

/** Requests of this method that write a site's Secret, or whose answer would be its creation. No dry runs. */
export function writesOf(site: SyncSite, method: WriteMethod): RequestMatch {
  const path = site.secretPath();
  return (request) => request.method === method && request.query.get('dryRun') === null && pathOf(request) === path;
}

/** Patches of the site's status. */
export function statusPatchesOf(site: SyncSite): RequestMatch {
  return ({ method, path }) => method === 'PATCH' && path === `${site.syncPath}/status`;
}

/** The path of what a request is about: a creation names it in its body alone. */
function pathOf({ method, path, body }: ProxiedRequest): string {
  if (method !== 'POST') return path;
  const { metadata } = JSON.parse(body.toString()) as { metadata?: { name?: string } };
  return `${path}/${metadata?.name}`;
}
