import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { createHash, randomUUID } from 'node:crypto';
import { readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import pg from 'pg';
import { createLogger } from '../../../src/observability/logger.ts';
import { openDatabase } from '../../../src/store/database.ts';
import { migrate, schemaFault } from '../../../src/store/migrate.ts';
import { addMigration, copyMigrations, migrationNames, ownMigrations } from '../../support/database/own-migrations.ts';
import { createEmptyDatabase, type TestDatabase } from '../../support/database/postgres.ts';
import { readSchema, schemaDrift } from './schema-engine.ts';

const logger = createLogger('silent');
let resources: AsyncDisposableStack;

beforeEach(() => {
  resources = new AsyncDisposableStack();
});

afterEach(() => resources.disposeAsync());

async function emptyDatabase(): Promise<TestDatabase> {
  const database = await createEmptyDatabase();
  resources.defer(() => database.drop());
  return database;
}

async function migratedDatabase(): Promise<TestDatabase> {
  const database = await emptyDatabase();
  await migrate({ url: database.url, logger });
  return database;
}

async function firstName(): Promise<string> {
  const [first = ''] = await migrationNames();
  return first;
}

async function query<Row extends object>(url: string, sql: string): Promise<Row[]> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    return (await client.query<Row>(sql)).rows;
  } finally {
    await client.end();
  }
}

async function faultOf(url: string, directory?: string): Promise<string | undefined> {
  const database = openDatabase({ url, poolSize: 2 });
  try {
    return await schemaFault(database, directory === undefined ? {} : { directory });
  } finally {
    await database.close();
  }
}

test('personal tokens of before get the creators that the audit names', async () => {
  const database = await emptyDatabase();
  const before = await copyMigrations(resources);
  const later = (await migrationNames()).filter((name) => name >= '20261123020000_impersonation');
  for (const name of later) await rm(join(before, name), { recursive: true });
  await migrate({ url: database.url, logger, directory: before });
  const [root, ann] = ['00000000-0000-4000-8000-000000000001', '00000000-0000-4000-8000-000000000002'];
  const token = (index: number): string => `00000000-0000-4000-9000-00000000000${index}`;
  const audited = (action: string, actor: string, target: object): string =>
    `INSERT INTO audit_entry (actor_type, actor_id, actor_name, action, target, outcome, request_id) VALUES
     ('${actor === 'keyframe' ? 'system' : 'user'}', '${actor === 'keyframe' ? randomUUID() : actor}',
      '${actor === root ? 'root@example.test' : actor === ann ? 'ann@example.test' : actor}', '${action}',
      '${JSON.stringify(target)}', 'success', gen_random_uuid())`;
  const insertToken = (index: number, user: string): string =>
    `INSERT INTO personal_token (id, user_id, name, token_hash) VALUES ('${token(index)}', '${user}', 'x', sha256('${index}'))`;
  const statements = [
    `INSERT INTO app_user (id, email) VALUES ('${root}', 'root@example.test'), ('${ann}', 'ann@example.test')`,
    insertToken(1, root),
    audited('user.bootstrap', 'keyframe', { userId: root, credentialId: token(1) }),
    insertToken(2, ann),
    audited('user.create', root, { userId: ann, personalTokenId: token(2) }),
    insertToken(3, ann),
    audited('personal_token.create', ann, { personalTokenId: token(3) }),
    insertToken(4, ann),
    audited('personal_token.create', root, { userId: ann, personalTokenId: token(4) }),
    insertToken(5, ann),
  ];
  for (const statement of statements) await query(database.url, statement);
  await migrate({ url: database.url, logger });
  const rows = await query<{ creator: string }>(
    database.url,
    "SELECT created_by_type || ' ' || created_by_name AS creator FROM personal_token ORDER BY id",
  );
  expect(rows.map(({ creator }) => creator)).toEqual([
    'system keyframe',
    'user root@example.test',
    'user ann@example.test',
    'user root@example.test',
    'user ann@example.test',
  ]);
});

