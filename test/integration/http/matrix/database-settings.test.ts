import { describe, expect, test } from '@jest/globals';
import pg from 'pg';
import { createLogger } from '../../../../src/observability/logger.ts';
import { migrate } from '../../../../src/store/migrate.ts';
import { execute } from '../../../support/api/test-server.ts';
import { createTestDatabase, type TestDatabase } from '../../../support/database/postgres.ts';
import type { TestApi } from '../../../support/api/http.ts';
import type { Actor } from './callers.ts';
import { type Row, rows } from './expectations.ts';
import type { Site } from './site.ts';
import { withSite } from './with-site.ts';

/** Every route on a database whose settings change the text that the driver reads and writes. */

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

const isAllowed = (row: Row, { name }: Pick<Actor, 'name'>): boolean => row.statuses[name] < 300;

describe('a request that a caller may make succeeds as it does with the default settings:', () => {
  // Some lines of the table have no bearer of a token who may make them.
  const allowed = rows.filter((row) => Object.values(row.statuses).some((status) => status < 300));
  test.each(allowed.map((row) => [row.name, row] as const))('%s', async (_name, row) => {
    const actor = site.actors.find((one) => isAllowed(row, one)) as Actor;
    const { status } = await site.send(await site.prepare(row, site.places.own, { actor, succeeds: true }));
    expect(status).toBe(row.statuses[actor.name]);
  });
});

test('a second migration finds nothing to do', async () => {
  expect(await migrate({ url: api.database.url, logger: createLogger('silent') })).toEqual([]);
});
