import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { randomUUID } from 'node:crypto';
import { chmod, mkdir, mkdtemp, readdir, readFile, rm, stat, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { generateToken } from '../../../src/crypto/token.ts';
import { systemClock } from '../../../src/lib/clock.ts';
import { createLogger } from '../../../src/observability/logger.ts';
import { Authentication } from '../../../src/services/access/authentication.ts';
import { bootstrapAdmin } from '../../../src/services/people/bootstrap-admin.ts';
import { CredentialUsage } from '../../../src/services/access/credential-usage.ts';
import { type Database, openDatabase } from '../../../src/store/database.ts';
import { createTestDatabase, type TestDatabase } from '../../support/database/postgres.ts';
import { PostgresProxy, runs } from '../../support/faults/postgres-proxy.ts';
import { noJwts } from '../../support/oidc/no-jwts.ts';

const logger = createLogger('silent');
const email = 'admin@example.test';
let server: TestDatabase;
let proxy: PostgresProxy;
let database: Database;
let folder: string;
let tokenFile: string;

beforeEach(async () => {
  server = await createTestDatabase();
  proxy = await PostgresProxy.start(server.url);
  database = openDatabase({ url: proxy.url, poolSize: 8 });
  folder = await mkdtemp(join(tmpdir(), 'keyframe-bootstrap-'));
  tokenFile = join(folder, 'admin-token');
});

afterEach(async () => {
  await proxy.close();
  await database.close();
  await server.drop();
  await rm(folder, { recursive: true });
});

function bootstrap(file: string = tokenFile): Promise<boolean> {
  return bootstrapAdmin({ database, logger }, { email, tokenFile: file });
}

async function users(): Promise<{ email: string; instance_admin: boolean; tokens: number }[]> {
  const text = `SELECT email, instance_admin, (SELECT count(*)::int FROM personal_token WHERE user_id = app_user.id) AS tokens FROM app_user`;
  return (await database.pool.query(text)).rows;
}

/** The token in the file opens the instance as its admin. */
async function expectWorkingToken(file: string = tokenFile): Promise<void> {
  const text = (await readFile(file, 'utf8')).trim();
  const usage = new CredentialUsage({ database, clock: systemClock, logger });
  const principal = await new Authentication({ database, usage, federated: noJwts }).authenticate(text);
  await usage.drain();
  expect(principal).toMatchObject({ type: 'user', name: email, instanceAdmin: true, expiresAt: null });
}

describe('the bootstrap of an instance without users', () => {
  test('makes one admin, whose token works and lies in the file for its owner alone', async () => {
    expect(await bootstrap()).toBe(true);
    expect(await users()).toEqual([{ email, instance_admin: true, tokens: 1 }]);
    await expectWorkingToken();
    expect((await stat(tokenFile)).mode & 0o777).toBe(0o600);
    expect(await readdir(folder)).toEqual(['admin-token']);
    const { rows } = await database.pool.query('SELECT action, actor_type, target FROM audit_entry');
    expect(rows).toMatchObject([{ action: 'user.bootstrap', actor_type: 'system', target: { email } }]);
    expect(JSON.stringify(rows)).not.toContain('kf_pat_');
  });

  test('does nothing at the next start, even if the file was taken away', async () => {
    await bootstrap();
    await rm(tokenFile);
    expect(await bootstrap()).toBe(false);
    expect(await readdir(folder)).toEqual([]);
    expect(await users()).toHaveLength(1);
  });

  test('keeps the address in lower case', async () => {
    await bootstrapAdmin({ database, logger }, { email: ' Admin@Example.TEST ', tokenFile });
    expect(await users()).toMatchObject([{ email }]);
  });

  test('makes one admin when several replicas start at once, on one folder or on separate folders', async () => {
    const files = [tokenFile, tokenFile, tokenFile, join(folder, 'other-a'), join(folder, 'other-b')];
    const made = await Promise.all(files.map((file) => bootstrap(file)));
    expect(made.filter(Boolean)).toHaveLength(1);
    expect(await users()).toHaveLength(1);
    const left = await readdir(folder);
    expect(left).toHaveLength(1);
    await expectWorkingToken(join(folder, left[0] ?? ''));
  });

  test('makes no user if the token cannot be written', async () => {
    const file = join(folder, 'missing', 'admin-token');
    await expect(bootstrap(file)).rejects.toMatchObject({
      code: 'invalid_input',
      detail: expect.stringContaining('ENOENT'),
    });
    expect(await users()).toEqual([]);
  });
});

describe('with a token that is in the file already', () => {
  let given: string;

  /** As the kubelet mounts a Secret: the name leads over a folder that is exchanged whole. */
  beforeEach(async () => {
    given = generateToken('personal_token', randomUUID()).token.reveal();
    await mkdir(join(folder, '..data'));
    await writeFile(join(folder, '..data', 'admin-token'), given);
    await symlink(join('..data', 'admin-token'), tokenFile);
  });

  test('the first admin has that one, and nothing is written beside it', async () => {
    expect(await bootstrap()).toBe(true);
    expect(await users()).toEqual([{ email, instance_admin: true, tokens: 1 }]);
    expect(await readFile(tokenFile, 'utf8')).toBe(given);
    expect((await readdir(folder)).sort()).toEqual(['..data', 'admin-token']);
    await expectWorkingToken();
  });

  test('several replicas that start at once make one admin, and a later start none', async () => {
    const made = await Promise.all(Array.from({ length: 5 }, () => bootstrap()));
    expect(made.filter(Boolean)).toHaveLength(1);
    expect(await bootstrap()).toBe(false);
    expect(await users()).toEqual([{ email, instance_admin: true, tokens: 1 }]);
    await expectWorkingToken();
  });

  test('an instance with users lets the file be: its token opens nothing', async () => {
    expect(await bootstrap(join(folder, 'other'))).toBe(true);
    expect(await bootstrap()).toBe(false);
    expect(await users()).toEqual([{ email, instance_admin: true, tokens: 1 }]);
    await expect(expectWorkingToken()).rejects.toMatchObject({ code: 'unauthenticated' });
    await writeFile(join(folder, '..data', 'admin-token'), 'no token');
    expect(await bootstrap()).toBe(false);
  });

  test('a commit whose answer was lost counts at the next start', async () => {
    proxy.cut(runs(/^COMMIT/), 'after');
    await expect(bootstrap()).rejects.toMatchObject({ code: 'store_unavailable' });
    expect(await bootstrap()).toBe(false);
    await expectWorkingToken();
  });

  test.each([
    ['something dear', () => 'something dear'],
    ['nothing', () => ''],
    ['a service token', () => generateToken('service_token', randomUUID()).token.reveal()],
    ['a token that was cut short', () => given.slice(0, -1)],
    ['a token with a letter changed', () => given.replace(/.$/, (last) => (last === 'a' ? 'b' : 'a'))],
  ])('%s in its place is refused, kept as it is, and no user is made', async (_what, content) => {
    const text = content();
    await writeFile(join(folder, '..data', 'admin-token'), text);
    const error: unknown = await bootstrap().catch((thrown: unknown) => thrown);
    expect(error).toMatchObject({ code: 'invalid_input', detail: expect.stringContaining(tokenFile) });
    expect((error as { detail: string }).detail).not.toContain(text === '' ? given : text);
    expect(await readFile(tokenFile, 'utf8')).toBe(text);
    expect(await users()).toEqual([]);
  });

  test('a folder in its place is refused by what the system says of it', async () => {
    await rm(tokenFile);
    await mkdir(tokenFile);
    const detail = expect.stringContaining('cannot be read (EISDIR)');
    await expect(bootstrap()).rejects.toMatchObject({ code: 'invalid_input', detail });
  });
});

describe('a bootstrap that is interrupted', () => {
  test('between the file and the row is done again by the next start', async () => {
    const cut = proxy.cut(runs(/INSERT INTO app_user/), 'before');
    await expect(bootstrap()).rejects.toMatchObject({ code: 'store_unavailable' });
    await cut.arrived();
    expect(await readdir(folder)).toEqual(['admin-token.pending']);
    expect(await users()).toEqual([]);
    const begun = await readFile(`${tokenFile}.pending`, 'utf8');
    expect(await bootstrap()).toBe(true);
    await expectWorkingToken();
    expect(await readFile(tokenFile, 'utf8')).not.toBe(begun);
    expect(await readdir(folder)).toEqual(['admin-token']);
  });

  test('with its commit unanswered is ended by the next start, and the token works', async () => {
    proxy.cut(runs(/^COMMIT/), 'after');
    await expect(bootstrap()).rejects.toMatchObject({ code: 'store_unavailable' });
    expect(await users()).toHaveLength(1);
    expect(await readdir(folder)).toEqual(['admin-token.pending']);
    await expectWorkingToken(`${tokenFile}.pending`);
    expect(await bootstrap()).toBe(false);
    expect(await readdir(folder)).toEqual(['admin-token']);
    expect((await stat(tokenFile)).mode & 0o777).toBe(0o600);
    await expectWorkingToken();
  });

  test('whose file’s place was taken meanwhile overwrites nothing and says where the token is', async () => {
    const held = proxy.hold(runs(/^COMMIT/));
    const running = bootstrap();
    await held.arrived();
    await writeFile(tokenFile, 'something dear');
    held.release();
    const sentence = expect.stringContaining(`${tokenFile}.pending`);
    await expect(running).rejects.toMatchObject({ code: 'conflict', detail: sentence });
    expect(await readFile(tokenFile, 'utf8')).toBe('something dear');
    await expectWorkingToken(`${tokenFile}.pending`);
  });

  test('and whose admin another replica then made leaves no dead token behind', async () => {
    proxy.cut(runs(/INSERT INTO app_user/), 'before');
    await expect(bootstrap()).rejects.toMatchObject({ code: 'store_unavailable' });
    expect(await bootstrap(join(folder, 'other'))).toBe(true);
    expect(await bootstrap()).toBe(false);
    expect(await readdir(folder)).toEqual(['other']);
  });
});

test('an existing pending file that others can read is replaced, not reused', async () => {
  await writeFile(`${tokenFile}.pending`, 'x');
  await chmod(`${tokenFile}.pending`, 0o666);
  await bootstrap();
  expect((await stat(tokenFile)).mode & 0o777).toBe(0o600);
  await expectWorkingToken();
});
