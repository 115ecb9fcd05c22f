import { expect } from '@jest/globals';
import { metadataOnly } from '../../../../src/kube/client/client.ts';
import { type ContractCase, mergePatch, refusal, secretContent } from './site.ts';

export const creationCases: readonly ContractCase[] = [
  {
    title: 'of a name that exists is refused, and nothing changes',
    expectHolds: async (site) => {
      const made = await site.makeSecret('a');
      expect(await refusal(site.makeSecret('a', {}, ['B']))).toBe('409 AlreadyExists');
      expect(await site.secret('a')).toMatchObject({ metadata: made, data: { A: 'dg==' } });
    },
  },
  {
    title: 'gives a uid, a time and a version, whatever the client sends as a uid',
    expectHolds: async (site) => {
      const body = { apiVersion: 'v1', kind: 'Secret', metadata: { name: 'a', uid: 'mine' }, type: 'Opaque' };
      const { metadata } = await site.call('POST', site.secretsPath, { body });
      expect(metadata.uid).not.toBe('mine');
      expect(metadata.creationTimestamp).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/);
      expect(Number(metadata.resourceVersion)).toBeGreaterThan(0);
      expect(metadata.namespace).toBe(site.namespace);
    },
  },
  {
    title: 'again after a deletion gives another uid and a higher version',
    expectHolds: async (site) => {
      const first = await site.makeSecret('a');
      await site.secrets.delete({ namespace: site.namespace, name: 'a' }, first);
      const second = await site.makeSecret('a');
      expect(second.uid).not.toBe(first.uid);
      expect(Number(second.resourceVersion)).toBeGreaterThan(Number(first.resourceVersion));
    },
  },
  {
    title: 'as a dry run makes nothing, and shows that the name is taken',
    expectHolds: async (site) => {
      const dryRun = async (name: string): Promise<unknown> =>
        await site.call('POST', site.secretsPath, {
          query: { dryRun: 'All' },
          body: { apiVersion: 'v1', kind: 'Secret', ...secretContent(name) },
        });
      await dryRun('a');
      expect(await site.secret('a')).toBeUndefined();
      await site.makeSecret('a');
      expect(await refusal(dryRun('a'))).toBe('409 AlreadyExists');
    },
  },
  {
    title: 'of a Secret without a type makes an opaque one',
    expectHolds: async (site) => {
      const body = { apiVersion: 'v1', kind: 'Secret', metadata: { name: 'a' } };
      await site.call('POST', site.secretsPath, { body });
      expect(await site.secret('a')).toMatchObject({ type: 'Opaque' });
    },
  },
  {
    title: 'of a custom resource begins with generation 1 and without a status',
    expectHolds: async (site) => {
      const { generation } = await site.makeSync('a');
      expect(generation).toBe(1);
      expect(await site.sync('a')).not.toHaveProperty('status');
    },
  },
  {
    title: 'leaves out labels, annotations, finalizers and data that are empty',
    expectHolds: async (site) => {
      await site.makeSecret('a', { labels: {}, annotations: {}, finalizers: [], ownerReferences: [] }, []);
      const secret = await site.secret('a');
      for (const field of ['labels', 'annotations', 'finalizers', 'ownerReferences'])
        expect(secret?.metadata).not.toHaveProperty(field);
      expect(secret).not.toHaveProperty('data');
    },
  },
];

