import { randomUUID } from 'node:crypto';
import { describe, expect, test } from '@jest/globals';
import { ownRelease } from '../../../src/lib/release.ts';
import { createUser, createWorld, type TestServices, type World } from '../../support/api/services.ts';
import { withWorlds } from '../../support/api/with-services.ts';
import { prismaOf } from '../../support/database/prisma.ts';
import { nonEmpty } from '../../support/fixtures/non-empty.ts';

let services: TestServices;
let world: World;

withWorlds((given) => ({ services, world } = given));

function newSlug(): string {
  return `new-${randomUUID().slice(0, 8)}`;
}

/** Creates one of the three kinds as the owner. */
async function create(
  kind: 'organization' | 'project' | 'environment',
  slug: string,
  displayName?: string,
): Promise<unknown> {
  const { caller } = world.owner;
  const input = displayName === undefined ? { slug } : { slug, displayName };
  if (kind === 'organization')
    return services.organizations.create(await services.access.instance(caller, 'organization.create'), input);
  if (kind === 'project') return services.projects.create(await world.onOrganization(caller, 'project.create'), input);
  return services.environments.create(await world.onProject(caller, 'environment.create'), input);
}

describe('an organization', () => {
  test('belongs to the instance admin who made it', async () => {
    const slug = newSlug();
    const made = await services.organizations.create(
      await services.access.instance(world.owner.caller, 'organization.create'),
      { slug, displayName: 'New & Co' },
    );
    expect(made).toEqual({
      id: expect.any(String),
      slug,
      displayName: 'New & Co',
      createdAt: expect.any(Date),
      impersonationForbidden: false,
    });
    expect(await services.organizations.list(world.owner.caller)).toEqual(
      [
        { ...made, role: 'owner' },
        { ...world.organization, role: 'owner' },
      ].sort((a, b) => (a.slug < b.slug ? -1 : 1)),
    );
    const access = await services.access.organization(world.owner.caller, 'organization.read', { organization: slug });
    expect(await services.organizations.get(access)).toEqual(made);
  });

  test('is made by no other caller: neither a member, nor an owner, nor a service token', async () => {
    const owner = await createUser(services);
    const membership = { organizationId: world.organization.id, userId: owner.id, role: 'owner' as const };
    await prismaOf(services.database).membership.create({ data: membership });
    const token = await world.serviceToken({ scope: 'organization' });
    const before = await prismaOf(services.database).organization.count();
    for (const { caller } of [owner, world.stranger, token]) {
      await expect(services.access.instance(caller, 'organization.create')).rejects.toMatchObject({
        code: 'forbidden',
      });
    }
    expect(await prismaOf(services.database).organization.count()).toBe(before);
  });

  test('is listed to its members alone, with their role', async () => {
    const { id, slug } = world.organization;
    expect(await services.organizations.list(world.viewer.caller)).toMatchObject([{ id, slug, role: 'viewer' }]);
    expect(await services.organizations.list(world.stranger.caller)).toEqual([]);
    const other = await createUser(services, { instanceAdmin: true });
    expect(await services.organizations.list(other.caller)).toEqual([]);
  });

  test('that is deleted is listed no more', async () => {
    const where = { id: world.organization.id };
    await prismaOf(services.database).organization.update({ where, data: { deletedAt: new Date() } });
    expect(await services.organizations.list(world.viewer.caller)).toEqual([]);
    expect(await services.me.get(world.viewer.caller)).toMatchObject({ organizations: [] });
  });
});

