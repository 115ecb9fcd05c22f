import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { Stack } from '../support/cluster/stack.ts';
import type { SyncSite } from '../support/cluster/sync-site.ts';

const resources = new AsyncDisposableStack();
const values = { KEY: 'value' };
let stack: Stack;

beforeAll(async () => {
  stack = await Stack.start(resources, { namespaces: 9 });
  await stack.startController();
});

afterAll(() => resources.disposeAsync());

/** A site that is in sync by a token which ends of the first of these lives that is long enough for that. */
async function syncedUntilExpiry([lifeMs, ...longer]: readonly number[]): Promise<{ site: SyncSite; before: unknown }> {
  if (lifeMs === undefined) throw new Error('No token lived until its SecretSync was in sync.');
  const expiresAt = new Date(Date.now() + lifeMs);
  const site = await stack.makeSite({ values, token: { expiresAt } });
  const before = await site.waitUntilSynced(values, { timeoutMs: lifeMs }).catch(() => undefined);
  const isAlive = before !== undefined && Date.now() < expiresAt.getTime();
  return isAlive ? { site, before } : await syncedUntilExpiry(longer);
}

/** Expects that the token is refused, and that nothing that happens in the environment then reaches the Secret. */
async function expectRefused(site: SyncSite, before: unknown, cause: RegExp): Promise<void> {
  const ready = await site.waitForReason('AuthenticationFailed');
  expect(ready.status).toBe('False');
  expect(ready.message).toMatch(cause);
  await site.environment.change({ KEY: 'later', NEW: 'x' });
  await site.expectStays(async () => {
    expect(await site.existingSecret()).toEqual(before);
    expect(await site.condition('Ready')).toMatchObject({ reason: 'AuthenticationFailed' });
  });
}

test('a revoked token stops the sync at once and leaves the Secret as it was; a new one takes it up again', async () => {
  const site = await stack.makeSite({ values });
  const before = await site.waitUntilSynced(values);
  await site.environment.revokeToken(site.token.id);
  await expectRefused(site, before, /revoked/);
  const { token } = await site.environment.createToken();
  await site.putToken(token);
  await site.waitUntilSynced({ KEY: 'later', NEW: 'x' });
});

test('an expired token stops the sync though nothing else happens, and leaves the Secret as it was', async () => {
  const { site, before } = await syncedUntilExpiry([4_000, 12_000, 36_000]);
  await expectRefused(site, before, /expired/);
});

test('a revoked token does not repair, nor empty, a Secret that was edited', async () => {
  const site = await stack.makeSite({ values });
  await site.waitUntilSynced(values);
  await site.environment.revokeToken(site.token.id);
  await site.waitForReason('AuthenticationFailed');
  const edited = await site.patchSecret({ stringData: { KEY: 'edited' } });
  await expectRefused(site, edited, /revoked/);
});

describe('a token that never was one', () => {
  test.each([
    { what: 'is mistyped', token: 'kf_svc_mistyped', reason: 'AuthenticationFailed' },
    { what: 'is no token at all', token: 'hello', reason: 'TokenSecretNotFound' },
  ])('because it $what makes no Secret', async ({ token, reason }) => {
    const site = await stack.makeSite({ values, withoutSync: true });
    await site.putToken(token);
    await site.createSync();
    const { message } = await site.waitForReason(reason);
    expect(message).not.toContain(token);
    await site.expectStays(async () => expect(await site.secret()).toBeUndefined());
  });
});

test('a token of another environment sees nothing of this one', async () => {
  const site = await stack.makeSite({ values, withoutSync: true });
  const other = await stack.admin.makeEnvironment();
  await site.putToken((await other.createToken()).token);
  await site.createSync();
  await site.waitForReason('NotFound');
  await site.expectStays(async () => expect(await site.secret()).toBeUndefined());
});
