import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { parse } from 'yaml';
import { sharedCluster } from '../support/cluster.ts';
import { waitByKubectl } from '../support/kubectl.ts';
import { Stack } from '../support/stack.ts';
import { TokenSync, type TokenSyncOptions } from '../support/token-sync.ts';
import { waitFor } from '../support/wait-for.ts';

const resources = new AsyncDisposableStack();
const made: TokenSync[] = [];
const alpha = { A: 'alpha' };
let stack: Stack;

beforeAll(async () => {
  stack = await Stack.start(resources, { namespaces: 16 });
  await stack.startController();
});

afterAll(async () => {
  // AccessGrants are the whole cluster's.
  await Promise.all(made.map(({ site }) => site.withdraw()));
  await resources.disposeAsync();
});

async function make(options?: TokenSyncOptions): Promise<TokenSync> {
  const sync = await TokenSync.make(stack, options);
  made.push(sync);
  return sync;
}

/** A SecretSync that is in step by the ServiceToken that was made for it; with the token. */
async function makeOwned(): Promise<{ sync: TokenSync; token: string }> {
  const sync = await make();
  await sync.create();
  await sync.waitForValues(alpha);
  return { sync, token: await sync.site.value('app-token') };
}

/** One that is in step by the ServiceToken `ci`. */
async function makeNamed(spec: object = {}): Promise<TokenSync> {
  const sync = await make();
  await sync.site.create(spec);
  await sync.create({ tokenRef: { name: 'ci' } });
  await sync.waitForValues(alpha);
  return sync;
}

describe('a SecretSync that names a ServiceToken', () => {
  test('waits for it, and reads with it as soon as it is there', async () => {
    const sync = await make();
    await sync.create({ tokenRef: { name: 'ci' } });
    expect(await sync.waitForReason('ServiceTokenNotFound')).toContain('There is no ServiceToken ci in this namespace');
    await sync.site.create({ secretName: 'elsewhere' });
    await sync.waitForValues(alpha);
    expect(await sync.find()).toBeUndefined();
    await sync.site.environment.change({ B: 'beta' });
    await sync.waitForValues({ A: 'alpha', B: 'beta' });
  });

  test('whose grant is narrowed below what it asks for says so, and goes on when it is wide again', async () => {
    const sync = await makeNamed({ permission: 'ReadWrite' });
    const { organization, project } = sync.site.environment.ref;
    const rule = { organization, project, environments: ['*'] };
    await sync.patchGrant([{ ...rule, permission: 'Read' }]);
    const message = await sync.waitForReason('AccessDenied');
    expect(message).toMatch(/^ServiceToken ci is not ready \(AccessDenied\): The token is suspended/);
    await sync.site.environment.change({ A: 'unseen' });
    await sync.expectStays(async () => expect(await sync.values()).toEqual(alpha));
    await sync.patchGrant([{ ...rule, permission: 'ReadWrite' }]);
    await sync.waitForValues({ A: 'unseen' });
  });

  test('keeps its Secret when that is deleted, and goes on when it is made anew', async () => {
    const sync = await makeNamed();
    await sync.site.delete();
    await sync.waitForReason('ServiceTokenNotFound');
    await sync.site.environment.change({ A: 'next' });
    await sync.expectStays(async () => expect(await sync.values()).toEqual(alpha));
    await sync.site.create();
    await sync.waitForValues({ A: 'next' });
  });

  test('never takes a token from a Secret that the ServiceToken did not write', async () => {
    const sync = await make();
    const stolen = await sync.site.environment.createToken();
    const body = {
      apiVersion: 'v1',
      kind: 'Secret',
      metadata: { name: 'theirs' },
      stringData: { token: stolen.token },
    };
    await stack.kube.json({ method: 'POST', path: `/api/v1/namespaces/${sync.site.namespace}/secrets`, body });
    await sync.site.create({ secretName: 'theirs' });
    await sync.create({ tokenRef: { name: 'ci' } });
    await waitFor('the condition to tell of the Secret', async () =>
      (await sync.waitForReason('ServiceTokenNotReady')).includes('(TargetNotOwned): Secret theirs is not'),
    );
    await sync.expectStays(async () => expect(await sync.values()).toBeUndefined());
  });

  test('never writes the Secret in which that keeps its token', async () => {
    const sync = await make();
    await sync.site.create({ secretName: 'app' });
    await sync.site.waitForReason('Issued');
    const value = await sync.site.value('app');
    await sync.create({ tokenRef: { name: 'ci' } });
    expect(await sync.waitForReason('InvalidSpec')).toContain('Secret app is where ServiceToken ci keeps its token');
    await sync.expectStays(async () => expect(await sync.values()).toEqual({ token: value }));
  });
});

