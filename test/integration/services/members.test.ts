import { randomUUID } from 'node:crypto';
import { describe, expect, test } from '@jest/globals';
import type { Caller, Role } from '../../../src/domain/principal.ts';
import type { UserRef } from '../../../src/services/people/members.ts';
import { LockSession } from '../../support/database/locks.ts';
import type { TestDatabase } from '../../support/database/postgres.ts';
import { secretCalls } from '../../support/api/secret-calls.ts';
import { accept, createUser, enrol, type TestServices, type TestUser, type World } from '../../support/api/services.ts';
import { withWorlds } from '../../support/api/with-services.ts';
import { prismaOf } from '../../support/database/prisma.ts';

let database: TestDatabase;
let services: TestServices;
let world: World;

withWorlds((given) => ({ database, services, world } = given));

async function set(by: { readonly caller: Caller }, ref: UserRef, role: Role): Promise<object> {
  return services.members.set(await world.onOrganization(by.caller, 'member.set'), ref, { role });
}

async function remove(by: { readonly caller: Caller }, ref: UserRef): Promise<void> {
  return services.members.remove(await world.onOrganization(by.caller, 'member.remove'), ref);
}

/** The role of each member, as the list shows it. */
async function roles(): Promise<Record<string, Role>> {
  const listed = await services.members.list(await world.onOrganization(world.viewer.caller, 'member.list'));
  return Object.fromEntries(listed.map(({ userId, role }) => [userId, role]));
}

async function ownersLeft(): Promise<number> {
  const where = { organizationId: world.organization.id, role: 'owner' as const, user: { disabledAt: null } };
  return prismaOf(services.database).membership.count({ where });
}

async function disable(user: TestUser): Promise<void> {
  await prismaOf(services.database).user.update({ where: { id: user.id }, data: { disabledAt: new Date() } });
}

describe('the members', () => {
  test('are listed by e-mail address to each of them', async () => {
    const { owner, admin, developer, viewer } = world;
    const listed = await services.members.list(await world.onOrganization(viewer.caller, 'member.list'));
    const everyMember = [owner, admin, developer, viewer].sort((a, b) => (a.email < b.email ? -1 : 1));
    expect(listed.map(({ email }) => email)).toEqual(everyMember.map(({ email }) => email));
    expect(listed.find(({ userId }) => userId === admin.id)).toEqual({
      userId: admin.id,
      email: admin.email,
      displayName: null,
      role: 'admin',
      createdAt: expect.any(Date),
    });
  });

  test('are for neither strangers nor service tokens to see or change', async () => {
    const machine = await world.serviceToken({ scope: 'organization' });
    for (const action of ['member.list', 'member.set', 'member.remove'] as const) {
      await expect(world.onOrganization(world.stranger.caller, action)).rejects.toMatchObject({ code: 'not_found' });
      await expect(world.onOrganization(machine.caller, action)).rejects.toMatchObject({ code: 'forbidden' });
    }
  });
});

