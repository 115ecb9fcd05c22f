import { randomUUID } from 'node:crypto';
import { describe, expect, test } from '@jest/globals';
import { limits } from '../../../src/domain/limits.ts';
import type { Caller } from '../../../src/domain/principal.ts';
import type { Invited } from '../../../src/services/people/invite.ts';
import { InvitationCalls } from '../../support/api/invitation-calls.ts';
import { outcomeOf } from '../../support/api/outcome.ts';
import { RoleCalls } from '../../support/api/role-calls.ts';
import { secretCalls } from '../../support/api/secret-calls.ts';
import {
  authenticated,
  createUser,
  createWorld,
  type TestServices,
  type TestUser,
  type World,
} from '../../support/api/services.ts';
import { userCalls } from '../../support/api/user-calls.ts';
import { withWorlds } from '../../support/api/with-services.ts';
import { prismaOf } from '../../support/database/prisma.ts';

let services: TestServices;
let world: World;
let calls: InvitationCalls;
let roles: RoleCalls;

withWorlds((given) => {
  ({ services, world } = given);
  calls = new InvitationCalls(services, world);
  roles = new RoleCalls(services, world);
});

const read = (caller: Caller): Promise<string> => outcomeOf(secretCalls(services, world, caller).read());

describe('a user who has no role of their own in the organization', () => {
  test('has none until they accept, and is shown the place, the role and who invited', async () => {
    const { stranger, admin, slugs } = world;
    const invitation = await calls.invite('membership', stranger, 'viewer');
    expect(await read(stranger.caller)).toBe('not_found');
    expect(await services.organizations.list(stranger.caller)).toEqual([]);
    expect(await calls.own(stranger)).toEqual([invitation]);
    expect(invitation).toEqual({
      id: expect.any(String),
      organization: slugs.organization,
      project: null,
      environment: null,
      userId: stranger.id,
      email: stranger.email,
      displayName: null,
      role: 'viewer',
      invitedById: admin.id,
      invitedByEmail: admin.email,
      createdAt: expect.any(Date),
      expiresAt: expect.any(Date),
    });
    const days = (invitation.expiresAt.getTime() - invitation.createdAt.getTime()) / 86_400_000;
    expect(days).toBeCloseTo(limits.invitationDays, 3);
    expect(await services.me.get(stranger.caller)).toMatchObject({ waitingInvitations: 1, organizations: [] });
    await calls.accept(stranger, invitation);
    expect(await read(stranger.caller)).toBe('done');
    expect(await calls.own(stranger)).toEqual([]);
    expect(await services.me.get(stranger.caller)).toMatchObject({ waitingInvitations: 0 });
  });

  test.each(['project', 'environment'] as const)('is invited to a %s in the same way', async (level) => {
    const { stranger, slugs } = world;
    const invitation = await calls.invite(level, stranger, 'developer');
    expect(invitation).toMatchObject({
      project: slugs.project,
      environment: level === 'project' ? null : slugs.environment,
    });
    expect(await read(stranger.caller)).toBe('not_found');
    await calls.accept(stranger, invitation);
    expect(await outcomeOf(secretCalls(services, world, stranger.caller).put('KEY', 'x'))).toBe('done');
    // Now that they have a role of their own, others need no consent.
    expect(await roles.set('project', world.admin.caller, { id: stranger.id }, 'admin')).toHaveProperty('binding');
    const access = await world.onOrganization(world.admin.caller, 'member.set');
    expect(await services.members.set(access, { id: stranger.id }, { role: 'viewer' })).toMatchObject({ isNew: true });
  });

  test('has none by a role of a group', async () => {
    const member = await roles.member('organization', 'developer');
    expect(await calls.invite('membership', member, 'developer')).toMatchObject({ userId: member.id });
    expect(await calls.invite('environment', member, 'admin')).toMatchObject({ userId: member.id });
  });

  test('needs to accept in each organization', async () => {
    const other = await createWorld(services);
    const invitation = await calls.invite('membership', other.owner, 'viewer');
    expect(invitation).toMatchObject({ organization: world.slugs.organization });
    expect(await read(other.owner.caller)).toBe('not_found');
  });

  test('gets no invitation while disabled', async () => {
    const user = await createUser(services);
    await prismaOf(services.database).user.update({ where: { id: user.id }, data: { disabledAt: new Date() } });
    await expect(calls.invite('membership', user, 'viewer')).rejects.toMatchObject({ code: 'conflict' });
  });
});

