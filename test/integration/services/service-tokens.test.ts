import { createHash, randomUUID } from 'node:crypto';
import { beforeEach, describe, expect, test } from '@jest/globals';
import { ownRelease } from '../../../src/lib/release.ts';
import type { Caller } from '../../../src/domain/principal.ts';
import type { CreateServiceTokenInput, ServiceTokenRecord } from '../../../src/services/tokens/service-tokens.ts';
import { authenticated, createWorld, type TestServices, type World } from '../../support/api/services.ts';
import { withWorlds } from '../../support/api/with-services.ts';
import { prismaOf } from '../../support/database/prisma.ts';

let services: TestServices;
let world: World;

withWorlds((given) => ({ services, world } = given));

async function create(
  input: Partial<CreateServiceTokenInput>,
  by: Caller = world.admin.caller,
): ReturnType<TestServices['serviceTokens']['create']> {
  const access = await world.onOrganization(by, 'service_token.create');
  return services.serviceTokens.create(access, { name: 'ci', scope: 'organization', permission: 'read', ...input });
}

async function list(page: { limit?: number; cursor?: string } = {}): ReturnType<TestServices['serviceTokens']['list']> {
  return services.serviceTokens.list(await world.onOrganization(world.admin.caller, 'service_token.list'), page);
}

async function get(id: string): Promise<ServiceTokenRecord> {
  return services.serviceTokens.get(await world.onOrganization(world.admin.caller, 'service_token.list'), id);
}

async function revoke(id: string): Promise<void> {
  await services.serviceTokens.revoke(await world.onOrganization(world.admin.caller, 'service_token.revoke'), id);
}

const dayMs = 24 * 60 * 60 * 1000;

