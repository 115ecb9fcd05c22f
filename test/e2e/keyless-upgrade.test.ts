import { setTimeout as pause } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import type { SecretSync } from '../../src/controller/generated/secret-sync.ts';
import { keylessTokensOf } from '../support/cluster/keyless-tokens.ts';
import { ObjectHistory } from '../support/cluster/object-history.ts';
import { query, tokensMadeBy } from '../support/cluster/resource-rows.ts';
import { readyOf } from '../support/cluster/resource-site.ts';
import type { ServerProcess } from '../support/api/server-process.ts';
import { Stack } from '../support/cluster/stack.ts';
import { TokenSync } from '../support/cluster/token-sync.ts';
import { waitFor } from '../support/fixtures/wait-for.ts';

/**
 * Release 0.1.0 made a ServiceToken `<name>-token` for each SecretSync that names no token. What it left is made here as it
 * made it: the token is minted by its ServiceToken, and the Secret and its record are written by a read with it.
 */

const resources = new AsyncDisposableStack();
const alpha = { A: 'alpha' };
let stack: Stack;
let controller: ServerProcess;
let plain: TokenSync;
/** Its token is used by something else after the upgrade. */
let inUse: TokenSync;
/** Its token was last used an hour before the upgrade. */
let usedBefore: TokenSync;
/** Its token is named by another SecretSync of the namespace. */
let named: TokenSync;
/** Its token's Secret is named by another SecretSync of the namespace. */
let mounted: TokenSync;
/** Its AccessGrant is withdrawn while no controller runs. */
let denied: TokenSync;

beforeAll(async () => {
  stack = await Stack.start(resources, { namespaces: 8 });
  controller = await stack.startController();
  [plain, inUse, usedBefore, named, mounted, denied] = [
    await makeLegacy(),
    await makeLegacy(),
    await makeLegacy(),
    await makeLegacy(),
    await makeLegacy(),
    await makeLegacy(),
  ];
  const { ref: environmentRef } = named.site.environment;
  await named.syncs.create({ environmentRef, tokenRef: { name: 'app-token' } }, 'other');
  await named.syncs.waitForReason('other', 'Synced');
  await mounted.syncs.create(
    { environmentRef: mounted.site.environment.ref, tokenSecretRef: { name: 'app-token' } },
    'other',
  );
  await mounted.syncs.waitForReason('other', 'Synced');
  await controller.stop();
  for (const sync of [plain, inUse, usedBefore, named, mounted, denied]) await leaveAsMade(sync);
  for (const sync of [inUse, usedBefore]) await setLastUse(sync, '1 hour');
  await denied.site.withdraw();
});

afterAll(async () => {
  await Promise.all([plain, inUse, usedBefore, named, mounted].map(({ site }) => site.withdraw()));
  await resources.disposeAsync();
});

/** A SecretSync that is in step by a ServiceToken that belongs to it. */
async function makeLegacy(): Promise<TokenSync> {
  const sync = await TokenSync.make(stack);
  await sync.create({ suspend: true });
  const { uid } = (await sync.syncs.get('app')).metadata;
  await sync.makeTokenOwnedBy(uid);
  await sync.site.waitForSerial(1, 'app-token');
  await sync.patch({ suspend: false, tokenRef: { name: 'app-token' } });
  await sync.waitForValues(alpha);
  return sync;
}

/** Takes off the reference that stood in for the choice of release 0.1.0, as if the spec had never had it. */
async function leaveAsMade(sync: TokenSync): Promise<void> {
  await sync.patch({ tokenRef: null });
  const { metadata, status } = await sync.syncs.get('app');
  const { generation: observedGeneration } = metadata;
  const conditions = status?.conditions?.map((condition) => ({ ...condition, observedGeneration }));
  await stack.kube.json({
    method: 'PATCH',
    path: `${sync.syncs.path('app')}/status`,
    contentType: 'application/merge-patch+json',
    body: { status: { observedGeneration, conditions } },
  });
  await setLastUse(sync, '25 hours');
}

async function setLastUse(sync: TokenSync, ago: string): Promise<void> {
  const sql = `UPDATE service_token_credential c SET last_used_at = clock_timestamp() - $2::interval
    FROM service_token t WHERE t.id = c.service_token_id AND t.created_by_id = $1`;
  await query(stack.databaseUrl, sql, [await sync.uid(), ago]);
}

interface Versions {
  readonly uid: string | undefined;
  readonly secret: string | undefined;
  readonly sync: string;
}

