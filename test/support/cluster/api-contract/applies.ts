import { expect } from '@jest/globals';
import { appliedDataKeys } from '../../../../src/kube/client/managed-fields.ts';
import type { ObjectMeta } from '../../../../src/kube/client/objects.ts';
import { type ContractCase, type ContractSite, mergePatch, refusal, refused } from './site.ts';

interface Applied {
  readonly manager?: string;
  readonly data?: Readonly<Record<string, string>>;
  readonly annotations?: Readonly<Record<string, string>>;
  /** By default, the present version. */
  readonly precondition?: ObjectMeta;
}

const ours = 'ours';
const [v, w] = ['dg==', 'dw=='];

async function apply(site: ContractSite, { manager = ours, precondition, ...content }: Applied): Promise<ObjectMeta> {
  // An empty map would be an owned field, too.
  const { data = {}, annotations = { [manager]: 'x' } } = content;
  const metadata = precondition ?? (await metadataOf(site));
  const { uid, resourceVersion } = metadata;
  const target = { namespace: site.namespace, name: 'a' };
  return await site.secrets.apply(target, { manager, annotations, data }, { uid, resourceVersion });
}

async function metadataOf(site: ContractSite): Promise<ObjectMeta> {
  return (await site.call('GET', site.secretPath('a'))).metadata;
}

async function keysOf(site: ContractSite, manager = ours): Promise<string[]> {
  return appliedDataKeys(await metadataOf(site), manager).sort();
}

/** Writes a Secret as a client that does not apply. */
async function edit(site: ContractSite, body: object): Promise<void> {
  const more = { contentType: mergePatch, query: { fieldManager: 'editor' }, body };
  await site.call('PATCH', site.secretPath('a'), more);
}

async function dataOf(site: ContractSite): Promise<unknown> {
  return (await site.secret('a'))?.data;
}

const ownership: readonly ContractCase[] = [
  {
    title: 'adds keys and annotations to those of others, and owns them',
    expectHolds: async (site) => {
      await site.makeSecret('a', { annotations: { theirs: 'x' } });
      await apply(site, { data: { B: v }, annotations: { mine: 'y' } });
      expect(await site.secret('a')).toMatchObject({
        metadata: { annotations: { theirs: 'x', mine: 'y' } },
        data: { A: v, B: v },
      });
      expect(await keysOf(site)).toEqual(['B']);
      expect(await keysOf(site, 'editor')).toEqual([]);
    },
  },
  {
    title: 'removes what the manager no longer applies, and leaves what others own',
    expectHolds: async (site) => {
      await site.makeSecret('a');
      await apply(site, { data: { B: v, C: v }, annotations: { mine: 'y', more: 'z' } });
      await apply(site, { data: { C: v }, annotations: { mine: 'y' } });
      const secret = await site.secret('a');
      expect(secret?.data).toEqual({ A: v, C: v });
      expect(secret?.metadata.annotations).toEqual({ mine: 'y' });
      expect(await keysOf(site)).toEqual(['C']);
    },
  },
  {
    title: 'without anything gives up all that it owned',
    expectHolds: async (site) => {
      await site.makeSecret('a');
      await apply(site, { data: { B: v } });
      await apply(site, {});
      expect(await dataOf(site)).toEqual({ A: v });
      expect(await keysOf(site)).toEqual([]);
    },
  },
  {
    title: 'of the same again keeps the version',
    expectHolds: async (site) => {
      await site.makeSecret('a');
      const { resourceVersion } = await apply(site, { data: { B: v } });
      expect(await apply(site, { data: { B: v } })).toMatchObject({ resourceVersion });
    },
  },
  {
    title: 'of the value that a key of another manager has shares the key, which stays when one of them leaves it out',
    expectHolds: async (site) => {
      await site.makeSecret('a');
      const { resourceVersion } = await metadataOf(site);
      expect((await apply(site, { data: { A: v } })).resourceVersion).not.toBe(resourceVersion);
      expect(await keysOf(site)).toEqual(['A']);
      await apply(site, {});
      expect(await dataOf(site)).toEqual({ A: v });
    },
  },
];