describe('creating a service token', () => {
  test('answers its record and, this once, the token, which then opens its scope', async () => {
    const { record, token } = await create({ scope: 'project', projectId: world.project.id, permission: 'read_write' });
    expect(record).toEqual({
      id: expect.any(String),
      name: 'ci',
      scope: 'project',
      projectId: world.project.id,
      environmentId: null,
      permission: 'read_write',
      createdBy: world.admin.id,
      createdByType: 'user',
      createdByName: world.admin.email,
      cluster: null,
      holder: null,
      federation: null,
      createdAt: expect.any(Date),
      expiresAt: null,
      revokedAt: null,
      suspendedAt: null,
      lastUsedAt: null,
    });
    expect(await get(record.id)).toEqual(record);
    expect(token.reveal()).toMatch(/^kf_svc_[0-9A-Za-z]{71}$/);
    const { principal } = await authenticated(services, token);
    expect(principal).toMatchObject({
      type: 'service_token',
      id: record.id,
      scope: 'project',
      permission: 'read_write',
    });
  });

  test('keeps nothing of the token but its SHA-256', async () => {
    const { record, token } = await create({});
    const [credential] = await prismaOf(services.database).serviceTokenCredential.findMany({
      where: { serviceTokenId: record.id },
    });
    expect(Buffer.from(credential?.tokenHash ?? [])).toEqual(createHash('sha256').update(token.reveal()).digest());
  });

  test('for an environment brings its project along', async () => {
    const environmentId = world.environment.id;
    const wanted = { scope: 'environment', environmentId, projectId: world.project.id };
    expect((await create({ scope: 'environment', environmentId })).record).toMatchObject(wanted);
    expect((await create({ scope: 'environment', environmentId, projectId: world.project.id })).record).toMatchObject(
      wanted,
    );
  });

  test('counts days from now, or takes a time that is to come', async () => {
    const askedAt = Date.now();
    const inDays = await create({ expiresInDays: 30 });
    const countedFrom = (inDays.record.expiresAt?.getTime() ?? 0) - 30 * dayMs;
    expect(countedFrom).toBeGreaterThanOrEqual(askedAt);
    expect(countedFrom).toBeLessThanOrEqual(Date.now());
    const expiresAt = new Date(Date.now() + 2 * dayMs);
    const { record, token } = await create({ expiresAt });
    expect(record.expiresAt).toEqual(expiresAt);
    expect((await get(record.id)).expiresAt).toEqual(expiresAt);
    expect((await authenticated(services, token)).principal.expiresAt).toEqual(expiresAt);
  });

  test('never outlives the personal token that creates it, and ends with it by default', async () => {
    const personal = await services.access.person(world.owner.caller, 'personal_token.create');
    const { record: short, token } = await services.personalTokens.create(personal, {
      name: 'short',
      expiresInDays: 1,
    });
    const by = await authenticated(services, token);
    expect((await create({}, by)).record.expiresAt).toEqual(short.expiresAt);
    const endMs = short.expiresAt?.getTime() ?? 0;
    const sooner = new Date(endMs - dayMs / 2);
    expect((await create({ expiresAt: sooner }, by)).record.expiresAt).toEqual(sooner);
    for (const [field, input] of [
      ['expiresInDays', { expiresInDays: 2 }],
      ['expiresAt', { expiresAt: new Date(endMs + 1) }],
    ] as const) {
      await expect(create(input, by)).rejects.toMatchObject({
        code: 'invalid_input',
        fields: [{ field, message: expect.stringContaining(`ends at ${short.expiresAt?.toISOString() ?? ''}`) }],
      });
    }
    expect((await create({ expiresInDays: 2 }, world.owner.caller)).record.expiresAt).toEqual(expect.any(Date));
  });

  test.each<[string, (foreign: World) => Partial<CreateServiceTokenInput>]>([
    ['projectId', () => ({ scope: 'project' })],
    ['environmentId', () => ({ scope: 'environment' })],
    ['environmentId', () => ({ scope: 'environment', projectId: world.project.id })],
    ['projectId', () => ({ projectId: world.project.id })],
    ['environmentId', () => ({ environmentId: world.environment.id })],
    ['environmentId', () => ({ scope: 'project', projectId: world.project.id, environmentId: world.environment.id })],
    ['projectId', () => ({ scope: 'project', projectId: randomUUID() })],
    ['projectId', () => ({ scope: 'project', projectId: 'web' })],
    ['environmentId', () => ({ scope: 'environment', environmentId: randomUUID() })],
    ['projectId', (foreign) => ({ scope: 'project', projectId: foreign.project.id })],
    ['environmentId', (foreign) => ({ scope: 'environment', environmentId: foreign.environment.id })],
    [
      'projectId',
      (foreign) => ({ scope: 'environment', environmentId: world.environment.id, projectId: foreign.project.id }),
    ],
    ['expiresAt', () => ({ expiresAt: new Date(Date.now() - 1) })],
    ['expiresAt', () => ({ expiresAt: new Date(Number.NaN) })],
    ['expiresAt', () => ({ expiresAt: new Date(Date.now() + 3651 * dayMs) })],
    ['expiresAt', () => ({ expiresAt: new Date(Date.now() + dayMs), expiresInDays: 1 })],
    ['expiresInDays', () => ({ expiresInDays: 0 })],
    ['expiresInDays', () => ({ expiresInDays: 3651 })],
    ['expiresInDays', () => ({ expiresInDays: 1.5 })],
    ['name', () => ({ name: ' ' })],
    ['name', () => ({ name: 'a\u0000' })],
    ['scope', () => ({ scope: 'everything' as 'project' })],
    ['permission', () => ({ permission: 'write' as 'read' })],
  ])('is refused for a faulty %s (%#)', async (field, input) => {
    const foreign = await createWorld(services);
    await expect(create(input(foreign))).rejects.toMatchObject({ code: 'invalid_input', fields: [{ field }] });
    expect((await list()).serviceTokens).toEqual([]);
  });

  test.each(['project', 'environment'] as const)('is refused for a deleted %s', async (level) => {
    const prisma = prismaOf(services.database);
    const change = { where: { id: world.project.id }, data: { deletedAt: new Date() } };
    await prisma.project.update(change);
    const input =
      level === 'project'
        ? { scope: level, projectId: world.project.id }
        : { scope: level, environmentId: world.environment.id };
    await expect(create(input)).rejects.toMatchObject({ code: 'invalid_input', fields: [{ field: `${level}Id` }] });
  });
});

describe('listing service tokens', () => {
  test('answers those of the organization alone, newest first, revoked ones too', async () => {
    const foreign = await createWorld(services);
    await foreign.serviceToken();
    const ids: string[] = [];
    for (const name of ['a', 'b', 'c']) ids.unshift((await create({ name })).record.id);
    await revoke(ids[1] ?? '');
    const { serviceTokens, nextCursor } = await list();
    expect(serviceTokens.map(({ id }) => id)).toEqual(ids);
    expect(serviceTokens.map(({ revokedAt }) => revokedAt !== null)).toEqual([false, true, false]);
    expect(nextCursor).toBeNull();
  });

  test('pages by limit and cursor, also among tokens of one moment', async () => {
    for (let count = 0; count < 5; count += 1) await create({ name: String(count) });
    const where = { organizationId: world.organization.id };
    const createdAt = new Date('2026-01-02T03:04:05.678Z');
    await prismaOf(services.database).serviceToken.updateMany({ where, data: { createdAt } });
    const all = (await list()).serviceTokens.map(({ id }) => id);
    const first = await list({ limit: 2 });
    await create({ name: 'newer' });
    const second = await list({ limit: 2, cursor: first.nextCursor ?? '' });
    const third = await list({ limit: 2, cursor: second.nextCursor ?? '' });
    expect([first, second, third].map(({ serviceTokens }) => serviceTokens.map(({ id }) => id))).toEqual([
      all.slice(0, 2),
      all.slice(2, 4),
      all.slice(4),
    ]);
    expect(third.nextCursor).toBeNull();
  });

  test.each([
    ['limit', { limit: 0 }],
    ['cursor', { cursor: 'abc' }],
    ['cursor', { cursor: Buffer.from('["versions","3"]').toString('base64url') }],
    ['cursor', { cursor: Buffer.from('["service-tokens","2026-01-02","x"]').toString('base64url') }],
    ['cursor', { cursor: Buffer.from('["service-tokens","2026-01-02T03:04:05.678Z","x"]').toString('base64url') }],
  ])('refuses a bad %s (%#)', async (field, page) => {
    await expect(list(page)).rejects.toMatchObject({ code: 'invalid_input', fields: [{ field }] });
  });

  test('shows when a token was last used', async () => {
    const { record } = await create({});
    const lastUsedAt = new Date('2026-01-02T03:04:05.678Z');
    const where = { serviceTokenId: record.id };
    await prismaOf(services.database).serviceTokenCredential.updateMany({ where, data: { lastUsedAt } });
    expect((await list()).serviceTokens).toMatchObject([{ id: record.id, lastUsedAt }]);
  });
});

