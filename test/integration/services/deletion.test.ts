import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { Client } from 'pg';
import type { ChangeEvent } from '../../../src/domain/changes.ts';
import type { Caller } from '../../../src/domain/principal.ts';
import { notifyChannel, parseMessage } from '../../../src/store/notify.ts';
import { LockSession } from '../../support/database/locks.ts';
import type { TestDatabase } from '../../support/database/postgres.ts';
import { secretCalls } from '../../support/api/secret-calls.ts';
import type { TestServices, TestToken, World } from '../../support/api/services.ts';
import { withWorlds } from '../../support/api/with-services.ts';
import { prismaOf } from '../../support/database/prisma.ts';

let database: TestDatabase;
let services: TestServices;
let world: World;

withWorlds((given) => ({ database, services, world } = given));

type Level = 'organization' | 'project' | 'environment';
const levels: readonly Level[] = ['organization', 'project', 'environment'];

async function remove(level: Level, caller: Caller = world.owner.caller): Promise<void> {
  if (level === 'organization') {
    return services.organizations.delete(await world.onOrganization(caller, 'organization.delete'));
  }
  if (level === 'project') return services.projects.delete(await world.onProject(caller, 'project.delete'));
  return services.environments.delete(await world.onEnvironment(caller, 'environment.delete'));
}

async function create(level: Level, slug: string): Promise<unknown> {
  const { caller } = world.owner;
  if (level === 'organization') {
    return services.organizations.create(await services.access.instance(caller, 'organization.create'), { slug });
  }
  if (level === 'project') {
    return services.projects.create(await world.onOrganization(caller, 'project.create'), { slug });
  }
  return services.environments.create(await world.onProject(caller, 'environment.create'), { slug });
}

async function rename(level: Level, displayName: string, caller: Caller = world.owner.caller): Promise<unknown> {
  if (level === 'organization') {
    const access = await world.onOrganization(caller, 'organization.update');
    return services.organizations.update(access, { displayName });
  }
  if (level === 'project') {
    return services.projects.update(await world.onProject(caller, 'project.update'), { displayName });
  }
  const access = await world.onEnvironment(caller, 'environment.update');
  return (await services.environments.update(access, { displayName })).environment;
}

async function read(level: Level, caller: Caller): Promise<unknown> {
  if (level === 'organization') {
    return services.organizations.get(await world.onOrganization(caller, 'organization.read'));
  }
  if (level === 'project') return services.projects.get(await world.onProject(caller, 'project.read'));
  return services.environments.get(await world.onEnvironment(caller, 'environment.read'));
}

/** The audit rows of an action in the world's organization. */
async function audited(action: string): Promise<unknown[]> {
  const where = { organizationId: world.organization.id, action };
  return prismaOf(services.database).auditEntry.findMany({ where, orderBy: { id: 'asc' } });
}

describe.each(levels)('renaming one (%s)', (level) => {
  test('changes the display name and nothing else, and is audited', async () => {
    const before = await read(level, world.viewer.caller);
    const renamed = await rename(level, 'Shown & new', world.admin.caller);
    expect(renamed).toEqual({ ...(before as object), displayName: 'Shown & new' });
    expect(await read(level, world.viewer.caller)).toEqual(renamed);
    expect(await audited(`${level}.update`)).toMatchObject([
      {
        actorId: world.admin.id,
        outcome: 'success',
        target: { displayName: 'Shown & new', [level]: world.slugs[level] },
      },
    ]);
  });

  test.each(['', ' ', 'a\nb', 'a'.repeat(201)])('refuses the display name %j', async (displayName) => {
    const fault = { code: 'invalid_input', fields: [{ field: 'displayName' }] };
    await expect(rename(level, displayName)).rejects.toMatchObject(fault);
  });

  test('is for owners and admins', async () => {
    const machine = await world.serviceToken({ scope: 'organization' });
    for (const { caller } of [world.developer, world.viewer, machine]) {
      await expect(rename(level, 'x', caller)).rejects.toMatchObject({ code: 'forbidden' });
    }
    await expect(rename(level, 'x', world.stranger.caller)).rejects.toMatchObject({ code: 'not_found' });
  });

  test('is refused to a caller who was admitted before it was deleted', async () => {
    const { caller } = world.owner;
    const accesses = {
      organization: await world.onOrganization(caller, 'organization.update'),
      project: await world.onProject(caller, 'project.update'),
      environment: await world.onEnvironment(caller, 'environment.update'),
    };
    await remove(level);
    const input = { displayName: 'late' };
    const late = {
      organization: () => services.organizations.update(accesses.organization, input),
      project: () => services.projects.update(accesses.project, input),
      environment: () => services.environments.update(accesses.environment, input),
    };
    await expect(late[level]()).rejects.toMatchObject({ code: 'not_found' });
  });
});