describe('a SecretSync that names no token', () => {
  test('shows the AccessGrant it lacks, is ready once that is applied, and suspended while it is withdrawn', async () => {
    const sync = await make({ withoutGrant: true });
    await sync.create();
    const message = await waitFor('the condition to show the grant', async () => {
      const told = await sync.waitForReason('AccessDenied');
      return told.includes('kind: AccessGrant') ? told : undefined;
    });
    expect(message).toMatch(/^ServiceToken app-token is not ready \(AccessDenied\): /);
    const grant = parse(message.slice(message.indexOf('apiVersion:'))) as { metadata: { name: string } };
    grant.metadata.name = sync.site.grantName;
    await stack.kube.json({ method: 'POST', path: '/apis/keyframe.dev/v1alpha1/accessgrants', body: grant });
    const { namespace } = sync.site;
    const waited = waitByKubectl(sharedCluster(), { namespace, name: 'secretsync/app', condition: 'Ready' });
    expect(await waited).toMatch(/ condition met\n$/);
    await sync.waitForValues(alpha);
    const token = await sync.site.value('app-token');
    await sync.site.withdraw();
    await waitFor('the condition to tell of the suspension', async () =>
      (await sync.waitForReason('AccessDenied')).includes('The token is suspended and opens nothing'),
    );
    expect(await sync.site.answer(token)).toBe(401);
    await sync.site.environment.change({ A: 'meanwhile' });
    await sync.expectStays(async () => expect(await sync.values()).toEqual(alpha));
    await sync.site.grant();
    await sync.waitForValues({ A: 'meanwhile' });
    expect(await sync.site.value('app-token')).toBe(token);
  });

  test('has one made that reads its environment and nothing else, and belongs to it', async () => {
    const { sync, token } = await makeOwned();
    const { organization, project, name } = sync.site.environment.ref;
    const found = await sync.find();
    const { uid } = (await sync.syncs.get('app')).metadata;
    expect(found?.metadata.ownerReferences).toEqual([
      { apiVersion: 'keyframe.dev/v1alpha1', kind: 'SecretSync', name: 'app', uid, controller: true },
    ]);
    const place = { scope: 'Environment', organization, project, environment: name };
    expect(found?.spec).toEqual({ ...place, permission: 'Read', suspend: false });
    const write = await stack.admin.as(token).send('PATCH', sync.site.environment.path, { set: { B: 'beta' } });
    expect(write.status).toBe(403);
  });

  test('that is deleted takes it along, and its token opens nothing any more', async () => {
    const { sync, token } = await makeOwned();
    await sync.syncs.delete('app');
    await sync.waitUntilGone();
    expect(await sync.site.answer(token)).toBe(401);
    expect(await sync.values()).toEqual(alpha);
  });

  test('puts it right when it is edited', async () => {
    const { sync, token } = await makeOwned();
    const before = (await sync.find())?.spec;
    await sync.site.patch({ spec: { permission: 'ReadWrite', expiresIn: '720h', suspend: true } }, 'app-token');
    await waitFor('the spec to be as it was', async () => {
      expect((await sync.find())?.spec).toEqual(before);
      return true;
    });
    await sync.site.environment.change({ A: 'next' });
    await sync.waitForValues({ A: 'next' });
    expect(await sync.site.value('app-token')).toBe(token);
  });

  test('has it made anew when somebody deletes it', async () => {
    const { sync, token } = await makeOwned();
    const uid = await sync.uid();
    await sync.site.delete('app-token');
    await sync.waitForAnother(uid);
    await sync.site.environment.change({ A: 'next' });
    await sync.waitForValues({ A: 'next' });
    expect(await sync.site.answer(token)).toBe(401);
    expect(await sync.site.value('app-token')).not.toBe(token);
  });

  test('has it made anew for another environment, and the token of the one before is revoked', async () => {
    const { sync, token } = await makeOwned();
    const { organization, project } = sync.site.environment.ref;
    await sync.patchGrant([{ organization, project, environments: ['*'] }]);
    await stack.admin.call('POST', `/environments/${organization}/${project}`, { slug: 'second' });
    await stack.admin.call('PATCH', `/secrets/${organization}/${project}/second`, { set: { A: 'second' } });
    await sync.patch({ environmentRef: { name: 'second' } });
    await sync.waitForValues({ A: 'second' });
    expect(await sync.site.answer(token)).toBe(401);
    expect((await sync.find())?.spec.environment).toBe('second');
  });

  test('has none while it is suspended', async () => {
    const sync = await make();
    await sync.create({ suspend: true });
    await sync.waitForReason('Suspended');
    expect(await sync.find()).toBeUndefined();
    await sync.patch({ suspend: false });
    await sync.waitForValues(alpha);
    await sync.patch({ suspend: true });
    await sync.waitForReason('Suspended');
    await sync.site.patch({ spec: { permission: 'ReadWrite' } }, 'app-token');
    await sync.site.delete('app-token');
    await sync.waitUntilGone();
    await sync.expectStays(async () => expect(await sync.find()).toBeUndefined());
    await sync.patch({ suspend: false, tokenRef: { name: 'ci' } });
    await sync.waitForReason('ServiceTokenNotFound');
    expect(await sync.find()).toBeUndefined();
  });

  test('leaves one of that name alone that somebody else made, and has its own when that is gone', async () => {
    const sync = await make();
    await sync.site.create({ permission: 'ReadWrite' }, 'app-token');
    await sync.create();
    const message = await sync.waitForReason('ServiceTokenNotOwned');
    expect(message).toContain(`\`kubectl delete servicetoken -n ${sync.site.namespace} app-token\``);
    const theirs = await sync.find();
    expect([theirs?.spec.permission, theirs?.metadata.ownerReferences]).toEqual(['ReadWrite', undefined]);
    await sync.site.delete('app-token');
    await sync.waitForValues(alpha);
    expect((await sync.find())?.spec.permission).toBe('Read');
  });

  test('waits until that of a SecretSync which is no more has been collected', async () => {
    const sync = await make();
    const uid = '00000000-0000-4000-8000-000000000000';
    await sync.makeTokenOwnedBy(uid);
    await sync.create();
    await sync.waitForValues(alpha);
    expect((await sync.find())?.metadata.ownerReferences?.[0]?.uid).not.toBe(uid);
  });

  test('gains nothing by one that somebody made in its name', async () => {
    const sync = await make();
    await sync.create({ suspend: true });
    await sync.waitForReason('Suspended');
    const { uid } = (await sync.syncs.get('app')).metadata;
    const { organization } = sync.site.environment.ref;
    await sync.patchGrant([{ organization, project: '*', environments: ['*'], permission: 'ReadWrite' }]);
    const wide = { scope: 'Organization', project: undefined, environment: undefined, permission: 'ReadWrite' };
    const hostile = await sync.makeTokenOwnedBy(uid, wide);
    await sync.site.waitForReason('Issued', 'app-token');
    const token = await sync.site.value('app-token');
    await sync.patch({ suspend: false });
    await sync.waitForAnother(hostile);
    await sync.waitForValues(alpha);
    expect((await sync.find())?.spec).toMatchObject({ scope: 'Environment', permission: 'Read' });
    expect(await sync.site.answer(token)).toBe(401);
  });
});

test('a SecretSync goes from each way of naming a token to each other one, and leaves no credential behind', async () => {
  const { sync, token } = await makeOwned();
  await sync.site.create();
  await sync.site.waitForSerial(1);
  await sync.patch({ tokenRef: { name: 'ci' } });
  await sync.waitUntilGone();
  expect(await sync.site.answer(token)).toBe(401);
  await sync.site.environment.change({ A: 'by name' });
  await sync.waitForValues({ A: 'by name' });
  await sync.patch({ tokenRef: null });
  await sync.site.waitForSerial(1, 'app-token');
  const second = await sync.site.value('app-token');
  await sync.patch({ tokenSecretRef: { name: 'ci' } });
  await sync.waitUntilGone();
  expect(await sync.site.answer(second)).toBe(401);
  await sync.site.environment.change({ A: 'by Secret' });
  await sync.waitForValues({ A: 'by Secret' });
  await sync.patch({ tokenSecretRef: null, tokenRef: { name: 'ci' } });
  await sync.waitForReason('Synced');
  await sync.patch({ tokenRef: null });
  await sync.site.waitForSerial(1, 'app-token');
  await sync.site.environment.change({ A: 'by its own' });
  await sync.waitForValues({ A: 'by its own' });
});