describe('inviting again', () => {
  test('with the same role changes nothing', async () => {
    const first = await calls.invite('project', world.stranger, 'viewer');
    expect(await calls.invite('project', world.stranger, 'viewer')).toEqual(first);
    expect(await calls.outcomes(world.stranger)).toEqual([null]);
  });

  test('with another role, by another user or to confirm tokens replaces the invitation', async () => {
    const { stranger, owner } = world;
    const first = await calls.invite('membership', stranger, 'viewer');
    const second = await calls.invite('membership', stranger, 'developer');
    const third = await calls.invite('membership', stranger, 'developer', owner);
    const access = await world.onOrganization(owner.caller, 'member.set');
    const wanted = { role: 'developer', confirmTokens: true } as const;
    const { invitation } = (await services.members.set(access, { id: stranger.id }, wanted)) as Invited;
    expect(await calls.outcomes(stranger)).toEqual(['replaced', 'replaced', 'replaced', null]);
    for (const replaced of [first, second, third]) {
      await expect(calls.accept(stranger, replaced)).rejects.toMatchObject({
        code: 'conflict',
        detail: expect.stringContaining('replaced'),
      });
    }
    await calls.accept(stranger, invitation);
  });

  test('at another place adds an invitation', async () => {
    const { stranger } = world;
    for (const level of ['membership', 'project', 'environment'] as const)
      await calls.invite(level, stranger, 'viewer');
    expect((await calls.own(stranger)).map(({ project, environment }) => [project, environment])).toEqual([
      [null, null],
      [world.slugs.project, null],
      [world.slugs.project, world.slugs.environment],
    ]);
  });

  test('after the user has a role of their own gives the role, and replaces an invitation to it', async () => {
    const { stranger, admin } = world;
    await calls.invite('environment', stranger, 'viewer');
    await calls.accept(stranger, await calls.invite('project', stranger, 'viewer'));
    expect(await roles.set('environment', admin.caller, { id: stranger.id }, 'admin')).toMatchObject({ isNew: true });
    expect(await calls.own(stranger)).toEqual([]);
    expect(new Set(await calls.outcomes(stranger))).toEqual(new Set(['accepted', 'replaced']));
  });
});

