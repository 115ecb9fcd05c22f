import { randomUUID } from 'node:crypto';
import { beforeEach, describe, expect, test } from '@jest/globals';
import type { ServiceTokenAction } from '../../../src/domain/policy.ts';
import type { Caller } from '../../../src/domain/principal.ts';
import type { CreateServiceTokenInput } from '../../../src/services/tokens/service-tokens.ts';
import { LockSession } from '../../support/database/locks.ts';
import type { TestDatabase } from '../../support/database/postgres.ts';
import { type BoundUser, RoleCalls } from '../../support/api/role-calls.ts';
import type { TestServices, World } from '../../support/api/services.ts';
import { outcomeOf } from '../../support/api/outcome.ts';
import { withWorlds } from '../../support/api/with-services.ts';
import { prismaOf } from '../../support/database/prisma.ts';

let database: TestDatabase;
let services: TestServices;
let world: World;
let admin: BoundUser;

withWorlds((given) => ({ database, services, world } = given));

beforeEach(async () => {
  admin = await new RoleCalls(services, world).user('project', 'admin');
});

async function create(caller: Caller, input: Partial<CreateServiceTokenInput> = {}): Promise<{ readonly id: string }> {
  const access = await world.onProject(caller, 'service_token.create');
  const wanted = { name: 'ci', permission: 'read_write', scope: 'project', projectId: world.project.id } as const;
  return (await services.serviceTokens.create(access, { ...wanted, ...input })).record;
}

/** A project beside the world's, with an environment. */
async function other(): Promise<{ readonly projectId: string; readonly environmentId: string }> {
  const { organization } = world.slugs;
  const slugs = { organization, project: 'other' };
  const { caller } = world.owner;
  const { id: projectId } = await services.projects.create(await world.onOrganization(caller, 'project.create'), {
    slug: slugs.project,
  });
  const access = await services.access.project(caller, 'environment.create', slugs);
  const { id: environmentId } = await services.environments.create(access, { slug: 'prod' });
  return { projectId, environmentId };
}

const actions: readonly ServiceTokenAction[] = [
  'service_token.list',
  'service_token.create',
  'service_token.rotate',
  'service_token.revoke',
  'service_token.reinstate',
];

describe('the service tokens of a project', () => {
  test('are for its admins, who reach none of the organization', async () => {
    const roles = new RoleCalls(services, world);
    const developer = await roles.user('project', 'developer');
    const beneath = await roles.user('environment', 'admin');
    for (const action of actions) {
      expect(await outcomeOf(world.onProject(admin.caller, action))).toBe('done');
      expect(await outcomeOf(world.onProject(world.admin.caller, action))).toBe('done');
      expect(await outcomeOf(world.onOrganization(admin.caller, action))).toBe('forbidden');
      expect(await outcomeOf(world.onProject(developer.caller, action))).toBe('forbidden');
      expect(await outcomeOf(world.onProject(beneath.caller, action))).toBe('forbidden');
      expect(await outcomeOf(world.onProject(world.stranger.caller, action))).toBe('not_found');
    }
  });

  test('are made for the project or an environment of it alone', async () => {
    const { projectId, environmentId } = await other();
    const inEnvironment = { scope: 'environment', environmentId: world.environment.id } as const;
    expect(await outcomeOf(create(admin.caller))).toBe('done');
    const access = await world.onProject(admin.caller, 'service_token.create');
    const make = (input: Omit<CreateServiceTokenInput, 'name' | 'permission'>): Promise<string> =>
      outcomeOf(services.serviceTokens.create(access, { name: 'ci', permission: 'read', ...input }));
    expect(await make(inEnvironment)).toBe('done');
    expect(await make({ ...inEnvironment, projectId: world.project.id })).toBe('done');
    expect(await make({ scope: 'organization' })).toBe('invalid_input');
    expect(await make({ scope: 'project', projectId })).toBe('invalid_input');
    expect(await make({ scope: 'environment', environmentId })).toBe('invalid_input');
  });

  test('are refused with one text for a scope elsewhere in the organization and for none', async () => {
    const { projectId, environmentId } = await other();
    const refusals = async (elsewhere: string, environment: string): Promise<unknown> => {
      const inputs: readonly Partial<CreateServiceTokenInput>[] = [
        { scope: 'project', projectId: elsewhere },
        { scope: 'environment', environmentId: environment, projectId: elsewhere },
      ];
      const asked = inputs.map((input) => create(admin.caller, input));
      const access = await world.onProject(admin.caller, 'service_token.create');
      const alone = { name: 'ci', permission: 'read', scope: 'environment', environmentId: environment } as const;
      const outcomes = await Promise.allSettled([...asked, services.serviceTokens.create(access, alone)]);
      return outcomes.map((outcome) => (outcome.status === 'rejected' ? String(outcome.reason) : 'done'));
    };
    const present = await refusals(projectId, environmentId);
    expect(present).not.toContain('done');
    expect(present).toEqual(await refusals(randomUUID(), randomUUID()));
  });

  test('are seen and changed alone: any other does not exist', async () => {
    const { projectId } = await other();
    const own = await create(admin.caller);
    const inEnvironment = await world.serviceToken();
    const beside = [
      await world.serviceToken({ scope: 'organization' }),
      await world.serviceToken({ scope: 'project', projectId }),
    ];
    const list = await services.serviceTokens.list(await world.onProject(admin.caller, 'service_token.list'));
    expect(list.serviceTokens.map(({ id }) => id)).toEqual([inEnvironment.id, own.id]);
    const on = <A extends ServiceTokenAction>(action: A): ReturnType<typeof world.onProject<A>> =>
      world.onProject(admin.caller, action);
    const { serviceTokens } = services;
    for (const { id } of beside) {
      expect(await outcomeOf(serviceTokens.get(await on('service_token.list'), id))).toBe('not_found');
      expect(await outcomeOf(serviceTokens.rotate(await on('service_token.rotate'), id))).toBe('not_found');
      expect(await outcomeOf(serviceTokens.revoke(await on('service_token.revoke'), id))).toBe('not_found');
      expect(await outcomeOf(serviceTokens.reinstate(await on('service_token.reinstate'), id))).toBe('not_found');
    }
    for (const { id } of [own, inEnvironment]) {
      expect(await outcomeOf(serviceTokens.get(await on('service_token.list'), id))).toBe('done');
      expect(await outcomeOf(serviceTokens.rotate(await on('service_token.rotate'), id))).toBe('done');
      expect(await outcomeOf(serviceTokens.reinstate(await on('service_token.reinstate'), id))).toBe('conflict');
      expect(await outcomeOf(serviceTokens.revoke(await on('service_token.revoke'), id))).toBe('done');
    }
  });

  test('are not made by an admin whose role ends while the request waits', async () => {
    const session = await LockSession.begin(database.url);
    await session.run("UPDATE role_binding SET role = 'developer' WHERE user_id = $1", [admin.id]);
    const made = outcomeOf(create(admin.caller));
    await session.waitForBlocked(1);
    await session.commit();
    expect(await made).toBe('forbidden');
    expect(await prismaOf(services.database).serviceToken.count({ where: { projectId: world.project.id } })).toBe(0);
  });

  test('are audited as service tokens of the organization', async () => {
    const { id } = await create(admin.caller);
    const [entry] = await prismaOf(services.database).auditEntry.findMany({
      where: { action: 'service_token.create', organizationId: world.organization.id },
    });
    expect(entry).toMatchObject({ actorId: admin.id, label: '[Service Token]', target: { serviceTokenId: id } });
  });
});
