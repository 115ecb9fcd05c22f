/** @default After a recovery of the database, tokens and Secrets follow the recovered state. */
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { Plaintext } from '../../src/domain/plaintext.ts';
import type { ApiClient, ApiEnvironment, ServiceToken } from '../support/api/api-client.ts';
import { EventReader } from '../support/api/event-reader.ts';
import { recoverDatabase } from '../support/database/recovered-database.ts';
import { RecoverablePostgres } from './recoverable-postgres.ts';
import { Stack } from '../support/cluster/stack.ts';
import type { SyncSite } from '../support/cluster/sync-site.ts';
import { TokenSite } from '../support/cluster/token-site.ts';
import { TokenSync } from '../support/cluster/token-sync.ts';
import { waitFor } from '../support/fixtures/wait-for.ts';

// The database goes back in time beneath a cluster that does not, and beneath servers that run. The steps are those of
// docs/backup-and-recovery.md, except that the servers were not stopped first.

const resources = new AsyncDisposableStack();
let postgres: RecoverablePostgres;
let stack: Stack;
let sync: TokenSync;
let tokens: TokenSite;
let handed: SyncSite;
let grown: SyncSite;
// What was there at the backup and after it.
let revokedBefore: ServiceToken;
let revokedAfter: ServiceToken;
let firstValue: string;
let newest: { readonly revision: number; readonly revisionId: string };
let etag: string;
let endedValue: string;
let adminBefore: string;
let admin: ApiClient;

beforeAll(async () => {
  postgres = await RecoverablePostgres.start(resources);
  stack = await Stack.start(resources, { namespaces: 5, databaseUrl: postgres.url });
  await stack.startController();
  await prepare();
  await postgres.backUp();
  await changeMore();
  await postgres.recover();
});

afterAll(async () => {
  await Promise.all([sync.site, tokens].map((site) => site.withdraw()));
  await resources.disposeAsync();
});

async function prepare(): Promise<void> {
  [sync, tokens] = [await TokenSync.make(stack), await TokenSite.make(stack)];
  await sync.create();
  await sync.waitForValues({ A: 'alpha' });
  await sync.site.create({ permission: 'Read' }, 'reader');
  await sync.site.waitForSerial(1, 'reader');
  await tokens.create();
  await tokens.create({}, 'ended');
  firstValue = await tokens.waitForSerial(1);
  endedValue = await tokens.waitForSerial(1, 'ended');
  handed = await stack.makeSite({ name: 'handed', values: { A: 'alpha' } });
  grown = await stack.makeSite({ name: 'grown', values: { A: 'alpha' } });
  await Promise.all([handed, grown].map((site) => site.waitUntilSynced({ A: 'alpha' })));
  [revokedBefore, revokedAfter] = [await tokens.environment.createToken(), await tokens.environment.createToken()];
  await tokens.environment.revokeToken(revokedBefore.id);
  adminBefore = stack.adminToken;
}

/** What the backup does not hold. */
async function changeMore(): Promise<void> {
  newest = await sync.site.environment.change({ A: 'newer', B: 'beta' });
  await sync.waitForValues({ A: 'newer', B: 'beta' });
  etag = await etagOf(sync.site.environment, stack.admin, adminBefore);
  await stack.kube.json({ method: 'DELETE', path: tokens.secretPath() });
  await tokens.waitForSerial(2);
  await tokens.environment.revokeToken(revokedAfter.id);
  await tokens.environment.revokeToken((await tokens.resource('ended')).status?.tokenId ?? '');
  await tokens.waitForReason('Revoked', 'ended');
  await grown.environment.change({ B: 'b', C: 'c', D: 'd' });
  await grown.waitUntilSynced({ A: 'alpha', B: 'b', C: 'c', D: 'd' });
}

async function etagOf({ path }: ApiEnvironment, { url }: ApiClient, token: string): Promise<string> {
  const reply = await fetch(`${url}/api/v1${path}`, { headers: { authorization: `Bearer ${token}` } });
  return reply.headers.get('etag') ?? '';
}

