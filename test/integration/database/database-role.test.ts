import { randomBytes } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, jest, test } from '@jest/globals';
import pg from 'pg';
import { createLogger } from '../../../src/observability/logger.ts';
import { migrate } from '../../../src/store/migrate.ts';
import { fencedBlocks, readPage } from '../../support/fixtures/documentation.ts';
import { giveRole, type HttpClient, type TestApi, startTestApi } from '../../support/api/http.ts';
import { type TestDatabase, createEmptyDatabase } from '../../support/database/postgres.ts';
import { createUser } from '../../support/api/services.ts';
import { execute } from '../../support/api/test-server.ts';

/** The role of docs/install.md, to which migrations give its rights: the server works under it, and cannot change the audit. */

const logger = createLogger('silent');
const [createRole = ''] = fencedBlocks(readPage('docs/install.md'), 'sql').map(({ text }) => text);
const [owner, limited] = ['owner', 'limited'].map((name) => `${name}_${randomBytes(6).toString('hex')}`) as [
  string,
  string,
];
let database: TestDatabase;
let api: TestApi;
let pool: pg.Pool;

beforeAll(async () => {
  database = await createEmptyDatabase();
  const name = new URL(database.url).pathname.slice(1);
  await execute(
    database.url,
    `CREATE ROLE ${owner} LOGIN PASSWORD 'change-me'; ALTER DATABASE ${name} OWNER TO ${owner}`,
  );
  await execute(database.url, documented(createRole));
  await migrateAsOwner();
  api = await startTestApi({}, { database: { url: urlOf(limited), drop: dropAll } });
  pool = new pg.Pool({ connectionString: urlOf(limited) });
  // Its sessions may be ended with the database, after the pool.
  pool.on('error', () => undefined);
});

afterAll(async () => {
  await pool.end();
  await api.close();
});

/** The page's SQL for the role of this test; the run's server is shared, and roles are the whole server's. */
function documented(sql: string): string {
  expect(sql).toContain('keyframe_app');
  return sql.replaceAll('keyframe_app', limited);
}

async function migrateAsOwner(): Promise<string[]> {
  return await migrate({ url: urlOf(owner), runUrl: urlOf(limited), logger });
}

function urlOf(role: string): string {
  const url = new URL(database.url);
  url.username = role;
  url.password = 'change-me';
  return url.href;
}

async function dropAll(): Promise<void> {
  const maintenance = new URL(database.url);
  maintenance.pathname = '/postgres';
  await execute(
    database.url,
    `DROP OWNED BY ${limited}; DROP ROLE ${limited}; REASSIGN OWNED BY ${owner} TO CURRENT_USER`,
  );
  await database.drop();
  await execute(maintenance.href, `DROP ROLE ${owner}`);
}

async function expectDenied(sql: string, message: RegExp): Promise<void> {
  await expect(pool.query(sql)).rejects.toMatchObject({ code: '42501', message: expect.stringMatching(message) });
}

describe('a role that does not exist', () => {
  const missing = `missing_${randomBytes(6).toString('hex')}`;

  afterAll(() => execute(database.url, `DROP OWNED BY ${missing}; DROP ROLE ${missing}`));

  test('is not created by an owner who may not, and the error has the statement', async () => {
    await expect(migrate({ url: urlOf(owner), runUrl: urlOf(missing), logger })).rejects.toMatchObject({
      code: 'conflict',
      detail: expect.stringMatching(`^the role ${missing} does not exist, .*run CREATE ROLE "${missing}" LOGIN`),
    });
  });

  test('is created by a superuser with the password of its address, which no statement contains', async () => {
    const statements: string[] = [];
    const query = jest.spyOn(pg.Client.prototype, 'query');
    await migrate({ url: database.url, runUrl: urlOf(missing), logger });
    for (const [text] of query.mock.calls as unknown[][]) statements.push(JSON.stringify(text));
    query.mockRestore();
    expect(statements.some((text) => text.includes('CREATE ROLE'))).toBe(true);
    expect(statements.filter((text) => text.includes('change-me'))).toEqual([]);
    const client = new pg.Client({ connectionString: urlOf(missing) });
    await client.connect();
    const { rows } = await client.query(
      'SELECT rolsuper, rolcreaterole, rolcreatedb FROM pg_roles WHERE rolname = current_user',
    );
    await expect(client.query('DELETE FROM audit_entry')).rejects.toMatchObject({ code: '42501' });
    await client.end();
    expect(rows).toEqual([{ rolsuper: false, rolcreaterole: false, rolcreatedb: false }]);
  });

  test('keeps its password when the address has another one, and the error names the address', async () => {
    const url = new URL(urlOf(missing));
    url.password = 'other';
    await expect(migrate({ url: database.url, runUrl: url.href, logger })).rejects.toMatchObject({
      code: 'conflict',
      detail: `the role ${missing} of the servers cannot connect. PostgreSQL refuses the password, or does not know the user (28P01): correct KEYFRAME_DATABASE_RUN_URL (in the chart, the Secret of database.existingSecret or postgres.runSecret), or the role in PostgreSQL`,
    });
    await execute(urlOf(missing), 'SELECT 1');
    await expect(execute(url.href, 'SELECT 1')).rejects.toMatchObject({ code: '28P01' });
  });
});

