import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import pg from 'pg';
import type { KubeObject } from '../../tools/devcluster/cluster/kube-http.ts';
import { ServiceLoad } from '../support/api/service-load.ts';
import { ObjectHistory } from '../support/cluster/object-history.ts';
import { formerChart } from '../support/cluster/released.ts';
import { SyncSite } from '../support/cluster/sync-site.ts';
import { waitFor } from '../support/fixtures/wait-for.ts';
import { bringFormerImage } from '../support/node/former-image.ts';
import { NodeSite } from '../support/node/node-site.ts';
import { Release } from '../support/node/release.ts';

/**
 * The former release, whose controllers connect to the database, becomes the present one, whose controllers work over HTTPS, and
 * returns. One story: each test begins where the one before has ended.
 */

const patience = { timeoutMs: 120_000, pollMs: 200 };
const resources = new AsyncDisposableStack();
const site = new NodeSite(resources);
let release: Release;
let sync: SyncSite;
let load: ServiceLoad;

type Component = 'server' | 'controller';

const deploymentOf: Readonly<Record<Component, string>> = { server: 'keyframe', controller: 'keyframe-controller' };
const replicas: Readonly<Record<Component, number>> = { server: 1, controller: 2 };

interface RunningPod extends KubeObject {
  readonly spec: { readonly containers: readonly { readonly args?: readonly string[] }[] };
  readonly status: {
    readonly podIP?: string;
  };
}

beforeAll(async () => {
  const image = await bringFormerImage(site, resources);
  release = await Release.install(site, resources, image, { chart: formerChart });
  const { client } = await release.admin();
  sync = await SyncSite.make(
    { kube: site.kube, admin: client },
    { namespace: await site.makeNamespace('restricted'), values: { A: 'at first' } },
  );
  await sync.waitForValues({ A: 'at first' }, patience);
});

afterAll(() => resources.disposeAsync());

async function startLoad(): Promise<void> {
  const { client, token } = await release.admin();
  const { ref } = await client.makeEnvironment();
  const { hostname: host, port } = new URL(await release.url());
  const environment = `${ref.organization}/${ref.project}/${ref.name}`;
  load = new ServiceLoad({ target: { address: () => ({ host, port: Number(port || 80) }) }, token, environment });
  load.watch();
  for (const pauseMs of [20, 150, 600]) load.writeAndRead(`KEY_${pauseMs}`, pauseMs);
  resources.defer(() => load.end());
  await waitFor('the load to begin', () => load.watched.length > 5, patience);
}

/** Those that run, also while they stop. */
async function pods(component: Component): Promise<RunningPod[]> {
  const labels = `app.kubernetes.io/instance=keyframe,app.kubernetes.io/component=${component}`;
  const query = `labelSelector=${encodeURIComponent(labels)}&fieldSelector=status.phase%3DRunning`;
  const path = `/api/v1/namespaces/${release.namespace}/pods?${query}`;
  return (await site.kube.json<{ items: RunningPod[] }>({ path })).items;
}

async function podNames(component: Component): Promise<string[]> {
  return (await pods(component)).map(({ metadata }) => metadata.name);
}

/** What a pod says at /readyz. */
async function readiness({ metadata }: RunningPod): Promise<string> {
  const script = "fetch('http://127.0.0.1:8701/readyz').then((r) => r.text()).then(console.log)";
  return await site.exec(release.namespace, `pod/${metadata.name}`, ['node', '-e', script]);
}

/** Waits until other pods run in place of these. */
async function waitForOtherPods(component: Component, former: readonly string[]): Promise<void> {
  await waitFor(
    `other pods of the ${component}`,
    async () => {
      const present = await podNames(component);
      return present.length === replicas[component] && !present.some((name) => former.includes(name));
    },
    patience,
  );
}

/** Has helm replace the pods of one Deployment only, and returns what replaces those of the other one. */
async function replaceFirst(first: Component, begin: () => Promise<void>): Promise<() => Promise<void>> {
  const second = first === 'server' ? 'controller' : 'server';
  const rollout = async (verb: 'pause' | 'resume'): Promise<void> =>
    void (await site.kubectl(['-n', release.namespace, 'rollout', verb, `deployment/${deploymentOf[second]}`]));
  await rollout('pause');
  await begin();
  return async () => {
    const former = await podNames(second);
    await rollout('resume');
    await waitForOtherPods(second, former);
  };
}

/** The components whose pods are connected to the chart's PostgreSQL, and as which roles. */
async function databaseClients(): Promise<{ components: string[]; roles: string[] }> {
  const url = await site.secretValue(release.namespace, 'keyframe-postgres', 'url');
  const { hostname } = new URL(url);
  const slices = ['get', 'endpointslices', '-l', `kubernetes.io/service-name=${hostname}`];
  const template = 'jsonpath={.items[0].endpoints[0].addresses[0]}';
  const address = await site.kubectl(['-n', release.namespace, ...slices, '-o', template]);
  const client = new pg.Client({ connectionString: url.replace(hostname, address) });
  await client.connect();
  const { rows } = await client.query<{ role: string; address: string }>(
    "SELECT DISTINCT usename AS role, host(client_addr) AS address FROM pg_stat_activity WHERE application_name LIKE 'keyframe%' AND pid <> pg_backend_pid()",
  );
  await client.end();
  const components: string[] = [];
  for (const component of ['server', 'controller'] as const) {
    const own = (await pods(component)).map(({ status }) => status.podIP);
    if (rows.some((row) => own.includes(row.address))) components.push(component);
  }
  return { components, roles: [...new Set(rows.map(({ role }) => role))] };
}

