import { describe, expect, test } from '@jest/globals';
import { Plaintext } from '../../../src/domain/plaintext.ts';
import type { Caller, UserPrincipal } from '../../../src/domain/principal.ts';
import { deadlocksOf } from '../../support/database/deadlocks.ts';
import { LockSession } from '../../support/database/locks.ts';
import type { TestDatabase } from '../../support/database/postgres.ts';
import { secretCalls } from '../../support/api/secret-calls.ts';
import { createUser, type TestServices, type World } from '../../support/api/services.ts';
import { withWorlds } from '../../support/api/with-services.ts';
import { prismaOf } from '../../support/database/prisma.ts';

let database: TestDatabase;
let services: TestServices;
let world: World;

withWorlds((given) => ({ database, services, world } = given));

/** What a refused mutation must leave as it was: every table that one writes, and the audit of successes. */
async function written(): Promise<unknown> {
  const prisma = prismaOf(services.database);
  return Promise.all([
    prisma.organization.count(),
    prisma.project.count(),
    prisma.environment.count(),
    prisma.environmentRevision.count(),
    prisma.secretVersion.count(),
    prisma.serviceToken.count({ where: { revokedAt: null } }),
    prisma.auditEntry.count({ where: { outcome: 'success' } }),
  ]);
}

type Withdrawal = (member: string) => Promise<unknown>;

const deletedAt = new Date();
const removal: Withdrawal = (userId) =>
  prismaOf(services.database).membership.deleteMany({ where: { userId, organizationId: world.organization.id } });
const demotion: Withdrawal = (userId) =>
  prismaOf(services.database).membership.updateMany({
    where: { userId, organizationId: world.organization.id },
    data: { role: 'viewer' },
  });
const projectDeletion: Withdrawal = () =>
  prismaOf(services.database).project.update({ where: { id: world.project.id }, data: { deletedAt } });
const organizationDeletion: Withdrawal = () =>
  prismaOf(services.database).organization.update({ where: { id: world.organization.id }, data: { deletedAt } });

const withdrawals: [string, Withdrawal, { code: string }][] = [
  ['the member is removed', removal, { code: 'not_found' }],
  ['the role is lowered to viewer', demotion, { code: 'forbidden' }],
  ['the project is deleted', projectDeletion, { code: 'not_found' }],
  ['the organization is deleted', organizationDeletion, { code: 'not_found' }],
];

describe('a write of secrets that waits for the lock of the environment', () => {
  async function writeWhile(withdraw: () => Promise<unknown>, caller: Caller): Promise<unknown> {
    const session = await LockSession.begin(database.url);
    await session.run('SELECT FROM environment WHERE id = $1 FOR UPDATE', [world.environment.id]);
    const write = Promise.allSettled([secretCalls(services, world, caller).put('KEY', 'late')]);
    await session.waitForBlocked(1);
    await withdraw();
    await session.commit();
    return write;
  }

  test.each(withdrawals)('is rolled back, with the error of a new request, when %s', async (_name, withdraw, error) => {
    const { id, caller } = world.developer;
    const before = await written();
    const write = await writeWhile(() => withdraw(id), caller);
    const again = await world.onEnvironment(caller, 'secret.write').catch((thrown: unknown) => thrown);
    expect(again).toMatchObject(error);
    expect(write).toMatchObject([{ status: 'rejected', reason: { ...error, detail: (again as Error).message } }]);
    expect(await written()).toEqual(before);
  });

  test('is rolled back when its service token’s organization is deleted, and done when nothing happens', async () => {
    const token = await world.serviceToken({ scope: 'organization' });
    expect(await writeWhile(() => Promise.resolve(), token.caller)).toMatchObject([{ status: 'fulfilled' }]);
    const before = await written();
    const write = await writeWhile(() => organizationDeletion(''), token.caller);
    expect(write).toMatchObject([{ status: 'rejected', reason: { code: 'unauthenticated' } }]);
    expect(await written()).toEqual(before);
  });

  test('is rolled back when the project is deleted under a service token of the organization', async () => {
    const token = await world.serviceToken({ scope: 'organization' });
    const before = await written();
    const write = await writeWhile(() => projectDeletion(''), token.caller);
    expect(write).toMatchObject([{ status: 'rejected', reason: { code: 'not_found' } }]);
    expect(await written()).toEqual(before);
  });

  test('is rolled back when the withdrawal is written and not committed as it comes to its last look', async () => {
    const { id, caller } = world.developer;
    const before = await written();
    const session = await LockSession.begin(database.url);
    await session.run('DELETE FROM membership WHERE user_id = $1', [id]);
    const write = Promise.allSettled([secretCalls(services, world, caller).put('KEY', 'late')]);
    await session.waitForBlocked(1);
    await session.commit();
    expect(await write).toMatchObject([{ status: 'rejected', reason: { code: 'not_found' } }]);
    expect(await written()).toEqual(before);
  });
});

