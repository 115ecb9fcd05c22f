import { beforeEach, describe, expect, test } from '@jest/globals';
import type { Caller } from '../../../src/domain/principal.ts';
import { deadlocksOf } from '../../support/database/deadlocks.ts';
import { LockSession } from '../../support/database/locks.ts';
import type { TestDatabase } from '../../support/database/postgres.ts';
import { type BoundUser, RoleCalls } from '../../support/api/role-calls.ts';
import { secretCalls } from '../../support/api/secret-calls.ts';
import { accept, createUser, type TestServices, type World } from '../../support/api/services.ts';
import { outcomeOf } from '../../support/api/outcome.ts';
import { withWorlds } from '../../support/api/with-services.ts';
import { prismaOf } from '../../support/database/prisma.ts';

let database: TestDatabase;
let services: TestServices;
let world: World;
let roles: RoleCalls;

withWorlds((given) => ({ database, services, world } = given), { poolSize: 20 });

beforeEach(() => {
  roles = new RoleCalls(services, world);
});

const write = (caller: Caller): Promise<unknown> => secretCalls(services, world, caller).put('KEY', 'value');

/** A second environment of the world's project, with access for actions on it. */
async function sibling(): Promise<{ readonly slugs: World['slugs'] }> {
  const slug = 'sibling';
  await services.environments.create(await world.onProject(world.owner.caller, 'environment.create'), { slug });
  return { slugs: { ...world.slugs, environment: slug } };
}

