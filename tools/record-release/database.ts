import { randomBytes, randomUUID } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import { buildServer } from '../build/server.ts';
import { freePort } from '../free-port.ts';
import { beyondRequests } from '../fuzz/beyond.ts';
import { type World, makeWorld } from '../fuzz/world.ts';
import { Api } from '../start/api.ts';
import { KeyframeServer } from '../start/keyframe-server.ts';
import { type RecordedRead, readPaths, sendReads, stableParts } from './reads.ts';
import { type Rows, putRows, takeRows } from './rows.ts';

/** A database of a release in which every table has rows, and what its API answers to every read. */
export interface RecordedDatabase {
  /** Base64; its id is `test`. It opens this database only. */
  readonly rootKey: string;
  /** A personal token of its instance admin. */
  readonly token: string;
  readonly rows: Rows;
  readonly reads: readonly RecordedRead[];
}

// No row may end with time, or the answers would change.
const farAway = '2099-01-01T00:00:00Z';

/** Makes the database with this checkout's program. `createDatabase` makes an empty one and returns its URL. */
export async function recordDatabase(createDatabase: () => Promise<string>): Promise<RecordedDatabase> {
  await using resources = new AsyncDisposableStack();
  await buildServer();
  const folder = mkdtempSync(join(tmpdir(), 'keyframe-record-'));
  resources.defer(() => rmSync(folder, { recursive: true, force: true }));
  const rootKey = randomBytes(32).toString('base64');
  const tokenFile = join(folder, 'token');
  const made = new Site(await createDatabase(), { folder, rootKey, tokenFile });
  const { rows, sent, token } = await made.serve(async (url, pool) => {
    const admin = readFileSync(tokenFile, 'utf8').trim();
    const api = new Api(url, admin);
    const world = await makeWorld(api, beyondRequests(made.databaseUrl));
    const headers = { authorization: `Bearer ${admin}`, 'content-type': 'application/json', 'idempotency-key': 'once' };
    await fetch(`${url}/api/v1/snapshots/acme/shop/production`, { method: 'POST', headers, body: '{}' });
    await fillRest(pool, world);
    await keepForever(pool);
    const taken = await takeRows(pool);
    const empty = Object.keys(taken).filter((table) => taken[table] === '[]');
    if (empty.length > 0) throw new Error(`no row in ${empty.join(', ')}: add one to tools/record-release/database.ts`);
    const document = (await (await fetch(`${url}/openapi.json`)).json()) as Parameters<typeof readPaths>[0];
    const settled = await Promise.all(readPaths(document, world).map((path) => settledPath(api, path)));
    return { rows: taken, sent: settled, token: admin };
  });
  const passes: (readonly RecordedRead[])[] = [];
  for (let pass = 0; pass < 2; pass += 1) {
    const site = new Site(await createDatabase(), { folder, rootKey });
    passes.push(
      await site.serve(
        (url) => sendReads({ url, token }, sent),
        (pool) => putRows(pool, rows),
      ),
    );
  }
  const [reads = [], again = []] = passes;
  const stable = reads.map((read, index) => ({ ...read, body: stableParts(read.body, again[index]?.body) }));
  return { rootKey, token, rows, reads: stable };
}

/** A path whose answer does not change with each read: the audit has an entry for each, so it is read from here on. */
async function settledPath(api: Api, path: string): Promise<string> {
  if (!path.startsWith('/audit')) return path;
  const { nextCursor } = await api.call<{ nextCursor: string }>('GET', `${path}?limit=1`);
  return `${path}?cursor=${nextCursor}`;
}

interface SiteOptions {
  readonly folder: string;
  readonly rootKey: string;
  /** For the token of the first administrator; none if the database has users. */
  readonly tokenFile?: string;
}

/** A database with an API. */
class Site {
  readonly databaseUrl: string;
  readonly #options: SiteOptions;

  constructor(databaseUrl: string, options: SiteOptions) {
    this.databaseUrl = databaseUrl;
    this.#options = options;
  }

