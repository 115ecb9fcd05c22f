import { describe, expect, test } from '@jest/globals';
import type { InvitationRecord } from '../../../src/services/people/invitations.ts';
import { InvitationCalls } from '../../support/api/invitation-calls.ts';
import { outcomeOf } from '../../support/api/outcome.ts';
import { RoleCalls } from '../../support/api/role-calls.ts';
import { createUser, enrol, type TestServices, type TestUser, type World } from '../../support/api/services.ts';
import { userCalls } from '../../support/api/user-calls.ts';
import { withWorlds } from '../../support/api/with-services.ts';
import { deadlocksOf } from '../../support/database/deadlocks.ts';
import { LockSession } from '../../support/database/locks.ts';
import type { TestDatabase } from '../../support/database/postgres.ts';
import { prismaOf } from '../../support/database/prisma.ts';

let database: TestDatabase;
let services: TestServices;
let world: World;
let calls: InvitationCalls;

withWorlds(
  (given) => {
    ({ database, services, world } = given);
    calls = new InvitationCalls(services, world);
  },
  { poolSize: 20 },
);

const rounds = process.env['KEYFRAME_TEST_SCALE'] === 'full' ? 60 : 9;
const levels = ['membership', 'project', 'environment'] as const;
type Level = (typeof levels)[number];

/** An invitation of a new user by a new admin. */
interface Scene {
  readonly level: Level;
  readonly user: TestUser;
  readonly inviter: TestUser;
  readonly invitation: InvitationRecord;
}

async function scene(level: Level): Promise<Scene> {
  const [user, inviter] = [await createUser(services), await createUser(services)];
  await enrol(services, world.owner, inviter, { organization: world.slugs.organization, role: 'admin' });
  return { level, user, inviter, invitation: await calls.invite(level, user, 'admin', inviter) };
}

async function setMember(id: string, role: 'developer' | 'admin'): Promise<unknown> {
  return services.members.set(await world.onOrganization(world.owner.caller, 'member.set'), { id }, { role });
}

async function removeMember(id: string): Promise<void> {
  await services.members.remove(await world.onOrganization(world.owner.caller, 'member.remove'), { id });
}

async function disable(id: string): Promise<void> {
  await userCalls(services, world.owner.caller).update(id, { disabled: true });
}

async function deletePlace(level: Level): Promise<void> {
  const { caller } = world.owner;
  if (level === 'environment') {
    await services.environments.delete(await world.onEnvironment(caller, 'environment.delete'));
  } else await services.projects.delete(await world.onProject(caller, 'project.delete'));
}

/** What competes with an acceptance; `ends`: an acceptance that was done before it leaves no role. */
const rivals = {
  withdraw: ({ invitation }: Scene) => calls.withdraw(world.owner, invitation),
  decline: ({ user, invitation }: Scene) => calls.decline(user, invitation),
  'remove the user': ({ user }: Scene) => removeMember(user.id),
  'disable the user': ({ user }: Scene) => disable(user.id),
  'demote the inviter': ({ inviter }: Scene) => setMember(inviter.id, 'developer'),
  'remove the inviter': ({ inviter }: Scene) => removeMember(inviter.id),
  'disable the inviter': ({ inviter }: Scene) => disable(inviter.id),
  'invite again': ({ level, user, inviter }: Scene) => calls.give(level, user, 'viewer', inviter),
};
type Rival = keyof typeof rivals;

/** Starts calls at nearly the same time. */
async function atOnce(works: readonly (() => Promise<unknown>)[]): Promise<string[]> {
  return Promise.all(
    works.map(async (work) => {
      await new Promise((resolve) => setTimeout(resolve, Math.random() * 8));
      return outcomeOf(work());
    }),
  );
}

/** The role that a user has at the place of an invitation, deleted or not. */
async function roleOf({ level, user }: Scene): Promise<string | undefined> {
  const prisma = prismaOf(services.database);
  const where = { organizationId: world.organization.id, userId: user.id };
  if (level === 'membership') return (await prisma.membership.findFirst({ where }))?.role;
  const place = level === 'project' ? { environmentId: null } : { environmentId: world.environment.id };
  return (await prisma.roleBinding.findFirst({ where: { ...where, ...place } }))?.role;
}

const isWaiting = async ({ user }: Scene): Promise<boolean> =>
  (await prismaOf(services.database).invitation.count({ where: { userId: user.id, outcome: null } })) > 0;

/** The position in the audit of the organization of the last change of this action that was made. */
async function positionOf(action: string, userId: string): Promise<bigint> {
  const where = { action, outcome: 'success', target: { path: ['userId'], equals: userId } };
  const entry = await prismaOf(services.database).auditEntry.findFirst({ where, orderBy: { id: 'desc' } });
  if (entry === null) throw new Error(`${action} is not audited`);
  return entry.id;
}