describe.each(['organization', 'project', 'environment'] as const)('creating one (%s)', (kind) => {
  test('takes the slug for the display name where none is given', async () => {
    const slug = newSlug();
    expect(await create(kind, slug)).toMatchObject({ slug, displayName: slug });
  });

  test('is a conflict for a slug that is taken, also by a deleted one', async () => {
    const slug = world.slugs[kind];
    await expect(create(kind, slug)).rejects.toMatchObject({ code: 'conflict', detail: expect.stringContaining(slug) });
    const taken = newSlug();
    const { id } = (await create(kind, taken)) as { id: string };
    const prisma = prismaOf(services.database);
    const update = { where: { id }, data: { deletedAt: new Date() } };
    if (kind === 'organization') await prisma.organization.update(update);
    if (kind === 'project') await prisma.project.update(update);
    if (kind === 'environment') await prisma.environment.update(update);
    await expect(create(kind, taken)).rejects.toMatchObject({ code: 'conflict' });
  });

  test('makes one of many that are asked for at once with one slug', async () => {
    const slug = newSlug();
    const attempts = await Promise.allSettled(Array.from({ length: 5 }, () => create(kind, slug)));
    expect(attempts.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
    const others = attempts.filter(({ status }) => status === 'rejected');
    for (const other of nonEmpty(others)) expect(other).toMatchObject({ reason: { code: 'conflict' } });
  });

  test.each(['', 'Web', '-web', 'web-', 'w_b', 'a'.repeat(64), 'wéb', 'web\n'])('refuses the slug %j', async (slug) => {
    await expect(create(kind, slug)).rejects.toMatchObject({ code: 'invalid_input', fields: [{ field: 'slug' }] });
  });

  test.each(['', '  ', 'a\tb', 'a'.repeat(201)])('refuses the display name %j', async (displayName) => {
    const fault = { code: 'invalid_input', fields: [{ field: 'displayName' }] };
    await expect(create(kind, newSlug(), displayName)).rejects.toMatchObject(fault);
  });
});

describe('a project', () => {
  test('is answered by get and listed by slug, byte by byte', async () => {
    for (const slug of ['a-b', 'ab', 'a0']) await create('project', slug);
    const listed = await services.projects.list(await world.onOrganization(world.viewer.caller, 'project.list'));
    expect(listed.map(({ slug }) => slug)).toEqual(['a-b', 'a0', 'ab', 'web']);
    const access = await world.onProject(world.viewer.caller, 'project.read');
    expect(await services.projects.get(access)).toEqual(listed.at(-1));
  });

  test('may bear the slug of a project of another organization', async () => {
    expect((await createWorld(services)).project.slug).toBe(world.project.slug);
  });

  test('is not made in an organization that was deleted meanwhile', async () => {
    const access = await world.onOrganization(world.owner.caller, 'project.create');
    const where = { id: world.organization.id };
    await prismaOf(services.database).organization.update({ where, data: { deletedAt: new Date() } });
    await expect(services.projects.create(access, { slug: 'late' })).rejects.toMatchObject({ code: 'not_found' });
  });
});

describe('an environment', () => {
  test('begins at revision 0, whose id is its own', async () => {
    expect(world.environment).toEqual({
      id: expect.any(String),
      slug: 'prod',
      displayName: 'prod',
      createdAt: expect.any(Date),
      revision: 0,
      revisionId: expect.any(String),
      isProtected: false,
    });
    const access = await world.onEnvironment(world.viewer.caller, 'environment.read');
    expect(await services.environments.get(access)).toEqual(world.environment);
  });

  test('is listed by slug', async () => {
    for (const slug of ['staging', 'dev']) await create('environment', slug);
    const listed = await services.environments.list(await world.onProject(world.viewer.caller, 'environment.list'));
    expect(listed.map(({ slug }) => slug)).toEqual(['dev', 'prod', 'staging']);
    expect(listed[1]).toEqual(world.environment);
  });

  test.each(['project', 'organization'] as const)(
    'is not made under a %s that was deleted meanwhile',
    async (level) => {
      const access = await world.onProject(world.owner.caller, 'environment.create');
      const prisma = prismaOf(services.database);
      const deletedAt = new Date();
      if (level === 'project') await prisma.project.update({ where: { id: world.project.id }, data: { deletedAt } });
      else await prisma.organization.update({ where: { id: world.organization.id }, data: { deletedAt } });
      await expect(services.environments.create(access, { slug: 'late' })).rejects.toMatchObject({ code: 'not_found' });
    },
  );
});

describe('asking who one is', () => {
  test('shows a person their roles', async () => {
    expect(await services.me.get(world.developer.caller)).toEqual({
      type: 'user',
      id: world.developer.id,
      name: world.developer.email,
      instanceAdmin: false,
      session: null,
      expiresAt: null,
      serverVersion: ownRelease(),
      organizations: [{ id: world.organization.id, slug: world.slugs.organization, role: 'developer' }],
      rolesByPlace: [],
      waitingInvitations: 0,
    });
    expect(await services.me.get(world.owner.caller)).toMatchObject({ instanceAdmin: true });
  });
});
