import { randomBytes, randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { startPostgres } from '../../tools/devcluster/postgres/server.ts';
import { openDatabase } from '../../src/store/database.ts';
import type { ApiClient, ApiEnvironment, ServiceToken } from '../support/api/api-client.ts';
import { Canary } from '../support/fixtures/canary.ts';
import { DisasterSite, everythingOf } from '../support/cluster/disaster-site.ts';
import { databaseRows, processOutput } from '../support/fixtures/leak-places.ts';
import { findLeaks } from '../support/fixtures/leak-search.ts';
import { LogicalDump } from './logical-dump.ts';
import { startOwnCluster } from '../support/cluster/own-cluster.ts';
import { recoverDatabase, runRole } from '../support/database/recovered-database.ts';
import type { SecretObject } from '../support/cluster/secret-watch.ts';
import { Stack } from '../support/cluster/stack.ts';
import { tableDigests } from '../support/database/table-digest.ts';
import { waitFor } from '../support/fixtures/wait-for.ts';

// Database and cluster are lost; what is left is a dump, the root key, the resources' YAML, and a Secret that was brought
// along. The steps are those of docs/backup-and-recovery.md.

const resources = new AsyncDisposableStack();
const atDump = { A: 'one', C: 'three', D: 'four' };
const lost: string[] = [];
let environment: ApiEnvironment;
let namespaces: readonly string[];
let rootKey: string;
let dump: LogicalDump;
// What was there at the dump.
let before: object;
let snapshot: { readonly id: string };
let releaseDigest: string | undefined;
let releaseId: string;
let restore: { readonly key: string; readonly body: object; readonly answer: object };
// Of a SnapshotRestore that was carried out.
let applied: object;
let revokedBefore: ServiceToken;
let revokedAfter: ServiceToken;
let ofMachine: ServiceToken;
// What came along.
let survivor: SecretObject;
// What there is now.
let databaseUrl: string;

beforeAll(async () => {
  const doomed = new AsyncDisposableStack();
  try {
    await liveAndDie(doomed);
  } finally {
    await doomed.disposeAsync();
  }
  const postgres = await startPostgres({ durable: false });
  resources.defer(() => postgres.stop());
  databaseUrl = postgres.urlOf('postgres');
});

afterAll(() => resources.disposeAsync());

/** The life before the disaster. */
async function liveAndDie(doomed: AsyncDisposableStack): Promise<void> {
  const { kubeconfig } = await startOwnCluster(doomed);
  const stack = await Stack.start(doomed, { namespaces: 1, adminKubeconfig: kubeconfig });
  ({ rootKey, namespaces } = stack);
  await stack.startController();
  environment = await stack.admin.makeEnvironment();
  const site = new DisasterSite(stack.kube, namespaces[0] ?? '');
  await environment.change({ A: 'one', B: 'two' });
  snapshot = await stack.admin.call('POST', snapshotsPath(), { name: 'by hand' });
  await site.apply(environment.ref, { environmentRef: environment.ref });
  const { status } = await site.snapshots.waitForReason('release', 'Taken');
  [releaseId, releaseDigest] = [status?.snapshotId ?? '', status?.digest];
  await site.snapshots.waitForReason('nightly', 'Taken');
  await environment.change({ A: 'changed', C: 'three' }, ['B']);
  await environment.change({ D: 'four' });
  const body = { snapshotId: snapshot.id, backup: true };
  const key = randomUUID();
  restore = { key, body, answer: await restored(stack.admin, key, body) };
  applied = await site.restore();
  await waitForValues(site, 'survivor', atDump);
  await site.tokens.waitForReason('ci', 'Issued');
  ofMachine = await environment.createToken();
  [revokedBefore, revokedAfter] = [await environment.createToken(), await environment.createToken()];
  await environment.revokeToken(revokedBefore.id);
  before = await everythingOf(stack.admin, environment.ref);
  dump = await LogicalDump.take(stack.databaseUrl, resources);
  await environment.change({ A: 'never seen again' });
  await environment.revokeToken(revokedAfter.id);
  await waitForValues(site, 'survivor', { ...atDump, A: 'never seen again' });
  survivor = await site.secret('survivor');
  lost.push(stack.adminToken, Buffer.from((await site.secret('ci')).data?.['token'] ?? '', 'base64').toString());
}

function snapshotsPath(): string {
  const { organization, project, name } = environment.ref;
  return `/snapshots/${organization}/${project}/${name}`;
}

/** Restores under an Idempotency-Key. */
async function restored(client: ApiClient, key: string, body: object): Promise<object> {
  const sent = { text: JSON.stringify(body), headers: { 'idempotency-key': key } };
  const reply = await client.sendText<object>('POST', `${snapshotsPath()}/restore`, sent);
  expect(reply.status).toBe(200);
  return reply.body;
}

async function waitForValues(site: DisasterSite, name: string, values: object): Promise<void> {
  const look = async (): Promise<boolean> => {
    expect(await site.values(name)).toEqual(values);
    return true;
  };
  await waitFor(`Secret ${name} to hold what it should`, look);
  await site.syncs.waitForReason(name, 'Synced');
}

describe('the database, recreated from the dump', () => {
  test('is of this release after «migrate», and takes the dump', async () => {
    expect(await runRole({ role: 'migrate', env: { DATABASE_URL: databaseUrl } })).toMatchObject({ code: 0 });
    await dump.load(databaseUrl);
  });

  test('lets no server start with another root key, which writes nothing', async () => {
    const database = openDatabase({ url: databaseUrl, poolSize: 2 });
    const [digests, audited] = [await tableDigests(database), await auditEntries()];
    const ROOT_KEY = `test:${randomBytes(32).toString('base64')}`;
    const { code, captured } = await runRole({ role: 'api', env: { DATABASE_URL: databaseUrl, ROOT_KEY } });
    expect({ code, output: captured.output.toString() }).toEqual({
      code: 78,
      output: expect.stringContaining('Root key "test" does not open the stored key'),
    });
    expect([await tableDigests(database), await auditEntries()]).toEqual([digests, audited]);
    await database.close();

    async function auditEntries(): Promise<unknown> {
      return (await database.pool.query('SELECT count(*) FROM audit_entry')).rows;
    }
  });
});

describe('after «recovered», with the root key and a new cluster', () => {
  let stack: Stack;
  let site: DisasterSite;
  let brought: SecretObject;

  beforeAll(async () => {
    const { token, captured } = await recoverDatabase(databaseUrl);
    const { kubeconfig } = await startOwnCluster(resources);
    const known = { rootKey, token };
    stack = await Stack.start(resources, { namespaces, adminKubeconfig: kubeconfig, databaseUrl, known });
    stack.processes.push(captured);
    site = new DisasterSite(stack.kube, namespaces[0] ?? '');
    brought = await site.bring(survivor);
    await site.apply(environment.ref, { snapshotId: releaseId });
  });

  test('no token of before opens anything, whether it was revoked before the dump, after it, or not at all', async () => {
    const dead = [...[revokedBefore, revokedAfter, ofMachine].map(({ token }) => token), ...lost];
    const statuses = dead.map(async (token) => (await stack.admin.as(token).send('GET', environment.path)).status);
    expect(await Promise.all(statuses)).toEqual(dead.map(() => 401));
    expect(new Set(dead).size).toBe(5);
  });

  test('everything is there as it was at the dump: values, versions, snapshots and changes', async () => {
    expect(await everythingOf(stack.admin, environment.ref)).toEqual(before);
  });

  test('a restore that was done before is not done again by the same request', async () => {
    expect(await restored(stack.admin, restore.key, restore.body)).toEqual(restore.answer);
    expect(await everythingOf(stack.admin, environment.ref)).toEqual(before);
  });

  test('SecretSyncs make their Secrets, and take over the one that came along, with tokens of their own', async () => {
    await stack.startController();
    await Promise.all([waitForValues(site, 'web', atDump), waitForValues(site, 'survivor', atDump)]);
    const { metadata } = await site.secret('survivor');
    expect(metadata).toMatchObject({ uid: brought.metadata.uid, annotations: survivor.metadata.annotations });
    await environment.at(stack.admin).change({ A: 'after' });
    await Promise.all([
      waitForValues(site, 'web', { ...atDump, A: 'after' }),
      waitForValues(site, 'survivor', { ...atDump, A: 'after' }),
    ]);
  });

  test('a ServiceToken gets a value that works', async () => {
    await site.tokens.waitForReason('ci', 'Issued');
    const { token = '' } = await site.values('ci');
    expect((await stack.admin.as(token).send('GET', environment.path)).status).toBe(200);
  });

  test('a SecretSnapshot adopts the snapshot that its source names, and one that names none takes another', async () => {
    const { status } = await site.snapshots.waitForReason('release', 'Adopted');
    expect(status).toMatchObject({ snapshotId: releaseId, digest: releaseDigest, revision: 1 });
    const nightly = await site.snapshots.waitForReason('nightly', 'Taken');
    expect(nightly.status?.revision).toBeGreaterThan(1);
  });

  test('a SnapshotRestore that was carried out before is not carried out again by the same manifest', async () => {
    const known = await everythingOf(stack.admin, environment.ref);
    await site.restores.create(applied, 'back');
    const { status } = await site.restores.waitForReason('back', 'PlanOutdated');
    expect(status?.planHash).not.toBe((applied as { planHash: string }).planHash);
    expect(status?.result).toBeUndefined();
    expect(await everythingOf(stack.admin, environment.ref)).toEqual(known);
  });

  test('SecretSyncs that are pinned to a snapshot or a revision hold what they held', async () => {
    await waitForValues(site, 'pinned', { A: 'one', B: 'two' });
    await waitForValues(site, 'first', { A: 'one', B: 'two' });
  });

  test('a SecretEnvironment finds the environment, and makes none', async () => {
    const { status } = await site.environments.waitForReason('production', 'Available');
    expect(status?.environmentId).toBe(environment.id);
  });

  test('the new token is in the file alone', async () => {
    const places = [processOutput(() => stack.processes), databaseRows(databaseUrl)];
    expect(await findLeaks(new Canary(stack.adminToken), places)).toEqual([]);
  });
});
