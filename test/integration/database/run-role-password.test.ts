import { execFileSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { afterEach, beforeEach, describe, expect, jest, test } from '@jest/globals';
import pg from 'pg';
import { createLogger } from '../../../src/observability/logger.ts';
import { postgresRunSecret, postgresSecret } from '../../../src/roles/init/initial-secrets.ts';
import { migrate } from '../../../src/store/migrate.ts';
import { execute } from '../../support/api/test-server.ts';
import { createEmptyDatabase, type TestDatabase } from '../../support/database/postgres.ts';
import { fencedBlocks, readPage } from '../../support/fixtures/documentation.ts';

/** The password of the servers' role after the Secret with it was lost, and init has generated another one. */

const logger = createLogger('silent');
let database: TestDatabase;
let role: string;

beforeEach(async () => {
  database = await createEmptyDatabase();
  role = `run_${randomBytes(6).toString('hex')}`;
});

afterEach(async () => {
  await execute(database.url, `DROP OWNED BY ${role}; DROP ROLE ${role}`);
  await database.drop();
});

/** An address as init generates it, for the role of this test. */
function generatedUrl(): string {
  const { hostname } = new URL(database.url);
  const { url } = postgresRunSecret({ secret: 'run', host: hostname }).generate();
  const address = new URL(database.url);
  address.username = role;
  address.password = new URL(url?.reveal() ?? '').password;
  return address.href;
}

function migrateWith(runUrl: string, isRunUrlGenerated = true): Promise<string[]> {
  return migrate({ url: database.url, runUrl, isRunUrlGenerated, logger });
}

async function signsIn(url: string): Promise<boolean> {
  try {
    await execute(url, 'SELECT 1');
    return true;
  } catch (error) {
    if ((error as { code?: string }).code === '28P01') return false;
    throw error;
  }
}

/** Expects that a new address of the role is refused, and that the former one still works. */
async function expectKept(former: string): Promise<void> {
  await expect(migrateWith(generatedUrl())).rejects.toMatchObject({
    code: 'conflict',
    detail: expect.stringContaining(`the role ${role} of the servers cannot connect`),
  });
  expect(await signsIn(former)).toBe(true);
}

const removeMark = (): Promise<void> => execute(database.url, `COMMENT ON ROLE ${role} IS NULL`);

describe('a role that migrate created', () => {
  let former: string;

  beforeEach(async () => {
    former = generatedUrl();
    await migrateWith(former);
  });

  test('gets the password of a new generated address, which no statement contains', async () => {
    const url = generatedUrl();
    const query = jest.spyOn(pg.Client.prototype, 'query');
    await migrateWith(url);
    const statements = (query.mock.calls as unknown[][]).map(([text]) => JSON.stringify(text));
    query.mockRestore();
    expect([await signsIn(url), await signsIn(former)]).toEqual([true, false]);
    expect(statements.some((text) => text.includes('ALTER ROLE'))).toBe(true);
    expect(statements.filter((text) => text.includes(new URL(url).password))).toEqual([]);
  });

  test('keeps its password if the address was not generated', async () => {
    await expect(migrateWith(generatedUrl(), false)).rejects.toMatchObject({ code: 'conflict' });
    expect(await signsIn(former)).toBe(true);
  });

  test('keeps its password if its mark was removed', async () => {
    await removeMark();
    await expectKept(former);
  });

  test('is marked again by a generated address that works', async () => {
    await removeMark();
    await migrateWith(former);
    const url = generatedUrl();
    await migrateWith(url);
    expect(await signsIn(url)).toBe(true);
  });

  test.each(['SUPERUSER', 'CREATEROLE', 'CREATEDB', 'REPLICATION', 'BYPASSRLS'])(
    'keeps its password after it got %s',
    async (power) => {
      await execute(database.url, `ALTER ROLE ${role} ${power}`);
      await expectKept(former);
    },
  );

  test('keeps its password if it was created for another database of the server', async () => {
    const other = await createEmptyDatabase();
    const url = new URL(generatedUrl());
    url.pathname = new URL(other.url).pathname;
    const options = { url: other.url, runUrl: url.href, isRunUrlGenerated: true, logger };
    await expect(migrate(options)).rejects.toMatchObject({ code: 'conflict' });
    expect(await signsIn(former)).toBe(true);
    await other.drop();
  });
});

test('a role that an administrator created keeps its password', async () => {
  const former = generatedUrl();
  await execute(database.url, `CREATE ROLE ${role} LOGIN PASSWORD '${new URL(former).password}'`);
  await expectKept(former);
});

describe('the page on rotating the passwords', () => {
  const blocks = fencedBlocks(readPage('docs/backup-and-recovery.md'), 'sh').map(({ text }) => text);
  const { password, url } = postgresSecret({ secret: 'db', host: 'keyframe-postgres' }).generate();

  beforeEach(() => execute(database.url, `CREATE ROLE ${role} LOGIN`));

  test.each([
    ['keyframe_app', 'keyframe-postgres-run', postgresRunSecret({ secret: 'run', host: 'h' }).generate()['url']],
    ['keyframe', 'keyframe-postgres', password],
  ])('sets the password of %s that its Secret holds', async (name, secret, value) => {
    const pattern = new RegExp(`get secret ${secret} -o go-template.*\\n +\\| (sed .*) \\\\\\n.*psql`);
    const [, sed = ''] = blocks.map((text) => pattern.exec(text)).find((found) => found !== null) ?? [];
    const sql = execFileSync('/bin/sh', ['-c', sed], { input: value?.reveal() ?? '', encoding: 'utf8' });
    expect(sql).toMatch(new RegExp(`^ALTER ROLE ${name} PASSWORD '[0-9a-f]{48}'`));
    await execute(database.url, sql.replace(`ROLE ${name} `, `ROLE ${role} `));
    const address = new URL(database.url);
    address.username = role;
    address.password = /[0-9a-f]{48}/.exec(value?.reveal() ?? '')?.[0] ?? '';
    expect(await signsIn(address.href)).toBe(true);
    expect(url?.reveal()).toContain('postgresql://keyframe:');
  });
});