export const updateCases: readonly ContractCase[] = [
  {
    title: 'of an older version or another uid is refused with a conflict',
    expectHolds: async (site) => {
      const made = await site.makeSecret('a');
      const other = await site.makeSecret('other');
      const replaced = await site.secrets.replace(site.namespace, secretContent('a', {}, ['B']), made);
      const { uid, resourceVersion } = replaced;
      expect(uid).toBe(made.uid);
      const replace = async (precondition: { uid: string; resourceVersion: string }): Promise<unknown> =>
        await site.secrets.replace(site.namespace, secretContent('a', {}, ['C']), precondition);
      expect(await refusal(replace({ uid, resourceVersion: made.resourceVersion }))).toBe('409 Conflict');
      expect(await refusal(replace({ uid: other.uid, resourceVersion }))).toBe('409 Conflict');
      expect(await site.secret('a')).toMatchObject({ data: { B: 'dg==' } });
    },
  },
  {
    title: 'of what does not exist is refused',
    expectHolds: async (site) => {
      const gone = await site.makeSecret('a');
      await site.secrets.delete({ namespace: site.namespace, name: 'a' }, gone);
      expect(await refusal(site.secrets.replace(site.namespace, secretContent('a'), gone))).toBe('404 NotFound');
      expect(await refusal(site.patch(site.secretPath('a'), { data: { A: 'dw==' } }))).toBe('404 NotFound');
    },
  },
  {
    title: 'replaces everything but the uid and the time of the creation',
    expectHolds: async (site) => {
      const { uid, resourceVersion } = await site.makeSecret('a', { labels: { one: 'x' }, annotations: { two: 'y' } });
      const before = await site.secret('a');
      const content = secretContent('a', { labels: { three: 'z' } }, ['B']);
      await site.secrets.replace(site.namespace, content, { uid, resourceVersion });
      const after = await site.secret('a');
      expect(after).toMatchObject({ metadata: { labels: { three: 'z' }, uid }, data: { B: 'dg==' } });
      expect(after?.data).not.toHaveProperty('A');
      expect(after?.metadata).not.toHaveProperty('annotations');
      expect(after?.metadata.creationTimestamp).toBe(before?.metadata.creationTimestamp);
    },
  },
  {
    title: 'that changes nothing keeps the version, as a whole object and as a patch',
    expectHolds: async (site) => {
      const made = await site.makeSecret('a', { labels: { one: 'x' } });
      const same = await site.secrets.replace(site.namespace, secretContent('a', { labels: { one: 'x' } }), made);
      expect(same.resourceVersion).toBe(made.resourceVersion);
      const patched = await site.patch(site.secretPath('a'), { metadata: { labels: { one: 'x', none: null } } });
      expect(patched.metadata.resourceVersion).toBe(made.resourceVersion);
    },
  },
  {
    title: 'never changes the type of a Secret',
    expectHolds: async (site) => {
      const made = await site.makeSecret('a');
      const other = { ...secretContent('a'), type: 'example.com/other' };
      expect(await refusal(site.secrets.replace(site.namespace, other, made))).toBe('422 Invalid');
      expect(await refusal(site.patch(site.secretPath('a'), { type: 'example.com/other' }))).toBe('422 Invalid');
    },
  },
  {
    title: 'changes the metadata of an immutable Secret, and neither its data nor that it is immutable',
    expectHolds: async (site) => {
      const path = site.secretPath('a');
      await site.makeSecret('a');
      await site.patch(path, { immutable: true });
      const labelled = await site.patch(path, { metadata: { labels: { one: 'x' } } });
      expect(labelled.metadata.labels).toEqual({ one: 'x' });
      expect(await refusal(site.patch(path, { data: { B: 'dg==' } }))).toBe('422 Invalid');
      expect(await refusal(site.patch(path, { immutable: false }))).toBe('422 Invalid');
      const replace = site.secrets.replace(site.namespace, secretContent('a', {}, ['B']), labelled.metadata);
      expect(await refusal(replace)).toBe('422 Invalid');
    },
  },
];