describe('a role by place', () => {
  test('counts at its place and beneath it, and nowhere else', async () => {
    const { slugs } = await sibling();
    const inProject = await roles.user('project', 'developer');
    const inEnvironment = await roles.user('environment', 'developer');
    const read = (caller: Caller, at: World['slugs']): Promise<unknown> =>
      services.access.environment(caller, 'secret.read', at);
    expect(await outcomeOf(write(inProject.caller))).toBe('done');
    expect(await outcomeOf(read(inProject.caller, slugs))).toBe('done');
    expect(await outcomeOf(write(inEnvironment.caller))).toBe('done');
    expect(await outcomeOf(read(inEnvironment.caller, slugs))).toBe('not_found');
    expect(await outcomeOf(world.onProject(inEnvironment.caller, 'environment.create'))).toBe('forbidden');
    expect(await outcomeOf(world.onOrganization(inProject.caller, 'project.create'))).toBe('forbidden');
    expect(await outcomeOf(world.onOrganization(inProject.caller, 'member.list'))).toBe('forbidden');
  });

  test('counts in no other project of the organization', async () => {
    await services.projects.create(await world.onOrganization(world.owner.caller, 'project.create'), { slug: 'other' });
    const there = { organization: world.slugs.organization, project: 'other' };
    await services.environments.create(await services.access.project(world.owner.caller, 'environment.create', there), {
      slug: world.slugs.environment,
    });
    for (const level of ['project', 'environment'] as const) {
      const { caller } = await roles.user(level, 'admin');
      expect(await outcomeOf(services.access.project(caller, 'project.read', there))).toBe('not_found');
      expect(await outcomeOf(services.access.environment(caller, 'secret.read', { ...world.slugs, ...there }))).toBe(
        'not_found',
      );
    }
  });

  test('is found with one statement, also among ten thousand others', async () => {
    const { pool } = services.database;
    const { caller, id } = await roles.user('environment', 'developer');
    await pool.query(
      `WITH users AS (
         INSERT INTO app_user (id, email) SELECT gen_random_uuid(), 'crowd-' || n || '@example.com'
         FROM generate_series(1, 5000) n RETURNING id
       ), subjects AS (
         SELECT id AS user_id, NULL AS group_name FROM users
         UNION ALL SELECT NULL, 'crowd-' || n FROM generate_series(1, 5000) n
       )
       INSERT INTO role_binding (id, organization_id, project_id, user_id, group_name, role)
       SELECT gen_random_uuid(), b.organization_id, b.project_id, s.user_id, s.group_name, 'viewer'::role
       FROM subjects s, role_binding b WHERE b.user_id = $1`,
      [id],
    );
    await pool.query(
      `INSERT INTO group_member (user_id, group_name, expires_at)
       SELECT $1, 'crowd-' || n, now() + interval '1 day' FROM generate_series(1, 50) n`,
      [id],
    );
    let statements = 0;
    const count = (): void => void (statements += 1);
    pool.on('acquire', count);
    const access = await services.access.environment(caller, 'secret.write', world.slugs);
    pool.off('acquire', count);
    expect([access.environmentId, statements]).toEqual([world.environment.id, 1]);
  });

  test('shows the way to it, without what lies beside it', async () => {
    await sibling();
    await services.projects.create(await world.onOrganization(world.owner.caller, 'project.create'), { slug: 'other' });
    const { caller } = await roles.user('environment', 'viewer');
    const organizations = await services.organizations.list(caller);
    expect(organizations.map(({ slug, role }) => [slug, role])).toEqual([[world.slugs.organization, null]]);
    const projects = await services.projects.list(await world.onOrganization(caller, 'project.list'));
    expect(projects.map(({ slug }) => slug)).toEqual([world.slugs.project]);
    const environments = await services.environments.list(await world.onProject(caller, 'environment.list'));
    expect(environments.map(({ slug }) => slug)).toEqual([world.slugs.environment]);
    const all = await services.projects.listWithEnvironments(await world.onOrganization(caller, 'project.list'));
    expect(all).toMatchObject([{ ...projects[0], environments }]);
    expect(all[0]?.environments).toHaveLength(1);
    expect(await services.me.get(caller)).toMatchObject({
      organizations: [],
      rolesByPlace: [{ ...world.slugs, group: null, role: 'viewer' }],
    });
  });

  test('and a membership: the higher of the two counts', async () => {
    const viewer = world.viewer;
    expect(await outcomeOf(write(viewer.caller))).toBe('forbidden');
    await roles.set('environment', world.admin.caller, { id: viewer.id }, 'developer');
    expect(await outcomeOf(write(viewer.caller))).toBe('done');
    await roles.set('environment', world.admin.caller, { id: world.owner.id }, 'viewer');
    expect(await outcomeOf(write(world.owner.caller))).toBe('done');
  });

  test('of a user ends with the membership', async () => {
    const { id, caller } = world.developer;
    await roles.set('project', world.admin.caller, { id }, 'admin');
    await services.members.remove(await world.onOrganization(world.admin.caller, 'member.remove'), { id });
    expect(await outcomeOf(write(caller))).toBe('not_found');
    expect(await prismaOf(services.database).roleBinding.count({ where: { userId: id } })).toBe(0);
  });

  test('of a user who is no member ends as well, also in a place that is deleted', async () => {
    const { id, caller } = await roles.user('environment', 'admin');
    await services.environments.delete(await world.onEnvironment(world.admin.caller, 'environment.delete'));
    const remove = async (): Promise<void> =>
      services.members.remove(await world.onOrganization(world.admin.caller, 'member.remove'), { id });
    await remove();
    expect(await outcomeOf(world.onEnvironment(caller, 'environment.undelete'))).toBe('not_found');
    await services.environments.undelete(await world.onEnvironment(world.admin.caller, 'environment.undelete'));
    expect(await outcomeOf(secretCalls(services, world, caller).read())).toBe('not_found');
    expect(await outcomeOf(remove())).toBe('not_found');
    const audited = await prismaOf(services.database).auditEntry.findFirst({
      where: { action: 'member.remove', outcome: 'success', organizationId: world.organization.id },
    });
    expect(audited).toMatchObject({ target: { userId: id, from: null, rolesByPlace: 1 } });
  });

  test('of a group counts for its users until their sign-in is too old, by the clock of the database', async () => {
    const inTime = await roles.member('organization', 'developer');
    const late = await roles.member('organization', 'developer', new Date(Date.now() - 1000));
    expect(await outcomeOf(write(inTime.caller))).toBe('done');
    expect(await outcomeOf(write(late.caller))).toBe('not_found');
    expect(await services.organizations.list(late.caller)).toEqual([]);
    expect(await services.organizations.list(inTime.caller)).toMatchObject([{ role: 'developer' }]);
  });
});