test('credentials of before get as delegators the other users who made them', async () => {
  const database = await emptyDatabase();
  const before = await copyMigrations(resources);
  const later = (await migrationNames()).filter((name) => name >= '20261130030000_delegators');
  for (const name of later) await rm(join(before, name), { recursive: true });
  await migrate({ url: database.url, logger, directory: before });
  const [nil, ann, root, bob] = ['0', '1', '2', '3'].map((digit) => `00000000-0000-0000-0000-00000000000${digit}`);
  const creators: Readonly<Record<string, string>> = {
    own: `'user', '${ann}', 'ann'`,
    other: `'user', '${root}', 'root'`,
    server: `'system', '${nil}', 'keyframe'`,
    unknown: 'NULL, NULL, NULL',
  };
  const made = Object.entries(creators).map(([name, creator], index) => ({ name, creator, index }));
  const id = (kind: number, index: number): string => `00000000-0000-4000-800${kind}-00000000000${index}`;
  const columns = 'created_by_type, created_by_id, created_by_name';
  const hash = `sha256('x')`;
  const session = (index: number, column: string, of: string): string =>
    `INSERT INTO session (id, user_id, token_hash, expires_at${column}) VALUES ('${id(4, index)}', '${ann}', ${hash}, now()${of})`;
  const statements = [
    `INSERT INTO app_user (id, email) VALUES ('${ann}', 'ann@x'), ('${root}', 'root@x'), ('${bob}', 'bob@x')`,
    ...made.flatMap(({ name, creator, index }) => [
      `INSERT INTO personal_token (id, user_id, name, token_hash, ${columns})
         VALUES ('${id(1, index)}', '${ann}', '${name}', ${hash}, ${creator})`,
      `INSERT INTO identity (id, user_id, issuer, subject, ${columns})
         VALUES ('${id(2, index)}', '${ann}', '${name}', 'x', ${creator})`,
      `INSERT INTO passkey (id, user_id, credential_id, public_key, counter, rp_id, name, backed_up, ${columns})
         VALUES ('${id(3, index)}', '${ann}', '${name}', 'x', 0, 'x', '${name}', false, ${creator})`,
    ]),
    `INSERT INTO sign_in_link (id, token_hash, user_id, created_by, personal_token_id, expires_at) VALUES
       ('${id(5, 0)}', ${hash}, '${ann}', '${root}', NULL, now()),
       ('${id(5, 1)}', ${hash}, '${bob}', '${ann}', '${id(1, 1)}', now())`,
    session(0, ', personal_token_id', `, '${id(1, 1)}'`),
    session(1, ', identity_id', `, '${id(2, 1)}'`),
    session(2, ', passkey_id', `, '${id(3, 1)}'`),
    session(3, ', sign_in_link_id', `, '${id(5, 0)}'`),
    session(4, ', personal_token_id', `, '${id(1, 0)}'`),
    session(5, '', ''),
  ];
  for (const statement of statements) await query(database.url, statement);
  await migrate({ url: database.url, logger });
  const delegators = async (table: string): Promise<unknown[]> => {
    const rows = await query<{ delegators: string[] }>(database.url, `SELECT delegators FROM ${table} ORDER BY id`);
    return rows.map((row) => row.delegators);
  };
  for (const table of ['personal_token', 'identity', 'passkey']) {
    expect([table, ...(await delegators(table))]).toEqual([table, [], [root], [], [nil]]);
  }
  expect(await delegators('sign_in_link')).toEqual([[root], [ann, root]]);
  expect(await delegators('session')).toEqual([[root], [root], [root], [root], [], [nil]]);
  const insert = `INSERT INTO personal_token (id, user_id, name, token_hash) VALUES (gen_random_uuid(), '${ann}', 'x', ${hash})`;
  await expect(query(database.url, insert)).rejects.toThrow('delegators');
});

