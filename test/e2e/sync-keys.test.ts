/** @default A SecretSync chooses, renames and decodes keys, and the API server refuses wrong rules. */
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { Stack } from '../support/cluster/stack.ts';
import type { SyncSite } from '../support/cluster/sync-site.ts';

const resources = new AsyncDisposableStack();
let stack: Stack;

beforeAll(async () => {
  stack = await Stack.start(resources, { namespaces: 2 });
  await stack.startController();
});

afterAll(() => resources.disposeAsync());

/** A SecretSync that is made with these rules from the start. */
async function makeSite(values: Record<string, string>, keys: object, target: object = {}): Promise<SyncSite> {
  return await stack.makeSite({ values, spec: { keys }, target: { ...target } });
}

const refusals: readonly [sentence: string, spec: object, message: string][] = [
  ['a glob that no key can fit', { keys: { include: ['A B'] } }, 'must be a glob of keys'],
  ['an empty glob', { keys: { exclude: [''] } }, 'spec.keys.exclude[0]'],
  [
    'more globs than are quick to look for',
    { keys: { include: Array.from({ length: 17 }, (_, n) => `A${n}*`) } },
    'at most 16 of these may have "*" or "?"',
  ],
  ['a long glob with a question mark', { keys: { include: [`${'A'.repeat(32)}?`] } }, 'has at most 32 characters'],
  ['a name that no Secret can have', { keys: { rename: [{ from: 'A', to: 'a/b' }] } }, 'must be a key of a Secret'],
  ['a name that leads upwards', { keys: { rename: [{ from: 'A', to: '..a' }] } }, 'not beginning with ".."'],
  ['a name that JavaScript loses', { keys: { rename: [{ from: 'A', to: '__proto__' }] } }, 'nor "__proto__"'],
  [
    'two names for one key',
    {
      keys: {
        rename: [
          { from: 'A', to: 'b' },
          { from: 'A', to: 'c' },
        ],
      },
    },
    'Duplicate value',
  ],
  ['a limit below nothing', { maxDeletedKeys: -1 }, 'must be a number of keys from 0 to 10000'],
  ['a share above all', { maxDeletedKeys: '101%' }, 'or a share from 0% to 100%'],
  ['a limit that is neither', { maxDeletedKeys: 'half' }, 'or a share from 0% to 100%'],
];

describe('spec.keys', () => {
  test('chooses, renames and decodes, and follows every change of the environment and of itself', async () => {
    const values = { APP_URL: 'u', APP_CERT: 'AP8B', DB_URL: 'd', DB_ROOT: 'r' };
    const keys = {
      include: ['APP_*', 'DB_*'],
      exclude: ['*_ROOT'],
      rename: [{ from: 'APP_CERT', to: 'cert.bin' }],
      decodeBase64: ['APP_C???'],
    };
    const site = await makeSite(values, keys);
    await site.waitForReason('Synced');
    const { data } = await site.existingSecret();
    expect(data).toEqual({ APP_URL: btoa('u'), 'cert.bin': 'AP8B', DB_URL: btoa('d') });
    await site.environment.change({ APP_NAME: 'n', OTHER: 'o', DB_ROOT: 'x', APP_CERT: 'YQ==' });
    await site.waitUntilSynced({ APP_URL: 'u', APP_NAME: 'n', DB_URL: 'd', 'cert.bin': 'a' });
    await site.patchSecret({ stringData: { DB_ROOT: 'by hand', DB_URL: 'by hand' } });
    await site.waitUntilSynced({ APP_URL: 'u', APP_NAME: 'n', DB_URL: 'd', 'cert.bin': 'a' });
    // The environment has all of these still, so nothing is lost.
    await site.patchSync({ spec: { keys: { include: ['OTHER'] } } });
    await site.waitUntilSynced({ OTHER: 'o' });
    await site.patchSync({ spec: { keys: { include: [] } } });
    await site.waitUntilSynced({});
    expect((await site.sync()).status?.secretCount).toBe(0);
  });
});

describe('a SecretSync is refused with a sentence about', () => {
  test.each(refusals)('%s', async (_, spec, message) => {
    const body = {
      apiVersion: 'keyframe.dev/v1alpha1',
      kind: 'SecretSync',
      metadata: { name: 'refused' },
      spec: {
        environmentRef: { organization: 'acme', project: 'web', name: 'prod' },
        tokenSecretRef: { name: 'reader' },
        ...spec,
      },
    };
    const path = `/apis/keyframe.dev/v1alpha1/namespaces/${stack.namespaces[0]}/secretsyncs`;
    const answer = await stack.kube.send({ method: 'POST', path, body });
    expect(answer.status).toBe(422);
    expect((answer.body as { message: string }).message).toContain(message);
  });
});