describe('a role that is not ready', () => {
  const late = `late_${randomBytes(6).toString('hex')}`;

  afterAll(() => execute(database.url, `DROP OWNED BY ${late}; DROP ROLE ${late}`));

  test('is waited for until another system has created it with its password', async () => {
    const reported = Promise.withResolvers<void>();
    const waiting = createLogger('info', { write: (line) => line.includes('is not ready yet') && reported.resolve() });
    const migrated = migrate({ url: urlOf(owner), runUrl: urlOf(late), logger: waiting, waitMs: 60_000 });
    await Promise.race([reported.promise, migrated]);
    await execute(database.url, `CREATE ROLE ${late} LOGIN PASSWORD 'another'`);
    await execute(database.url, `ALTER ROLE ${late} PASSWORD 'change-me'`);
    expect(await migrated).toEqual([]);
    await execute(urlOf(late), 'SELECT FROM secret LIMIT 1');
  });

  test.each([
    ['may not log in', `ALTER ROLE ${late} NOLOGIN`, /does not let this user connect from here \(28000\)/],
    [
      'may not enter the database',
      `ALTER ROLE ${late} LOGIN; REVOKE CONNECT ON DATABASE «» FROM PUBLIC`,
      /into this database \(42501\)/,
    ],
  ])('is reported if it %s', async (_case, statement, detail) => {
    const name = new URL(database.url).pathname.slice(1);
    await execute(database.url, statement.replace('«»', name));
    const refused = migrate({ url: urlOf(owner), runUrl: urlOf(late), logger, waitMs: 600 });
    await expect(refused).rejects.toMatchObject({ code: 'conflict', detail: expect.stringMatching(detail) });
    await execute(database.url, `GRANT CONNECT ON DATABASE ${name} TO PUBLIC`);
  });

  test('does not fail the migration if its address cannot be reached from here', async () => {
    const url = new URL(urlOf(late));
    url.host = '127.0.0.1:1';
    const lines: string[] = [];
    const warning = createLogger('warn', { write: (line) => void lines.push(line) });
    expect(await migrate({ url: urlOf(owner), runUrl: url.href, logger: warning })).toEqual([]);
    expect(lines.join('')).toContain('the address of the servers could not be tried');
    expect(lines.join('')).not.toContain('change-me');
  });
});

