import type { AccessGrant } from '../../../src/controller/generated/access-grant.ts';
import type { SecretSnapshot } from '../../../src/controller/generated/secret-snapshot.ts';
import { ResourceSite } from './resource-site.ts';
import type { Stack } from './stack.ts';
import type { SiteOptions, SyncSite } from './sync-site.ts';

export const first = { A: 'one', B: 'two', C: 'three', D: 'four' };
const second = { A: 'changed', E: 'five' };
export const third = { Z: 'last' };

/** An environment whose revision 1 holds `first`, 2 `second` and 3 `third`. */
export async function makePinSite(stack: Stack, options: SiteOptions = {}): Promise<SyncSite> {
  const site = await stack.makeSite({ ...options, values: first, withoutSync: true });
  await site.environment.change(second, ['B', 'C', 'D']);
  await site.environment.change(third, ['A', 'E']);
  if (options.withoutSync !== true) await site.createSync();
  return site;
}

/** The SecretSnapshots of a site's namespace. */
export function snapshotsOf({ kube, namespace }: Pick<SyncSite, 'kube' | 'namespace'>): ResourceSite<SecretSnapshot> {
  return new ResourceSite({ kube, kind: 'SecretSnapshot', plural: 'secretsnapshots', namespace });
}

/** Grants a site's namespace snapshots of an environment. */
export async function grantSnapshots({ kube, namespace }: SyncSite, { ref }: SyncSite['environment']): Promise<void> {
  const { organization, project, name } = ref;
  const rule = { organization, project, environments: [name], permission: 'ReadWrite', kinds: ['SecretSnapshot'] };
  const grants = new ResourceSite<AccessGrant>({ kube, kind: 'AccessGrant', plural: 'accessgrants' });
  await grants.create({ namespaces: [namespace], rules: [rule] });
}

/** Takes a snapshot of an environment into the site's namespace. */
export async function takeSnapshot(
  site: SyncSite,
  name: string,
  { environment = site.environment, deletionPolicy = 'Retain' } = {},
): Promise<SecretSnapshot> {
  const snapshots = snapshotsOf(site);
  await snapshots.create({ source: { environmentRef: environment.ref }, deletionPolicy }, name);
  return await snapshots.waitForReason(name, 'Taken');
}

/** Pins a site's SecretSync to a SecretSnapshot. */
export const pinTo = async (site: SyncSite, name: string): Promise<void> =>
  await site.patchSync({ spec: { snapshotRef: { name }, revision: null } });

/** Where the site's snapshots are over the API. */
export function snapshotsPathOf({ environment: { ref } }: SyncSite): string {
  return `/snapshots/${ref.organization}/${ref.project}/${ref.name}`;
}

/** How often the tokens of the site's organization have read a revision's values. */
export async function readsOf(stack: Stack, { environment: { ref } }: SyncSite, revision: number): Promise<number> {
  const path = `/audit/${ref.organization}?action=secret.list&limit=200`;
  const { entries } = await stack.admin.call<{ entries: { target: { revision?: number } }[] }>('GET', path);
  return entries.filter(({ target }) => target.revision === revision).length;
}
