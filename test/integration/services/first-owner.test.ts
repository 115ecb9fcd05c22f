import { randomUUID } from 'node:crypto';
import { beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import type { SetMember, UserRef } from '../../../src/services/people/members.ts';
import { LockSession } from '../../support/database/locks.ts';
import type { TestDatabase } from '../../support/database/postgres.ts';
import { createUser, createWorld, type TestServices, type TestUser, type World } from '../../support/api/services.ts';
import { withServices } from '../../support/api/with-services.ts';
import { prismaOf } from '../../support/database/prisma.ts';

let database: TestDatabase;
let services: TestServices;
let world: World;
let admin: TestUser;

withServices((given) => ({ database, services } = given));

beforeAll(async () => {
  admin = await createUser(services, { instanceAdmin: true });
});

beforeEach(async () => {
  world = await createWorld(services);
});

async function appoint(ref: UserRef, { by = admin, organization = world.slugs.organization } = {}): Promise<SetMember> {
  const access = await services.access.instance(by.caller, 'organization.appoint_owner');
  return services.members.appointOwner(access, { organization }, ref);
}

/** Leaves the world's organization as a SecretEnvironment makes one: without members. */
async function takeEverybodyOut(): Promise<void> {
  await prismaOf(services.database).membership.deleteMany({ where: { organizationId: world.organization.id } });
}

async function ownerIds(): Promise<string[]> {
  const where = { organizationId: world.organization.id, role: 'owner' as const };
  const owners = await prismaOf(services.database).membership.findMany({ where });
  return owners.map(({ userId }) => userId);
}

describe('the first owner of an organization that has none', () => {
  beforeEach(takeEverybodyOut);

  test('is appointed by an instance admin, and then does what an owner does', async () => {
    const { stranger, slugs } = world;
    await expect(world.onOrganization(stranger.caller, 'member.set')).rejects.toMatchObject({ code: 'not_found' });
    const appointed = await appoint({ email: stranger.email });
    expect(appointed).toMatchObject({ isNew: true, member: { userId: stranger.id, role: 'owner' } });
    const access = await world.onOrganization(stranger.caller, 'member.set');
    await services.members.set(access, { id: world.viewer.id }, { role: 'admin' });
    const row = await prismaOf(services.database).auditEntry.findFirst({
      where: { organizationId: world.organization.id, action: 'organization.appoint_owner' },
    });
    const target = { organization: slugs.organization, userId: stranger.id, email: stranger.email, role: 'owner' };
    expect(row).toMatchObject({ outcome: 'success', actorId: admin.id, target: { ...target, from: null } });
  });

  test('may be a user who is a member already', async () => {
    const { viewer, organization } = world;
    const data = { organizationId: organization.id, userId: viewer.id, role: 'viewer' as const };
    await prismaOf(services.database).membership.create({ data });
    expect(await appoint({ id: viewer.id })).toMatchObject({ isNew: false, member: { role: 'owner' } });
  });

  test('may be appointed once more, as by whom the first answer did not reach', async () => {
    const appointed = await appoint({ id: world.stranger.id });
    expect(await appoint({ id: world.stranger.id })).toEqual({ ...appointed, isNew: false });
  });

  test('may be the instance admin', async () => {
    expect(await appoint({ id: admin.id })).toMatchObject({ isNew: true, member: { userId: admin.id } });
  });

  test('is appointed where all owners are disabled', async () => {
    const { owner, organization, stranger } = world;
    const data = { organizationId: organization.id, userId: owner.id, role: 'owner' as const };
    await prismaOf(services.database).membership.create({ data });
    await prismaOf(services.database).user.update({ where: { id: owner.id }, data: { disabledAt: new Date() } });
    await appoint({ id: stranger.id });
    expect((await ownerIds()).sort()).toEqual([owner.id, stranger.id].sort());
  });

  test('is one alone, though two are appointed at the same time', async () => {
    const session = await LockSession.begin(database.url);
    await session.run('SELECT FROM organization WHERE id = $1 FOR UPDATE', [world.organization.id]);
    const both = Promise.allSettled([appoint({ id: world.stranger.id }), appoint({ id: world.viewer.id })]);
    await session.waitForBlocked(2);
    await session.commit();
    expect((await both).map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected']);
    expect(await ownerIds()).toHaveLength(1);
  });

  test('is not a user who is disabled, unknown or misnamed', async () => {
    const { stranger } = world;
    await prismaOf(services.database).user.update({ where: { id: stranger.id }, data: { disabledAt: new Date() } });
    await expect(appoint({ id: stranger.id })).rejects.toMatchObject({ code: 'conflict' });
    await expect(appoint({ id: randomUUID() })).rejects.toMatchObject({ code: 'not_found' });
    await expect(appoint({ id: 'x' })).rejects.toMatchObject({ code: 'invalid_input', fields: [{ field: 'user' }] });
    expect(await ownerIds()).toEqual([]);
  });

  test('is not appointed by an instance admin who is one no more', async () => {
    const former = await createUser(services, { instanceAdmin: true });
    const access = await services.access.instance(former.caller, 'organization.appoint_owner');
    await prismaOf(services.database).user.update({ where: { id: former.id }, data: { instanceAdmin: false } });
    const { slugs, stranger } = world;
    await expect(services.members.appointOwner(access, slugs, { id: stranger.id })).rejects.toMatchObject({
      code: 'forbidden',
    });
    expect(await ownerIds()).toEqual([]);
  });
});

describe('an organization that has an owner', () => {
  test('gets no other from an instance admin, who learns that it is there', async () => {
    await expect(appoint({ id: world.stranger.id })).rejects.toMatchObject({
      code: 'conflict',
      detail: expect.stringContaining('has an owner'),
    });
    expect(await ownerIds()).toEqual([world.owner.id]);
  });
});

describe('an organization that is not there', () => {
  test('gets no owner, nor does one that is deleted', async () => {
    const fault = { code: 'not_found', detail: expect.stringContaining('no organization') };
    await expect(appoint({ id: world.stranger.id }, { organization: 'nowhere' })).rejects.toMatchObject(fault);
    await takeEverybodyOut();
    const where = { id: world.organization.id };
    await prismaOf(services.database).organization.update({ where, data: { deletedAt: new Date() } });
    await expect(appoint({ id: world.stranger.id })).rejects.toMatchObject(fault);
    await expect(appoint({ id: world.stranger.id }, { organization: 'No Slug' })).rejects.toMatchObject({
      code: 'invalid_input',
      fields: [{ field: 'organization' }],
    });
    expect(await ownerIds()).toEqual([]);
  });
});
