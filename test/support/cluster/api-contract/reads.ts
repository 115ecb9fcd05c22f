import { expect } from '@jest/globals';
import { metadataOnly, metadataOnlyList } from '../../../../src/kube/client/client.ts';
import { findResource } from '../../../../src/kube/client/custom-resources.ts';
import { secretSyncKind } from '../../../../src/kube/client/keyframe-kinds.ts';
import { type ContractCase, type ContractObject, type ContractSite, refusal, versionOf } from './site.ts';

interface List {
  readonly metadata: { readonly resourceVersion: string; readonly continue?: string };
  readonly items?: readonly ContractObject[];
}

async function list(site: ContractSite, query: Readonly<Record<string, string>>, accept?: string): Promise<List> {
  return await site.call<List>('GET', site.secretsPath, { query, ...(accept && { accept }) });
}

function namesOf({ items = [] }: List): string[] {
  return items.map(({ metadata }) => metadata.name);
}

export const readCases: readonly ContractCase[] = [
  {
    title: 'of what does not exist fails',
    expectHolds: async (site) => {
      expect(await refusal(site.call('GET', site.secretPath('a')))).toBe('404 NotFound');
      expect(await findResource(site.client, secretSyncKind, { namespace: site.namespace, name: 'a' })).toBeUndefined();
    },
  },
  {
    title: 'of the metadata only has no values',
    expectHolds: async (site) => {
      const { uid } = await site.makeSecret('a');
      const found = await site.call('GET', site.secretPath('a'), { accept: metadataOnly });
      expect(found.metadata).toMatchObject({ name: 'a', uid });
      expect(found).not.toHaveProperty('data');
    },
  },
  {
    title: 'of a version or a newer one returns the newest',
    expectHolds: async (site) => {
      const { resourceVersion } = await site.makeSecret('a');
      await site.patch(site.secretPath('a'), { data: { B: 'dg==' } });
      const read = async (version: string): Promise<ContractObject> =>
        await site.call('GET', site.secretPath('a'), { query: { resourceVersion: version } });
      const { metadata } = await site.call('GET', site.secretPath('a'));
      expect((await read(metadata.resourceVersion))['data']).toEqual({ A: 'dg==', B: 'dg==' });
      expect(versionOf(await read(resourceVersion))).toBeGreaterThanOrEqual(Number(resourceVersion));
    },
  },
  {
    title: 'of a version that has not come yet fails after a while',
    expectHolds: async (site) => {
      const { resourceVersion } = await site.makeSecret('a');
      const query = { resourceVersion: String(Number(resourceVersion) + 1_000_000) };
      expect(await refusal(site.call('GET', site.secretPath('a'), { query }))).toBe('504 Timeout');
      // The client reads it without a version then.
      const found = await site.secrets.find({ namespace: site.namespace, name: 'a' }, query.resourceVersion);
      expect(found?.metadata.resourceVersion).toBe(resourceVersion);
    },
  },
];

export const listCases: readonly ContractCase[] = [
  {
    title: 'has all objects by their names, and a version that none of them exceeds',
    expectHolds: async (site) => {
      for (const name of ['b', 'c', 'a']) await site.makeSecret(name);
      const found = await list(site, {});
      expect(namesOf(found)).toEqual(['a', 'b', 'c']);
      const newest = Math.max(...(found.items ?? []).map(versionOf));
      expect(Number(found.metadata.resourceVersion)).toBeGreaterThanOrEqual(newest);
    },
  },
  {
    title: 'selects by labels and by the name',
    expectHolds: async (site) => {
      await site.makeSecret('a', { labels: { app: 'web', tier: 'front' } });
      await site.makeSecret('b', { labels: { app: 'web' } });
      await site.makeSecret('c', { labels: { app: 'db' } });
      await site.makeSecret('d');
      const selected = async (labelSelector: string): Promise<string[]> => namesOf(await list(site, { labelSelector }));
      expect(await selected('app=web')).toEqual(['a', 'b']);
      expect(await selected('app=web,tier=front')).toEqual(['a']);
      expect(await selected('app')).toEqual(['a', 'b', 'c']);
      expect(await selected('!app')).toEqual(['d']);
      expect(await selected('app in (db,web),!tier')).toEqual(['b', 'c']);
      expect(await selected('app notin (web)')).toEqual(['c', 'd']);
      expect(namesOf(await list(site, { fieldSelector: 'metadata.name=b' }))).toEqual(['b']);
    },
  },
  {
    title: 'page by page shows one moment',
    expectHolds: async (site) => {
      const made = await site.makeSecret('b');
      for (const name of ['a', 'c', 'e']) await site.makeSecret(name);
      const first = await list(site, { limit: '2' });
      expect(namesOf(first)).toEqual(['a', 'b']);
      await site.makeSecret('d');
      const deletion = { preconditions: { uid: made.uid } };
      await site.call('DELETE', site.secretPath('b'), {
        body: { apiVersion: 'v1', kind: 'DeleteOptions', ...deletion },
      });
      const rest = await list(site, { limit: '2', continue: first.metadata.continue ?? '' });
      expect(namesOf(rest)).toEqual(['c', 'e']);
      expect(rest.metadata.continue ?? '').toBe('');
      expect(rest.metadata.resourceVersion).toBe(first.metadata.resourceVersion);
    },
  },
  {
    title: 'of the metadata only has no values',
    expectHolds: async (site) => {
      await site.makeSecret('a');
      const { items = [] } = await list(site, {}, metadataOnlyList);
      expect(items).toHaveLength(1);
      expect(items[0]).not.toHaveProperty('data');
    },
  },
];

