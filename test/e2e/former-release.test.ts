/** @default Controllers of the former release and of the present one hand over the Lease, and neither writes what is in sync. */
import { randomUUID } from 'node:crypto';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { installCustomResources } from '../../tools/devcluster/cluster/custom-resources.ts';
import { generateToken } from '../../src/crypto/token.ts';
import { createLogger } from '../../src/observability/logger.ts';
import { migrate } from '../../src/store/migrate.ts';
import { RecordSite } from './record-site.ts';
import type { ApiClient } from '../support/api/api-client.ts';
import { type ProgramFolder, unpackFormer } from '../support/api/program-folder.ts';
import type { ServerProcess } from '../support/api/server-process.ts';
import { sharedCluster } from '../support/cluster/cluster.ts';
import { definitionsFolder, startOwnCluster } from '../support/cluster/own-cluster.ts';
import { formerDefinitionsFolder } from '../support/cluster/released.ts';
import { Stack } from '../support/cluster/stack.ts';
import type { SyncSite } from '../support/cluster/sync-site.ts';
import { type FormerDatabase, loadFormerDatabase } from '../support/database/former-database.ts';
import { BreakableProxy } from '../support/faults/breakable-proxy.ts';
import { isFull, testInFull } from '../support/fixtures/test-size.ts';
import { waitFor } from '../support/fixtures/wait-for.ts';

/**
 * One story on the recorded database of the former release, whose controllers have a connection to it: it leads, upgrade with
 * controllers over HTTPS, side by side, rollback. In the full size its definitions are replaced in the upgrade, and controllers
 * in the process of the API take their turn too; otherwise the shared cluster has the present definitions from the beginning.
 */

const resources = new AsyncDisposableStack();
const env = { ROLLOUTS: 'true' };
const olderServer = 'is of an older release, which serves no controllers over HTTPS: upgrade it first';
let folder: ProgramFolder;
let database: FormerDatabase;
let stack: Stack;
let site: SyncSite;
let records: RecordSite;
let former: ServerProcess;
let present: ServerProcess;
let presentApi: ServerProcess;
/** The way of the present controllers to the API, as a Service has it. */
let service: BreakableProxy;
let tokenFile: string;

beforeAll(async () => {
  folder = await unpackFormer(resources);
  database = await loadFormerDatabase(resources, folder);
  const cluster = isFull ? await startOwnCluster(resources, { withoutDefinitions: true }) : sharedCluster();
  stack = await Stack.start(resources, {
    namespaces: 4,
    adminKubeconfig: cluster.kubeconfig,
    databaseUrl: database.url,
    known: database,
    program: folder.program,
  });
  if (isFull) await installCustomResources(stack.kube, formerDefinitionsFolder);
  service = await BreakableProxy.start(portOf(stack.api));
  resources.defer(() => service.close());
  tokenFile = join(folder.migrations, '..', 'home-token');
  await writeFile(tokenFile, generateToken('cluster', randomUUID()).token.reveal());
}, 240_000);

afterAll(() => resources.disposeAsync());

/** What a change of leader must leave as it is. */
async function versions(): Promise<unknown> {
  const [secret, sync] = [await site.existingSecret(), await site.sync()];
  const own = [secret, sync].map(({ metadata }) => [metadata.uid, metadata.resourceVersion]);
  return [...own, ...(await records.versions())];
}

/** Expects that a new leader verifies the Secrets and the statuses as they are, and then writes the next change. */
async function expectTakenOver(before: unknown, admin: ApiClient, change: string): Promise<void> {
  await stack.passWitness(site.namespace);
  expect(await versions()).toEqual(before);
  await changeAll(admin, change);
}

/** Makes a change over an API, and waits until the leader has written it. */
async function changeAll(admin: ApiClient, change: string): Promise<void> {
  await site.environment.at(admin).change({ A: change });
  await site.waitUntilSynced({ A: change });
  await records.writeAgain(admin, change);
}

/** The process that holds the Lease. */
async function holder(): Promise<string | undefined> {
  const path = `/apis/coordination.k8s.io/v1/namespaces/${stack.namespaces[0]}/leases/keyframe-controller`;
  const lease = await stack.kube.json<{ spec: { holderIdentity?: string } }>({ path });
  return lease.spec.holderIdentity;
}

async function stopLeader(leader: ServerProcess): Promise<void> {
  const identity = await holder();
  await leader.stop();
  await waitFor('another leader', async () => ![undefined, '', identity].includes(await holder()));
}

function portOf({ url }: ServerProcess): number {
  return Number(new URL(url).port);
}

test('the former release leads on its own schema, and records where each Secret comes from', async () => {
  former = await stack.startController({ name: 'former', program: folder.program, env });
  site = await stack.makeSite({ values: { A: 'one' } });
  await site.waitUntilSynced({ A: 'one' });
  records = await RecordSite.make(stack);
  expect(await records.annotations()).toEqual([
    'example.com/owner',
    'keyframe.dev/allow-merge',
    'keyframe.dev/composed',
    'keyframe.dev/managed-metadata',
    'keyframe.dev/origins',
    'keyframe.dev/owned-by',
    'keyframe.dev/owned-by-token',
    'keyframe.dev/renamed',
    'keyframe.dev/rolled-back',
    'keyframe.dev/source',
    'keyframe.dev/sources',
    'merge.keyframe.dev/app',
    'rollout.keyframe.dev/app',
  ]);
}, 240_000);

test('a present controller is refused by the former API, says why, and leaves the Lease to the former one', async () => {
  present = await stack.spawnController({ name: 'present', server: { url: service.url, tokenFile }, env });
  await waitFor('the refusal', () => present.captured.output.toString().includes(olderServer));
  await former.stop();
  // Longer than a refused controller waits before it asks again.
  await pause(6_000);
  expect([await holder(), await present.isReady()]).toEqual(['', false]);
  former = await stack.startController({ name: 'former', program: folder.program, env });
  await changeAll(stack.admin, 'while it waits');
}, 120_000);

test('the former controller follows what a present API commits, while the present one becomes a standby', async () => {
  const leader = await holder();
  if (isFull) await installCustomResources(stack.kube, definitionsFolder);
  await migrate({ url: database.url, logger: createLogger('silent') });
  presentApi = await stack.startApi(database.url, { HOME_TOKEN_FILE: tokenFile });
  service.leadTo(portOf(presentApi));
  await present.ready();
  await changeAll(stack.admin.at(presentApi.url), 'two');
  expect(await holder()).toBe(leader);
}, 120_000);

test('the present controller takes over the Lease at once, and writes nothing that is in sync', async () => {
  const before = await versions();
  await stopLeader(former);
  await expectTakenOver(before, stack.admin.at(presentApi.url), 'three');
}, 120_000);

test('the former controller takes over again in a rollback, and writes nothing that is in sync', async () => {
  former = await stack.startController({ name: 'former', program: folder.program, env });
  const before = await versions();
  await stopLeader(present);
  await expectTakenOver(before, stack.admin, 'four');
}, 120_000);

testInFull(
  'so does a present controller in the process of the API',
  async () => {
    const both = await stack.startController({ name: 'both', role: 'all', env });
    const before = await versions();
    await stopLeader(former);
    await expectTakenOver(before, stack.admin.at(both.url), 'five');
  },
  120_000,
);
