import { setTimeout as pause } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { startOwnCluster } from '../support/cluster/own-cluster.ts';
import { forgetLeader, makeTokenOld, query } from '../support/cluster/resource-rows.ts';
import type { ServerProcess } from '../support/api/server-process.ts';
import { Stack } from '../support/cluster/stack.ts';
import { alpha, TokenSync } from '../support/cluster/token-sync.ts';
import { waitFor } from '../support/fixtures/wait-for.ts';

/** Two clusters that live at the same time on one database, and were given one name by mistake. */

const resources = new AsyncDisposableStack();
const clusterName = 'prod';
// Each resync sweeps for orphans: to the second cluster, the tokens of the first one would be some.
const env = { CLUSTER_NAME: clusterName, RESYNC_INTERVAL: '1s' };
let first: Stack;
let second: Stack;
let firstUid: string;
let secondUid: string;

beforeAll(async () => {
  first = await Stack.start(resources, { namespaces: 1 });
  const { kubeconfig } = await startOwnCluster(resources);
  second = await Stack.start(resources, {
    // The same ones, as in clusters that are set up alike.
    namespaces: first.namespaces,
    adminKubeconfig: kubeconfig,
    databaseUrl: first.databaseUrl,
    known: { rootKey: first.rootKey, token: first.adminToken },
  });
  [firstUid, secondUid] = [await uidOf(first), await uidOf(second)];
});

afterAll(() => resources.disposeAsync());

/** What distinguishes a cluster from any other. */
async function uidOf({ kube }: Stack): Promise<string> {
  const { metadata } = await kube.json<{ metadata: { uid: string } }>({ path: '/api/v1/namespaces/kube-system' });
  return metadata.uid;
}

/** Why a controller is not ready, as /readyz reports it; undefined if it is. */
async function faultOf({ metricsUrl }: ServerProcess): Promise<string | undefined> {
  const answer = await fetch(`${metricsUrl}/readyz`);
  const { reason } = (await answer.json()) as { readonly reason?: string };
  expect(answer.status).toBe(reason === undefined ? 200 : 503);
  return reason;
}

/** Waits until a controller reports that the cluster of this uid has its name. */
async function waitForRefusal(controller: ServerProcess, uid: string): Promise<void> {
  const fault = await waitFor('the controller to name the other cluster', async () => {
    const reason = await faultOf(controller);
    return reason?.includes(uid) === true ? reason : undefined;
  });
  expect(fault).toContain(`the name ${clusterName} belongs to another cluster`);
  expect(fault).toContain('set another KEYFRAME_CLUSTER_NAME');
}

async function expectHolder(uid: string): Promise<void> {
  expect(await query(first.databaseUrl, 'SELECT name, uid FROM cluster')).toEqual([{ name: clusterName, uid }]);
}

/** Expects that a cluster's SecretSync was not looked at, and nothing was done to the tokens of the other one. */
async function expectUntouched(sync: TokenSync): Promise<void> {
  expect((await sync.syncs.get('app')).status).toBeUndefined();
  expect(await sync.values()).toBeUndefined();
  const sql = `SELECT count(*)::int AS suspensions FROM audit_entry WHERE action = 'service_token.suspend'`;
  expect(await query(first.databaseUrl, sql)).toEqual([{ suspensions: 0 }]);
  const holders = 'SELECT environment_id AS id FROM service_token WHERE cluster IS NOT NULL';
  expect(await query(first.databaseUrl, holders)).not.toContainEqual({ id: sync.site.environment.id });
}

test('the second one does no work and reports why, until the first one has been gone for 10 minutes', async () => {
  let firstController = await first.startController({ name: 'first', env });
  const ours = await TokenSync.makeSynced(first);
  await ours.site.create({});
  const token = await ours.site.waitForSerial(1);
  await makeTokenOld(first.databaseUrl, (await ours.site.resource()).metadata.uid);

  const others = await TokenSync.make(second);
  await others.create();
  const secondController = await second.spawnController({ name: 'second', env });
  await waitForRefusal(secondController, firstUid);
  await pause(3000);
  await expectUntouched(others);
  await expectHolder(firstUid);
  expect(await ours.site.answer(token)).toBe(200);
  expect(await faultOf(firstController)).toBeUndefined();
  await ours.site.environment.change({ A: 'beta' });
  await ours.waitForValues({ A: 'beta' });

  await firstController.stop();
  expect(await faultOf(secondController)).toContain(firstUid);
  await expectUntouched(others);
  await forgetLeader(first.databaseUrl, clusterName);
  await secondController.ready();
  await others.waitForValues(alpha);
  await expectHolder(secondUid);

  // Now the first one has to wait.
  firstController = await first.spawnController({ name: 'first', env });
  await waitForRefusal(firstController, secondUid);
  await ours.site.environment.change({ A: 'gamma' });
  await pause(3000);
  expect(await ours.values()).toEqual({ A: 'beta' });
  expect(await faultOf(secondController)).toBeUndefined();
});
