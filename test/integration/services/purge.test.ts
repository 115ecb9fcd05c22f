import { randomUUID } from 'node:crypto';
import { describe, expect, test } from '@jest/globals';
import type { Caller } from '../../../src/domain/principal.ts';
import { fillEnvironment } from '../../support/database/bulk-history.ts';
import { LockSession } from '../../support/database/locks.ts';
import type { TestDatabase } from '../../support/database/postgres.ts';
import { secretCalls } from '../../support/api/secret-calls.ts';
import { createUser, createWorld, type TestServices, type World } from '../../support/api/services.ts';
import { type Level, levels, TenantCalls } from '../../support/api/tenant-calls.ts';
import { withWorlds } from '../../support/api/with-services.ts';
import { prismaOf } from '../../support/database/prisma.ts';

let database: TestDatabase;
let services: TestServices;
let world: World;

withWorlds((given) => ({ database, services, world } = given));

async function remove(level: Level): Promise<void> {
  await new TenantCalls(services, world).remove(level);
}

async function purge(level: Level, caller?: Caller, slugs?: World['slugs']): Promise<void> {
  await new TenantCalls(services, world).purge(level, caller, slugs);
}

async function create(level: Level): Promise<{ readonly id: string }> {
  const { caller } = world.owner;
  const slug = world.slugs[level];
  if (level === 'organization') {
    return services.organizations.create(await services.access.instance(caller, 'organization.create'), { slug });
  }
  if (level === 'project') {
    return services.projects.create(await world.onOrganization(caller, 'project.create'), { slug });
  }
  return services.environments.create(await world.onProject(caller, 'environment.create'), { slug });
}

/** The tables that a purge must leave alone. */
const kept = new Set(['audit_entry', 'app_user', 'personal_token', 'instance_key', '_prisma_migrations']);

/** How many rows each other table has, whatever tables there are. */
async function rowCounts(): Promise<Record<string, number>> {
  const { pool } = services.database;
  const { rows } = await pool.query<{ name: string }>(
    `SELECT table_name AS name FROM information_schema.tables WHERE table_schema = 'public' ORDER BY 1`,
  );
  const counts: Record<string, number> = {};
  for (const { name } of rows.filter((row) => !kept.has(row.name))) {
    const counted = await pool.query<{ count: number }>(`SELECT count(*)::int AS count FROM "${name}"`);
    counts[name] = counted.rows[0]?.count ?? -1;
  }
  return counts;
}

/** Something of everything in the environment: deleted keys, a rollback, snapshots, tokens of each scope. */
async function fill(amounts = { secrets: 20, versions: 3, snapshots: 3, serviceTokens: 5 }): Promise<void> {
  const calls = secretCalls(services, world, world.owner.caller);
  await calls.patch({ A: '1', B: '2' });
  await calls.rollback('A', { targetVersion: 1 });
  await calls.remove('B');
  await fillEnvironment(services.database.pool, world.environment.id, amounts);
  await world.serviceToken();
  await world.serviceToken({ scope: 'project', projectId: world.project.id });
  await world.serviceToken({ scope: 'organization' });
}

/** What of a filled world lies above each level or is tied to what does: a project's data keys are the project's. */
const aboveProject = { organization: 1, membership: 4, invitation: 3, service_token: 1, service_token_credential: 1 };
const staying: Record<Level, Readonly<Record<string, number>>> = {
  organization: {},
  project: aboveProject,
  environment: { ...aboveProject, project: 1, data_key: 1, service_token: 2, service_token_credential: 2 },
};

