import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { Client } from 'pg';
import type { ChangeEvent } from '../../../src/domain/changes.ts';
import { notifyChannel, parseMessage } from '../../../src/store/notify.ts';
import { createTestDatabase, type TestDatabase } from '../../support/database/postgres.ts';
import { secretCalls } from '../../support/api/secret-calls.ts';
import { createWorld, startServices, type TestServices, type World } from '../../support/api/services.ts';
import { prismaOf } from '../../support/database/prisma.ts';

let database: TestDatabase;
let services: TestServices;
let world: World;
let listener: Client;
let heard: string[] = [];

beforeAll(async () => {
  database = await createTestDatabase();
  services = await startServices(database.url);
  world = await createWorld(services);
  listener = new Client({ connectionString: database.url });
  await listener.connect();
  listener.on('notification', ({ payload = '' }) => heard.push(payload));
  await listener.query(`LISTEN ${notifyChannel}`);
});

afterAll(async () => {
  await listener.end();
  await services.close();
  await database.drop();
});

/** Comes back when everything committed so far was heard: notifications arrive in the order of the commits. */
async function hearAll(): Promise<void> {
  const mark = randomUUID();
  await prismaOf(services.database).$executeRaw`SELECT pg_notify(${notifyChannel}, ${mark})`;
  while (!heard.includes(mark)) await listener.query('SELECT 1');
}

/** The notifications of the commits that some work makes. */
async function heardOf(work: () => Promise<unknown>): Promise<(ChangeEvent | undefined)[]> {
  await hearAll();
  heard = [];
  await work().catch(() => undefined);
  await hearAll();
  return heard.slice(0, -1).map(parseMessage);
}

test('a change of secrets reports its environment and revision, once', async () => {
  const calls = secretCalls(services, world, world.developer.caller);
  const environmentId = world.environment.id;
  const revisionIds: string[] = [];
  const received = await heardOf(async () => {
    revisionIds.push((await calls.put('KEY', 'one')).revisionId);
    revisionIds.push((await calls.patch({ A: '1', B: '2', C: '3' }, ['KEY'])).revisionId);
    revisionIds.push((await calls.rollback('A', { targetVersion: 1 })).revisionId);
    revisionIds.push((await calls.remove('B')).revisionId);
  });
  expect(received).toEqual(
    revisionIds.map((revisionId) => ({
      kind: 'environment',
      organizationId: world.organization.id,
      environmentId,
      revisionId,
    })),
  );
});

test('a destruction reports the environment at the revision it stays at', async () => {
  const calls = secretCalls(services, world, world.developer.caller);
  await calls.put('LEAKED', 'one');
  const { revisionId } = await calls.put('LEAKED', 'two');
  const access = await world.onEnvironment(world.admin.caller, 'version.destroy');
  const received = await heardOf(() => services.destructions.destroy(access, 'LEAKED', { version: 1 }));
  const environmentId = world.environment.id;
  expect(received).toEqual([
    { kind: 'environment', organizationId: world.organization.id, environmentId, revisionId, destroyed: true },
  ]);
  expect(await heardOf(() => services.destructions.destroy(access, 'LEAKED', { version: 1 }))).toEqual([]);
});

test('what changes nothing reports nothing', async () => {
  const calls = secretCalls(services, world, world.developer.caller);
  await calls.put('SAME', 'x');
  const received = await heardOf(async () => {
    await calls.patch({});
    await calls.patch({ SAME: 'x' }, [], { skipUnchanged: true });
    await calls.read();
    await calls.put('SAME', 'y', { expectedVersion: 7 });
  });
  expect(received).toEqual([]);
});

test('a new environment is reported, and a revoked service token, once', async () => {
  const { caller } = world.owner;
  const environments = await heardOf(async () => {
    await services.environments.create(await world.onProject(caller, 'environment.create'), { slug: 'awaited' });
  });
  const { id, revisionId } = await prismaOf(services.database).environment.findFirstOrThrow({
    where: { slug: 'awaited' },
  });
  expect(environments).toEqual([
    { kind: 'environment', organizationId: world.organization.id, environmentId: id, revisionId, appeared: true },
  ]);
  const token = await world.serviceToken();
  const received = await heardOf(async () => {
    const access = await world.onOrganization(caller, 'service_token.revoke');
    await services.serviceTokens.revoke(access, token.id);
    await services.serviceTokens.revoke(access, token.id);
  });
  expect(received).toEqual([
    { kind: 'service_token', organizationId: world.organization.id, serviceTokenId: token.id },
  ]);
});