describe('setting a member', () => {
  test('lets a user in by UUID or e-mail address once they accept, and gives a member another role', async () => {
    const { stranger, admin } = world;
    await accept(services, stranger, await set(admin, { email: stranger.email }, 'viewer'));
    const calls = secretCalls(services, world, stranger.caller);
    await expect(calls.put('KEY', 'x')).rejects.toMatchObject({ code: 'forbidden' });
    const changed = await set(admin, { id: stranger.id }, 'developer');
    expect(changed).toMatchObject({ isNew: false, member: { userId: stranger.id, role: 'developer' } });
    expect(await set(admin, { id: stranger.id }, 'developer')).toEqual(changed);
    await calls.put('KEY', 'x');
  });

  test('is audited with whom it is about and both roles', async () => {
    await set(world.owner, { id: world.viewer.id }, 'developer');
    await remove(world.admin, { id: world.viewer.id });
    const rows = await prismaOf(services.database).auditEntry.findMany({
      where: { organizationId: world.organization.id, action: { startsWith: 'member.' } },
      orderBy: { id: 'desc' },
      take: 2,
    });
    const { id: userId, email } = world.viewer;
    const { organization } = world.slugs;
    expect(rows).toMatchObject([
      { action: 'member.remove', outcome: 'success', target: { organization, userId, email, from: 'developer' } },
      {
        action: 'member.set',
        outcome: 'success',
        target: { organization, userId, email, role: 'developer', from: 'viewer' },
      },
    ]);
  });

  test('knows no user who is not there, and no reference or role that is none', async () => {
    await expect(set(world.admin, { id: randomUUID() }, 'viewer')).rejects.toMatchObject({ code: 'not_found' });
    await expect(set(world.admin, { email: 'unknown@example.test' }, 'viewer')).rejects.toMatchObject({
      code: 'not_found',
      detail: expect.stringContaining('an instance admin makes users'),
    });
    for (const ref of [{ id: 'x' }, { email: 'x' }, { email: 'ADA@example.test' }]) {
      await expect(set(world.admin, ref, 'viewer')).rejects.toMatchObject({
        code: 'invalid_input',
        fields: [{ field: 'user' }],
      });
    }
    await expect(set(world.admin, { id: world.viewer.id }, 'king' as Role)).rejects.toMatchObject({
      code: 'invalid_input',
      fields: [{ field: 'role' }],
    });
  });

  test('leaves owners to owners', async () => {
    const before = await roles();
    const fault = { code: 'forbidden', detail: expect.stringContaining('only an owner') };
    await expect(set(world.admin, { id: world.viewer.id }, 'owner')).rejects.toMatchObject(fault);
    await expect(set(world.admin, { id: world.admin.id }, 'owner')).rejects.toMatchObject(fault);
    await expect(set(world.admin, { id: world.owner.id }, 'viewer')).rejects.toMatchObject(fault);
    await expect(remove(world.admin, { id: world.owner.id })).rejects.toMatchObject(fault);
    expect(await roles()).toEqual(before);
    await set(world.owner, { id: world.viewer.id }, 'owner');
    await set(world.viewer, { id: world.owner.id }, 'viewer');
  });

  test('is for owners and admins', async () => {
    for (const { caller } of [world.developer, world.viewer]) {
      await expect(world.onOrganization(caller, 'member.set')).rejects.toMatchObject({
        code: 'forbidden',
        detail: expect.stringContaining('ask an owner or admin'),
      });
    }
  });

  test('makes no disabled user an owner', async () => {
    await disable(world.viewer);
    await expect(set(world.owner, { id: world.viewer.id }, 'owner')).rejects.toMatchObject({ code: 'conflict' });
    expect(await set(world.owner, { id: world.viewer.id }, 'developer')).toMatchObject({ isNew: false });
  });
});

describe('removing a member', () => {
  test('ends their access at the very next request', async () => {
    const calls = secretCalls(services, world, world.developer.caller);
    await calls.put('KEY', 'x');
    const letIn = await world.onEnvironment(world.developer.caller, 'secret.write');
    await remove(world.admin, { email: world.developer.email });
    await expect(calls.read()).rejects.toMatchObject({ code: 'not_found' });
    await expect(services.secrets.patch(letIn, {})).rejects.toMatchObject({ code: 'not_found' });
    expect(Object.keys(await roles())).not.toContain(world.developer.id);
  });

  test.each(['admin', 'developer', 'viewer'] as const)('may be of oneself (%s)', async (role) => {
    await remove(world[role], { id: world[role].id });
    const owners = await services.members.list(await world.onOrganization(world.owner.caller, 'member.list'));
    expect(owners.map(({ userId }) => userId)).not.toContain(world[role].id);
  });

  test('of others is for owners and admins, and shows the others nothing of who exists', async () => {
    for (const by of [world.developer, world.viewer]) {
      for (const ref of [{ id: world.admin.id }, { id: randomUUID() }, { email: world.stranger.email }]) {
        await expect(remove(by, ref)).rejects.toMatchObject({
          code: 'forbidden',
          detail: expect.stringContaining('ask an owner or admin'),
        });
      }
    }
  });

  test('finds no user who is no member', async () => {
    for (const ref of [{ id: world.stranger.id }, { id: randomUUID() }, { email: 'unknown@example.test' }]) {
      await expect(remove(world.admin, ref)).rejects.toMatchObject({ code: 'not_found' });
    }
  });
});

