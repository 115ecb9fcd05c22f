/** @default A SecretSync hides and rewrites keys, and the API server refuses wrong rules. */
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { SharedSecret, makeMergeSite } from '../support/cluster/merge-site.ts';
import { Stack } from '../support/cluster/stack.ts';
import type { SyncSite } from '../support/cluster/sync-site.ts';
import { waitFor } from '../support/fixtures/wait-for.ts';

/** The shape of a Secret: functions of templates, `keys.hidden` and `keys.rewrite`. */

const resources = new AsyncDisposableStack();
let stack: Stack;

beforeAll(async () => {
  stack = await Stack.start(resources, { namespaces: 3 });
  await stack.startController();
});

afterAll(() => resources.disposeAsync());

const password = 'p@ss/w:rd? ä';
const values = { APP_LOGIN: JSON.stringify({ user: 'me', password, port: 5432 }), APP_HOST: ' db \n', APP_MODE: 'on' };
const shape = {
  keys: { hidden: ['*_LOGIN', 'APP_HOST'], rewrite: { stripPrefix: 'APP_', addPrefix: 'WEB_' } },
  template: {
    data: {
      URL: 'db://$(WEB_LOGIN|json "user"):$(WEB_LOGIN | json "password" | urlencode)@$(WEB_HOST | trim):$(WEB_LOGIN | json "port")',
    },
  },
};
const urlWith = (secret: string): string => `db://me:${encodeURIComponent(secret)}@db:5432`;

interface Reported {
  readonly reason: string;
  readonly note: string;
  readonly regarding: { readonly name: string };
}

async function eventsOf({ kube, namespace, name }: SyncSite): Promise<Reported[]> {
  const path = `/apis/events.k8s.io/v1/namespaces/${namespace}/events`;
  const { items } = await kube.json<{ items: Reported[] }>({ path });
  return items.filter(({ regarding }) => regarding.name === name);
}

async function keysHeld(site: SyncSite): Promise<string[]> {
  return Object.keys((await site.existingSecret()).data ?? {}).toSorted();
}

describe('a SecretSync with functions, hidden and rewritten keys', () => {
  test('holds only what is not hidden, follows hidden values, and keeps both out of messages', async () => {
    const site = await stack.makeSite({ values, spec: { ...shape, maxDeletedKeys: 0 } });
    await site.waitUntilSynced({ WEB_MODE: 'on', URL: urlWith(password) });
    expect((await site.sync()).status?.secretCount).toBe(2);
    // A value that the Secret does not hold, with the same URL, changes nothing in it.
    const held = await site.existingSecret();
    await site.environment.change({ APP_HOST: 'db' });
    await waitFor('the revision', async () => {
      expect((await site.sync()).status?.syncedRevision).toBe(2);
      return true;
    });
    expect(await site.existingSecret()).toEqual(held);
    await site.environment.change({ APP_LOGIN: JSON.stringify({ user: 'me', password: 'two%', port: 5432 }) });
    await site.waitUntilSynced({ WEB_MODE: 'on', URL: urlWith('two%') });
    // Not JSON, and not all fields: nothing is written, and no part of it is reported.
    for (const login of ['canary "x', '{"user": "canary", "password": "canary"}']) {
      await site.environment.change({ APP_LOGIN: login });
      const { message } = await site.waitForReason('TemplateFieldMissing');
      expect(message).toMatch(/The template of URL takes the field "(user|port)" of WEB_LOGIN, which is /);
      await site.expectStays(async () => expect(await keysHeld(site)).toEqual(['URL', 'WEB_MODE']));
      const texts = JSON.stringify([(await site.sync()).status, await eventsOf(site)]);
      expect(texts).not.toContain('canary');
    }
    expect((await eventsOf(site)).map(({ reason }) => reason)).toContain('TemplateFieldMissing');
  });

  test('merges only what is not hidden into a Secret of something else, and takes out what becomes hidden', async () => {
    const site = await makeMergeSite(stack, { values: { A: 'a', B: 'b' }, spec: { maxDeletedKeys: 0 } });
    const shared = new SharedSecret(site);
    await shared.create({ THEIRS: 'x' }, 'app');
    await shared.waitUntilMerged({ THEIRS: 'x', A: 'a', B: 'b' }, 2);
    await site.patchSync({ spec: { keys: { hidden: ['B'] }, template: { data: { T: '$(B | urlencode)!' } } } });
    await shared.waitUntilMerged({ THEIRS: 'x', A: 'a', T: 'b!' }, 2);
  });
});

const refusals: readonly [sentence: string, keys: object, message: string][] = [
  ['a rewrite of nothing', { rewrite: {} }, 'should have at least 1 properties'],
  ['an empty beginning', { rewrite: { stripPrefix: '' } }, 'spec.keys.rewrite.stripPrefix'],
  ['a glob as a beginning', { rewrite: { stripPrefix: 'A*' } }, 'must be the beginning of a key'],
  ['a beginning that no key has', { rewrite: { addPrefix: 'a/' } }, 'must be the beginning of a key of a Secret'],
  ['a beginning that leads upwards', { rewrite: { addPrefix: '..' } }, 'not beginning with ".."'],
  ['a long beginning', { rewrite: { addPrefix: 'A'.repeat(253) } }, 'may not be more than 252'],
  ['a hidden glob that no key can fit', { hidden: ['A B'] }, 'must be a glob of keys'],
  ['many hidden globs', { hidden: Array.from({ length: 17 }, (_, n) => `A${n}*`) }, 'at most 16 of these may have'],
];

describe('keys are refused for', () => {
  test.each(refusals)('%s', async (_, keys, message) => {
    const environmentRef = { organization: 'acme', project: 'web', name: 'prod' };
    for (const spec of [{ environmentRef, keys }, { sources: [{ name: 'own', environmentRef, keys }] }]) {
      const body = { apiVersion: 'keyframe.dev/v1alpha1', kind: 'SecretSync', metadata: { name: 'refused' }, spec };
      const path = `/apis/keyframe.dev/v1alpha1/namespaces/${stack.namespaces[0]}/secretsyncs`;
      const answer = await stack.kube.send({ method: 'POST', path, body });
      expect(answer.status).toBe(422);
      expect((answer.body as { message: string }).message.replace('sources[0].', '')).toContain(message);
    }
  });
});