describe('giving a role by place', () => {
  test('is for admins at the place', async () => {
    const user = await createUser(services);
    const adminThere = await roles.user('project', 'admin');
    const adminBeneath = await roles.user('environment', 'admin');
    const group = { group: 'platform' };
    const ref = { id: user.id };
    const attempts = [
      [world.admin, 'project', ref, 'done'],
      [world.developer, 'project', ref, 'forbidden'],
      [world.stranger, 'project', ref, 'not_found'],
      [adminThere, 'project', ref, 'done'],
      [adminThere, 'environment', ref, 'done'],
      [adminThere, 'organization', group, 'forbidden'],
      [adminBeneath, 'project', ref, 'forbidden'],
      [adminBeneath, 'environment', ref, 'done'],
      [world.admin, 'organization', group, 'done'],
      [world.admin, 'organization', ref, 'invalid_input'],
      [world.admin, 'project', { email: 'none@example.com' }, 'not_found'],
    ] as const;
    for (const [{ caller }, level, subject, outcome] of attempts) {
      expect([level, await outcomeOf(roles.set(level, caller, subject, 'admin'))]).toEqual([level, outcome]);
    }
  });

  test('to oneself or to a group that one is in is refused, unless it lowers the role', async () => {
    const admin = await roles.member('project', 'admin');
    const own = { id: admin.id };
    const group = { group: admin.group };
    expect(await outcomeOf(roles.set('environment', admin.caller, own, 'viewer'))).toBe('forbidden');
    expect(await outcomeOf(roles.set('environment', admin.caller, group, 'viewer'))).toBe('forbidden');
    // The group counts as the caller's own also after the sign-in is too old.
    const { id, caller } = world.admin;
    await roles.join(id, 'former', new Date(Date.now() - 1000));
    expect(await outcomeOf(roles.set('project', caller, { group: 'former' }, 'viewer'))).toBe('forbidden');
    await roles.set('project', world.owner.caller, { id }, 'developer');
    expect(await outcomeOf(roles.set('project', caller, { id }, 'admin'))).toBe('forbidden');
    expect(await outcomeOf(roles.set('project', caller, { id }, 'viewer'))).toBe('done');
    expect(await outcomeOf(roles.set('project', admin.caller, group, 'developer'))).toBe('done');
  });

  test('is stored once for each subject and place, however many ask at once', async () => {
    const user = world.viewer;
    const asked = Array.from({ length: 8 }, () =>
      roles.set('environment', world.admin.caller, { id: user.id }, 'viewer'),
    );
    const made = await Promise.all(asked);
    expect(made.filter((set) => 'isNew' in set && set.isNew)).toHaveLength(1);
    expect(await prismaOf(services.database).roleBinding.count({ where: { userId: user.id } })).toBe(1);
  });
});