describe('migrations and prisma/schema.prisma', () => {
  let database: TestDatabase;
  let url = '';

  beforeAll(async () => {
    database = await createEmptyDatabase();
    url = database.url;
    await migrate({ url, logger });
  });

  afterAll(() => database.drop());

  test('all migrations on an empty database give exactly the schema', async () => {
    expect(await schemaDrift(url)).toBe('');
  });

  test('the comparison notices each kind of difference in the database', async () => {
    const differences = [
      'ALTER TABLE secret ADD COLUMN extra text',
      'ALTER TABLE secret DROP COLUMN updated_at',
      'ALTER TABLE secret ALTER COLUMN version TYPE bigint',
      'ALTER TABLE snapshot ALTER COLUMN created_at TYPE timestamptz(6)',
      'ALTER TABLE app_user ALTER COLUMN display_name SET NOT NULL',
      'ALTER TABLE app_user ALTER COLUMN email DROP NOT NULL',
      'ALTER TABLE app_user ALTER COLUMN created_at DROP DEFAULT',
      'ALTER TABLE app_user ALTER COLUMN instance_admin SET DEFAULT true',
      'ALTER TABLE audit_entry ALTER COLUMN id DROP DEFAULT',
      'DROP INDEX snapshot_revision_id_idx',
      'DROP INDEX secret_current_version_id_key',
      'DROP INDEX audit_entry_organization_id_id_idx; CREATE INDEX audit_entry_organization_id_id_idx ON audit_entry (organization_id, id)',
      'CREATE INDEX one_more ON secret (updated_at)',
      'ALTER TABLE snapshot_entry DROP CONSTRAINT snapshot_entry_pkey',
      'ALTER TABLE secret_change DROP CONSTRAINT secret_change_version_id_fkey',
      'ALTER TABLE snapshot DROP CONSTRAINT snapshot_revision_id_fkey, ADD CONSTRAINT snapshot_revision_id_fkey FOREIGN KEY (revision_id) REFERENCES environment_revision (id) ON DELETE RESTRICT ON UPDATE CASCADE',
      "ALTER TYPE role ADD VALUE 'guest'",
      'CREATE TABLE one_more (id uuid PRIMARY KEY)',
      "CREATE TYPE one_more AS ENUM ('a')",
    ];
    const unnoticed: string[] = [];
    for (const difference of differences) {
      const changed = await migratedDatabase();
      await query(changed.url, difference);
      if ((await schemaDrift(changed.url)) === '') unnoticed.push(difference);
    }
    expect(unnoticed).toEqual([]);
  }, 60_000);

  test('the comparison notices each kind of difference in the schema', async () => {
    const edits: [string, string][] = [
      ['email         String    @unique', 'email         String'],
      ['slug        String    @unique', 'slug        String?   @unique'],
      ['@default(false) @map("instance_admin")', '@default(true) @map("instance_admin")'],
      ['@@index([revisionId])', ''],
      ['secretCount   Int ', 'secretCount   BigInt '],
      ['  rolled_back\n', '  rolled_back\n  restored\n'],
      ['references: [id], onDelete: Restrict', 'references: [id], onDelete: Cascade'],
      ['  label          String?\n', '  label          String?\n  more           String?\n'],
    ];
    const schema = readSchema();
    for (const [from, to] of edits) {
      expect(schema).toContain(from);
      expect(`${from}: ${await schemaDrift(url, schema.replace(from, to))}`).not.toBe(`${from}: `);
    }
  });

  test('what the schema cannot say is there: checks, its indexes with conditions and expressions, and the audit trigger', async () => {
    const checks = `SELECT conrelid::regclass || ' ' || conname AS name FROM pg_constraint
      WHERE contype = 'c' AND connamespace = 'public'::regnamespace`;
    const indexes = `SELECT pg_get_indexdef(indexrelid) AS name FROM pg_index
      WHERE indpred IS NOT NULL OR (indexprs IS NOT NULL AND indrelid > 16384)`;
    const triggers = `SELECT tgrelid::regclass || ' ' || tgname AS name FROM pg_trigger WHERE NOT tgisinternal`;
    const deferrable = `SELECT conrelid::regclass || ' ' || conname FROM pg_constraint WHERE condeferrable AND NOT condeferred`;
    const all = [checks, indexes, triggers, deferrable].join(' UNION ALL ');
    const rows = await query<{ name: string }>(url, all);
    expect(rows.map(({ name }) => name).sort()).toEqual([
      'CREATE INDEX secret_version_content_version_id_idx ON public.secret_version USING btree (content_version_id) WHERE (content_version_id IS NOT NULL)',
      'CREATE INDEX secret_version_destroyed_idx ON public.secret_version USING btree (secret_id) WHERE (destroyed_at IS NOT NULL)',
      'CREATE UNIQUE INDEX data_key_one_active ON public.data_key USING btree (project_id) WHERE (retired_at IS NULL)',
      'CREATE UNIQUE INDEX invitation_waiting ON public.invitation USING btree (organization_id, ' +
        "COALESCE(project_id, '00000000-0000-0000-0000-000000000000'::uuid), " +
        "COALESCE(environment_id, '00000000-0000-0000-0000-000000000000'::uuid), user_id) WHERE (ended_at IS NULL)",
      'CREATE UNIQUE INDEX invitation_waiting_address ON public.invitation USING btree (organization_id, ' +
        "COALESCE(project_id, '00000000-0000-0000-0000-000000000000'::uuid), " +
        "COALESCE(environment_id, '00000000-0000-0000-0000-000000000000'::uuid), address) WHERE (ended_at IS NULL)",
      'CREATE UNIQUE INDEX role_binding_subject_place ON public.role_binding USING btree (organization_id, ' +
        "COALESCE(project_id, '00000000-0000-0000-0000-000000000000'::uuid), " +
        "COALESCE(environment_id, '00000000-0000-0000-0000-000000000000'::uuid), " +
        "COALESCE((user_id)::text, ('group '::text || group_name)))",
      'CREATE UNIQUE INDEX service_token_federation_live_audience ON public.service_token_federation USING btree (audience) WHERE (ended_at IS NULL)',
      'CREATE UNIQUE INDEX sign_in_link_open_invitation ON public.sign_in_link USING btree (invitation_id) WHERE ((used_at IS NULL) AND (ended_at IS NULL))',
      'CREATE UNIQUE INDEX sign_in_link_open_user ON public.sign_in_link USING btree (user_id) WHERE ((used_at IS NULL) AND (ended_at IS NULL))',
      'audit_entry audit_entry_append_only',
      'audit_entry audit_entry_outcome_known',
      'data_key data_key_uses_count',
      'environment environment_revision_counts',
      'environment environment_slug_form',
      'environment_revision environment_revision_counts',
      'home_token home_token_once',
      'idempotency_record idempotency_record_hash_size',
      'idempotency_record idempotency_record_key_form',
      'instance instance_once',
      'invitation invitation_end',
      'invitation invitation_place',
      'invitation invitation_role',
      'invitation invitation_subject',
      'login_request login_request_hash_sizes',
      'login_request login_request_session',
      'organization organization_slug_form',
      'passkey passkey_counter_is_uint32',
      'personal_token personal_token_hash_size',
      'project project_slug_form',
      'resource_claim resource_claim_serial_counts',
      'role_binding role_binding_place',
      'role_binding role_binding_role',
      'role_binding role_binding_subject',
      'secret secret_key_form',
      'secret secret_version_counts',
      'secret_version secret_version_content_version_id_fkey',
      'secret_version secret_version_counts',
      'secret_version secret_version_data_key_id_fkey',
      'secret_version secret_version_reference',
      'secret_version secret_version_size',
      'service_token service_token_keyless',
      'service_token service_token_scope_fits',
      'service_token_credential service_token_credential_hash_size',
      'service_token_credential service_token_credential_serial_counts',
      'session session_hash_size',
      'session session_link_alone',
      'session session_passkey_alone',
      'session session_signed_in_once',
      'sign_in_flow sign_in_flow_hash_size',
      'sign_in_link sign_in_link_end',
      'sign_in_link sign_in_link_hash_size',
      'sign_in_link sign_in_link_subject',
      'sign_in_state sign_in_state_once',
      'snapshot snapshot_revision_id_fkey',
      'snapshot snapshot_secret_counts',
      'snapshot_entry snapshot_entry_version_id_fkey',
      'trusted_issuer trusted_issuer_has_keys',
      'trusted_issuer trusted_issuer_name_or_cluster',
    ]);
  });
});

