import { randomBytes } from 'node:crypto';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { createLogger } from '../../../src/observability/logger.ts';
import { openDatabase } from '../../../src/store/database.ts';
import { migrate, type MigrateOptions, schemaFault } from '../../../src/store/migrate.ts';
import { execute } from '../../support/api/test-server.ts';
import { addMigration, copyMigrations, migrationNames } from '../../support/database/own-migrations.ts';
import { createEmptyDatabase, createEncodedDatabase } from '../../support/database/postgres.ts';

/** What an administrator of PostgreSQL can cause at `migrate`: each sentence says what to do, and doing it is enough. */

const logger = createLogger('silent');
let resources: AsyncDisposableStack;
/** Of a superuser, who owns the database. */
let url: string;
let name: string;
let role: string;

beforeEach(async () => {
  resources = new AsyncDisposableStack();
  const database = await createEmptyDatabase();
  const maintenance = new URL((url = database.url));
  name = maintenance.pathname.slice(1);
  maintenance.pathname = '/postgres';
  role = `admin_fault_${randomBytes(6).toString('hex')}`;
  await execute(url, `CREATE ROLE ${role} LOGIN PASSWORD 'x'`);
  resources.defer(() => execute(maintenance.href, `DROP ROLE ${role}`));
  resources.defer(() => database.drop());
});

afterEach(() => resources.disposeAsync());

function addressOf(user: string): string {
  const address = new URL(url);
  address.username = user;
  address.password = 'x';
  return address.href;
}

/** Migrates as the role, and returns the sentence of a refusal, which has the code that ends the program with 78. */
async function refusal(options: Partial<MigrateOptions> = {}): Promise<string> {
  const failure: unknown = await migrate({ url: addressOf(role), logger, ...options }).catch((error: unknown) => error);
  expect(failure).toMatchObject({ code: 'conflict' });
  return (failure as { detail: string }).detail;
}

/** Runs the command that a sentence advises, as a superuser. */
async function follow(sentence: string): Promise<void> {
  await execute(url, /`([^`]+)`/.exec(sentence)?.[1] ?? '');
}

test.each([
  ['may not create tables', '', 'may not create tables in the schema "public" of the database', '42501'],
  ['may not use the schema', 'REVOKE ALL ON SCHEMA public FROM PUBLIC', 'has no schema for tables', '3F000'],
  ['finds no schema', 'DROP SCHEMA public', 'has no schema for tables in the database', '3F000'],
])('a role that %s gets the command that helps', async (_case, cause, sentence, state) => {
  await execute(url, cause);
  const said = await refusal();
  expect(said).toMatch(new RegExp(`^the role "${role}" ${sentence} .*\\(${state}\\).*: run \``));
  await follow(said);
  expect(await migrate({ url: addressOf(role), logger })).toEqual(await migrationNames());
});

describe('a role beside the owner of the tables', () => {
  beforeEach(async () => {
    await migrate({ url, logger });
    await execute(url, `GRANT CREATE ON SCHEMA public TO ${role}`);
  });

  const ownersSentence = (): string =>
    `the role "${role}" does not own the tables in the database "${name}", which belong to "${new URL(url).username}" (42501): migrate as that role (KEYFRAME_DATABASE_URL; in the chart, the Secret of database.migration)`;

  test('learns whose they are', async () => {
    expect(await refusal()).toBe(ownersSentence());
  });

  test('learns so from a migration that it may not apply', async () => {
    await execute(url, `GRANT SELECT ON _prisma_migrations TO ${role}`);
    const directory = await copyMigrations(resources);
    await addMigration(directory, '99990101000000_next', 'ALTER TABLE secret ADD COLUMN next int');
    expect(await refusal({ directory })).toBe(`migration 99990101000000_next was undone: ${ownersSentence()}`);
  });
});

test('a role without CONNECT learns so', async () => {
  await execute(url, `REVOKE CONNECT ON DATABASE ${name} FROM PUBLIC`);
  expect(await refusal()).toMatch(
    /^PostgreSQL does not let this user into this database \(42501\): correct KEYFRAME_DATABASE_URL .*, or PostgreSQL$/,
  );
});

describe('a role without a free connection', () => {
  beforeEach(() => execute(url, `ALTER ROLE ${role} CONNECTION LIMIT 0; GRANT CREATE ON SCHEMA public TO ${role}`));

  test('learns so', async () => {
    expect(await refusal()).toBe(
      'PostgreSQL takes no more connections (53300): raise max_connections or the limit of the role or the database, or end other sessions',
    );
  });

  test('waits for one', async () => {
    const migrated = migrate({ url: addressOf(role), logger, waitMs: 60_000 });
    const first = migrate({ url: addressOf(role), logger });
    await expect(Promise.race([first, migrated])).rejects.toMatchObject({ code: 'conflict' });
    await execute(url, `ALTER ROLE ${role} CONNECTION LIMIT -1`);
    expect(await migrated).toEqual(await migrationNames());
  });
});

test.each([
  ['53100', 'PostgreSQL has no space left on its disk (53100): enlarge its volume, or free space on it'],
  ['53200', 'PostgreSQL has no memory left (53200): give it more, or lower its settings of memory'],
  ['22P05', "the database cannot store a character that Keyframe writes (22P05): create it again with ENCODING 'UTF8'"],
])('a migration that ends with %s is undone, and the sentence says what to do', async (state, sentence) => {
  const directory = await copyMigrations(resources);
  const failing = `CREATE TABLE half (id int); DO $$ BEGIN RAISE EXCEPTION 'canary' USING ERRCODE = '${state}'; END $$`;
  await addMigration(directory, '99990101000000_next', failing);
  expect(await refusal({ url, directory })).toBe(`migration 99990101000000_next was undone: ${sentence}`);
  await execute(url, 'CREATE TABLE half (id int)');
});

test('a database with a table of another program is refused', async () => {
  await execute(url, 'CREATE TABLE secret (id int)');
  expect(await refusal({ url })).toMatch(/^migration \d+_init was undone: .* \(42P07\): give Keyframe a database /);
});

test('limits that a database sets for all sessions end no migration', async () => {
  const limits = ['statement_timeout', 'transaction_timeout', 'idle_in_transaction_session_timeout'];
  for (const limit of limits) await execute(url, `ALTER DATABASE ${name} SET ${limit} = 200`);
  const directory = await copyMigrations(resources);
  await addMigration(directory, '99990101000000_slow', 'SELECT pg_sleep(0.4)');
  expect(await migrate({ url, logger, directory })).toContain('99990101000000_slow');
});

test.each(['LATIN1', 'SQL_ASCII'])('a database with the encoding %s is refused, also by a server', async (encoding) => {
  const other = await createEncodedDatabase(encoding);
  resources.defer(() => other.drop());
  const said = await refusal({ url: other.url });
  const database = new URL(other.url).pathname.slice(1);
  expect(said).toMatch(
    new RegExp(`^the database ${database} has the encoding ${encoding}, and Keyframe needs UTF8: run \``),
  );
  const pools = openDatabase({ url: other.url, poolSize: 2 });
  expect(await schemaFault(pools)).toBe(said);
  await pools.close();
  const copy = new URL(url);
  copy.pathname = '/keyframe_utf8';
  await follow(said);
  expect(await migrate({ url: copy.href, logger })).toEqual(await migrationNames());
  await execute(url, 'DROP DATABASE keyframe_utf8');
});