describe('accepting', () => {
  test('again changes nothing, and after the role was withdrawn gives nothing', async () => {
    const { stranger, admin } = world;
    const invitation = await calls.invite('membership', stranger, 'viewer');
    await calls.accept(stranger, invitation);
    expect(await calls.accept(stranger, invitation)).toMatchObject({ id: invitation.id });
    const access = await world.onOrganization(admin.caller, 'member.remove');
    await services.members.remove(access, { id: stranger.id });
    await expect(calls.accept(stranger, invitation)).rejects.toMatchObject({ code: 'conflict' });
    expect(await read(stranger.caller)).toBe('not_found');
  });

  test('is for the invited user alone', async () => {
    const invitation = await calls.invite('membership', world.stranger, 'owner', world.owner);
    const machine = await world.serviceToken({ scope: 'organization' });
    for (const user of [world.owner, await createUser(services)]) {
      await expect(calls.accept(user, invitation)).rejects.toMatchObject({ code: 'not_found' });
      await expect(calls.decline(user, invitation)).rejects.toMatchObject({ code: 'not_found' });
    }
    await expect(calls.accept(machine, invitation)).rejects.toMatchObject({ code: 'forbidden' });
    await expect(calls.accept(world.stranger, { id: randomUUID() })).rejects.toMatchObject({ code: 'not_found' });
    await expect(calls.accept(world.stranger, { id: 'x' })).rejects.toMatchObject({ code: 'invalid_input' });
    expect(await read(world.stranger.caller)).toBe('not_found');
  });

  test('is audited in the organization, with who invited', async () => {
    const { stranger, admin, slugs } = world;
    const invitation = await calls.invite('environment', stranger, 'developer');
    const about = {
      ...slugs,
      invitationId: invitation.id,
      userId: stranger.id,
      email: stranger.email,
      role: 'developer',
    };
    expect(await calls.audited('environment.set_role')).toMatchObject({
      actorId: admin.id,
      target: { invitationId: invitation.id, role: 'developer', from: null },
    });
    await calls.accept(stranger, invitation);
    expect(await calls.audited('invitation.accept')).toMatchObject({
      actorId: stranger.id,
      outcome: 'success',
      target: { ...about, invitedById: admin.id, invitedByEmail: admin.email },
    });
  });

  test('is refused by what the user who invited may do then, gives nothing, and leaves an entry', async () => {
    const { admin, owner, stranger } = world;
    const member = await world.onOrganization(owner.caller, 'member.set');
    const remove = await world.onOrganization(owner.caller, 'member.remove');
    const refused = {
      code: 'conflict',
      detail: expect.stringContaining(`${admin.email}, who invited you, may no longer`),
    };
    const invitation = await calls.invite('membership', stranger, 'admin');
    await services.members.set(member, { id: admin.id }, { role: 'developer' });
    await expect(calls.accept(stranger, invitation)).rejects.toMatchObject(refused);
    expect(await calls.audited('invitation.accept')).toMatchObject({ outcome: 'failed', actorId: stranger.id });
    await services.members.remove(remove, { id: admin.id });
    await expect(calls.accept(stranger, invitation)).rejects.toMatchObject(refused);
    expect(await read(stranger.caller)).toBe('not_found');
  });

  test('as an owner is refused after the owner who invited is an admin only', async () => {
    const { admin, owner, stranger } = world;
    const access = await world.onOrganization(owner.caller, 'member.set');
    await services.members.set(access, { id: admin.id }, { role: 'owner' });
    const invitation = await calls.invite('membership', stranger, 'owner');
    await services.members.set(access, { id: admin.id }, { role: 'admin' });
    await expect(calls.accept(stranger, invitation)).rejects.toMatchObject({ code: 'conflict' });
    expect(await read(stranger.caller)).toBe('not_found');
  });

  test('is refused after the user who invited was disabled', async () => {
    const { admin, stranger } = world;
    const invitation = await calls.invite('project', stranger, 'viewer');
    await prismaOf(services.database).user.update({ where: { id: admin.id }, data: { disabledAt: new Date() } });
    await expect(calls.accept(stranger, invitation)).rejects.toMatchObject({ code: 'conflict' });
    expect(await read(stranger.caller)).toBe('not_found');
  });

  test('is judged by the role of the user who invited at the place, wherever it comes from', async () => {
    const [byRole, byGroup] = [await roles.user('project', 'admin'), await roles.member('project', 'admin')];
    for (const by of [byRole, byGroup]) {
      const user = await createUser(services);
      await calls.accept(user, await calls.invite('environment', user, 'admin', by));
      expect(await read(user.caller)).toBe('done');
    }
    const late = await createUser(services);
    const invitation = await calls.invite('environment', late, 'admin', byGroup);
    const data = { expiresAt: new Date(Date.now() - 1000) };
    await prismaOf(services.database).groupMember.updateMany({ where: { userId: byGroup.id }, data });
    await expect(calls.accept(late, invitation)).rejects.toMatchObject({ code: 'conflict' });
  });

  test('is refused after it has expired, and another can be sent', async () => {
    const { stranger } = world;
    const invitation = await calls.invite('membership', stranger, 'viewer');
    await calls.expire(invitation);
    expect(await calls.own(stranger)).toEqual([]);
    expect(await calls.listed()).toEqual([]);
    await expect(calls.accept(stranger, invitation)).rejects.toMatchObject({
      code: 'conflict',
      detail: expect.stringContaining('expired'),
    });
    const next = await calls.invite('membership', stranger, 'viewer');
    expect(next.id).not.toBe(invitation.id);
    await calls.accept(stranger, next);
  });

  test('leaves the role of a user who became a member meanwhile', async () => {
    const { stranger } = world;
    const invitation = await calls.invite('membership', stranger, 'viewer');
    const data = { organizationId: world.organization.id, userId: stranger.id, role: 'owner' as const };
    await prismaOf(services.database).membership.create({ data });
    await expect(calls.accept(stranger, invitation)).rejects.toMatchObject({
      code: 'conflict',
      detail: expect.stringContaining('already'),
    });
    expect(await prismaOf(services.database).membership.findFirst({ where: { userId: stranger.id } })).toMatchObject(
      data,
    );
  });
});