describe('one service token', () => {
  test('of another organization, or none, is not_found, and is not revoked', async () => {
    const foreign = await createWorld(services);
    const token = await foreign.serviceToken();
    for (const id of [token.id, randomUUID()]) {
      await expect(get(id)).rejects.toMatchObject({ code: 'not_found' });
      await expect(revoke(id)).rejects.toMatchObject({ code: 'not_found' });
    }
    await authenticated(services, token.token);
    await expect(get('x')).rejects.toMatchObject({ code: 'invalid_input', fields: [{ field: 'id' }] });
    await expect(revoke('x')).rejects.toMatchObject({ code: 'invalid_input', fields: [{ field: 'id' }] });
  });

  test('can be revoked again, which changes nothing', async () => {
    const { record } = await create({});
    await revoke(record.id);
    const revoked = await get(record.id);
    expect(revoked.revokedAt).toEqual(expect.any(Date));
    await revoke(record.id);
    expect(await get(record.id)).toEqual(revoked);
  });
});

describe('what a service token sees', () => {
  let callers: Record<'organization' | 'project' | 'environment', Caller>;

  beforeEach(async () => {
    const { caller } = world.owner;
    await services.projects.create(await world.onOrganization(caller, 'project.create'), { slug: 'other' });
    await services.environments.create(await world.onProject(caller, 'environment.create'), { slug: 'staging' });
    callers = {
      organization: (await world.serviceToken({ scope: 'organization', permission: 'read' })).caller,
      project: (await world.serviceToken({ scope: 'project', projectId: world.project.id, permission: 'read' })).caller,
      environment: (await world.serviceToken({ permission: 'read' })).caller,
    };
  });

  test.each([
    ['organization', ['other', 'web'], ['prod', 'staging']],
    ['project', ['web'], ['prod', 'staging']],
    ['environment', ['web'], ['prod']],
  ] as const)('in %s scope are its own and its ancestors', async (scope, projects, environments) => {
    const caller = callers[scope];
    const slugs = (found: readonly { slug: string }[]): string[] => found.map(({ slug }) => slug);
    expect(slugs(await services.organizations.list(caller))).toEqual([world.slugs.organization]);
    const listed = await services.projects.list(await world.onOrganization(caller, 'project.list'));
    expect(slugs(listed)).toEqual(projects);
    const found = await services.environments.list(await world.onProject(caller, 'environment.list'));
    expect(slugs(found)).toEqual(environments);
    const all = await services.projects.listWithEnvironments(await world.onOrganization(caller, 'project.list'));
    expect(all.map((project) => [project.slug, slugs(project.environments)])).toEqual(
      projects.map((slug) => [slug, slug === 'web' ? environments : []]),
    );
  });

  test('of itself are its scope, by name and id, and its permission', async () => {
    const organization = { id: world.organization.id, slug: world.slugs.organization };
    const project = { id: world.project.id, slug: 'web' };
    const environment = { id: world.environment.id, slug: 'prod' };
    const serverVersion = ownRelease();
    const common = {
      type: 'service_token',
      name: 'ci',
      permission: 'read',
      expiresAt: null,
      serverVersion,
      organization,
    };
    expect(await services.me.get(callers.organization)).toEqual({
      ...common,
      id: callers.organization.principal.id,
      scope: 'organization',
      project: null,
      environment: null,
    });
    expect(await services.me.get(callers.project)).toMatchObject({
      ...common,
      scope: 'project',
      project,
      environment: null,
    });
    expect(await services.me.get(callers.environment)).toMatchObject({
      ...common,
      scope: 'environment',
      project,
      environment,
    });
  });
});