describe('the migration runner', () => {
  test('applies every migration once, in the history that Prisma keeps', async () => {
    const { url } = await emptyDatabase();
    const applied = await migrate({ url, logger });
    expect(applied).toEqual(await migrationNames());
    expect(await migrate({ url, logger })).toEqual([]);
    const rows = await query(
      url,
      `SELECT migration_name, checksum, finished_at >= started_at AS finished, rolled_back_at, applied_steps_count
       FROM _prisma_migrations ORDER BY migration_name`,
    );
    const expected = applied.map(async (name) => {
      const sql = await readFile(join(ownMigrations, name, 'migration.sql'));
      const checksum = createHash('sha256').update(sql).digest('hex');
      return { migration_name: name, checksum, finished: true, rolled_back_at: null, applied_steps_count: 1 };
    });
    expect(rows).toEqual(await Promise.all(expected));
  });

  test('runners that start at once apply each migration once', async () => {
    const { url } = await emptyDatabase();
    const applied = await Promise.all([1, 2, 3].map(() => migrate({ url, logger })));
    expect(applied.flat().sort()).toEqual(await migrationNames());
    expect(await query(url, 'SELECT 1 FROM _prisma_migrations')).toHaveLength(applied.flat().length);
  });

  test('a migration whose file was changed after it was applied is refused, and nothing else is applied', async () => {
    const { url } = await migratedDatabase();
    const directory = await copyMigrations(resources);
    const file = join(directory, await firstName(), 'migration.sql');
    await writeFile(file, `${await readFile(file, 'utf8')}\n-- one more line\n`);
    await addMigration(directory, '99990101000000_next', 'CREATE TABLE next (id int)');
    const refused = migrate({ url, logger, directory });
    await expect(refused).rejects.toMatchObject({ code: 'conflict', detail: expect.stringContaining('checksum') });
    expect(await query(url, `SELECT FROM pg_class WHERE relname = 'next'`)).toHaveLength(0);
    expect(await faultOf(url, directory)).toContain(await firstName());
  });

  test('a migration that fails leaves nothing, and those before it stay', async () => {
    const { url } = await emptyDatabase();
    const directory = await copyMigrations(resources);
    await addMigration(directory, '99990101000000_good', 'CREATE TABLE good (id int)');
    await addMigration(
      directory,
      '99990102000000_bad',
      `CREATE TABLE half (id int UNIQUE); INSERT INTO half VALUES (4711), (4711)`,
    );
    const failure: unknown = await migrate({ url, logger, directory }).catch((error: unknown) => error);
    expect(failure).toMatchObject({
      code: 'internal',
      detail: expect.stringMatching(/99990102000000_bad.*SQLSTATE 23505/),
    });
    expect((failure as Error).message).not.toContain('4711');
    const tables = await query(url, `SELECT relname FROM pg_class WHERE relname IN ('good', 'half')`);
    expect(tables).toEqual([{ relname: 'good' }]);
    expect(await query(url, 'SELECT 1 FROM _prisma_migrations')).toHaveLength((await migrationNames()).length + 1);
    // Mended, it goes on where it stopped.
    await writeFile(join(directory, '99990102000000_bad', 'migration.sql'), 'CREATE TABLE half (id int)');
    expect(await migrate({ url, logger, directory })).toEqual(['99990102000000_bad']);
  });

  test('a migration whose line of history cannot be written leaves nothing either', async () => {
    const { url } = await migratedDatabase();
    const directory = await copyMigrations(resources);
    const sql = 'CREATE TABLE unrecorded (id int); DROP TABLE _prisma_migrations';
    await addMigration(directory, '99990101000000_unrecorded', sql);
    await expect(migrate({ url, logger, directory })).rejects.toMatchObject({ code: 'internal' });
    expect(await query(url, `SELECT FROM pg_class WHERE relname = 'unrecorded'`)).toHaveLength(0);
    expect(await query(url, 'SELECT 1 FROM _prisma_migrations')).toHaveLength((await migrationNames()).length);
  });

  test('a migration that another tool left unfinished is refused', async () => {
    const { url } = await migratedDatabase();
    await query(url, 'UPDATE _prisma_migrations SET finished_at = NULL');
    const refused = migrate({ url, logger });
    await expect(refused).rejects.toMatchObject({ code: 'conflict', detail: expect.stringContaining('did not end') });
  });

  test('migrations of a newer server are left alone', async () => {
    const { url } = await emptyDatabase();
    const directory = await copyMigrations(resources);
    await addMigration(directory, '99990101000000_newer', 'CREATE TABLE newer (id int)');
    await migrate({ url, logger, directory });
    expect(await migrate({ url, logger })).toEqual([]);
    expect(await faultOf(url)).toBeUndefined();
  });

  test('a missing schema is reported in a sentence that names the command', async () => {
    const { url } = await emptyDatabase();
    const sentence = `the database lacks migration ${await firstName()}: run keyframe-server migrate`;
    expect(await faultOf(url)).toBe(sentence);
    await migrate({ url, logger });
    expect(await faultOf(url)).toBeUndefined();
  });

  test('an unreachable database is store_unavailable, for the runner and for the check', async () => {
    const url = 'postgres://unknown:canary-password@127.0.0.1:1/none';
    await expect(migrate({ url, logger })).rejects.toMatchObject({ code: 'store_unavailable' });
    await expect(faultOf(url)).rejects.toMatchObject({ code: 'store_unavailable' });
  });
});
