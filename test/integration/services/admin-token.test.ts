import { chmod, mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeEach, expect, test } from '@jest/globals';
import { generateToken } from '../../../src/crypto/token.ts';
import { Programs } from '../../support/api/program.ts';
import { createUser, type TestServices, type World } from '../../support/api/services.ts';
import { withWorlds } from '../../support/api/with-services.ts';
import type { TestDatabase } from '../../support/database/postgres.ts';
import { prismaOf } from '../../support/database/prisma.ts';

const programs = new Programs();
let database: TestDatabase;
let services: TestServices;
let world: World;
let folder: string;

withWorlds((given) => ({ database, services, world } = given));

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'keyframe-admin-token-'));
});

afterEach(() => rm(folder, { recursive: true }));
afterAll(() => programs.endAll());

/** How the role ends, and what it prints. */
async function adminToken(options: readonly string[]) {
  const captured = await programs.spawn({ args: ['admin-token', ...options], env: { DATABASE_URL: database.url } });
  const { code } = await captured.ended;
  return { code, output: captured.output.toString() };
}

/** The caller of the token in a file, which works. */
async function callerOf(path: string): Promise<{ readonly id: string; readonly expiresAt: Date | null }> {
  const principal = await services.authentication.authenticate((await readFile(path, 'utf8')).trim());
  return { id: principal.id, expiresAt: principal.expiresAt };
}

test('creates a token of an instance admin that ends after a day, and revokes nothing', async () => {
  const path = join(folder, 'token');
  const before = await world.serviceToken();
  const { code, output } = await adminToken(['--token-file', path, '--admin', world.owner.email.toUpperCase()]);
  expect(code).toBe(0);
  expect((await stat(path)).mode & 0o777).toBe(0o600);
  const text = await readFile(path, 'utf8');
  expect(output).not.toContain(text.trim());
  const { id, expiresAt } = await callerOf(path);
  expect(id).toBe(world.owner.id);
  const tokens = { where: { name: 'admin-token' }, select: { delegators: true } };
  expect(await prismaOf(services.database).personalToken.findMany(tokens)).toEqual([{ delegators: [] }]);
  const hours = ((expiresAt?.getTime() ?? 0) - Date.now()) / 3_600_000;
  expect(Math.round(hours)).toBe(24);
  await services.authentication.authenticate(before.token.reveal());
  await services.authentication.authenticate(world.owner.token.reveal());
  const where = { action: 'personal_token.create', actorName: 'keyframe-server admin-token' };
  const entries = await prismaOf(services.database).auditEntry.findMany({ where });
  expect(entries.map(({ organizationId }) => organizationId)).toEqual([null, world.organization.id]);
  for (const { target } of entries) expect(target).toMatchObject({ userId: id, email: world.owner.email });
});

test('refuses a file that exists, users who are no instance admins, and a folder that cannot be written', async () => {
  const path = join(folder, 'token');
  const tokens = (): Promise<number> => prismaOf(services.database).personalToken.count();
  const before = await tokens();
  await writeFile(path, 'mine');
  expect(await adminToken(['--token-file', path])).toMatchObject({
    code: 78,
    output: expect.stringContaining('exists already'),
  });
  expect(await readFile(path, 'utf8')).toBe('mine');
  const other = join(folder, 'other');
  const asViewer = await adminToken(['--token-file', other, '--admin', world.viewer.email]);
  expect(asViewer).toMatchObject({ code: 78, output: expect.stringContaining('instance admin') });
  const nowhere = await adminToken(['--token-file', join(folder, 'none', 'token')]);
  expect(nowhere).toMatchObject({ code: 78, output: expect.stringContaining('its folder must exist') });
  expect(await tokens()).toBe(before);
});

test('prints its options, and refuses others', async () => {
  const { code, output } = await adminToken(['--help']);
  expect(code).toBe(0);
  expect(output).toMatch(/^ {2}--token-file FILE .*\n[^]*^ {2}--admin EMAIL /m);
  expect(await adminToken(['canary'])).toMatchObject({
    code: 64,
    output: expect.stringContaining('it takes --token-file FILE and --admin EMAIL'),
  });
  expect((await adminToken([])).code).toBe(64);
});

test('completes a run that was interrupted before the file had its name', async () => {
  const admin = await createUser(services, { instanceAdmin: true });
  const path = join(folder, 'token');
  const credentialId = crypto.randomUUID();
  const { token, hash } = generateToken('personal_token', credentialId);
  const prisma = prismaOf(services.database);
  await prisma.personalToken.create({
    data: { id: credentialId, userId: admin.id, name: 'admin-token', tokenHash: hash, delegators: [] },
  });
  await writeFile(`${path}.pending`, `${token.reveal()}\n`);
  await chmod(`${path}.pending`, 0o600);
  const before = await prisma.personalToken.count();
  expect((await adminToken(['--token-file', path, '--admin', admin.email])).code).toBe(0);
  expect((await callerOf(path)).id).toBe(admin.id);
  expect(await prisma.personalToken.count()).toBe(before);
});