describe.each(levels)('deleting one (%s)', (level) => {
  test('takes it out of sight, keeps its rows and is audited', async () => {
    await secretCalls(services, world, world.owner.caller).put('KEY', 'one');
    await remove(level);
    await expect(read(level, world.owner.caller)).rejects.toMatchObject({ code: 'not_found' });
    await expect(remove(level)).rejects.toMatchObject({ code: 'not_found' });
    const prisma = prismaOf(services.database);
    const where = { secret: { environmentId: world.environment.id } };
    expect(await prisma.secretVersion.count({ where })).toBe(1);
    expect(await prisma.membership.count({ where: { organizationId: world.organization.id } })).toBe(4);
    const [success] = await audited(`${level}.delete`);
    expect(success).toMatchObject({
      actorId: world.owner.id,
      outcome: 'success',
      target: { [level]: world.slugs[level] },
    });
  });

  test('is for those who may, and refused to the others', async () => {
    const machine = await world.serviceToken({ scope: 'organization' });
    const refused = [world.developer, world.viewer, machine, ...(level === 'organization' ? [world.admin] : [])];
    for (const { caller } of refused) await expect(remove(level, caller)).rejects.toMatchObject({ code: 'forbidden' });
    await expect(remove(level, world.stranger.caller)).rejects.toMatchObject({ code: 'not_found' });
    expect(await read(level, world.viewer.caller)).toBeDefined();
    await remove(level, level === 'organization' ? world.owner.caller : world.admin.caller);
  });

  test('ends, at the very next request, the tokens tied to it or to something beneath it, and no others', async () => {
    const tokens: Record<Level, TestToken> = {
      organization: await world.serviceToken({ scope: 'organization' }),
      project: await world.serviceToken({ scope: 'project', projectId: world.project.id }),
      environment: await world.serviceToken(),
    };
    await remove(level);
    const faults = await Promise.all(
      levels.map((scope) =>
        services.authentication.authenticate(tokens[scope].token.reveal()).then(
          () => 'none',
          ({ fault }: { readonly fault?: unknown }) => fault,
        ),
      ),
    );
    const untouched = levels.indexOf(level);
    expect(faults).toEqual(levels.map((_scope, index) => (index < untouched ? 'none' : 'scope_deleted')));
    for (const { caller } of [world.owner, tokens.organization]) {
      await expect(secretCalls(services, world, caller).read()).rejects.toMatchObject({ code: 'not_found' });
    }
  });

  test('keeps the slug taken', async () => {
    await remove(level);
    const taken = { code: 'conflict', detail: expect.stringContaining(`deleted ${level}`) };
    await expect(create(level, world.slugs[level])).rejects.toMatchObject(taken);
  });

  test('comes after a write that is under way, which is committed', async () => {
    const session = await LockSession.begin(database.url);
    // The write has changed its rows and waits, with the lock of the environment, to be audited.
    await session.run('LOCK TABLE audit_entry IN EXCLUSIVE MODE');
    const write = Promise.allSettled([secretCalls(services, world, world.owner.caller).put('KEY', 'in time')]);
    await session.waitForBlocked(1);
    const deletion = Promise.allSettled([remove(level)]);
    await session.waitForBlocked(2);
    await session.commit();
    expect(await write).toMatchObject([{ status: 'fulfilled', value: { version: 1 } }]);
    expect(await deletion).toMatchObject([{ status: 'fulfilled' }]);
    const where = { secret: { environmentId: world.environment.id } };
    expect(await prismaOf(services.database).secretVersion.count({ where })).toBe(1);
  });

  test('makes a write that comes after it wait, and be refused', async () => {
    const session = await LockSession.begin(database.url);
    await session.run('LOCK TABLE audit_entry IN EXCLUSIVE MODE');
    const write = await world.onEnvironment(world.developer.caller, 'secret.write');
    const deletion = Promise.allSettled([remove(level)]);
    await session.waitForBlocked(1);
    const late = Promise.allSettled([services.secrets.patch(write, {})]);
    await session.waitForBlocked(2);
    await session.commit();
    expect(await deletion).toMatchObject([{ status: 'fulfilled' }]);
    expect(await late).toMatchObject([{ status: 'rejected', reason: { code: 'not_found' } }]);
  });

  test('is done once, when it is asked for twice at once', async () => {
    const attempts = await Promise.allSettled([remove(level), remove(level)]);
    expect(attempts.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected']);
    expect(attempts).toContainEqual(
      expect.objectContaining({ reason: expect.objectContaining({ code: 'not_found' }) }),
    );
  });

  test('is undone when the right to it is withdrawn while it waits', async () => {
    const session = await LockSession.begin(database.url);
    await session.run('SELECT FROM environment WHERE id = $1 FOR UPDATE', [world.environment.id]);
    const deletion = Promise.allSettled([remove(level)]);
    await session.waitForBlocked(1);
    await session.run('UPDATE membership SET role = $1 WHERE user_id = $2', ['viewer', world.owner.id]);
    await session.commit();
    expect(await deletion).toMatchObject([{ status: 'rejected', reason: { code: 'forbidden' } }]);
    expect(await read(level, world.viewer.caller)).toBeDefined();
  });
});

describe('deleting what others listen for', () => {
  let listener: Client;
  let heard: string[] = [];

  beforeAll(async () => {
    listener = new Client({ connectionString: database.url });
    await listener.connect();
    listener.on('notification', ({ payload = '' }) => heard.push(payload));
    await listener.query(`LISTEN ${notifyChannel}`);
  });

  afterAll(() => listener.end());

  async function heardOf(work: () => Promise<unknown>): Promise<(ChangeEvent | undefined)[]> {
    await listener.query('SELECT 1');
    heard = [];
    await work();
    const mark = `mark-${Math.random()}`;
    await prismaOf(services.database).$executeRaw`SELECT pg_notify(${notifyChannel}, ${mark})`;
    while (!heard.includes(mark)) await listener.query('SELECT 1');
    return heard.slice(0, -1).map(parseMessage);
  }

  test.each(levels)('reports each environment beneath and each live token tied to it (%s)', async (level) => {
    const access = await world.onProject(world.owner.caller, 'environment.create');
    const staging = await services.environments.create(access, { slug: 'staging' });
    const tokens: Record<Level, TestToken> = {
      organization: await world.serviceToken({ scope: 'organization' }),
      project: await world.serviceToken({ scope: 'project', projectId: world.project.id }),
      environment: await world.serviceToken(),
    };
    const revoked = await world.serviceToken();
    await services.serviceTokens.revoke(
      await world.onOrganization(world.owner.caller, 'service_token.revoke'),
      revoked.id,
    );
    const reported = await heardOf(() => remove(level));
    const environments = [world.environment, ...(level === 'environment' ? [] : [staging])];
    const ended = levels.slice(levels.indexOf(level));
    const organizationId = world.organization.id;
    const wanted: ChangeEvent[] = [
      ...environments.map(({ id, revisionId }) => ({
        kind: 'environment' as const,
        organizationId,
        environmentId: id,
        revisionId,
        ended: true as const,
      })),
      ...ended.map((scope) => ({
        kind: 'service_token' as const,
        organizationId,
        serviceTokenId: tokens[scope].id,
      })),
    ];
    expect(reported).toHaveLength(wanted.length);
    expect(reported).toEqual(expect.arrayContaining(wanted));
  });
});
