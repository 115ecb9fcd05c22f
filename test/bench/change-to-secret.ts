import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import pg from 'pg';
import { parse } from 'yaml';
import { readFileSync, writeFileSync } from 'node:fs';
import { randomBytes } from 'node:crypto';
import { checkoutDirectory } from '../../scripts/checkout.ts';
import { startPostgres } from '../../scripts/postgres/server.ts';
import { createLogger } from '../../src/lib/logger.ts';
import { migrate } from '../../src/store/migrate.ts';
import { ApiClient, type ApiEnvironment } from '../support/api-client.ts';
import { CapturedProcess } from '../support/captured-process.ts';
import { adminClient, createNamespace, discardNamespace, sharedCluster } from '../support/cluster.ts';
import { startSharedCluster, stopSharedCluster } from '../support/global-cluster.ts';
import { SecretWatch } from '../support/secret-watch.ts';
import { ServerProcess } from '../support/server-process.ts';
import { waitFor } from '../support/wait-for.ts';
import { percentile, summaryHeader, summaryLine } from './statistics.ts';

const rounds = 10;
const changesPerRound = 20;
const warmUps = 10;
const pauseMs = 25;

/** One way of getting a change into a Secret. */
interface Contender {
  readonly watch: SecretWatch;
  /** Commits a change to this value and answers when PostgreSQL committed it, in milliseconds since the epoch. */
  readonly change: (value: string) => Promise<number>;
}

/**
 * How long a committed change takes to the watch event of its native Secret, for Keyframe and for the floor (floor.ts) in
 * turn: ten rounds of twenty single changes each. Both clocks start at PostgreSQL's own commit timestamp. Keyframe runs as
 * users run it: API and controller as processes of their own, durable database, real API server, audited reads.
 */
export async function changeToSecret(): Promise<void> {
  await using resources = new AsyncDisposableStack();
  const postgres = await startPostgres({ settings: { track_commit_timestamp: 'on' } });
  resources.defer(() => postgres.stop());
  const databaseUrl = postgres.urlOf('postgres');
  await migrate({ url: databaseUrl, logger: createLogger('warn') });
  await startSharedCluster();
  resources.defer(() => stopSharedCluster());
  const database = new pg.Client({ connectionString: databaseUrl });
  await database.connect();
  resources.defer(() => database.end());
  const namespace = await createNamespace();
  resources.defer(() => discardNamespace(namespace));
  const keyframe = await startKeyframe(resources, { databaseUrl, database, namespace });
  const floor = await startFloor(resources, { databaseUrl, database, namespace });
  for (const contender of [keyframe, floor]) await measure(contender, warmUps);
  const samples = { keyframe: [] as number[], floor: [] as number[] };
  for (let round = 0; round < rounds; round += 1) {
    samples.floor.push(...(await measure(floor, changesPerRound)));
    samples.keyframe.push(...(await measure(keyframe, changesPerRound)));
  }
  report(samples.keyframe, samples.floor);
}

interface Setting {
  readonly databaseUrl: string;
  readonly database: pg.Client;
  readonly namespace: string;
}

async function measure({ watch, change }: Contender, count: number): Promise<number[]> {
  const samples: number[] = [];
  for (let index = 0; index < count; index += 1) {
    const value = randomBytes(12).toString('hex');
    const wanted = Buffer.from(value).toString('base64');
    const committedAtMs = await change(value);
    const { receivedAtMs } = await watch.next('hold the new value', ({ secret }) => secret.data?.['VALUE'] === wanted);
    samples.push(receivedAtMs - committedAtMs);
    // A single change: its status patch is done before the next one begins.
    await pause(pauseMs);
  }
  return samples;
}

async function startKeyframe(resources: AsyncDisposableStack, setting: Setting): Promise<Contender> {
  const { environment } = await startProcesses(resources, setting.databaseUrl);
  await environment.change({ VALUE: 'first' });
  const { token } = await environment.createToken();
  await createSync(setting.namespace, environment, token);
  const watch = await SecretWatch.open(adminClient(), { namespace: setting.namespace, name: 'keyframe' });
  resources.defer(() => watch.close());
  return {
    watch,
    change: async (value) => {
      const { revisionId } = await environment.change({ VALUE: value });
      return commitTime(setting.database, 'SELECT xmin FROM environment_revision WHERE id = $1', revisionId);
    },
  };
}

