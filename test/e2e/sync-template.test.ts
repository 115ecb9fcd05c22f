/** @default A template composes values, and the API server refuses a wrong template. */
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { SharedSecret, makeMergeSite } from '../support/cluster/merge-site.ts';
import { Stack } from '../support/cluster/stack.ts';
import type { SyncSite } from '../support/cluster/sync-site.ts';

const resources = new AsyncDisposableStack();
const login = { USER: 'app', PASSWORD: `p's "$(USER)"` };
let stack: Stack;

beforeAll(async () => {
  stack = await Stack.start(resources, { namespaces: 4 });
  await stack.startController();
});

afterAll(() => resources.disposeAsync());

/** A SecretSync with these templates from the start. */
async function makeSite(
  data: Record<string, string>,
  { values = login, spec = {}, target = {} }: { values?: Record<string, string>; spec?: object; target?: object } = {},
): Promise<SyncSite> {
  return await stack.makeSite({ values, spec: { template: { data }, ...spec }, target: { ...target } });
}

describe('spec.template', () => {
  test('composes values to the letter, and follows each change of them, of itself and of the Secret', async () => {
    const site = await makeSite({
      URL: 'db://$(USER):$(PASSWORD)@$(HOST | default "db"):5432',
      'config.json': '{"password": $(PASSWORD | json)}',
      'login.env': 'PASSWORD=$(PASSWORD | quote)\n',
      AUTH: 'Basic $(PASSWORD | base64) $$(USER) $$$(USER)',
    });
    const composed = (password: string, host = 'db'): Record<string, string> => ({
      URL: `db://app:${password}@${host}:5432`,
      'config.json': JSON.stringify({ password }).replace(':', ': '),
      'login.env': `PASSWORD='${password.replace("'", String.raw`'\''`)}'\n`,
      AUTH: `Basic ${Buffer.from(password).toString('base64')} $(USER) $app`,
    });
    await site.waitUntilSynced({ ...login, ...composed(login.PASSWORD) });
    expect((await site.sync()).status?.secretCount).toBe(6);
    await site.environment.change({ PASSWORD: 'ä🔑', HOST: 'h' });
    const changed = { USER: 'app', PASSWORD: 'ä🔑', HOST: 'h' };
    await site.waitUntilSynced({ ...changed, ...composed('ä🔑', 'h') });
    await site.patchSecret({ stringData: { URL: 'by hand' } });
    await site.waitUntilSynced({ ...changed, ...composed('ä🔑', 'h') });
    await site.patchSync({ spec: { template: { data: { 'config.json': null, 'login.env': null, AUTH: 'x' } } } });
    await site.waitUntilSynced({ ...changed, URL: composed('ä🔑', 'h')['URL'] ?? '', AUTH: 'x' });
    // Keys of the template are never lost by the environment.
    await site.patchSync({ spec: { maxDeletedKeys: 0, template: null } });
    await site.waitUntilSynced(changed);
  });

  test('is the present one for the values of a pin', async () => {
    const site = await makeSite({ T: '$(USER)' }, { spec: { revision: 1 } });
    await site.waitUntilSynced({ ...login, T: 'app' });
    await site.environment.change({ USER: 'later' });
    await site.patchSync({ spec: { template: { data: { T: '<$(USER)>' } } } });
    await site.waitUntilSynced({ ...login, T: '<app>' });
  });

  test('adds its keys to a Secret of something else, and takes them out again', async () => {
    const site = await makeMergeSite(stack, { values: login, spec: { template: { data: { T: '$(USER)!' } } } });
    const shared = new SharedSecret(site);
    await shared.create({ THEIRS: 'x' }, 'app');
    await shared.waitUntilMerged({ THEIRS: 'x', ...login, T: 'app!' }, 3);
    await site.patchSync({ spec: { maxDeletedKeys: 0, template: null } });
    await shared.waitUntilMerged({ THEIRS: 'x', ...login }, 2);
  });
});

const refusals: readonly [sentence: string, template: object, message: string][] = [
  ['nothing to compose', { data: {} }, 'should have at least 1 properties'],
  ['no data', {}, 'spec.template.data: Required value'],
  [
    'a reference without an end',
    { data: { T: 'ab$$(c $(A' } },
    'must be text with references: $(KEY), or $(KEY | function)',
  ],
  [
    'a function that there is not',
    { data: { T: '🔑$(A | upper)' } },
    'with base64, json, json "field", quote, trim, urlencode or default "text"',
  ],
  ['a default without its text', { data: { T: '$(A | default)' } }, '$$( stands for $( itself'],
  ['a name that no Secret can have', { data: { 'a/b': 'x' } }, 'must have keys of a Secret'],
  ['a name that JavaScript loses', { data: { ['__proto__']: 'x' } }, 'nor "__proto__"'],
  ['a name that leads upwards', { data: { '..a': 'x' } }, 'not beginning with ".."'],
  ['a text without measure', { data: { T: 'x'.repeat(16_385) } }, 'may not be more than 16384'],
  [
    'too many texts',
    { data: Object.fromEntries(Array.from({ length: 33 }, (_, n) => [`T${n}`, 'x'])) },
    'must have at most 32 items',
  ],
];

describe('a template is refused for', () => {
  test.each(refusals)('%s', async (_, template, message) => {
    const body = {
      apiVersion: 'keyframe.dev/v1alpha1',
      kind: 'SecretSync',
      metadata: { name: 'refused' },
      spec: { environmentRef: { organization: 'acme', project: 'web', name: 'prod' }, template },
    };
    const path = `/apis/keyframe.dev/v1alpha1/namespaces/${stack.namespaces[0]}/secretsyncs`;
    const answer = await stack.kube.send({ method: 'POST', path, body });
    expect(answer.status).toBe(422);
    expect((answer.body as { message: string }).message).toContain(message);
  });
});
