import { afterAll, beforeAll, beforeEach, expect, test } from '@jest/globals';
import pg from 'pg';
import { ChartHook } from '../support/cluster/chart-hook.ts';
import { createNamespace, discardNamespace, sharedCluster } from '../support/cluster/cluster.ts';
import { Stack } from '../support/cluster/stack.ts';
import { waitFor } from '../support/fixtures/wait-for.ts';

/** The role smoke-test, under the account that the chart gives the pod of helm test. */

const resources = new AsyncDisposableStack();
let stack: Stack;
let database: pg.Pool;

beforeAll(async () => {
  stack = await Stack.start(resources, { namespaces: 4 });
  await stack.startController();
  database = new pg.Pool({ connectionString: stack.databaseUrl, max: 1 });
  // Its sessions may be ended with the database, after the pool.
  database.on('error', () => undefined);
  resources.defer(() => database.end());
});

afterAll(() => resources.disposeAsync());

let namespace: string;
let smokeTest: ChartHook;
/** What takes the place of the Service and of the mounted Secret. */
let env: Readonly<Record<string, string>>;

beforeEach(async () => {
  namespace = stack.takeNamespace();
  smokeTest = await makeHook(namespace);
  env = { SMOKE_TEST_URL: stack.api.url, SMOKE_TEST_TOKEN: stack.adminToken, SMOKE_TEST_TOKEN_FILE: '' };
});

function makeHook(place: string): Promise<ChartHook> {
  const cluster = sharedCluster();
  const rendering = { namespace: place };
  return ChartHook.make(resources, { cluster, kube: stack.kube, template: 'tests/smoke-test.yaml', rendering });
}

/** What a smoke test may leave behind: organizations, also deleted ones, SecretSyncs and Secrets. */
async function leftovers(place = namespace): Promise<string[]> {
  const { rows } = await database.query<{ slug: string }>(
    `SELECT slug FROM organization WHERE slug LIKE 'smoke-test-%'`,
  );
  const names = async (path: string): Promise<string[]> => {
    const { items } = await stack.kube.json<{ items: { metadata: { name: string } }[] }>({ path });
    return items.map(({ metadata }) => metadata.name);
  };
  return [
    ...rows.map(({ slug }) => slug),
    ...(await names(`/apis/keyframe.dev/v1alpha1/namespaces/${place}/secretsyncs`)),
    ...(await names(`/api/v1/namespaces/${place}/secrets`)),
  ];
}

test('it sees a secret and its change arrive, and leaves nothing behind, also when it runs again', async () => {
  for (const round of [1, 2]) {
    const { code, output } = await smokeTest.run(env);
    expect({ code, output, round }).toEqual({
      code: 0,
      output: expect.stringContaining('the change arrived there too'),
      round,
    });
    expect(output).not.toContain(stack.adminToken);
    expect(await leftovers()).toEqual([]);
  }
});

test('what an earlier one left is removed first', async () => {
  const body = {
    apiVersion: 'v1',
    kind: 'Secret',
    metadata: { name: 'keyframe-smoke-test-token' },
    stringData: { token: 'old' },
  };
  await stack.kube.json({ method: 'POST', path: `/api/v1/namespaces/${namespace}/secrets`, body });
  expect(await smokeTest.run(env)).toMatchObject({ code: 0 });
  expect(await leftovers()).toEqual([]);
});

test('a token that the database does not know is reported, and nothing is made', async () => {
  const stranger = stack.adminToken.replace(/^kf_pat_.{22}/, 'kf_pat_0000000000000000000000');
  const { code, output } = await smokeTest.run({ ...env, SMOKE_TEST_TOKEN: stranger });
  expect(code).toBe(1);
  expect(output).toContain('keyframe-server: the API does not accept the token: ');
  expect(output).not.toContain(stranger);
  expect(await leftovers()).toEqual([]);
});

test('asked to stop, it removes what it made', async () => {
  // A namespace that no controller serves: it would wait for a minute.
  const elsewhere = await createNamespace();
  resources.defer(() => discardNamespace(elsewhere));
  const waiting = (await makeHook(elsewhere)).spawn(env);
  const isWaiting = async (): Promise<boolean> => (await leftovers(elsewhere)).includes('keyframe-smoke-test-token');
  await waitFor('it to wait for the Secret', isWaiting);
  const { code } = await waiting.end('SIGTERM');
  expect(code).toBe(1);
  expect(waiting.output.toString()).toContain(`or it does not serve the namespace ${elsewhere}`);
  expect(await leftovers(elsewhere)).toEqual([]);
});