export const patchCases: readonly ContractCase[] = [
  {
    title: 'merges maps, removes what is null and replaces lists',
    expectHolds: async (site) => {
      await site.makeSync('a', { labels: { one: 'x', two: 'y' } });
      await site.patch(site.syncPath('a'), { spec: { keys: { include: ['A', 'B'] } } });
      await site.patch(site.syncPath('a'), {
        metadata: { labels: { one: null, three: 'z' } },
        spec: { target: { labels: { a: null, c: '3' } }, keys: { include: ['B'] } },
      });
      const { metadata, spec } = await site.sync('a');
      expect(metadata.labels).toEqual({ two: 'y', three: 'z' });
      expect(spec).toMatchObject({
        keys: { include: ['B'] },
        suspend: true,
        target: { type: 'Opaque', labels: { b: '2', c: '3' } },
      });
      expect((spec as { target: { labels: object } }).target.labels).not.toHaveProperty('a');
    },
  },
  {
    title: 'for an older version is refused with a conflict, and one for another uid only is invalid',
    expectHolds: async (site) => {
      const { resourceVersion } = await site.makeSync('a');
      await site.patch(site.syncPath('a'), { metadata: { labels: { one: 'x' } } });
      const patch = async (metadata: object): Promise<unknown> =>
        await site.patch(site.syncPath('a'), { metadata: { ...metadata, labels: { two: 'y' } } });
      const uid = '00000000-0000-4000-8000-000000000000';
      expect(await refusal(patch({ resourceVersion }))).toBe('409 Conflict');
      expect(await refusal(patch({ resourceVersion, uid }))).toBe('409 Conflict');
      expect(await refusal(patch({ uid }))).toBe('422 Invalid');
      expect((await site.sync('a')).metadata.labels).toEqual({ one: 'x' });
    },
  },
  {
    title: 'of the spec gives a higher generation only if the spec differs; one of the metadata gives none',
    expectHolds: async (site) => {
      const path = site.syncPath('a');
      const made = await site.makeSync('a');
      const generationOf = async (body: object): Promise<number | undefined> =>
        (await site.patch(path, body)).metadata.generation;
      expect(await generationOf({ metadata: { labels: { one: 'x' } } })).toBe(1);
      expect(await generationOf({ spec: { suspend: true } })).toBe(1);
      expect(await generationOf({ spec: { suspend: false } })).toBe(2);
      expect(await generationOf({ metadata: { generation: 7 } })).toBe(2);
      expect((await site.sync('a')).metadata.uid).toBe(made.uid);
    },
  },
  {
    title: 'of the object leaves the status as it is',
    expectHolds: async (site) => {
      await site.makeSync('a');
      await site.patch(`${site.syncPath('a')}/status`, { status: { secretName: 'one' } });
      await site.patch(site.syncPath('a'), { spec: { suspend: false }, status: { secretName: 'two' } });
      expect(await site.sync('a')).toMatchObject({ spec: { suspend: false }, status: { secretName: 'one' } });
    },
  },
  {
    title: 'returns the metadata only, if that is asked for',
    expectHolds: async (site) => {
      await site.makeSecret('a');
      const body = { metadata: { labels: { one: 'x' } } };
      const more = { contentType: mergePatch, accept: metadataOnly, body };
      const patched = await site.call('PATCH', site.secretPath('a'), more);
      expect(patched.metadata).toMatchObject({ name: 'a', labels: { one: 'x' } });
      expect(patched).not.toHaveProperty('data');
    },
  },
];

export const statusCases: readonly ContractCase[] = [
  {
    title: 'changes nothing but the status and the version, and gives no generation',
    expectHolds: async (site) => {
      const made = await site.makeSync('a', { labels: { one: 'x' } });
      const patched = await site.patch(`${site.syncPath('a')}/status`, {
        metadata: { labels: { one: 'y' }, finalizers: ['example.com/hold'] },
        spec: { suspend: false },
        status: { secretName: 'a' },
      });
      expect(Number(patched.metadata.resourceVersion)).toBeGreaterThan(Number(made.resourceVersion));
      const { metadata, spec, status } = await site.sync('a');
      expect(metadata).toMatchObject({ generation: 1, labels: { one: 'x' } });
      expect(metadata).not.toHaveProperty('finalizers');
      expect(spec).toMatchObject({ suspend: true });
      expect(status).toEqual({ secretName: 'a' });
    },
  },
  {
    title: 'that says the same keeps the version',
    expectHolds: async (site) => {
      await site.makeSync('a');
      const write = async (): Promise<string> => {
        const patched = await site.patch(`${site.syncPath('a')}/status`, { status: { secretName: 'a' } });
        return patched.metadata.resourceVersion;
      };
      expect(await write()).toBe(await write());
    },
  },
  {
    title: 'removes what is null, also inside of a field',
    expectHolds: async (site) => {
      await site.makeSync('a');
      const path = `${site.syncPath('a')}/status`;
      const held = { data: 'd'.repeat(32), sources: [] };
      const rolledBack = { data: 'c'.repeat(32), sources: [], held, cause: 'why', retry: 'r' };
      await site.patch(path, { status: { secretName: 'a', source: 'b', rolledBack } });
      await site.patch(path, { status: { secretName: null, rolledBack: { cause: null } } });
      const { cause: _, ...left } = rolledBack;
      expect((await site.sync('a'))['status']).toEqual({ source: 'b', rolledBack: left });
    },
  },
  {
    title: 'for an older version is refused with a conflict; another uid makes no difference',
    expectHolds: async (site) => {
      const { resourceVersion } = await site.makeSync('a');
      const write = async (metadata: object, secretName: string): Promise<unknown> =>
        await site.patch(`${site.syncPath('a')}/status`, { metadata, status: { secretName } });
      await write({ resourceVersion }, 'one');
      expect(await refusal(write({ resourceVersion }, 'two'))).toBe('409 Conflict');
      await write({ uid: '00000000-0000-4000-8000-000000000000' }, 'three');
      expect(await site.sync('a')).toMatchObject({ status: { secretName: 'three' } });
    },
  },
];
