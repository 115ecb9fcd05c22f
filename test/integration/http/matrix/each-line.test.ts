import { expect, test } from '@jest/globals';
import pg from 'pg';
import { createLogger } from '../../../../src/observability/logger.ts';
import { migrate } from '../../../../src/store/migrate.ts';
import type { TestApi } from '../../../support/api/http.ts';
import type { Reply } from '../../../support/api/keep-alive-client.ts';
import { execute } from '../../../support/api/test-server.ts';
import { createTestDatabase, type TestDatabase } from '../../../support/database/postgres.ts';
import type { ActorName } from './actors.ts';
import { type Row, rows } from './expectations.ts';
import { seedKey } from './places.ts';
import { type Ready, type Site } from './site.ts';
import { withSite } from './with-site.ts';

/**
 * Each line of the table by a caller who may and by one who may not: while the audit takes no row, and after that. All on a
 * database whose settings change the text that the driver reads and writes.
 */

const settings = {
  DateStyle: 'German, DMY',
  IntervalStyle: 'sql_standard',
  TimeZone: 'America/New_York',
  bytea_output: 'escape',
  extra_float_digits: '-10',
  array_nulls: 'off',
  standard_conforming_strings: 'off',
  client_encoding: 'LATIN1',
} as const;

async function createForeignDatabase(): Promise<TestDatabase> {
  const database = await createTestDatabase();
  const name = new URL(database.url).pathname.slice(1);
  const lines = Object.entries(settings).map(([key, value]) => `ALTER DATABASE ${name} SET ${key} = '${value}'`);
  await execute(database.url, lines.join(';'));
  return database;
}

let api: TestApi;
let site: Site;

withSite((given) => ({ api, site } = given), createForeignDatabase);

test('other clients of the database have its settings', async () => {
  const client = new pg.Client({ connectionString: api.database.url });
  await client.connect();
  const { rows: found } = await client.query<{ now: string }>('SELECT now()::text AS now');
  await client.end();
  expect(found[0]?.now).toMatch(/^\d\d\.\d\d\.\d{4} .* E[SD]T$/);
});

test.each(['pool', 'transactionPool'] as const)(
  'connections of the %s read text as PostgreSQL writes it by default',
  async (pool) => {
    const { rows: found } = await api.services.database[pool].query(`
    SELECT '2026-02-01T12:00:00Z'::timestamptz AS at, '\\x00ff'::bytea AS bytes, 0.1::float8 + 0.2::float8 AS fraction,
      '{NULL}'::text[] AS nulls, '1 day'::interval::text AS day, 'ä€' AS letters`);
    expect(found).toEqual([
      {
        at: new Date('2026-02-01T12:00:00Z'),
        bytes: Buffer.from([0, 255]),
        fraction: 0.1 + 0.2,
        nulls: [null],
        day: '1 day',
        letters: 'ä€',
      },
    ]);
  },
);

const machines: readonly ActorName[] = ['organization-r', 'organization-rw', 'environment-rw'];
const people: readonly ActorName[] = ['owner', 'instance-admin', 'developer'];

interface Asked {
  readonly name: string;
  readonly ready: Ready;
  readonly status: number;
  /** Whether it leaves an entry in the audit. */
  readonly isAudited: boolean;
}

/** Service tokens leave an entry by all they do, and people if they change something or read values. */
function isAuditedFor({ method, path }: Row, name: ActorName): boolean {
  return machines.includes(name) || method !== 'GET' || /^\/(?:secrets|versions)\//.test(path);
}

/** Someone who may do it: one who leaves an entry by it, if there is one. */
function allowedActor(row: Row): ActorName | undefined {
  const allowed = [...machines, ...people].filter((name) => row.statuses[name] < 300);
  return allowed.find((name) => isAuditedFor(row, name)) ?? allowed[0];
}

/** Who may not, which leaves an entry as well. */
function refusedActor({ statuses }: Row): ActorName | undefined {
  return ([...machines, 'viewer', 'stranger'] as const).find((name) => [403, 404].includes(statuses[name]));
}

async function prepareAll(): Promise<Asked[]> {
  const calls: Asked[] = [];
  for (const row of rows) {
    for (const [name, succeeds] of [
      [allowedActor(row), true],
      [refusedActor(row), false],
    ] as const) {
      if (name === undefined) continue;
      const ready = await site.prepare(row, site.places.own, { actor: site.actor(name), succeeds });
      const isAudited = !succeeds || isAuditedFor(row, name);
      calls.push({ name: `${row.name} by ${name}`, ready, status: row.statuses[name], isAudited });
    }
  }
  const conditional = calls.filter(({ name }) => /^GET \/secrets.* by organization-r$/.test(name));
  const unchanged = conditional.map(({ name, ready, ...same }) => {
    return { ...same, name: `${name}, unchanged`, status: 304, ready: { ...ready, headers: { 'if-none-match': '*' } } };
  });
  return [...unchanged, ...calls];
}

const refuseRows = `CREATE FUNCTION refuse_row() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE EXCEPTION 'full'; END $$;
  CREATE TRIGGER refuse_rows BEFORE INSERT ON audit_entry FOR EACH ROW EXECUTE FUNCTION refuse_row()`;
const takeRows = 'DROP TRIGGER refuse_rows ON audit_entry; DROP FUNCTION refuse_row()';

test('while the audit takes no row, no audited call of any route does or discloses anything', async () => {
  const { pool } = api.services.database;
  const calls = await prepareAll();
  const audited = calls.filter(({ isAudited }) => isAudited);
  expect(audited.length).toBeGreaterThan(100);
  await pool.query(refuseRows);
  let answers: Reply[];
  try {
    answers = await site.askInVain(audited.map(({ ready }) => ready));
  } finally {
    await pool.query(takeRows);
  }
  const wrong = answers.flatMap(({ status, text }, index) => {
    const isWithheld = status === 500 && !text.includes(seedKey);
    return isWithheld ? [] : [`${audited[index]?.name}: ${status} ${text}`];
  });
  expect(wrong).toEqual([]);
  // As soon as the audit takes them, the same calls are answered as with the default settings. One after the other: some
  // are about the same secret.
  const again: [string, number][] = [];
  for (const { name, ready } of calls) again.push([name, (await site.send(ready)).status]);
  expect(again).toEqual(calls.map(({ name, status }) => [name, status]));
});

test('a second migration finds nothing to do', async () => {
  expect(await migrate({ url: api.database.url, logger: createLogger('silent') })).toEqual([]);
});
