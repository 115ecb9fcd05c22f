/** SecretSyncs with rollouts move between the adapters without a restart and without a write. */
import { randomUUID } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import type { SecretSync } from '../../src/controller/generated/secret-sync.ts';
import type { KubeObject } from '../../tools/devcluster/cluster/kube-http.ts';
import type { PortAdapter } from '../support/api/adapters.ts';
import type { ServerProcess } from '../support/api/server-process.ts';
import { Stack } from '../support/cluster/stack.ts';
import { TokenSite } from '../support/cluster/token-site.ts';
import { type WorkloadObject, Workloads } from '../support/cluster/workloads.ts';
import { isWrite } from '../support/faults/api-exchange.ts';
import { ApiProxy } from '../support/faults/api-proxy.ts';
import { isFull } from '../support/fixtures/test-size.ts';
import { waitFor } from '../support/fixtures/wait-for.ts';

const count = isFull ? 1_000 : 20;
const limitMs = isFull ? 1_200_000 : 240_000;
const atOnce = 20;
// What a site begins with.
const firstRevision = 1;
// Longer than a restart waits for further changes.
const settleMs = 3_000;
const names = Array.from({ length: count }, (_, index) => `app-${index}`);
const resources = new AsyncDisposableStack();
let stack: Stack;
let site: TokenSite;
/** The way of the controllers to the API server. */
let api: ApiProxy;
let controller: ServerProcess | undefined;

beforeAll(async () => {
  stack = await Stack.start(resources, { namespaces: 1 });
  api = await ApiProxy.start(stack.kubeconfigFile);
  resources.defer(() => api.close());
  site = await TokenSite.make(stack, { kinds: ['SecretSync'] });
  await stack.allowRollouts(site.namespace);
  const workloads = new Workloads(stack.kube, site.namespace);
  for (let index = 0; index < count; index += atOnce) {
    await Promise.all(names.slice(index, index + atOnce).map((name) => makeSync(workloads, name)));
  }
  await moveTo('in process');
  await waitUntilConverged(firstRevision);
}, limitMs);

afterAll(() => resources.disposeAsync());

/** A SecretSync, and a Deployment without pods that reads its Secret. */
async function makeSync(workloads: Workloads, name: string): Promise<void> {
  const rollout = { targets: [{ kind: 'Deployment', name }] };
  const spec = { environmentRef: site.environment.ref, rollout };
  const body = { apiVersion: 'keyframe.dev/v1alpha1', kind: 'SecretSync', metadata: { name }, spec };
  const path = `/apis/keyframe.dev/v1alpha1/namespaces/${site.namespace}/secretsyncs`;
  await workloads.create({ kind: 'Deployment', name }, { replicas: 0 });
  await stack.kube.json({ method: 'POST', path, body });
}

/** Replaces the controller by one with this adapter, and waits until it has reconciled each SecretSync. */
async function moveTo(adapter: PortAdapter): Promise<void> {
  await controller?.stop();
  const { kubeconfigFile } = api;
  controller = await stack.startController({ name: adapter, adapter, kubeconfigFile, env: { ROLLOUTS: 'true' } });
  await waitFor('each SecretSync to be reconciled', async () => (await reconciles()) >= count, { timeoutMs: limitMs });
}

async function reconciles(): Promise<number> {
  const samples = (await controller?.metrics())?.matchAll(
    /^keyframe_reconcile_duration_seconds_count\{.*kind="SecretSync".*\} (\d+)$/gm,
  );
  return [...(samples ?? [])].reduce((sum, [, number]) => sum + Number(number), 0);
}

/** The objects of the namespace in their versions: a write of any of them would show. */
async function versions(): Promise<readonly string[]> {
  const objects = [...(await listed('/api/v1', 'secrets')), ...(await syncsNow()), ...(await deploymentsNow())];
  return objects.map(({ metadata: { uid, name, resourceVersion } }) => `${name} ${uid} ${resourceVersion}`);
}

const syncsNow = (): Promise<SecretSync[]> => listed('/apis/keyframe.dev/v1alpha1', 'secretsyncs');
const deploymentsNow = (): Promise<WorkloadObject[]> => listed('/apis/apps/v1', 'deployments');

async function listed<T extends KubeObject>(group: string, plural: string): Promise<T[]> {
  const path = `${group}/namespaces/${site.namespace}/${plural}`;
  return (await stack.kube.json<{ items: T[] }>({ path })).items;
}

/** What the controllers sent to the API server to change something. */
function writes(): readonly string[] {
  return api.passages(isWrite).map(({ request: { method, path } }) => `${method} ${path}`);
}

/** The generations of the Deployments: each restart is one more. */
async function generations(): Promise<readonly number[]> {
  return (await deploymentsNow()).map(({ metadata }) => metadata.generation);
}

/** Commits a change, and waits until each Secret has it and each Deployment was restarted for it. */
async function change(): Promise<void> {
  await waitUntilConverged((await site.environment.change({ A: randomUUID() })).revision);
}

async function waitUntilConverged(revision: number): Promise<void> {
  const haveConverged = async (): Promise<boolean> => {
    for (const { status } of await syncsNow()) {
      expect(status?.syncedRevision).toBe(revision);
      expect(status?.conditions?.find(({ type }) => type === 'Converged')?.status).toBe('True');
    }
    return true;
  };
  await waitFor(`each SecretSync to converge at revision ${revision}`, haveConverged, { timeoutMs: limitMs });
}

/** Moves the controller, and expects that it writes nothing. */
async function expectMoved(adapter: PortAdapter): Promise<void> {
  await pause(settleMs);
  const [before, written] = [await versions(), writes()];
  await moveTo(adapter);
  await pause(settleMs);
  expect(writes()).toEqual(written);
  expect(await versions()).toEqual(before);
}

test('a move from the process of the services to HTTPS writes nothing', () => expectMoved('over HTTPS'), limitMs);

test(
  'the next change restarts each Deployment once',
  async () => {
    const before = await generations();
    await change();
    expect(await generations()).toEqual(before.map((generation) => generation + 1));
  },
  limitMs,
);

test('the move back writes nothing', () => expectMoved('in process'), limitMs);