/** A write of the Secret or of the SecretSync changes these. */
async function versionsOf(sync: TokenSync): Promise<Versions> {
  const { uid, resourceVersion: secret } = (await sync.site.secret('app'))?.metadata ?? {};
  return { uid, secret, sync: (await sync.syncs.get('app')).metadata.resourceVersion };
}

async function eventsOf({ site: { namespace } }: TokenSync): Promise<string[]> {
  const path = `/apis/events.k8s.io/v1/namespaces/${namespace}/events`;
  const { items } = await stack.kube.json<{ items: { reason: string; regarding: { name: string } }[] }>({ path });
  return items.flatMap(({ reason, regarding }) => (regarding.name === 'app' ? [reason] : []));
}

async function swept(sync: TokenSync): Promise<void> {
  await waitFor('the sweep', async () => (await sync.find()) === undefined, { timeoutMs: 100_000 });
  await waitFor('the token Secret to be collected', async () => (await sync.site.secret('app-token')) === undefined);
}

test('after an upgrade SecretSyncs read at every moment, no Secret is written, and needless tokens go', async () => {
  const kept = [inUse, usedBefore, named, mounted];
  const before = await Promise.all([plain, ...kept].map(versionsOf));
  const [token, uid] = [await plain.site.value('app-token'), await plain.uid()];
  const history = new ObjectHistory<SecretSync>(stack.kube, plain.syncs.path());
  const mark = await history.mark();
  controller = await stack.startController();
  for (const sync of [plain, ...kept]) {
    await waitFor('a read with the keyless token', async () => {
      const [keyless] = await keylessTokensOf(stack.admin, sync.site);
      return keyless !== undefined && (await sync.readers()).includes(keyless.id);
    });
  }
  await denied.waitForReason('AccessDenied');
  // Well before the sweep, which is a minute after the start of leading.
  expect(await inUse.site.answer(await inUse.site.value('app-token'))).toBe(200);
  expect(await Promise.all([plain, ...kept].map(versionsOf))).toEqual(before);

  let last = alpha;
  const follow = async (): Promise<void> => {
    last = { A: `at ${Date.now()}` };
    await plain.site.environment.change(last);
    await plain.waitForValues(last);
  };
  for (; (await plain.find()) !== undefined; await pause(500)) await follow();
  await follow();
  const states = await history.since(mark);
  expect(states.length).toBeGreaterThan(20);
  expect(states.map(readyOf)).not.toContainEqual(expect.not.objectContaining({ status: 'True' }));
  await swept(plain);
  expect(await plain.site.answer(token)).toBe(401);
  expect(await tokensMadeBy(stack.databaseUrl, uid)).toMatchObject([{ isRevoked: true }]);
  expect((await versionsOf(plain)).uid).toBe(before[0]?.uid);
  expect(await eventsOf(plain)).not.toContain('LegacyTokenInUse');
});

test('a token that is in use, or that a source names, goes only when that has ended', async () => {
  await waitFor('the Event', async () => (await eventsOf(inUse)).includes('LegacyTokenInUse'));
  for (const sync of [inUse, named, mounted]) {
    expect(await sync.site.answer(await sync.site.value('app-token'))).toBe(200);
    expect((await sync.find())?.metadata).not.toHaveProperty('deletionTimestamp');
  }
  expect(await eventsOf(named)).not.toContain('LegacyTokenInUse');
  expect((await denied.find())?.metadata).not.toHaveProperty('deletionTimestamp');
  await denied.expectStays(async () => expect(await denied.values()).toEqual(alpha));

  await named.syncs.delete('other');
  await stack.killController(controller);
  for (const sync of [inUse, named]) await setLastUse(sync, '25 hours');
  // Comparisons that come more often than a sweep do not put it off.
  controller = await stack.startController({ env: { RESYNC_INTERVAL: '20s' } });
  await Promise.all([inUse, named].map(swept));
  // Both controllers have looked at it by now.
  await usedBefore.expectStays(async () => expect(await eventsOf(usedBefore)).not.toContain('LegacyTokenInUse'));
  expect((await usedBefore.find())?.metadata).not.toHaveProperty('deletionTimestamp');
  expect((await mounted.find())?.metadata).not.toHaveProperty('deletionTimestamp');
  expect((await denied.find())?.metadata).not.toHaveProperty('deletionTimestamp');
  for (const sync of [inUse, usedBefore, named, mounted]) {
    await sync.site.environment.change({ A: 'afterwards' });
    await sync.waitForValues({ A: 'afterwards' });
  }
});
