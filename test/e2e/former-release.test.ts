/** @default Controllers of the former release and of the present one hand over the Lease, and neither writes what is in sync. */
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { createLogger } from '../../src/observability/logger.ts';
import { migrate } from '../../src/store/migrate.ts';
import { type ProgramFolder, unpackFormer } from '../support/api/program-folder.ts';
import type { ServerProcess } from '../support/api/server-process.ts';
import { Stack } from '../support/cluster/stack.ts';
import type { SyncSite } from '../support/cluster/sync-site.ts';
import { type FormerDatabase, loadFormerDatabase } from '../support/database/former-database.ts';
import { waitFor } from '../support/fixtures/wait-for.ts';

/** One story on the recorded database of the former release: upgrade, side by side, rollback. */

const resources = new AsyncDisposableStack();
let folder: ProgramFolder;
let database: FormerDatabase;
let stack: Stack;
let site: SyncSite;
let former: ServerProcess;
let present: ServerProcess;

beforeAll(async () => {
  folder = await unpackFormer(resources);
  database = await loadFormerDatabase(resources, folder);
  // The present schema from the beginning: a former server that starts on it is one of a rolling upgrade.
  await migrate({ url: database.url, logger: createLogger('silent') });
  stack = await Stack.start(resources, { namespaces: 2, databaseUrl: database.url, known: database });
  former = await stack.startController({ name: 'former', program: folder.program });
  site = await stack.makeSite({ values: { A: 'one' } });
  await site.waitUntilSynced({ A: 'one' });
}, 240_000);

afterAll(() => resources.disposeAsync());

/** Expects that a new leader verifies the Secret and the status as they are, and then writes the next change. */
async function expectTakenOver(change: string): Promise<void> {
  const before = await versions();
  await stack.passWitness(site.namespace);
  expect(await versions()).toEqual(before);
  await site.environment.change({ A: change });
  await site.waitUntilSynced({ A: change });
}

async function versions(): Promise<readonly (string | undefined)[]> {
  const [secret, sync] = [await site.existingSecret(), await site.sync()];
  return [secret.metadata.uid, secret.metadata.resourceVersion, sync.metadata.resourceVersion];
}

/** The process that holds the Lease. */
async function holder(): Promise<string | undefined> {
  const path = `/apis/coordination.k8s.io/v1/namespaces/${stack.namespaces[0]}/leases/keyframe-controller`;
  const lease = await stack.kube.json<{ spec: { holderIdentity?: string } }>({ path });
  return lease.spec.holderIdentity;
}

test('the former controller follows what a present API commits, while a present one stands by', async () => {
  const leader = await holder();
  present = await stack.startController({ name: 'present' });
  await site.environment.change({ A: 'two' });
  await site.waitUntilSynced({ A: 'two' });
  expect(await holder()).toBe(leader);
}, 120_000);

test('the present controller takes over the Lease at once, and writes nothing that is in sync', async () => {
  const leader = await holder();
  await former.stop();
  await waitFor('another leader', async () => ![undefined, '', leader].includes(await holder()));
  await expectTakenOver('three');
}, 120_000);

test('the former controller takes over again in a rollback, and writes nothing that is in sync', async () => {
  const leader = await holder();
  former = await stack.startController({ name: 'former', program: folder.program });
  await present.stop();
  await waitFor('another leader', async () => ![undefined, '', leader].includes(await holder()));
  await expectTakenOver('four');
}, 120_000);