describe.each(levels)('purging one (%s)', (level) => {
  test('removes every row of it and of what is beneath it, and no other', async () => {
    const neighbour = await createWorld(services);
    await secretCalls(services, neighbour, neighbour.owner.caller).put('KEY', 'stays');
    const before = await rowCounts();
    world = await createWorld(services);
    await fill();
    const filled = await rowCounts();
    for (const table of ['secret', 'secret_version', 'secret_change', 'snapshot', 'snapshot_entry', 'service_token']) {
      expect([table, filled[table]]).not.toEqual([table, before[table]]);
    }
    await remove(level);
    await purge(level);
    const left: Record<string, number> = { ...before };
    for (const [table, rows] of Object.entries(staying[level])) left[table] = (left[table] ?? 0) + rows;
    expect(await rowCounts()).toEqual(left);
    expect(await secretCalls(services, neighbour, neighbour.owner.caller).readOne('KEY')).toBe('stays');
  });

  test('frees the slug, keeps the audit and is audited in the chain of the organization', async () => {
    await fill();
    const prisma = prismaOf(services.database);
    const where = { organizationId: world.organization.id };
    await remove(level);
    const audited = await prisma.auditEntry.findMany({ where, orderBy: { id: 'asc' } });
    await purge(level);
    const after = await prisma.auditEntry.findMany({ where, orderBy: { id: 'asc' } });
    expect(after.slice(0, -1)).toEqual(audited);
    expect(after.at(-1)).toMatchObject({
      action: `${level}.purge`,
      actorId: world.owner.id,
      outcome: 'success',
      target: { [level]: world.slugs[level] },
    });
    const again = await create(level);
    expect(again.id).not.toBe(world[level].id);
  });

  test('is refused for what is not deleted, saying so, and changes nothing', async () => {
    await fill();
    const before = await rowCounts();
    const refused = { code: 'conflict', detail: expect.stringContaining('delete it first') };
    await expect(purge(level)).rejects.toMatchObject(refused);
    expect(await rowCounts()).toEqual(before);
  });

  test('is for instance admins alone', async () => {
    await remove(level);
    const machine = await createWorld(services).then((other) => other.serviceToken({ scope: 'organization' }));
    for (const { caller } of [world.admin, world.viewer, world.stranger, machine]) {
      await expect(purge(level, caller)).rejects.toMatchObject({ code: 'forbidden' });
    }
    const admin = await createUser(services, { instanceAdmin: true });
    await purge(level, admin.caller);
  });

  test('finds nothing where nothing is, or is no more', async () => {
    const nowhere = { ...world.slugs, [level]: `no-${randomUUID().slice(0, 8)}` };
    await expect(purge(level, world.owner.caller, nowhere)).rejects.toMatchObject({ code: 'not_found' });
    await remove(level);
    const attempts = await Promise.allSettled([purge(level), purge(level)]);
    expect(attempts.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected']);
    expect(attempts).toContainEqual(
      expect.objectContaining({ reason: expect.objectContaining({ code: 'not_found' }) }),
    );
    await expect(purge(level, world.owner.caller, { ...world.slugs, [level]: 'No slug' })).rejects.toMatchObject({
      code: 'invalid_input',
      fields: [{ field: level }],
    });
  });

  test('is undone when its admin is one no more before it is done', async () => {
    await remove(level);
    const admin = await createUser(services, { instanceAdmin: true });
    const before = await rowCounts();
    const session = await LockSession.begin(database.url);
    await session.run(`SELECT FROM ${level} WHERE id = $1 FOR UPDATE`, [world[level].id]);
    const purging = Promise.allSettled([purge(level, admin.caller)]);
    await session.waitForBlocked(1);
    await session.run('UPDATE app_user SET instance_admin = false WHERE id = $1', [admin.id]);
    await session.commit();
    expect(await purging).toMatchObject([{ status: 'rejected', reason: { code: 'forbidden' } }]);
    expect(await rowCounts()).toEqual(before);
  });
});

describe('purging in a tree that is deleted in part', () => {
  test('takes a deleted environment out of a project and an organization that are deleted too', async () => {
    for (const level of ['environment', 'project', 'organization'] as const) await remove(level);
    for (const level of ['environment', 'project', 'organization'] as const) await purge(level);
    const prisma = prismaOf(services.database);
    expect(await prisma.organization.count({ where: { id: world.organization.id } })).toBe(0);
  });

  test('names what is deleted above something that is not deleted itself', async () => {
    await remove('project');
    await expect(purge('environment')).rejects.toMatchObject({
      code: 'conflict',
      detail: expect.stringContaining('project web above it is; purge that'),
    });
    await remove('organization');
    await expect(purge('environment')).rejects.toMatchObject({
      code: 'conflict',
      detail: expect.stringContaining(`organization ${world.slugs.organization} above it is; purge that`),
    });
  });

  test('leaves a project without its purged environment at work, with its keys', async () => {
    const calls = secretCalls(services, world, world.owner.caller);
    await calls.put('KEY', 'gone');
    await remove('environment');
    await purge('environment');
    await create('environment');
    await calls.put('KEY', 'new');
    expect(await calls.readOne('KEY')).toBe('new');
  });

  test('leaves no data key behind that was made while the project was purged', async () => {
    const access = await world.onEnvironment(world.owner.caller, 'secret.write');
    await remove('project');
    await purge('project');
    const prisma = prismaOf(services.database);
    await expect(services.secrets.patch(access, {})).rejects.toMatchObject({ code: 'not_found' });
    expect(await prisma.dataKey.count({ where: { projectId: world.project.id } })).toBe(0);
  });
});

describe('purging much', () => {
  test('works for thousands of versions, snapshot entries and tokens', async () => {
    await fill({ secrets: 200, versions: 20, snapshots: 20, serviceTokens: 1000 });
    for (const level of ['environment', 'project', 'organization'] as const) {
      await remove(level);
      await purge(level);
    }
    const prisma = prismaOf(services.database);
    expect(await prisma.snapshotEntry.count({ where: { snapshot: { environmentId: world.environment.id } } })).toBe(0);
    expect(await prisma.serviceToken.count({ where: { organizationId: world.organization.id } })).toBe(0);
  });
});