  /** Migrates the database, fills it, serves it for some work, and ends the server. */
  async serve<T>(
    work: (url: string, pool: pg.Pool) => Promise<T>,
    fill: (pool: pg.Pool) => Promise<void> = () => Promise.resolve(),
  ): Promise<T> {
    const { folder, rootKey, tokenFile } = this.#options;
    await using resources = new AsyncDisposableStack();
    const env = { KEYFRAME_DATABASE_URL: this.databaseUrl };
    await new KeyframeServer({ role: 'migrate', env, logFile: join(folder, 'migrate.log') }).finished();
    const pool = new pg.Pool({ connectionString: this.databaseUrl, max: 2 });
    // What ends PostgreSQL early is reported by the query that it fails.
    pool.on('error', () => undefined);
    resources.defer(() => pool.end());
    await fill(pool);
    const [port, metricsPort] = [await freePort(), await freePort()];
    const bootstrap = {
      KEYFRAME_BOOTSTRAP_ADMIN_EMAIL: 'admin@example.test',
      ...(tokenFile === undefined ? {} : { KEYFRAME_BOOTSTRAP_TOKEN_FILE: tokenFile }),
    };
    const server = new KeyframeServer({
      role: 'api',
      env: {
        ...env,
        ...(tokenFile === undefined ? {} : bootstrap),
        KEYFRAME_ROOT_KEY: `test:${rootKey}`,
        KEYFRAME_HOST: '127.0.0.1',
        KEYFRAME_PORT: String(port),
        KEYFRAME_PUBLIC_URL: `http://localhost:${port}`,
        KEYFRAME_METRICS_PORT: String(metricsPort),
        KEYFRAME_RATE_LIMIT_REQUESTS: '0',
        KEYFRAME_RATE_LIMIT_FAILED_AUTHENTICATIONS: '0',
      },
      logFile: join(folder, 'api.log'),
    });
    resources.defer(() => server.stop());
    await server.ready(metricsPort);
    return await work(`http://127.0.0.1:${port}`, pool);
  }
}

/** Rows that only controllers and pages make. */
async function fillRest(pool: pg.Pool, { body, resources }: World): Promise<void> {
  const environmentId = body['environmentId'];
  const snapshotId = resources['snapshots']?.['id'];
  const person = resources['users']?.['id'];
  const [uid, other] = [randomUUID(), randomUUID()];
  await pool.query(
    `INSERT INTO cluster (name, uid, seen_at) VALUES ('recorded', $1, '2026-01-01Z') ON CONFLICT DO NOTHING`,
    [uid],
  );
  await pool.query(
    `INSERT INTO cluster_state (cluster, seen_at) VALUES ('recorded', '2026-01-01Z') ON CONFLICT DO NOTHING`,
  );
  await pool.query(
    `INSERT INTO resource_claim (cluster, uid, operation, serial, kind, namespace, name, environment_id, snapshot_id)
     VALUES ('recorded', $1, 'snapshot', 1, 'SecretSnapshot', 'team-a', 'nightly', $2, $3)`,
    [uid, environmentId, snapshotId],
  );
  await pool.query(
    `INSERT INTO waiting_restore (cluster, uid, namespace, name, environment_id, snapshot_id, plan_hash, revision,
       revision_id, keys)
     SELECT 'recorded', $1, 'team-a', 'restore', $2, $3, 'recorded', r.number, r.id,
       '{"restored":[],"recreated":[],"pruned":[],"destroyed":[]}'
     FROM environment_revision r WHERE r.environment_id = $2 ORDER BY r.number DESC LIMIT 1`,
    [other, environmentId, snapshotId],
  );
  await pool.query(
    `INSERT INTO schedule_run (cluster, schedule_uid, due_at, child_uid, child_name)
     VALUES ('recorded', $1, '2026-01-01Z', $2, 'nightly-1')`,
    [uid, other],
  );
  await pool.query(`INSERT INTO group_member (user_id, group_name, expires_at) VALUES ($1, 'builders', now())`, [
    person,
  ]);
  await pool.query(
    `INSERT INTO sign_in_flow (secret_hash, return_to, expires_at) VALUES (sha256('recorded'), '/', now()) ON CONFLICT DO NOTHING`,
  );
  await pool.query(`INSERT INTO sign_in_state (id, opened_at) VALUES (1, '2026-01-01Z') ON CONFLICT DO NOTHING`);
  await pool.query(
    `INSERT INTO trusted_issuer (id, cluster, preset, iss, keys, algorithms, max_age_seconds)
     VALUES ($1, 'recorded', 'kubernetes', 'https://issuer.example', '{"keys":[]}', '{RS256}', 3600)`,
    [uid],
  );
  await pool.query(
    `INSERT INTO service_token_federation (credential_id, issuer_id, issuer_name, generation, audience, claims, ended_at)
     SELECT id, $1, 'recorded', 1, 'keyframe/recorded', '{"sub":["recorded"]}', '2026-01-01Z'
     FROM service_token_credential ORDER BY id LIMIT 1`,
    [uid],
  );
}

/** Moves every end of a row far away. */
async function keepForever(pool: pg.Pool): Promise<void> {
  const { rows } = await pool.query<{ table: string; column: string }>(
    `SELECT table_name AS "table", column_name AS "column" FROM information_schema.columns
     WHERE table_schema = 'public'
       AND (column_name = 'expires_at' OR (table_name, column_name) = ('session', 'last_used_at'))`,
  );
  for (const { table, column } of rows) {
    await pool.query(`UPDATE "${table}" SET "${column}" = $1 WHERE "${column}" IS NOT NULL`, [farAway]);
  }
}
