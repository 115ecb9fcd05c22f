import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { keylessTokensOf } from '../support/cluster/keyless-tokens.ts';
import { Stack } from '../support/cluster/stack.ts';
import { alpha, TokenSync, type TokenSyncOptions } from '../support/cluster/token-sync.ts';
import { waitFor } from '../support/fixtures/wait-for.ts';

const resources = new AsyncDisposableStack();
const made: TokenSync[] = [];
let stack: Stack;

beforeAll(async () => {
  stack = await Stack.start(resources, { namespaces: 8 });
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
    expect(await sync.waitForReason('ServiceTokenNotFound')).toContain(
      'ServiceToken ci does not exist in this namespace',
    );
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

  test('keeps its Secret when that is deleted, and goes on when it is recreated', async () => {
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
    await waitFor('the condition to report the Secret', async () =>
      (await sync.waitForReason('ServiceTokenNotReady')).includes('(TargetNotOwned): Secret theirs '),
    );
    await sync.expectStays(async () => expect(await sync.values()).toBeUndefined());
  });

  test('never writes the Secret in which that keeps its token', async () => {
    const sync = await make();
    await sync.site.create({ secretName: 'app' });
    await sync.site.waitForReason('Issued');
    const value = await sync.site.value('app');
    await sync.create({ tokenRef: { name: 'ci' } });
    expect(await sync.waitForReason('InvalidSpec')).toContain('Secret app holds the token of ServiceToken ci');
    await sync.expectStays(async () => expect(await sync.values()).toEqual({ token: value }));
  });
});

test('a SecretSync goes from each way of naming a token to each other one, and leaves no credential behind', async () => {
  const sync = await make();
  await sync.create();
  await sync.waitForValues(alpha);
  const [keyless] = await keylessTokensOf(stack.admin, sync.site);
  await sync.site.create();
  await sync.site.waitForSerial(1);
  await sync.patch({ tokenRef: { name: 'ci' } });
  await sync.site.environment.change({ A: 'by name' });
  await sync.waitForValues({ A: 'by name' });
  await sync.patch({ tokenRef: null });
  await sync.site.environment.change({ A: 'by none' });
  await sync.waitForValues({ A: 'by none' });
  await sync.patch({ tokenSecretRef: { name: 'ci' } });
  await sync.site.environment.change({ A: 'by Secret' });
  await sync.waitForValues({ A: 'by Secret' });
  await sync.patch({ tokenSecretRef: null, tokenRef: { name: 'ci' } });
  await sync.waitForReason('Synced');
  await sync.patch({ tokenRef: null });
  await sync.site.delete();
  await sync.waitUntilGone('ci');
  await sync.site.environment.change({ A: 'by none again' });
  await sync.waitForValues({ A: 'by none again' });
  expect(await keylessTokensOf(stack.admin, sync.site)).toMatchObject([{ id: keyless?.id }]);
  const secrets = await stack.kube.json<{ items: { metadata: { name: string } }[] }>({
    path: `/api/v1/namespaces/${sync.site.namespace}/secrets`,
  });
  expect(secrets.items.map(({ metadata }) => metadata.name)).toEqual(['app']);
});
