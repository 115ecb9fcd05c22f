import { readdirSync, readFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import type { ApiEnvironment } from '../support/api/api-client.ts';
import { NodeSite } from '../support/node/node-site.ts';
import { Release } from '../support/node/release.ts';
import { type LoadTarget, ServiceLoad } from '../support/api/service-load.ts';
import { SyncSite } from '../support/cluster/sync-site.ts';
import { waitFor } from '../support/fixtures/wait-for.ts';

// Connections that are used at once, and such as are idle for a while in between.
const pausesMs = [0, 20, 60, 150, 400, 900];
const patience = { timeoutMs: 60_000, pollMs: 100 };
const server = 'app.kubernetes.io/component=server';

const resources = new AsyncDisposableStack();
const site = new NodeSite(resources);
let release: Release;
let sync: SyncSite;
let environment: ApiEnvironment;

beforeAll(async () => {
  release = await Release.install(site, resources, { replicas: '2', 'controller.separate': 'false' });
  const { client } = await release.admin();
  const namespace = await site.makeNamespace('restricted');
  sync = await SyncSite.make({ kube: site.kube, admin: client }, { namespace, values: { A: 'at first' } });
  environment = sync.environment;
  await sync.waitForValues({ A: 'at first' }, patience);
});

afterAll(() => resources.disposeAsync());

/** Steady use of an environment of its own, by the address of the Service. */
async function startLoad(options: { readonly connectsAgain?: boolean } = {}): Promise<ServiceLoad> {
  const { client, token } = await release.admin();
  const { ref } = await client.makeEnvironment();
  const { hostname: host, port } = new URL(await release.url());
  const target: LoadTarget = { address: () => ({ host, port: Number(port || 80) }) };
  const path = `${ref.organization}/${ref.project}/${ref.name}`;
  const load = new ServiceLoad({ target, token, environment: path, ...options });
  load.watch();
  for (const [index, pauseMs] of pausesMs.entries()) load.writeAndRead(`KEY_${index}`, pauseMs);
  resources.defer(() => load.end());
  await waitFor('the load to begin', () => load.watched.length > 20, patience);
  return load;
}

/** Each change once and in order, whichever server reported it. */
function expectWholeWatch({ watched }: ServiceLoad): void {
  const first = watched[0] ?? 0;
  expect(watched).toEqual(watched.map((_, index) => first + index));
}

async function versionsOf(load: ServiceLoad): Promise<Record<string, { value: string; version: number }>> {
  const { client } = await release.admin();
  const { secrets } = await client.call<{ secrets: readonly { key: string; value: string; version: number }[] }>(
    'GET',
    `/secrets/${load.environment}`,
  );
  return Object.fromEntries(secrets.map(({ key, value, version }) => [key, { value, version }]));
}

interface PodObject {
  readonly metadata: { readonly name: string; readonly deletionTimestamp?: string };
  readonly spec: { readonly containers: readonly { readonly image: string }[] };
  readonly status: {
    readonly containerStatuses: readonly { readonly containerID: string; readonly imageID: string }[];
  };
}

async function serverPods(): Promise<readonly PodObject[]> {
  const path = `/api/v1/namespaces/${release.namespace}/pods?labelSelector=${encodeURIComponent(server)}`;
  return (await site.kube.json<{ items: readonly PodObject[] }>({ path })).items;
}

function namesOf(pods: readonly PodObject[]): string[] {
  return pods.map(({ metadata }) => metadata.name).sort();
}

async function leader(): Promise<string> {
  const path = `/apis/coordination.k8s.io/v1/namespaces/${release.namespace}/leases/keyframe-controller`;
  const { spec } = await site.kube.json<{ spec: { holderIdentity: string } }>({ path });
  return spec.holderIdentity;
}

/** The pod that leads. */
async function leadingPod(): Promise<PodObject> {
  return await waitFor(
    'a leader',
    async () => {
      const holder = await leader();
      return (await serverPods()).find(({ metadata }) => holder.startsWith(metadata.name));
    },
    patience,
  );
}

/** Ends the process of a pod as the kernel does for want of memory. Resolves when its sockets are closed. */
async function killProcess({ status }: PodObject): Promise<void> {
  const id = status.containerStatuses[0]?.containerID.replace('containerd://', '') ?? 'none';
  const pids = readdirSync('/proc').filter((name) => /^\d+$/.test(name) && controlGroupOf(name).includes(id));
  expect(pids).toHaveLength(1);
  const pid = Number(pids[0]);
  process.kill(pid, 'SIGKILL');
  await waitFor('the process to end', () => hasEnded(pid), { pollMs: 5 });
}

/** Whether a process has closed all that it had open, though its parent may not have noticed its end yet. */
function hasEnded(pid: number): boolean {
  try {
    return readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ').at(-1)?.startsWith('Z') === true;
  } catch {
    return true;
  }
}

function controlGroupOf(pid: string): string {
  try {
    return readFileSync(`/proc/${pid}/cgroup`, 'utf8');
  } catch {
    return '';
  }
}

describe('Two replicas', () => {
  test('are replaced by an upgrade under steady load without a failed request or a lost write', async () => {
    const before = await serverPods();
    const load = await startLoad();
    // The same image by another name, its id.
    const [repository = '', tag = ''] = before[0]?.status.containerStatuses[0]?.imageID.split(':') ?? [];
    await release.upgrade({ 'image.repository': repository, 'image.tag': tag, logLevel: 'debug' });
    await waitFor('the old pods to be gone', async () => (await serverPods()).length === 2, patience);
    await load.end();
    const after = await serverPods();
    expect(after.map(({ spec }) => spec.containers[0]?.image)).toEqual(Array(2).fill(`${repository}:${tag}`));
    expect(namesOf(after)).not.toEqual(expect.arrayContaining([expect.stringMatching(namesOf(before).join('|'))]));
    expect(load.failures).toEqual([]);
    expectWholeWatch(load);
    expect(load.streams).toBeGreaterThan(1);
    expect(load.written.size).toBe(pausesMs.length);
    const found = await versionsOf(load);
    for (const [key, { value, times }] of load.written) expect(found[key]).toEqual({ value, version: times });
    await environment.change({ A: 'after the upgrade' });
    await sync.waitForValues({ A: 'after the upgrade' }, patience);
  });

  test('hand the controller over within 15 s when the leader is killed, and only what its connections carried fails', async () => {
    const load = await startLoad({ connectsAgain: true });
    const killed = await leadingPod();
    const holder = await leader();
    await killProcess(killed);
    const killedAtMs = Date.now();
    // The connections of this process have their end too.
    const made = async (): Promise<number> => (await environment.change({ A: 'after the kill' })).revision;
    await waitFor('a change to be made', made);
    await sync.waitForValues({ A: 'after the kill' }, { timeoutMs: 15_000 });
    const tookMs = Date.now() - killedAtMs;
    expect(await leader()).not.toBe(holder);
    await load.end();
    expect(tookMs).toBeLessThan(15_000);
    expect(load.failures.filter(({ connectingAtMs = Infinity }) => connectingAtMs > killedAtMs)).toEqual([]);
    // Each client has one connection at a time.
    expect(load.failures.length).toBeLessThanOrEqual(pausesMs.length + 1);
    expectWholeWatch(load);
    const found = await versionsOf(load);
    for (const [key, { times }] of load.written) expect(found[key]?.version).toBeGreaterThanOrEqual(times);
  });
});
