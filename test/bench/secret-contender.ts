import { randomBytes } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import pg from 'pg';
import { checkoutDirectory } from '../../tools/checkout.ts';
import { readContext } from '../../tools/devcluster/cluster/kube-access.ts';
import { type PostgresServer, startPostgres } from '../../tools/devcluster/postgres/server.ts';
import { createLogger } from '../../src/observability/logger.ts';
import { migrate } from '../../src/store/migrate.ts';
import type { ApiClient, ApiEnvironment } from '../support/api/api-client.ts';
import { CapturedProcess } from '../support/faults/captured-process.ts';
import { adminClient, createNamespace, discardNamespace, sharedCluster } from '../support/cluster/cluster.ts';
import { startSharedCluster, stopSharedCluster } from '../support/cluster/global-cluster.ts';
import { SecretWatch } from '../support/cluster/secret-watch.ts';
import { waitFor } from '../support/fixtures/wait-for.ts';

/** One way of getting a change into a Secret. */
export interface Contender {
  readonly watch: SecretWatch;
  /** Commits a change to this value and returns when PostgreSQL committed it, in milliseconds since the epoch. */
  readonly change: (value: string) => Promise<number>;
}

/** What the benches that follow a change into a Secret stand on. */
export interface SecretPlace {
  readonly postgres: PostgresServer;
  readonly databaseUrl: string;
  readonly database: pg.Client;
  /** Of all processes. */
  readonly rootKeyFile: string;
  readonly namespace: string;
}

/** Starts a database that keeps the times of its commits, and a cluster with a namespace. All goes with `resources`. */
export async function startSecretPlace(resources: AsyncDisposableStack): Promise<SecretPlace> {
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
  const rootKeyFile = join(sharedCluster().runFolder, 'root-key');
  writeFileSync(rootKeyFile, `bench:${randomBytes(32).toString('base64')}\n`, { mode: 0o600 });
  return { postgres, databaseUrl, database, rootKeyFile, namespace };
}

/** Makes single changes, with pauses, and returns how long each took from its commit to its Secret, in milliseconds. */
export async function measureChanges(
  { watch, change }: Contender,
  count: number,
  pauseMs: () => number,
): Promise<number[]> {
  const samples: number[] = [];
  for (let index = 0; index < count; index += 1) {
    const value = randomBytes(12).toString('hex');
    const wanted = Buffer.from(value).toString('base64');
    const committedAtMs = await change(value);
    const { receivedAtMs } = await watch.next('hold the new value', ({ secret }) => secret.data?.['VALUE'] === wanted);
    samples.push(receivedAtMs - committedAtMs);
    await pause(pauseMs());
  }
  return samples;
}

/**
 * A SecretSync that takes an environment to a Secret, and changes of it through the API. The environment is a new one, which
 * the SecretSync reads with a token of its own; or the given one, for which the SecretSync names no token.
 */
export async function keyframeContender(
  resources: AsyncDisposableStack,
  { namespace, database }: SecretPlace,
  client: ApiClient,
  given?: ApiEnvironment,
): Promise<Contender> {
  const environment = given ?? (await client.makeEnvironment());
  await environment.change({ VALUE: 'first' });
  const token = given === undefined ? { tokenSecretRef: { name: await createToken(namespace, environment) } } : {};
  await createSync(namespace, 'keyframe', { environmentRef: environment.ref, ...token });
  const path = `/api/v1/namespaces/${namespace}/secrets/keyframe`;
  await waitFor('the first sync', () => adminClient().find({ path }));
  const watch = await SecretWatch.open(adminClient(), { namespace, name: 'keyframe' });
  resources.defer(() => watch.close());
  return {
    watch,
    change: async (value) => {
      const { revisionId } = await environment.change({ VALUE: value });
      return commitTime(database, 'SELECT xmin FROM environment_revision WHERE id = $1', revisionId);
    },
  };
}

/** Makes a Secret that holds a new token for an environment, and returns its name. */
export async function createToken(namespace: string, environment: ApiEnvironment): Promise<string> {
  const { token } = await environment.createToken();
  const name = `${environment.ref.name}-token`;
  await adminClient().json({
    method: 'POST',
    path: `/api/v1/namespaces/${namespace}/secrets`,
    body: { apiVersion: 'v1', kind: 'Secret', metadata: { name }, stringData: { token } },
  });
  return name;
}

/** Makes a SecretSync, and does not wait for its Secret. */
export async function createSync(
  namespace: string,
  name: string,
  spec: Readonly<Record<string, unknown>>,
): Promise<void> {
  await adminClient().json({
    method: 'POST',
    path: `/apis/keyframe.dev/v1alpha1/namespaces/${namespace}/secretsyncs`,
    body: { apiVersion: 'keyframe.dev/v1alpha1', kind: 'SecretSync', metadata: { name }, spec },
  });
}

/** Starts the least that does the same (floor.ts), in a process of its own. */
export async function floorContender(
  resources: AsyncDisposableStack,
  { database, databaseUrl, namespace }: SecretPlace,
): Promise<Contender> {
  const { url, caFile, runFolder, controllerKubeconfig } = sharedCluster();
  const tokenFile = join(runFolder, 'floor-token');
  const { token } = readContext(controllerKubeconfig).user;
  if (typeof token !== 'string') throw new Error(`${controllerKubeconfig} has no token`);
  writeFileSync(tokenFile, token, { mode: 0o600 });
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
export async function commitTime(database: pg.Client, rowSql: string, id: string): Promise<number> {
  const { rows } = await database.query<{ ms: string }>(
    `SELECT extract(epoch FROM pg_xact_commit_timestamp(row.xmin)) * 1000 AS ms FROM (${rowSql}) AS row`,
    [id],
  );
  const ms = Number(rows[0]?.ms);
  if (Number.isNaN(ms)) throw new Error('PostgreSQL knows no commit time of the change');
  return ms;
}