describe('a mutation whose caller was let in before', () => {
  type Attempt = () => Promise<unknown>;

  /** Each mutation, let in already. */
  async function letIn({ caller }: { readonly caller: Caller }): Promise<Record<string, Attempt>> {
    const { secrets, versions, projects, environments, serviceTokens } = services;
    const token = await world.serviceToken();
    const value = new Plaintext('late');
    await secretCalls(services, world, world.owner.caller).put('KEY', 'one');
    const write = await world.onEnvironment(caller, 'secret.write');
    const remove = await world.onEnvironment(caller, 'secret.delete');
    const rollback = await world.onEnvironment(caller, 'version.rollback');
    const project = await world.onOrganization(caller, 'project.create');
    const environment = await world.onProject(caller, 'environment.create');
    const create = await world.onOrganization(caller, 'service_token.create');
    const revoke = await world.onOrganization(caller, 'service_token.revoke');
    return {
      put: () => secrets.put(write, 'KEY', { value }),
      patch: () => secrets.patch(write, { set: new Map([['OTHER', value]]) }),
      'empty patch': () => secrets.patch(write, {}),
      delete: () => secrets.delete(remove, 'KEY'),
      rollback: () => versions.rollback(rollback, 'KEY', { targetVersion: 1 }),
      'new project': () => projects.create(project, { slug: 'late' }),
      'new environment': () => environments.create(environment, { slug: 'late' }),
      'new token': () =>
        serviceTokens.create(create, { name: 'late', scope: 'organization', permission: 'read_write' }),
      revocation: () => serviceTokens.revoke(revoke, token.id),
    };
  }

  const ofOrganization = ['new project', 'new token', 'revocation'];

  test.each(withdrawals)('changes nothing, whichever it is, when %s', async (name, withdraw, error) => {
    const attempts = await letIn(world.admin);
    const before = await written();
    await withdraw(world.admin.id);
    for (const [attempted, attempt] of Object.entries(attempts)) {
      if (name.startsWith('the project') && ofOrganization.includes(attempted)) continue;
      expect([attempted, await attempt().catch((thrown: unknown) => thrown)]).toMatchObject([attempted, error]);
    }
    expect(await written()).toEqual(before);
  });

  test('makes no organization when its user is an instance admin no more', async () => {
    const admin = await createUser(services, { instanceAdmin: true });
    const access = await services.access.instance(admin.caller, 'organization.create');
    const before = await written();
    await prismaOf(services.database).user.update({ where: { id: admin.id }, data: { instanceAdmin: false } });
    const slug = `late-${admin.id.slice(0, 8)}`;
    await expect(services.organizations.create(access, { slug })).rejects.toMatchObject({ code: 'forbidden' });
    expect(await written()).toEqual(before);
  });
});

test('a change waits for a change of its user, and neither stops the other for good', async () => {
  const { id, caller } = world.developer;
  const { credentialId } = caller.principal as UserPrincipal;
  const access = await world.onEnvironment(caller, 'secret.write');
  const session = await LockSession.begin(database.url);
  // As a revocation of a personal token takes them: first the user, then the token.
  await session.run('SELECT FROM app_user WHERE id = $1 FOR NO KEY UPDATE', [id]);
  const write = services.secrets.put(access, 'KEY', { value: new Plaintext('two') });
  await session.waitForBlocked(1);
  await session.run('UPDATE personal_token SET last_used_at = now() WHERE id = $1', [credentialId]);
  await session.commit();
  await expect(write).resolves.toMatchObject({ key: 'KEY' });
  expect(await deadlocksOf(services.database)).toBe(0);
});