/** What a read of an environment with a token is answered. */
function statusOf(token: string): Promise<number> {
  return tokens.answer(token);
}

/** The value of a ServiceToken's Secret, once it is one that works. */
function workingValue(name?: string): Promise<string> {
  const look = async (): Promise<string | false> => {
    const held = await tokens.value(name);
    return (await statusOf(held)) === 200 && held;
  };
  return waitFor('a value that works', look);
}

test('the recovered database is on another timeline, and brings back what was revoked since', async () => {
  expect(await postgres.timeline()).toBe(2);
  await waitFor('the API to answer again', async () => (await statusOf(adminBefore)) < 500);
  expect(await statusOf(revokedBefore.token)).toBe(401);
  expect(await statusOf(revokedAfter.token)).toBe(200);
});

describe('after «recovered», though no server was stopped', () => {
  beforeAll(async () => {
    const { token } = await recoverDatabase(postgres.url);
    admin = stack.admin.as(token);
  });

  test('no token of before opens anything, whenever it was revoked, and the new one does', async () => {
    const dead = [revokedBefore.token, revokedAfter.token, firstValue, endedValue, handed.token.token, adminBefore];
    expect(await Promise.all(dead.map(statusOf))).toEqual(dead.map(() => 401));
    // Instance admin, and owner of what they made before.
    expect((await admin.send('GET', tokens.environment.path)).status).toBe(200);
  });

  test('ServiceTokens get the next value of what the database knows, by themselves', async () => {
    expect(await workingValue()).not.toBe(firstValue);
    await tokens.waitForReason('Issued');
  });

  test('one whose token was revoked since gets another value too, and never the old one', async () => {
    expect(await workingValue('ended')).not.toBe(endedValue);
    expect(await statusOf(endedValue)).toBe(401);
  });

  test('a Secret that was newer than the database follows it back, and then forward', async () => {
    const isOlder = async (): Promise<boolean> =>
      JSON.stringify(await sync.values()) === JSON.stringify({ A: 'alpha' });
    await waitFor('the older values', isOlder);
    await sync.waitForReason('Synced');
    await admin.call('PATCH', sync.site.environment.path, { set: { A: 'later' } });
    await sync.waitForValues({ A: 'later' });
  });

  test('a Secret that would lose most of its keys is kept until a user consents', async () => {
    const token = await admin.call<ServiceToken>('POST', `/service-tokens/${grown.environment.ref.organization}`, {
      name: 'again',
      scope: 'environment',
      environmentId: grown.environment.id,
      permission: 'read',
    });
    await grown.putToken(token.token);
    const { message } = await grown.waitForReason('DeletionBlocked');
    await grown.waitForValues({ A: 'alpha', B: 'b', C: 'c', D: 'd' });
    const digest = /allow-deletion[=:]\s*"?([0-9a-f]{32})/.exec(message)?.[1];
    await grown.patchSync({ metadata: { annotations: { 'keyframe.dev/allow-deletion': digest } } });
    await grown.waitUntilSynced({ A: 'alpha' });
  });

  test('a SecretSync with a token of a person keeps its Secret, and waits for another token', async () => {
    await handed.waitForReason('AuthenticationFailed');
    await handed.waitForValues({ A: 'alpha' });
  });

  test('a reader of changes must start again, and an ETag of a lost revision fits nothing', async () => {
    const { organization, project, name } = sync.site.environment.ref;
    const token = await sync.site.waitForSerial(2, 'reader');
    const url = `${admin.url}/api/v1/changes/${organization}/${project}/${name}`;
    const reader = await EventReader.open(url, new Plaintext(token), { 'last-event-id': newest.revisionId });
    expect(await reader.next()).toMatchObject({ event: 'reset' });
    reader.close();
    const headers = { authorization: `Bearer ${token}`, 'if-none-match': etag };
    const reply = await fetch(`${stack.admin.url}/api/v1${sync.site.environment.path}`, { headers });
    await reply.body?.cancel();
    expect({ etag, status: reply.status }).toEqual({ etag: expect.stringMatching(/^(?:W\/)?".+"$/), status: 200 });
  });
});
