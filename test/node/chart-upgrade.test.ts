import { afterAll, beforeAll, expect, test } from '@jest/globals';
import pg from 'pg';
import { NodeSite } from '../support/node/node-site.ts';
import { Release } from '../support/node/release.ts';
import { formerChart } from '../support/cluster/released.ts';
import { ServiceLoad } from '../support/api/service-load.ts';
import { SyncSite } from '../support/cluster/sync-site.ts';
import { waitFor } from '../support/fixtures/wait-for.ts';

// One story: each test goes on where the one before has ended.

const patience = { timeoutMs: 90_000, pollMs: 200 };
const resources = new AsyncDisposableStack();
const site = new NodeSite(resources);
let release: Release;
let sync: SyncSite;
let load: ServiceLoad;

beforeAll(async () => {
  release = await Release.install(site, resources, {}, { chart: formerChart });
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

const deployed = ['controller controller', 'controller controller', 'server api'];

/** The running pods, one text for each by this template. */
async function pods(template: string): Promise<string[]> {
  const labels = 'app.kubernetes.io/part-of=keyframe,app.kubernetes.io/instance=keyframe';
  const running = ['get', 'pods', '-l', labels, '--field-selector=status.phase=Running'];
  const items = `{range .items[*]}${template}{"\\n"}{end}`;
  const printed = await site.kubectl(['-n', release.namespace, ...running, '-o', `jsonpath=${items}`]);
  return printed.trim().split('\n').sort();
}

const podNames = (): Promise<string[]> => pods('{.metadata.name}');

/** The roles of the running pods, as `component role`. */
const podRoles = (): Promise<string[]> =>
  pods(String.raw`{.metadata.labels.app\.kubernetes\.io/component} {.spec.containers[0].args[0]}`);

/** Waits until other pods run in place of these. */
async function waitForOtherPods(former: readonly string[]): Promise<void> {
  await waitFor(
    'the former pods to be replaced',
    async () => {
      const present = await podNames();
      return present.length === deployed.length && !present.some((name) => former.includes(name));
    },
    patience,
  );
}

/** The roles as which the servers are connected to the chart's PostgreSQL. */
async function databaseRoles(): Promise<string[]> {
  const url = await site.secretValue(release.namespace, 'keyframe-postgres', 'url');
  const { hostname } = new URL(url);
  const slices = ['get', 'endpointslices', '-l', `kubernetes.io/service-name=${hostname}`];
  const template = 'jsonpath={.items[0].endpoints[0].addresses[0]}';
  const address = await site.kubectl(['-n', release.namespace, ...slices, '-o', template]);
  const client = new pg.Client({ connectionString: url.replace(hostname, address) });
  await client.connect();
  const { rows } = await client.query<{ role: string }>(
    "SELECT DISTINCT usename AS role FROM pg_stat_activity WHERE application_name LIKE 'keyframe%' AND pid <> pg_backend_pid()",
  );
  await client.end();
  return rows.map(({ role }) => role).sort();
}

test('an upgrade of the former release replaces its pods under load, without a failed request', async () => {
  expect([await podRoles(), await databaseRoles()]).toEqual([deployed, ['keyframe_app']]);
  const former = await podNames();
  await startLoad();
  await release.upgrade({});
  await waitForOtherPods(former);
  await load.end();
  expect([await podRoles(), await databaseRoles()]).toEqual([deployed, ['keyframe_app']]);
  expect(load.failures).toEqual([]);
  expect(load.written.size).toBe(3);
  const policies = await site.kubectl(['-n', release.namespace, 'get', 'networkpolicies', '-o', 'name']);
  expect(policies.trim().split('\n')).toHaveLength(2);
  await sync.environment.change({ A: 'after the upgrade' });
  await sync.waitForValues({ A: 'after the upgrade' }, patience);
  expect(await release.test()).toMatch(/Phase: +Succeeded/);
});

test('a rollback returns to the former pods, with every value', async () => {
  const present = await podNames();
  await release.rollback();
  await waitForOtherPods(present);
  await sync.environment.change({ A: 'after the rollback' });
  await sync.waitForValues({ A: 'after the rollback' }, patience);
});
