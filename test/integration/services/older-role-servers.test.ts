import { beforeEach, expect, test } from '@jest/globals';
import { outcomeOf } from '../../support/api/outcome.ts';
import { type BoundUser, RoleCalls } from '../../support/api/role-calls.ts';
import { secretCalls } from '../../support/api/secret-calls.ts';
import type { TestServices, World } from '../../support/api/services.ts';
import { withWorlds } from '../../support/api/with-services.ts';

/**
 * Servers of a release without roles by place, beside this one and after a rollback (docs/upgrade.md). What they run here
 * is the statements of that release.
 */

let services: TestServices;
let world: World;
let bound: BoundUser;

withWorlds((given) => ({ services, world } = given));

beforeEach(async () => {
  bound = await new RoleCalls(services, world).user('project', 'admin');
});

/** The role of a user in the world's environment, as a server of that release finds it; undefined for none. */
async function olderRole(userId: string): Promise<string | undefined> {
  const { rows } = await services.database.pool.query<{ role: string | null }>(
    `SELECT m.role FROM organization o
     JOIN project p ON p.organization_id = o.id AND p.slug = $3 AND p.deleted_at IS NULL
     JOIN environment e ON e.project_id = p.id AND e.slug = $4 AND e.deleted_at IS NULL
     LEFT JOIN membership m ON m.organization_id = o.id AND m.user_id = $1::uuid
     WHERE o.slug = $2 AND o.deleted_at IS NULL`,
    [userId, world.slugs.organization, world.slugs.project, world.slugs.environment],
  );
  return rows[0]?.role ?? undefined;
}

const write = (caller: BoundUser['caller']): Promise<string> =>
  outcomeOf(secretCalls(services, world, caller).put('KEY', 'value'));

test('give members the same access, and users with roles by place alone none', async () => {
  for (const [user, role] of [
    [world.owner, 'owner'],
    [world.admin, 'admin'],
    [world.developer, 'developer'],
    [world.viewer, 'viewer'],
    [bound, undefined],
    [world.stranger, undefined],
  ] as const) {
    expect(await olderRole(user.id)).toBe(role);
  }
  // A higher role by place gives a member no more there than before.
  await new RoleCalls(services, world).set('environment', world.owner.caller, { id: world.viewer.id }, 'admin');
  expect(await olderRole(world.viewer.id)).toBe('viewer');
  expect(await write(world.viewer.caller)).toBe('done');
});

test('leave the roles by place of a member whom they remove, which this release counts and lists', async () => {
  const { id, caller } = world.developer;
  await new RoleCalls(services, world).set('environment', world.owner.caller, { id }, 'viewer');
  await services.database.pool.query('DELETE FROM membership WHERE organization_id = $1 AND user_id = $2', [
    world.organization.id,
    id,
  ]);
  expect(await olderRole(id)).toBeUndefined();
  expect(await write(caller)).toBe('forbidden');
  expect(await outcomeOf(secretCalls(services, world, caller).read())).toBe('done');
  const access = await world.onOrganization(world.admin.caller, 'organization.list_roles');
  const { bindings } = await services.roleBindings.list(access);
  expect(bindings.map(({ userId }) => userId)).toContain(id);
});

test('create environments that are not protected, and rename protected ones without ending that', async () => {
  const { pool } = services.database;
  const made = await pool.query<{ id: string }>(
    `INSERT INTO environment (id, project_id, slug, display_name, revision_id)
     VALUES (gen_random_uuid(), $1, 'older', 'Older', gen_random_uuid()) RETURNING id`,
    [world.project.id],
  );
  const slugs = { ...world.slugs, environment: 'older' };
  const access = await services.access.environment(world.owner.caller, 'environment.update', slugs);
  const { environment } = await services.environments.update(access, { isProtected: true });
  expect(environment).toMatchObject({ id: made.rows[0]?.id, isProtected: true });
  await pool.query("UPDATE environment SET display_name = 'Renamed' WHERE id = $1", [environment.id]);
  const read = await services.access.environment(world.developer.caller, 'environment.read', slugs);
  expect(await services.environments.get(read)).toMatchObject({ displayName: 'Renamed', isProtected: true });
});