test('a change of what a person may do reports the person', async () => {
  const { developer, owner } = world;
  const { users, members, personalTokens, access } = services;
  const received = await heardOf(async () => {
    const userAccess = await access.instance(owner.caller, 'user.update');
    await users.update(userAccess, developer.id, { disabled: true });
    await users.update(userAccess, developer.id, { disabled: false });
    await members.set(await world.onOrganization(owner.caller, 'member.set'), { id: developer.id }, { role: 'viewer' });
    await members.remove(await world.onOrganization(owner.caller, 'member.remove'), { id: developer.id });
    const personAccess = await access.person(developer.caller, 'personal_token.create');
    const { record } = await personalTokens.create(personAccess, { name: 'short-lived' });
    const revocation = await access.person(developer.caller, 'personal_token.revoke');
    await personalTokens.revoke(revocation, record.id);
    await personalTokens.revoke(revocation, record.id);
    await users.endTokens(userAccess, developer.id);
  });
  expect(received).toEqual(Array.from({ length: 6 }, () => ({ kind: 'user', userId: developer.id })));
});

test('a purge reports that the environment has ended, for those who wait for its slug', async () => {
  const purged = await createWorld(services);
  const { caller } = purged.owner;
  const { id: environmentId } = purged.environment;
  const { revisionId } = await purged.onEnvironment(caller, 'environment.delete');
  await services.environments.delete(await purged.onEnvironment(caller, 'environment.delete'));
  const received = await heardOf(async () =>
    services.environments.purge(await services.access.instance(caller, 'environment.purge'), purged.slugs),
  );
  expect(received).toEqual([
    { kind: 'environment', organizationId: purged.organization.id, environmentId, revisionId, ended: true },
  ]);
});

test('an undeletion reports each environment beneath that exists again as appeared, and the tokens that it ends', async () => {
  const { owner, slugs, organization, environment, ...given } = await createWorld(services);
  const organizationId = organization.id;
  const { caller } = owner;
  const { environments, organizations, projects, access } = services;
  const inside = async (slug: string): Promise<string> =>
    (await environments.create(await given.onProject(caller, 'environment.create'), { slug })).id;
  const [second, gone] = [await inside('second'), await inside('gone')];
  const remove = async (slug: string): Promise<void> =>
    environments.delete(await access.environment(caller, 'environment.delete', { ...slugs, environment: slug }));
  await remove('gone');
  const token = await given.serviceToken();
  const appeared = async (id: string): Promise<ChangeEvent> => {
    const { revisionId } = await prismaOf(services.database).environment.findUniqueOrThrow({ where: { id } });
    return { kind: 'environment', organizationId, environmentId: id, revisionId, appeared: true };
  };
  const [first, other] = [await appeared(environment.id), await appeared(second)];
  const ended: ChangeEvent = { kind: 'service_token', organizationId, serviceTokenId: token.id };
  await projects.delete(await given.onProject(caller, 'project.delete'));
  const ofProject = await heardOf(async () => projects.undelete(await given.onProject(caller, 'project.undelete')));
  expect(ofProject).toHaveLength(3);
  expect(ofProject).toEqual(expect.arrayContaining([first, other, ended]));
  await organizations.delete(await given.onOrganization(caller, 'organization.delete'));
  const ofOrganization = await heardOf(async () =>
    organizations.undelete(await access.instance(caller, 'organization.undelete'), slugs),
  );
  expect(ofOrganization).toHaveLength(2);
  expect(ofOrganization).toEqual(expect.arrayContaining([first, other]));
  const undeleteGone = async (): Promise<unknown> =>
    environments.undelete(await access.environment(caller, 'environment.undelete', { ...slugs, environment: 'gone' }));
  expect(await heardOf(undeleteGone)).toEqual([await appeared(gone)]);
  expect(await heardOf(undeleteGone)).toEqual([]);
});