/** Makes a change, and waits until the Secret has it. */
async function change(value: string): Promise<void> {
  await sync.environment.change({ A: value });
  await sync.waitForValues({ A: value }, patience);
}

/** Changes again and again meanwhile, each when the Secret has the one before. Expects that each is written once. */
async function whileChanging(what: string, step: () => Promise<void>): Promise<void> {
  const history = new ObjectHistory(site.kube, sync.secretPath().replace(/\/[^/]+$/, ''));
  const mark = await history.mark();
  let hasEnded = false;
  const changeOn = async (count = 0): Promise<number> => {
    await change(`${what} ${count}`);
    return hasEnded ? count + 1 : await changeOn(count + 1);
  };
  const stepped = step().finally(() => (hasEnded = true));
  const [changes] = await Promise.all([changeOn(), stepped]);
  const states = (await history.since(mark)).filter(({ metadata }) => metadata.name === sync.name);
  expect(states).toHaveLength(changes);
}

const ofFormer = { components: ['server', 'controller'], roles: ['keyframe_app'] };
const ofPresent = { components: ['server'], roles: ['keyframe_app'] };

async function roles(): Promise<unknown[]> {
  const all = [...(await pods('server')), ...(await pods('controller'))];
  return all.map(({ spec }) => spec.containers[0]?.args);
}

describe('both at once:', () => {
  test('an upgrade replaces the pods under load, without a failed request, while Secrets follow changes', async () => {
    expect([await roles(), await databaseClients()]).toEqual([[['api'], ['controller'], ['controller']], ofFormer]);
    const former = { server: await podNames('server'), controller: await podNames('controller') };
    await startLoad();
    await whileChanging('upgrade', async () => {
      await release.upgrade({});
      await waitForOtherPods('server', former.server);
      await waitForOtherPods('controller', former.controller);
    });
    await load.end();
    expect([await roles(), await databaseClients()]).toEqual([[['api'], ['controller'], ['controller']], ofPresent]);
    expect(load.failures).toEqual([]);
    expect(load.written.size).toBe(3);
    const policies = await site.kubectl(['-n', release.namespace, 'get', 'networkpolicies', '-o', 'name']);
    expect(policies.trim().split('\n')).toHaveLength(3);
    expect(await release.test()).toMatch(/Phase: +Succeeded/);
  });

  test('a rollback returns to the former pods, with every value', async () => {
    const present = { server: await podNames('server'), controller: await podNames('controller') };
    await whileChanging('rollback', async () => {
      await release.rollback();
      await waitForOtherPods('server', present.server);
      await waitForOtherPods('controller', present.controller);
    });
    expect(await databaseClients()).toEqual(ofFormer);
  });
});

describe('the API first:', () => {
  test('the former controllers follow changes of a present API, until present ones take over', async () => {
    const former = await podNames('server');
    const goOn = await replaceFirst('server', () => release.beginUpgrade({}));
    await waitForOtherPods('server', former);
    await whileChanging('present API', () => Promise.resolve());
    expect(await databaseClients()).toEqual(ofFormer);
    await whileChanging('present controllers', goOn);
    expect(await databaseClients()).toEqual(ofPresent);
  });

  test('in a rollback, Secrets stay until the former controllers take over', async () => {
    const present = await podNames('server');
    const goOn = await replaceFirst('server', () => release.beginRollback());
    await waitForOtherPods('server', present);
    const before = await sync.existingSecret();
    await sync.environment.change({ A: 'after the API' });
    expect((await sync.existingSecret()).metadata.resourceVersion).toBe(before.metadata.resourceVersion);
    await goOn();
    await sync.waitForValues({ A: 'after the API' }, patience);
    expect(await databaseClients()).toEqual(ofFormer);
  });
});

describe('the controller first:', () => {
  test('a present controller waits for its API, and the former ones follow meanwhile', async () => {
    const former = await podNames('controller');
    const goOn = await replaceFirst('controller', () => release.beginUpgrade({}));
    const waiting = await waitFor(
      'a present controller',
      async () => (await pods('controller')).find(({ metadata }) => !former.includes(metadata.name)),
      patience,
    );
    await whileChanging('waiting', () => Promise.resolve());
    expect(await podNames('controller')).toEqual(expect.arrayContaining([...former, waiting.metadata.name]));
    await waitFor(
      'the reason',
      async () => (await readiness(waiting)).includes('the server of Keyframe cannot be reached'),
      patience,
    );
    await whileChanging('present API and controllers', async () => {
      await goOn();
      await waitForOtherPods('controller', former);
    });
    expect(await databaseClients()).toEqual(ofPresent);
  });

  test('in a rollback, the former controllers follow changes of a present API', async () => {
    const present = await podNames('controller');
    const goOn = await replaceFirst('controller', () => release.beginRollback());
    await whileChanging('former controllers', () => waitForOtherPods('controller', present));
    expect(await databaseClients()).toEqual(ofFormer);
    await whileChanging('former API', goOn);
  });
});