describe('withdrawing a role by place', () => {
  test('is for admins, and for users who give up their own', async () => {
    const [first, second] = [await roles.user('environment', 'viewer'), await roles.user('environment', 'viewer')];
    const remove = (by: Caller, { id }: BoundUser): Promise<string> =>
      outcomeOf(roles.remove('environment', by, { id }));
    expect(await remove(first.caller, second)).toBe('forbidden');
    expect(await remove(first.caller, first)).toBe('done');
    expect(await remove(world.admin.caller, second)).toBe('done');
    expect(await remove(world.admin.caller, second)).toBe('not_found');
    expect(await outcomeOf(write(second.caller))).toBe('not_found');
  });

  test('is refused to an admin whose right ends while the request waits', async () => {
    const admin = await roles.user('environment', 'admin');
    const other = await roles.user('environment', 'viewer');
    const session = await LockSession.begin(database.url);
    await session.run('SELECT FROM environment WHERE id = $1 FOR UPDATE', [world.environment.id]);
    const removal = outcomeOf(roles.remove('environment', admin.caller, { id: other.id }));
    await session.waitForBlocked(1);
    await session.run("UPDATE role_binding SET role = 'viewer' WHERE user_id = $1", [admin.id]);
    await session.commit();
    expect(await removal).toBe('forbidden');
  });

  test.each(['project', 'environment'] as const)('ends a write under way of a user in the %s', async (level) => {
    const user = await roles.user(level, 'developer');
    const session = await LockSession.begin(database.url);
    await session.run('DELETE FROM role_binding WHERE user_id = $1', [user.id]);
    const written = outcomeOf(write(user.caller));
    await session.waitForBlocked(1);
    await session.commit();
    expect(await written).toBe('not_found');
  });

  test('in a project waits for its organization before it locks the project', async () => {
    const user = await roles.user('project', 'viewer');
    const organization = await LockSession.begin(database.url);
    await organization.run('SELECT FROM organization WHERE id = $1 FOR NO KEY UPDATE', [world.organization.id]);
    const removal = outcomeOf(roles.remove('project', world.admin.caller, { id: user.id }));
    await organization.waitForBlocked(1);
    const project = await LockSession.begin(database.url);
    await project.run('SELECT FROM project WHERE id = $1 FOR SHARE NOWAIT', [world.project.id]);
    await project.commit();
    await organization.commit();
    expect(await removal).toBe('done');
  });

  test('from a group ends a write under way of its user', async () => {
    const user = await roles.member('organization', 'developer');
    const session = await LockSession.begin(database.url);
    await session.run("UPDATE role_binding SET role = 'viewer' WHERE group_name = $1", [user.group]);
    const written = outcomeOf(write(user.caller));
    await session.waitForBlocked(1);
    await session.commit();
    expect(await written).toBe('forbidden');
  });

  test('that comes from a group counts until its time is over, also for a write under way', async () => {
    const user = await roles.member('environment', 'developer');
    const session = await LockSession.begin(database.url);
    await session.run('SELECT FROM environment WHERE id = $1 FOR UPDATE', [world.environment.id]);
    const written = outcomeOf(write(user.caller));
    await session.waitForBlocked(1);
    await session.run('UPDATE group_member SET expires_at = clock_timestamp() WHERE group_name = $1', [user.group]);
    await session.commit();
    expect(await written).toBe('not_found');
  });

  test('and writes of the same users at once never deadlock', async () => {
    const before = await deadlocksOf(services.database);
    const [inProject, inEnvironment] = [await roles.user('project', 'admin'), await roles.user('environment', 'admin')];
    for (let round = 0; round < 15; round += 1) {
      const outcomes = await Promise.all(
        [
          write(inProject.caller),
          write(inEnvironment.caller),
          roles.set('environment', inProject.caller, { id: inEnvironment.id }, 'developer'),
          roles.remove('environment', world.admin.caller, { id: inEnvironment.id }),
          roles.remove('project', world.admin.caller, { id: inProject.id }),
        ].map(outcomeOf),
      );
      for (const outcome of outcomes) expect(['done', 'not_found', 'forbidden']).toContain(outcome);
      for (const [level, user] of [['project', inProject] as const, ['environment', inEnvironment] as const]) {
        await accept(services, user, await roles.set(level, world.owner.caller, { id: user.id }, 'admin'));
      }
    }
    expect(await deadlocksOf(services.database)).toEqual(before);
  });
});

describe('the list of roles by place', () => {
  test('has those at the place and beneath it, by place and subject, in pages', async () => {
    const inProject = await roles.user('project', 'viewer');
    const inEnvironment = await roles.user('environment', 'developer');
    await roles.set('organization', world.owner.caller, { group: 'platform' }, 'admin');
    const access = await world.onOrganization(world.viewer.caller, 'organization.list_roles');
    const seen = [];
    for (let cursor: string | undefined; ;) {
      const page = await services.roleBindings.list(access, { limit: 1, ...(cursor === undefined ? {} : { cursor }) });
      seen.push(...page.bindings);
      if (page.nextCursor === null) break;
      cursor = page.nextCursor;
    }
    expect(seen).toMatchObject([
      { project: null, environment: null, userId: null, group: 'platform', role: 'admin' },
      { project: world.slugs.project, environment: null, email: inProject.email, group: null, role: 'viewer' },
      { project: world.slugs.project, environment: world.slugs.environment, userId: inEnvironment.id },
    ]);
    const there = await services.roleBindings.list(
      await world.onEnvironment(inEnvironment.caller, 'environment.list_roles'),
    );
    expect(there.bindings.map(({ userId }) => userId)).toEqual([inEnvironment.id]);
  });
});