describe('under the role that docs/install.md makes', () => {
  test('the server does everything that it does as the owner', async () => {
    const admin = await createUser(api.services, { instanceAdmin: true });
    const client = api.client(admin.token);
    await client.expectStatus(201, 'POST', '/organizations', { slug: 'acme' });
    await client.expectStatus(201, 'POST', '/projects/acme', { slug: 'web' });
    const { id: environmentId } = await client.expectStatus<{ id: string }>(201, 'POST', '/environments/acme/web', {
      slug: 'prod',
    });
    await keepsSecrets(client);
    await keepsTokens(client, environmentId);
    await keepsPeople(client);
    await client.expectStatus(204, 'DELETE', '/environments/acme/web/prod');
    await client.expectStatus(204, 'POST', '/environments/acme/web/prod/purge');
    await client.expectStatus(204, 'DELETE', '/organizations/acme');
    await client.expectStatus(204, 'POST', '/organizations/acme/purge');
    const { rows } = await pool.query<{ count: number }>('SELECT count(*)::int AS count FROM audit_entry');
    expect(rows[0]?.count).toBeGreaterThan(15);
  });

  test.each([
    ['UPDATE audit_entry SET actor_name = actor_name', /^permission denied for table audit_entry$/],
    ['DELETE FROM audit_entry', /^permission denied for table audit_entry$/],
    ['TRUNCATE audit_entry', /^permission denied for table audit_entry$/],
    ['ALTER TABLE audit_entry DISABLE TRIGGER ALL', /^must be owner of table audit_entry$/],
    ['DROP TRIGGER audit_entry_append_only ON audit_entry', /^must be owner of relation audit_entry$/],
    ['DROP TABLE audit_entry', /^must be owner of table audit_entry$/],
    [
      'CREATE OR REPLACE FUNCTION refuse_audit_change() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RETURN NULL; END $$',
      /denied|must be owner/,
    ],
    ['SET session_replication_role = replica', /^permission denied to set parameter/],
    ['DELETE FROM _prisma_migrations', /^permission denied for table _prisma_migrations$/],
    ['CREATE TABLE of_its_own ()', /^permission denied for schema public$/],
  ])('«%s» is refused', async (sql, message) => {
    await expectDenied(sql, message);
  });

  test('the owner is held up by the trigger alone, and can take it away', async () => {
    const client = new pg.Client({ connectionString: urlOf(owner) });
    await client.connect();
    try {
      await client.query('BEGIN');
      await client.query('SAVEPOINT before');
      await expect(client.query('DELETE FROM audit_entry')).rejects.toThrow('audit_entry is append-only');
      await client.query('ROLLBACK TO before');
      await client.query('ALTER TABLE audit_entry DISABLE TRIGGER audit_entry_append_only');
      await client.query('DELETE FROM audit_entry');
      await client.query('ROLLBACK');
    } finally {
      await client.end();
    }
  });

  test('a table that a later migration brings can be used after it', async () => {
    await execute(urlOf(owner), 'CREATE TABLE brought_later (id bigserial, name text)');
    await migrateAsOwner();
    await pool.query("INSERT INTO brought_later (name) VALUES ('x')");
    await expect(pool.query("UPDATE brought_later SET name = 'y' RETURNING name")).resolves.toMatchObject({
      rowCount: 1,
    });
    await expect(pool.query('DELETE FROM brought_later')).resolves.toMatchObject({ rowCount: 1 });
  });

  test('a migration takes rights back that the role should not have', async () => {
    await execute(
      urlOf(owner),
      `GRANT UPDATE, DELETE ON audit_entry TO ${limited}; REVOKE SELECT ON secret FROM ${limited}`,
    );
    await migrateAsOwner();
    await expectDenied('DELETE FROM audit_entry', /^permission denied for table audit_entry$/);
    await expect(pool.query('SELECT FROM secret LIMIT 1')).resolves.toMatchObject({ rowCount: expect.any(Number) });
  });

  test('a migration gives the schema back, without which the role would find no table', async () => {
    await execute(database.url, `REVOKE USAGE ON SCHEMA public FROM PUBLIC, ${limited}`);
    await expect(pool.query('SELECT FROM secret')).rejects.toMatchObject({ code: '42P01' });
    await execute(database.url, `GRANT USAGE, CREATE ON SCHEMA public TO ${owner}`);
    await migrateAsOwner();
    await pool.query('SELECT FROM secret');
  });

  test('a table with a trigger against changes can only be read and added to', async () => {
    await execute(
      urlOf(owner),
      `CREATE TABLE kept (name text); CREATE TRIGGER kept_append_only BEFORE UPDATE ON kept EXECUTE FUNCTION refuse_audit_change()`,
    );
    await migrateAsOwner();
    await pool.query("INSERT INTO kept VALUES ('x')");
    await expectDenied('DELETE FROM kept', /^permission denied for table kept$/);
  });

  test('a migration that has nothing to do is let through, and one that has something fails', async () => {
    expect(await migrate({ url: urlOf(limited), logger })).toEqual([]);
    await execute(database.url, `DELETE FROM _prisma_migrations WHERE migration_name LIKE '%_resources'`);
    await expect(migrate({ url: urlOf(limited), logger })).rejects.toThrow(
      /_resources was undone: the role .* does not own the tables/,
    );
  });
});

async function keepsSecrets(client: HttpClient): Promise<void> {
  const secrets = '/secrets/acme/web/prod';
  await client.expectStatus(200, 'PATCH', secrets, { set: { A: '1', B: '2' } });
  const { id } = await client.expectStatus<{ id: string }>(201, 'POST', '/snapshots/acme/web/prod', {});
  await client.expectStatus(200, 'PUT', `${secrets}/A`, { value: '3' });
  await client.expectStatus(204, 'DELETE', `${secrets}/B`);
  await client.expectStatus(201, 'POST', '/versions/acme/web/prod/A/rollback', { targetVersion: 1 });
  await client.expectStatus(200, 'POST', '/snapshots/acme/web/prod/restore', { snapshotId: id });
  expect(await client.expectStatus(200, 'GET', secrets)).toMatchObject({
    secrets: [{ key: 'A', value: '1', version: 4 }],
  });
}

async function keepsTokens(client: HttpClient, environmentId: string): Promise<void> {
  const wish = { name: 'ci', scope: 'environment', environmentId, permission: 'read' };
  const made = await client.expectStatus<{ id: string; token: string }>(201, 'POST', '/service-tokens/acme', wish);
  const machine = api.client({ reveal: () => made.token });
  await machine.expectStatus(200, 'GET', '/secrets/acme/web/prod');
  await client.expectStatus(200, 'POST', `/service-tokens/acme/${made.id}/rotate`);
  await machine.expectStatus(401, 'GET', '/secrets/acme/web/prod');
  await client.expectStatus(204, 'DELETE', `/service-tokens/acme/${made.id}`);
}

async function keepsPeople(client: HttpClient): Promise<void> {
  const user = { email: 'ann@example.test' };
  const { id, token } = await client.expectStatus<{ id: string; token: string }>(201, 'POST', '/users', user);
  await giveRole(client, api.client({ reveal: () => token }), `/members/acme/${id}`, 'viewer');
  await client.expectStatus(204, 'DELETE', `/members/acme/${id}`);
  await client.expectStatus(200, 'PATCH', `/users/${id}`, { disabled: true });
  await client.expectStatus(200, 'GET', '/audit/acme');
}