export const watchCases: readonly ContractCase[] = [
  {
    title: 'from the version of a list shows every change after it, in order, and nothing before it',
    expectHolds: async (site) => {
      await site.makeSecret('before');
      const { metadata } = await list(site, {});
      const made = await site.makeSecret('a');
      const watch = await site.watch(site.secretsPath, { resourceVersion: metadata.resourceVersion });
      expect((await watch.next('ADDED', 'a')).metadata).toMatchObject({
        uid: made.uid,
        resourceVersion: made.resourceVersion,
      });
      const patched = await site.patch(site.secretPath('a'), { data: { B: 'dg==' } });
      expect(versionOf(await watch.next('MODIFIED', 'a'))).toBe(versionOf(patched));
      await site.secrets.delete({ namespace: site.namespace, name: 'a' }, patched.metadata);
      const gone = await watch.next('DELETED', 'a');
      expect(gone['data']).toEqual({ A: 'dg==', B: 'dg==' });
      expect(versionOf(gone)).toBeGreaterThan(versionOf(patched));
      await site.makeSecret('a');
      expect((await watch.next('ADDED', 'a')).metadata.uid).not.toBe(made.uid);
    },
  },
  {
    title: 'without a version begins with the present objects',
    expectHolds: async (site) => {
      await site.makeSecret('a');
      const watch = await site.watch(site.secretsPath, {});
      await watch.next('ADDED', 'a');
      await site.makeSecret('b');
      await watch.next('ADDED', 'b');
    },
  },
  {
    title: 'shows no write that changed nothing',
    expectHolds: async (site) => {
      const { resourceVersion } = await site.makeSecret('a', { labels: { one: 'x' } });
      const watch = await site.watch(site.secretsPath, { resourceVersion });
      await site.patch(site.secretPath('a'), { metadata: { labels: { one: 'x' } } });
      await site.makeSecret('b');
      await watch.next('ADDED', 'b');
    },
  },
  {
    title: 'with a label shows what gains it as new, and what loses it as deleted, as it last was',
    expectHolds: async (site) => {
      const path = site.secretPath('a');
      const { resourceVersion } = await site.makeSecret('a');
      const watch = await site.watch(site.secretsPath, { resourceVersion, labelSelector: 'mine=yes' });
      const label = async (mine: string | null): Promise<ContractObject> =>
        await site.patch(path, { metadata: { labels: { mine } } });
      await label('yes');
      await watch.next('ADDED', 'a');
      const without = await label(null);
      const gone = await watch.next('DELETED', 'a');
      expect(gone.metadata.labels).toEqual({ mine: 'yes' });
      expect(versionOf(gone)).toBe(versionOf(without));
      await site.secrets.delete({ namespace: site.namespace, name: 'a' }, without.metadata);
      await site.makeSecret('b', { labels: { mine: 'yes' } });
      await watch.next('ADDED', 'b');
    },
  },
  {
    title: 'of one name shows that object only',
    expectHolds: async (site) => {
      const { resourceVersion } = await site.makeSecret('other');
      const watch = await site.watch(site.secretsPath, { resourceVersion, fieldSelector: 'metadata.name=a' });
      await site.patch(site.secretPath('other'), { data: { B: 'dg==' } });
      await site.makeSecret('a');
      await watch.next('ADDED', 'a');
    },
  },
  {
    title: 'from a version that the server no longer remembers ends with 410',
    expectHolds: async (site) => {
      // Of custom resources: the first version of a new API server is from before their definition.
      await site.makeSync('a');
      const watch = await site.watch(site.syncsPath, { resourceVersion: '1' });
      expect(await watch.end()).toBe(410);
    },
  },
];
