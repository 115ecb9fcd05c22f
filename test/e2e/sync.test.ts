/** @default Each change of an environment reaches the Secret. */
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { Stack } from '../support/cluster/stack.ts';
import { waitFor } from '../support/fixtures/wait-for.ts';

const resources = new AsyncDisposableStack();
let stack: Stack;

beforeAll(async () => {
  stack = await Stack.start(resources, { namespaces: 9 });
  await stack.startController();
});

afterAll(() => resources.disposeAsync());

describe('a change of the environment reaches the Secret', () => {
  test('when keys are created, changed and deleted', async () => {
    const site = await stack.makeSite({ values: { FIRST: 'one', SECOND: 'two' } });
    const made = await site.waitUntilSynced({ FIRST: 'one', SECOND: 'two' });
    await site.environment.change({ THIRD: 'three' });
    await site.waitForValues({ FIRST: 'one', SECOND: 'two', THIRD: 'three' });
    await site.environment.change({ FIRST: 'changed' });
    await site.waitForValues({ FIRST: 'changed', SECOND: 'two', THIRD: 'three' });
    await site.environment.change({}, ['SECOND']);
    await site.waitForValues({ FIRST: 'changed', THIRD: 'three' });
    const { revision, revisionId } = await site.environment.change({ FOURTH: 'four', FIRST: 'again' }, ['THIRD']);
    const changed = await site.waitUntilSynced({ FIRST: 'again', FOURTH: 'four' });
    expect(changed.metadata.uid).toBe(made.metadata.uid);
    expect((await site.sync()).status).toMatchObject({
      environmentId: site.environment.id,
      wantedRevision: revision,
      wantedRevisionId: revisionId,
      syncedRevision: revision,
      syncedRevisionId: revisionId,
      secretCount: 2,
    });
  });

  test('when the last key is deleted: the Secret stays, without keys', async () => {
    const site = await stack.makeSite({ values: { ONLY: 'one' } });
    const { metadata } = await site.waitUntilSynced({ ONLY: 'one' });
    await site.environment.change({}, ['ONLY']);
    expect((await site.waitUntilSynced({})).metadata.uid).toBe(metadata.uid);
  });

  test('when a deleted key is created again', async () => {
    const site = await stack.makeSite({ values: { KEY: 'one' } });
    await site.waitForValues({ KEY: 'one' });
    await site.environment.change({}, ['KEY']);
    await site.waitForValues({});
    await site.environment.change({ KEY: 'two' });
    await site.waitUntilSynced({ KEY: 'two' });
  });

  test('whatever characters and sizes its values have', async () => {
    const values = {
      EMPTY: '',
      'dotted.key-1': ' surrounded by blanks \n',
      UNICODE: 'žluťoučký kůň 🔑\u0000\t"quoted" \\ end',
      LARGE: 'x'.repeat(256 * 1024),
    };
    const site = await stack.makeSite({ values });
    await site.waitUntilSynced(values);
  });

  test('into every SecretSync that names it, each with its own metadata and type', async () => {
    const login = { username: 'admin', password: 'first' };
    const site = await stack.makeSite({
      values: login,
      target: { type: 'kubernetes.io/basic-auth', labels: { app: 'web' }, annotations: { note: 'x' } },
    });
    const other = await site.sibling('other');
    const typed = await site.waitUntilSynced(login);
    expect(typed).toMatchObject({ type: 'kubernetes.io/basic-auth', metadata: { labels: { app: 'web' } } });
    expect(typed.metadata.annotations).toMatchObject({ note: 'x' });
    expect(await other.waitUntilSynced(login)).toMatchObject({ type: 'Opaque' });
    const changed = { ...login, password: 'second' };
    await site.environment.change(changed);
    await Promise.all([site.waitUntilSynced(changed), other.waitUntilSynced(changed)]);
  });
});

describe('a SecretSync', () => {
  test('that is made before its environment has any key gets a Secret without keys, and then follows', async () => {
    const site = await stack.makeSite();
    await site.waitUntilSynced({});
    await site.environment.change({ LATER: 'now' });
    await site.waitUntilSynced({ LATER: 'now' });
  });

  test('waits for its token Secret and goes on by itself when it comes', async () => {
    const site = await stack.makeSite({ values: { KEY: 'value' }, withoutSync: true });
    await site.kube.json({ method: 'DELETE', path: site.secretPath(site.tokenSecretName) });
    await site.createSync();
    await site.waitForReason('TokenSecretNotFound');
    await site.expectStays(async () => expect(await site.secret()).toBeUndefined());
    await site.putToken(site.token.token);
    await site.waitUntilSynced({ KEY: 'value' });
  });

  test('that is suspended leaves the Secret as it is, and catches up when it is no more', async () => {
    const site = await stack.makeSite({ values: { KEY: 'before' } });
    const { metadata } = await site.waitUntilSynced({ KEY: 'before' });
    await site.patchSync({ spec: { suspend: true } });
    await site.waitForReason('Suspended');
    await site.environment.change({ KEY: 'after' });
    await site.expectStays(async () => {
      expect((await site.existingSecret()).metadata.resourceVersion).toBe(metadata.resourceVersion);
    });
    await site.patchSync({ spec: { suspend: false } });
    await site.waitUntilSynced({ KEY: 'after' });
  });

  test('reports by Events what became of it, and by its conditions that nothing is under way', async () => {
    const site = await stack.makeSite({ values: { KEY: 'value' } });
    await site.waitUntilSynced({ KEY: 'value' });
    expect(await site.condition('Reconciling')).toMatchObject({ status: 'False' });
    expect(await site.condition('Stalled')).toMatchObject({ status: 'False' });
    // The first sync leaves none: the status says it.
    await site.patchSync({ spec: { suspend: true } });
    await site.waitForReason('Suspended');
    const path = `/apis/events.k8s.io/v1/namespaces/${site.namespace}/events`;
    const events = await waitFor('an Event of it', async () => {
      const { items } = await site.kube.json<{ items: { regarding: { name: string } }[] }>({ path });
      const found = items.filter(({ regarding }) => regarding.name === site.name);
      return found.length > 0 && found;
    });
    const reportingController = 'keyframe.dev/secretsync';
    expect(events).toMatchObject([{ type: 'Normal', reason: 'Suspended', reportingController }]);
  });
});
