import { randomUUID } from 'node:crypto';
import { describe, expect, test } from '@jest/globals';
import { limits } from '../../../src/domain/limits.ts';
import type { Caller } from '../../../src/domain/principal.ts';
import type { InvitationRecord } from '../../../src/services/people/invitations.ts';
import { InvitationCalls } from '../../support/api/invitation-calls.ts';
import { outcomeOf } from '../../support/api/outcome.ts';
import { RoleCalls } from '../../support/api/role-calls.ts';
import { secretCalls } from '../../support/api/secret-calls.ts';
import { createUser, createWorld, type TestServices, type TestUser, type World } from '../../support/api/services.ts';
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

describe('an invitation ends without a role', () => {
  const ends: Readonly<Record<string, (invitation: InvitationRecord, user: TestUser) => Promise<unknown>>> = {
    'when the user declines': (invitation, user) => calls.decline(user, invitation),
    'when an admin withdraws it': (invitation) => calls.withdraw(world.admin, invitation),
    'when the user is removed from the organization': async (_invitation, { id }) =>
      services.members.remove(await world.onOrganization(world.admin.caller, 'member.remove'), { id }),
    'when the role is withdrawn': (_invitation, { id }) => roles.remove('environment', world.admin.caller, { id }),
    'when the user is disabled': async (_invitation, { id }) => {
      const root = await createUser(services, { instanceAdmin: true });
      await userCalls(services, root.caller).update(id, { disabled: true });
      await userCalls(services, root.caller).update(id, { disabled: false });
    },
    'when its place is deleted': async () => {
      await services.environments.delete(await world.onEnvironment(world.admin.caller, 'environment.delete'));
      await services.environments.undelete(await world.onEnvironment(world.admin.caller, 'environment.undelete'));
    },
    'when the project above is deleted': async () => {
      await services.projects.delete(await world.onProject(world.admin.caller, 'project.delete'));
      await services.projects.undelete(await world.onProject(world.admin.caller, 'project.undelete'));
    },
  };

  test.each(Object.entries(ends))('%s', async (_name, end) => {
    const user = await createUser(services);
    const invitation = await calls.invite('environment', user, 'viewer');
    await end(invitation, user);
    expect(await calls.own(user)).toEqual([]);
    expect(await calls.listed()).toEqual([]);
    await expect(calls.accept(user, invitation)).rejects.toMatchObject({ code: 'conflict' });
    expect(await read(user.caller)).toBe('not_found');
  });

  test('and a second end is none', async () => {
    const { stranger, admin } = world;
    const first = await calls.invite('membership', stranger, 'viewer');
    await calls.decline(stranger, first);
    await calls.decline(stranger, first);
    await expect(calls.withdraw(admin, first)).rejects.toMatchObject({ code: 'not_found' });
    const second = await calls.invite('membership', stranger, 'viewer');
    await calls.withdraw(admin, second);
    await expect(calls.decline(stranger, second)).rejects.toMatchObject({ code: 'conflict' });
    expect(await calls.outcomes(stranger)).toEqual(['declined', 'withdrawn']);
  });

  test('and is refused in a deleted place, even if the deletion did not end it', async () => {
    const { stranger } = world;
    const invitation = await calls.invite('environment', stranger, 'viewer');
    const data = { deletedAt: new Date() };
    await prismaOf(services.database).project.update({ where: { id: world.project.id }, data });
    expect(await calls.own(stranger)).toEqual([]);
    await expect(calls.accept(stranger, invitation)).rejects.toMatchObject({
      code: 'conflict',
      detail: expect.stringContaining('is deleted'),
    });
  });

  test('and is gone with the purge of its place', async () => {
    const invitation = await calls.invite('environment', world.stranger, 'viewer');
    await services.environments.delete(await world.onEnvironment(world.admin.caller, 'environment.delete'));
    await services.environments.purge(
      await services.access.instance(world.owner.caller, 'environment.purge'),
      world.slugs,
    );
    await expect(calls.accept(world.stranger, invitation)).rejects.toMatchObject({ code: 'not_found' });
  });
});

describe('the invitations of an organization', () => {
  test('are listed to admins and withdrawn by them alone', async () => {
    const { stranger, developer, viewer, admin } = world;
    const invitation = await calls.invite('project', stranger, 'viewer');
    expect(await calls.listed()).toEqual([invitation]);
    for (const { caller } of [developer, viewer, await roles.user('project', 'admin')]) {
      await expect(world.onOrganization(caller, 'invitation.list')).rejects.toMatchObject({ code: 'forbidden' });
      await expect(world.onOrganization(caller, 'invitation.withdraw')).rejects.toMatchObject({ code: 'forbidden' });
    }
    const other = await createWorld(services);
    const access = await other.onOrganization(other.owner.caller, 'invitation.withdraw');
    await expect(services.invitations.withdraw(access, invitation.id)).rejects.toMatchObject({ code: 'not_found' });
    await calls.withdraw(admin, invitation);
    expect(await calls.audited('invitation.withdraw')).toMatchObject({
      actorId: admin.id,
      target: { userId: stranger.id },
    });
  });

  test.each([
    ['in the organization', limits.invitationsPerOrganization],
    ['of one user', limits.invitationsPerUser],
    ['of one user in the organization', limits.invitationsPerUserAndOrganization],
  ] as const)('wait in a limited number %s', async (which, limit) => {
    const { stranger } = world;
    const place = which === 'of one user' ? await createWorld(services) : world;
    const prisma = prismaOf(services.database);
    const ids = Array.from({ length: limit - 1 }, () => randomUUID());
    if (which === 'in the organization') {
      await prisma.user.createMany({ data: ids.map((id) => ({ id, email: `${id}@example.test` })) });
    } else {
      const organizationId = place.organization.id;
      const data = ids.map((id) => ({ id, organizationId, slug: id, displayName: 'One of many' }));
      await prisma.project.createMany({ data });
    }
    const common = { organizationId: place.organization.id, role: 'viewer', invitedBy: place.admin.id } as const;
    const expiresAt = new Date(Date.now() + 3_600_000);
    const data = ids.map((id) => ({
      id: randomUUID(),
      ...common,
      expiresAt,
      ...(which === 'in the organization' ? { userId: id } : { userId: stranger.id, projectId: id }),
    }));
    await prisma.invitation.createMany({ data });
    const last = await calls.invite('environment', stranger, 'viewer');
    await expect(calls.invite('membership', stranger, 'viewer')).rejects.toMatchObject({ code: 'quota_exceeded' });
    // An equal one adds none.
    expect(await calls.invite('environment', stranger, 'viewer')).toEqual(last);
    await calls.decline(stranger, last);
    await calls.invite('membership', stranger, 'viewer');
  });

  test('are kept for a while after their end, and dropped with a later one', async () => {
    const { stranger, viewer } = world;
    const old = await calls.invite('membership', stranger, 'viewer');
    await calls.decline(stranger, old);
    const kept = await calls.invite('project', stranger, 'viewer');
    await calls.decline(stranger, kept);
    const prisma = prismaOf(services.database);
    const endedAt = new Date(Date.now() - 31 * 86_400_000);
    await prisma.invitation.update({ where: { id: old.id }, data: { endedAt } });
    await prismaOf(services.database).membership.deleteMany({ where: { userId: viewer.id } });
    await calls.invite('environment', viewer, 'viewer');
    const left = await prisma.invitation.findMany({ where: { userId: stranger.id } });
    expect(left.map(({ id }) => id)).toEqual([kept.id]);
  });
});