describe('of an acceptance and another change at once, the later one sees the earlier:', () => {
  /** Those that end an invitation and not a role: exactly one of both is done. */
  const exclusive: ReadonlySet<Rival> = new Set(['withdraw', 'decline']);
  /** Those after which the inviter may not give the role: by the action in the audit. */
  const disqualifying: ReadonlyMap<Rival, string> = new Map([
    ['demote the inviter', 'member.set'],
    ['remove the inviter', 'member.remove'],
  ] as const);

  const ending: readonly Rival[] = ['remove the user', 'disable the user', 'withdraw', 'decline'];

  function roleAfter(rival: Rival, isAccepted: boolean): string | undefined {
    if (rival === 'remove the user' || !isAccepted) return undefined;
    return rival === 'invite again' ? 'viewer' : 'admin';
  }

  /** Whether the acceptance came before the change that would have refused it, by the audit. */
  async function isInOrder(rival: Rival, it: Scene): Promise<boolean> {
    const action = disqualifying.get(rival);
    if (action === undefined) return true;
    return (await positionOf('invitation.accept', it.user.id)) < (await positionOf(action, it.inviter.id));
  }

  /** What is not as it must be after both. */
  async function faultsOf(rival: Rival, it: Scene, [accepted = '', other = '']: readonly string[]): Promise<string[]> {
    const [isAccepted, isOther] = [accepted === 'done', other === 'done'];
    const faults = {
      'the acceptance failed in another way': !['done', 'conflict', 'unauthenticated'].includes(accepted),
      'both or none were done': exclusive.has(rival) ? isAccepted === isOther : !isOther,
      'another role': (await roleOf(it)) !== roleAfter(rival, isAccepted),
      'accepted too late': isAccepted && !(await isInOrder(rival, it)),
      'still waits': ending.includes(rival) && (await isWaiting(it)),
    };
    return Object.entries(faults).flatMap(([fault, isTrue]) => (isTrue ? [`${fault}: ${accepted}, ${other}`] : []));
  }

  test.each(Object.keys(rivals) as Rival[])('%s', async (rival) => {
    const before = await deadlocksOf(services.database);
    for (let round = 0; round < rounds; round += 1) {
      const it = await scene(levels[round % levels.length] ?? 'membership');
      const works = [() => calls.accept(it.user, it.invitation), () => rivals[rival](it)];
      expect(await faultsOf(rival, it, await atOnce(works))).toEqual([]);
    }
    expect(await deadlocksOf(services.database)).toEqual(before);
  });

  test.each(['project', 'environment'] as const)('delete the %s', async (level) => {
    const it = await scene('environment');
    const session = await LockSession.begin(database.url);
    await session.run('SELECT FROM environment WHERE id = $1 FOR UPDATE', [world.environment.id]);
    const deleted = outcomeOf(deletePlace(level));
    await session.waitForBlocked(1);
    const accepted = outcomeOf(calls.accept(it.user, it.invitation));
    await session.waitForBlocked(2);
    await session.commit();
    expect([await deleted, await accepted]).toEqual(['done', 'conflict']);
    expect(await roleOf(it)).toBeUndefined();
  });
});

test.each(levels)('an inviter who is demoted first gives no role in a %s', async (level) => {
  const it = await scene(level);
  const session = await LockSession.begin(database.url);
  await session.run('SELECT FROM organization WHERE id = $1 FOR UPDATE', [world.organization.id]);
  const demoted = outcomeOf(setMember(it.inviter.id, 'developer'));
  await session.waitForBlocked(1);
  const accepted = outcomeOf(calls.accept(it.user, it.invitation));
  await session.waitForBlocked(2);
  await session.commit();
  expect([await demoted, await accepted]).toEqual(['done', 'conflict']);
  expect(await roleOf(it)).toBeUndefined();
});

test('an acceptance waits for a change of the user who invited', async () => {
  const it = await scene('environment');
  const session = await LockSession.begin(database.url);
  await session.run('UPDATE app_user SET disabled_at = now() WHERE id = $1', [it.inviter.id]);
  const accepted = outcomeOf(calls.accept(it.user, it.invitation));
  await session.waitForBlocked(1);
  await session.commit();
  expect(await accepted).toBe('conflict');
});

test('a user who leaves while another role is given to them is invited to it', async () => {
  const { viewer } = world;
  const roles = new RoleCalls(services, world);
  const session = await LockSession.begin(database.url);
  await session.run('SELECT FROM organization WHERE id = $1 FOR UPDATE', [world.organization.id]);
  const left = outcomeOf(removeMember(viewer.id));
  await session.waitForBlocked(1);
  const given = roles.set('environment', world.admin.caller, { id: viewer.id }, 'admin');
  await session.waitForBlocked(2);
  await session.commit();
  expect(await left).toBe('done');
  expect(await given).toHaveProperty('invitation');
  expect(await prismaOf(services.database).roleBinding.count({ where: { userId: viewer.id } })).toBe(0);
});

test('many changes at once never deadlock, and no user has a role that they did not accept', async () => {
  const before = await deadlocksOf(services.database);
  for (let round = 0; round < rounds; round += 1) {
    const [first, second] = [await scene('environment'), await scene('project')];
    const member = await scene('membership');
    const all = [first, second, member];
    const works = all.flatMap((it, index) => [
      () => calls.accept(it.user, it.invitation),
      () =>
        rivals[(['demote the inviter', 'withdraw', 'remove the user'] as const)[(index + round) % 3] ?? 'decline'](it),
      () =>
        rivals[(['invite again', 'disable the user', 'remove the inviter'] as const)[(index + round) % 3] ?? 'decline'](
          it,
        ),
    ]);
    const outcomes = await atOnce(works);
    for (const outcome of outcomes) {
      expect(['done', 'conflict', 'not_found', 'forbidden', 'unauthenticated']).toContain(outcome);
    }
    const refused = all.filter((_scene, index) => outcomes[index * 3] !== 'done');
    expect(await Promise.all(refused.map(roleOf))).toEqual(refused.map(() => undefined));
  }
  expect(await deadlocksOf(services.database)).toEqual(before);
});