const conflicts: readonly ContractCase[] = [
  {
    title: 'of another value for a key of another manager is refused, names both, and writes nothing',
    expectHolds: async (site) => {
      await site.makeSecret('a', {}, []);
      await edit(site, { data: { A: v }, metadata: { annotations: { 'example.com/note': 'x' } } });
      const applied = { data: { A: w, B: w }, annotations: { 'example.com/note': 'y' } };
      const error = await refused(apply(site, applied));
      expect(error.code).toBe('409 Conflict');
      expect([...error.causes].sort((a, b) => (a.field < b.field ? -1 : 1))).toEqual([
        { reason: 'FieldManagerConflict', field: '.data.A', manager: 'editor' },
        { reason: 'FieldManagerConflict', field: '.metadata.annotations.example.com/note', manager: 'editor' },
      ]);
      expect(await dataOf(site)).toEqual({ A: v });
    },
  },
  {
    title: 'between two managers that apply is refused to the second one',
    expectHolds: async (site) => {
      await site.makeSecret('a', {}, []);
      await apply(site, { data: { A: v } });
      const { causes } = await refused(apply(site, { manager: 'second', data: { A: w, B: v } }));
      expect(causes).toEqual([{ reason: 'FieldManagerConflict', field: '.data.A', manager: ours }]);
      await apply(site, { manager: 'second', data: { B: v } });
      expect([await keysOf(site), await keysOf(site, 'second')]).toEqual([['A'], ['B']]);
    },
  },
  {
    title: 'that is forced takes the keys from their manager',
    expectHolds: async (site) => {
      await site.makeSecret('a');
      await apply(site, { data: { B: v } });
      await site.call('PATCH', site.secretPath('a'), {
        query: { fieldManager: 'second', force: 'true' },
        contentType: 'application/apply-patch+yaml',
        body: { apiVersion: 'v1', kind: 'Secret', metadata: { name: 'a' }, data: { B: w } },
      });
      expect(await dataOf(site)).toEqual({ A: v, B: w });
      expect([await keysOf(site), await keysOf(site, 'second')]).toEqual([[], ['B']]);
    },
  },
  {
    title: 'no longer owns a key that another client changed or removed',
    expectHolds: async (site) => {
      await site.makeSecret('a', {}, []);
      await apply(site, { data: { A: v, B: v, C: v } });
      await edit(site, { data: { A: w, B: null } });
      expect(await keysOf(site)).toEqual(['C']);
      const { causes } = await refused(apply(site, { data: { A: v, B: v, C: v } }));
      expect(causes).toEqual([{ reason: 'FieldManagerConflict', field: '.data.A', manager: 'editor' }]);
      await apply(site, { data: { B: v } });
      expect(await dataOf(site)).toEqual({ A: w, B: v });
    },
  },
  {
    title: 'still owns a key after another client wrote its value again',
    expectHolds: async (site) => {
      await site.makeSecret('a', {}, []);
      await apply(site, { data: { A: v } });
      await edit(site, { data: { A: v, B: v } });
      expect(await keysOf(site)).toEqual(['A']);
    },
  },
];

const preconditions: readonly ContractCase[] = [
  {
    title: 'for an older version is refused with a conflict that names no field',
    expectHolds: async (site) => {
      await site.makeSecret('a');
      const precondition = await metadataOf(site);
      await edit(site, { data: { B: v } });
      const error = await refused(apply(site, { data: { C: v }, precondition }));
      expect([error.code, error.causes]).toEqual(['409 Conflict', []]);
    },
  },
  {
    title: 'for the version of what was made again is refused with a conflict that names no field',
    expectHolds: async (site) => {
      const precondition = await site.makeSecret('a');
      await site.secrets.delete({ namespace: site.namespace, name: 'a' }, precondition);
      const { resourceVersion } = await site.makeSecret('a');
      const error = await refused(apply(site, { data: { C: v }, precondition }));
      expect([error.code, error.causes]).toEqual(['409 Conflict', []]);
      const withOldUid = apply(site, { data: { C: v }, precondition: { ...precondition, resourceVersion } });
      expect(await refusal(withOldUid)).toBe('422 Invalid');
      expect(await dataOf(site)).toEqual({ A: v });
    },
  },
  {
    title: 'for a version of what is gone makes nothing',
    expectHolds: async (site) => {
      const precondition = await site.makeSecret('a');
      await site.secrets.delete({ namespace: site.namespace, name: 'a' }, precondition);
      expect(await refusal(apply(site, { data: { C: v }, precondition }))).toBe('409 Conflict');
      expect(await site.secret('a')).toBeUndefined();
    },
  },
  {
    title: 'to an immutable Secret is refused',
    expectHolds: async (site) => {
      await site.makeSecret('a');
      await edit(site, { immutable: true });
      expect(await refusal(apply(site, { data: { B: v } }))).toBe('422 Invalid');
    },
  },
];

export const applyCases: readonly ContractCase[] = [...ownership, ...conflicts, ...preconditions];