describe('consent with a token that another user created', () => {
  /** A user whose first token an instance admin created; the caller with it. */
  async function createdBy(
    root: TestUser,
  ): Promise<{ readonly id: string; readonly email: string; readonly caller: Caller }> {
    const { user, token } = await userCalls(services, root.caller).create({ email: `${randomUUID()}@example.test` });
    return { ...user, caller: await authenticated(services, token) };
  }

  test('counts if that user is an instance admin, and is audited with the creator', async () => {
    const root = await createUser(services, { instanceAdmin: true });
    const user = await createdBy(root);
    await calls.accept(user, await calls.invite('membership', user, 'viewer'));
    expect(await calls.audited('invitation.accept')).toMatchObject({
      credentialCreator: { id: root.id, derived: false },
    });
  });

  test('does not count if that user is none any more, to accept or to decline', async () => {
    const root = await createUser(services, { instanceAdmin: true });
    const user = await createdBy(root);
    const access = await services.access.person(user.caller, 'personal_token.create');
    const derived = await authenticated(
      services,
      (await services.personalTokens.create(access, { name: 'own' })).token,
    );
    await prismaOf(services.database).user.update({ where: { id: root.id }, data: { instanceAdmin: false } });
    const invitation = await calls.invite('membership', user, 'viewer');
    for (const answer of ['accept', 'decline'] as const) {
      for (const caller of [user.caller, derived]) {
        await expect(calls[answer]({ caller }, invitation)).rejects.toMatchObject({
          code: 'forbidden',
          detail: expect.stringContaining('ask an instance admin'),
        });
      }
    }
    expect(await calls.outcomes(user)).toEqual([null]);
  });

  test('counts for tokens of the server, and for those whose creator is unknown', async () => {
    const prisma = prismaOf(services.database);
    const system = { createdByType: 'system', createdById: randomUUID(), createdByName: 'keyframe' } as const;
    const unknown = { createdByType: null, createdById: null, createdByName: null };
    for (const data of [system, unknown]) {
      const user = await createUser(services);
      await prisma.personalToken.updateMany({ where: { userId: user.id }, data });
      const caller = await authenticated(services, user.token);
      await calls.accept({ caller }, await calls.invite('membership', user, 'viewer'));
      expect(await read(user.caller)).toBe('done');
    }
  });
});

test('a membership that another change gave at once ends the invitation to it', async () => {
  const { stranger } = world;
  const root = await createUser(services, { instanceAdmin: true });
  const invitation = await calls.invite('membership', stranger, 'viewer');
  await prismaOf(services.database).membership.deleteMany({ where: { organizationId: world.organization.id } });
  const access = await services.access.instance(root.caller, 'organization.appoint_owner');
  await services.members.appointOwner(access, { organization: world.slugs.organization }, { id: stranger.id });
  await expect(calls.accept(stranger, invitation)).rejects.toMatchObject({ code: 'conflict' });
});
