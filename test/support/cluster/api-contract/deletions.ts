import { expect } from '@jest/globals';
import { type ContractCase, type ContractSite, refusal } from './site.ts';

const finalizers = ['example.com/one', 'example.com/two'];

async function remove(site: ContractSite, path: string, preconditions?: object): Promise<unknown> {
  const body = { apiVersion: 'v1', kind: 'DeleteOptions', ...(preconditions && { preconditions }) };
  return await site.call('DELETE', path, { body });
}

export const deletionCases: readonly ContractCase[] = [
  {
    title: 'is only for the uid and the version that it names',
    expectHolds: async (site) => {
      const first = await site.makeSecret('a');
      const other = await site.makeSecret('other');
      const path = site.secretPath('a');
      const { metadata } = await site.patch(path, { data: { B: 'dg==' } });
      const { uid, resourceVersion } = metadata;
      expect(await refusal(remove(site, path, { uid, resourceVersion: first.resourceVersion }))).toBe('409 Conflict');
      expect(await refusal(remove(site, path, { uid: other.uid }))).toBe('409 Conflict');
      expect(await site.secret('a')).toBeDefined();
      await remove(site, path, { uid, resourceVersion });
      expect(await site.secret('a')).toBeUndefined();
      expect(await refusal(remove(site, path, { uid, resourceVersion }))).toBe('404 NotFound');
    },
  },
  {
    title: 'of an object with finalizers marks it, with another version and generation, and once',
    expectHolds: async (site) => {
      const path = site.syncPath('a');
      const made = await site.makeSync('a');
      await site.patch(path, { metadata: { finalizers } });
      await remove(site, path);
      const { metadata } = await site.sync('a');
      expect(metadata).toMatchObject({ uid: made.uid, finalizers, generation: 2 });
      expect(metadata.deletionTimestamp).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/);
      await remove(site, path);
      expect((await site.sync('a')).metadata.resourceVersion).toBe(metadata.resourceVersion);
    },
  },
  {
    title: 'ends with the last finalizer, by which the watch sees it go',
    expectHolds: async (site) => {
      const path = site.syncPath('a');
      await site.makeSync('a');
      const held = await site.patch(path, { metadata: { finalizers } });
      const watch = await site.watch(site.syncsPath, { resourceVersion: held.metadata.resourceVersion });
      await remove(site, path);
      await watch.next('MODIFIED', 'a');
      await site.patch(path, { metadata: { finalizers: finalizers.slice(1) } });
      expect((await watch.next('MODIFIED', 'a')).metadata.finalizers).toEqual(finalizers.slice(1));
      await site.patch(path, { metadata: { finalizers: [] } });
      // Gone in one step: no version without finalizers is stored.
      expect((await watch.next('DELETED', 'a')).metadata.finalizers).toEqual(finalizers.slice(1));
      expect(await refusal(site.sync('a'))).toBe('404 NotFound');
    },
  },
  {
    title: 'that is in progress allows no further finalizer, and other changes',
    expectHolds: async (site) => {
      const path = site.syncPath('a');
      await site.makeSync('a');
      await site.patch(path, { metadata: { finalizers: finalizers.slice(1) } });
      await remove(site, path);
      expect(await refusal(site.patch(path, { metadata: { finalizers } }))).toBe('422 Invalid');
      await site.patch(path, { metadata: { labels: { one: 'x' } } });
      await site.patch(`${path}/status`, { status: { secretName: 'a' } });
      const { metadata, status } = await site.sync('a');
      expect(metadata).toMatchObject({ labels: { one: 'x' }, finalizers: finalizers.slice(1), generation: 2 });
      expect(status).toEqual({ secretName: 'a' });
    },
  },
  {
    title: 'is not undone by a client that leaves the time of the deletion out',
    expectHolds: async (site) => {
      const path = site.syncPath('a');
      await site.makeSync('a');
      await site.patch(path, { metadata: { finalizers } });
      await remove(site, path);
      await site.patch(path, { metadata: { deletionTimestamp: null, labels: { one: 'x' } } });
      expect((await site.sync('a')).metadata.deletionTimestamp).toBeDefined();
    },
  },
];