describe('the last owner', () => {
  const fault = { code: 'conflict', detail: expect.stringContaining('make another member an owner first') };

  test('neither leaves nor steps down', async () => {
    const { owner } = world;
    await expect(remove(owner, { id: owner.id })).rejects.toMatchObject(fault);
    await expect(set(owner, { id: owner.id }, 'admin')).rejects.toMatchObject(fault);
    expect(await set(owner, { id: owner.id }, 'owner')).toMatchObject({ isNew: false });
    await set(owner, { id: world.admin.id }, 'owner');
    await set(owner, { id: owner.id }, 'admin');
    await remove(owner, { id: owner.id });
    expect(await ownersLeft()).toBe(1);
  });

  test('is the only one who is not disabled', async () => {
    await set(world.owner, { id: world.admin.id }, 'owner');
    await disable(world.admin);
    await expect(remove(world.owner, { id: world.owner.id })).rejects.toMatchObject(fault);
    await remove(world.owner, { id: world.admin.id });
  });

  test.each([
    ['remove each other', (by: TestUser, other: TestUser) => remove(by, { id: other.id })],
    ['demote each other', (by: TestUser, other: TestUser) => set(by, { id: other.id }, 'viewer')],
    ['leave', (by: TestUser) => remove(by, { id: by.id })],
    ['step down', (by: TestUser) => set(by, { id: by.id }, 'viewer')],
  ])('stays when two owners %s at the same time', async (_name, change) => {
    const other = await createUser(services);
    await enrol(services, world.owner, other, { organization: world.slugs.organization, role: 'owner' });
    const session = await LockSession.begin(database.url);
    // Both are let in, and have come as far as they come without each other.
    await session.run('SELECT FROM organization WHERE id = $1 FOR UPDATE', [world.organization.id]);
    const changes = Promise.allSettled([change(world.owner, other), change(other, world.owner)]);
    await session.waitForBlocked(2);
    await session.commit();
    expect((await changes).map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected']);
    expect(await ownersLeft()).toBe(1);
  });

  test('stays when one owner is disabled and the other leaves at the same time', async () => {
    const other = await createUser(services);
    await enrol(services, world.owner, other, { organization: world.slugs.organization, role: 'owner' });
    const admin = await createUser(services, { instanceAdmin: true });
    const session = await LockSession.begin(database.url);
    await session.run('SELECT FROM organization WHERE id = $1 FOR UPDATE', [world.organization.id]);
    const access = await services.access.instance(admin.caller, 'user.update');
    const changes = Promise.allSettled([
      services.users.update(access, other.id, { disabled: true }),
      remove(world.owner, { id: world.owner.id }),
    ]);
    await session.waitForBlocked(2);
    await session.commit();
    expect((await changes).map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected']);
    expect(await ownersLeft()).toBe(1);
  });

  test('is not made of a user who is being disabled', async () => {
    const admin = await createUser(services, { instanceAdmin: true });
    const session = await LockSession.begin(database.url);
    await session.run('LOCK TABLE audit_entry IN EXCLUSIVE MODE');
    const access = await services.access.instance(admin.caller, 'user.update');
    const disabling = Promise.allSettled([services.users.update(access, world.viewer.id, { disabled: true })]);
    await session.waitForBlocked(1);
    const appointment = Promise.allSettled([set(world.owner, { id: world.viewer.id }, 'owner')]);
    await session.waitForBlocked(2);
    await session.commit();
    expect(await disabling).toMatchObject([{ status: 'fulfilled' }]);
    expect(await appointment).toMatchObject([{ status: 'rejected', reason: { code: 'conflict' } }]);
  });
});

describe('a change of members by a user whose own role is being taken', () => {
  test('is refused', async () => {
    const session = await LockSession.begin(database.url);
    await session.run('SELECT FROM organization WHERE id = $1 FOR UPDATE', [world.organization.id]);
    const removal = remove(world.owner, { id: world.admin.id });
    await session.waitForBlocked(1);
    const appointment = Promise.allSettled([set(world.admin, { id: world.stranger.id }, 'admin')]);
    await session.waitForBlocked(2);
    await session.commit();
    await removal;
    expect(await appointment).toMatchObject([{ status: 'rejected', reason: { code: 'not_found' } }]);
  });
});