async function startProcesses(
  resources: AsyncDisposableStack,
  databaseUrl: string,
): Promise<{ environment: ApiEnvironment }> {
  const folder = sharedCluster().runFolder;
  const rootKeyFile = join(folder, 'root-key');
  const tokenFile = join(folder, 'bench-admin-token');
  writeFileSync(rootKeyFile, `bench:${randomBytes(32).toString('base64')}\n`, { mode: 0o600 });
  const env = { DATABASE_URL: databaseUrl, ROOT_KEY_FILE: rootKeyFile };
  const api = await ServerProcess.start(resources, {
    role: 'api',
    env: { ...env, BOOTSTRAP_ADMIN_EMAIL: 'admin@example.com', BOOTSTRAP_TOKEN_FILE: tokenFile },
  });
  await ServerProcess.start(resources, {
    role: 'controller',
    env: { ...env, KUBECONFIG_FILE: sharedCluster().controllerKubeconfig },
  });
  const client = new ApiClient({ url: api.url, token: readFileSync(tokenFile, 'utf8').trim() });
  return { environment: await client.makeEnvironment() };
}

async function createSync(namespace: string, environment: ApiEnvironment, token: string): Promise<void> {
  const client = adminClient();
  await client.json({
    method: 'POST',
    path: `/api/v1/namespaces/${namespace}/secrets`,
    body: { apiVersion: 'v1', kind: 'Secret', metadata: { name: 'keyframe-token' }, stringData: { token } },
  });
  await client.json({
    method: 'POST',
    path: `/apis/keyframe.dev/v1alpha1/namespaces/${namespace}/secretsyncs`,
    body: {
      apiVersion: 'keyframe.dev/v1alpha1',
      kind: 'SecretSync',
      metadata: { name: 'keyframe' },
      spec: { environmentRef: environment.ref, tokenSecretRef: { name: 'keyframe-token' } },
    },
  });
  const path = `/api/v1/namespaces/${namespace}/secrets/keyframe`;
  await waitFor('the first sync', () => client.find({ path }));
}

async function startFloor(resources: AsyncDisposableStack, setting: Setting): Promise<Contender> {
  const { database, databaseUrl, namespace } = setting;
  const { url, caFile, runFolder, controllerKubeconfig } = sharedCluster();
  const tokenFile = join(runFolder, 'floor-token');
  const kubeconfig = parse(readFileSync(controllerKubeconfig, 'utf8')) as { users: { user: { token: string } }[] };
  writeFileSync(tokenFile, kubeconfig.users[0]?.user.token ?? '', { mode: 0o600 });
  await database.query('CREATE TABLE floor (id bigserial PRIMARY KEY, value text NOT NULL)');
  await adminClient().json({
    method: 'POST',
    path: `/api/v1/namespaces/${namespace}/secrets`,
    body: { apiVersion: 'v1', kind: 'Secret', metadata: { name: 'floor' } },
  });
  const floor = new CapturedProcess({
    name: 'floor',
    program: process.execPath,
    args: [join(checkoutDirectory, 'test', 'bench', 'floor.ts')],
    env: {
      FLOOR_DATABASE_URL: databaseUrl,
      FLOOR_SERVER: url,
      FLOOR_CA_FILE: caFile ?? '',
      FLOOR_TOKEN_FILE: tokenFile,
      FLOOR_NAMESPACE: namespace,
    },
  });
  resources.defer(async () => void (await floor.end()));
  await waitFor('the floor to listen', () => floor.output.toString().includes('ready'));
  const watch = await SecretWatch.open(adminClient(), { namespace, name: 'floor' });
  resources.defer(() => watch.close());
  return { watch, change: (value) => changeFloor(database, value) };
}

async function changeFloor(database: pg.Client, value: string): Promise<number> {
  await database.query('BEGIN');
  const { rows } = await database.query<{ id: string }>('INSERT INTO floor (value) VALUES ($1) RETURNING id', [value]);
  await database.query(`SELECT pg_notify('floor', $1)`, [value]);
  await database.query('COMMIT');
  return commitTime(database, 'SELECT xmin FROM floor WHERE id = $1', rows[0]?.id ?? '');
}

/** When the transaction that wrote a row was committed, in milliseconds since the epoch. */
async function commitTime(database: pg.Client, rowSql: string, id: string): Promise<number> {
  const { rows } = await database.query<{ ms: string }>(
    `SELECT extract(epoch FROM pg_xact_commit_timestamp(row.xmin)) * 1000 AS ms FROM (${rowSql}) AS row`,
    [id],
  );
  const ms = Number(rows[0]?.ms);
  if (Number.isNaN(ms)) throw new Error('PostgreSQL knows no commit time of the change');
  return ms;
}

function report(keyframe: readonly number[], floor: readonly number[]): void {
  const ratio = (share: number): string => (percentile(keyframe, share) / percentile(floor, share)).toFixed(2);
  console.log(`
From the commit to the watch event of the native Secret (${rounds} interleaved rounds of ${changesPerRound} single changes)
${summaryHeader}
${summaryLine('floor', floor)}
${summaryLine('keyframe', keyframe)}
ratio keyframe / floor: p50 ${ratio(0.5)}, p99 ${ratio(0.99)}`);
}
