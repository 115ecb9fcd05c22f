import { beforeAll, describe, expect, test } from '@jest/globals';
import type { Caller } from '../../../src/domain/principal.ts';
import { callerOf, createWorld, type TestServices, type World } from '../../support/api/services.ts';
import { withServices } from '../../support/api/with-services.ts';
import { prismaOf } from '../../support/database/prisma.ts';

let services: TestServices;
let world: World;

withServices((given) => ({ services } = given));

beforeAll(async () => {
  world = await createWorld(services);
});

/** The code and detail with which a call is refused. */
async function refusalOf(call: Promise<unknown>): Promise<{ code: unknown; detail: unknown }> {
  return call.then(
    () => ({ code: 'allowed', detail: undefined }),
    (error: { code?: unknown; detail?: unknown }) => ({ code: error.code, detail: error.detail }),
  );
}

test('who asks at the same time is judged each by their own role, token and target', async () => {
  const other = await createWorld(services);
  const worlds = [world, other];
  const callersOf = async (of: World): Promise<Caller[]> => {
    const tokens = [await of.serviceToken(), await of.serviceToken({ scope: 'organization', permission: 'read' })];
    return [of.owner, of.admin, of.developer, of.viewer, of.stranger, ...tokens].map(({ caller }) => caller);
  };
  const callers = (await Promise.all(worlds.map(callersOf))).flat();
  const places = [...worlds.map(({ slugs }) => slugs), { ...world.slugs, environment: 'none' }];
  const questions = (['secret.list', 'secret.write'] as const).flatMap((action) =>
    places.flatMap((slugs) => callers.map((caller) => ({ caller, action, slugs }))),
  );
  const answer = async ({ caller, action, slugs }: (typeof questions)[number]): Promise<unknown> =>
    services.access.environment(caller, action, slugs).then(
      ({ environmentId, revisionId }) => ({ environmentId, revisionId }),
      (error: { code?: unknown; detail?: unknown }) => ({ code: error.code, detail: error.detail }),
    );
  const alone: unknown[] = [];
  for (const question of questions) alone.push(await answer(question));
  expect(await Promise.all(questions.map(answer))).toEqual(alone);
  const allowed = alone.filter((one) => one !== null && typeof one === 'object' && 'environmentId' in one);
  // In each world owner, admin, developer, viewer and both tokens list; all of them but the viewer and one token write.
  expect(allowed).toHaveLength(2 * (6 + 4));
});

describe('a refusal', () => {
  test('says the same of what is hidden, what was never there and what is deleted', async () => {
    const missing = await createWorld(services);
    await prismaOf(services.database).organization.update({
      where: { id: missing.organization.id },
      data: { deletedAt: new Date() },
    });
    const { caller } = world.stranger;
    const read = (organization: string): Promise<unknown> =>
      services.access.environment(caller, 'secret.list', { ...world.slugs, organization });
    const refusals = await Promise.all(
      [world.slugs.organization, missing.slugs.organization, 'never-was'].map(async (organization) => {
        const { code, detail } = await refusalOf(read(organization));
        return { code, detail: String(detail).replace(organization, '…') };
      }),
    );
    expect(refusals).toEqual(
      Array.from({ length: 3 }, () => ({
        code: 'not_found',
        detail: 'environment …/web/prod does not exist, or is not visible with this access',
      })),
    );
  });

  test.each(['organization', 'project', 'environment'] as const)('is not_found below a deleted %s', async (level) => {
    const deleted = await createWorld(services);
    const prisma = prismaOf(services.database);
    const update = { where: { id: deleted[level].id }, data: { deletedAt: new Date() } };
    if (level === 'organization') await prisma.organization.update(update);
    if (level === 'project') await prisma.project.update(update);
    if (level === 'environment') await prisma.environment.update(update);
    expect(await refusalOf(deleted.onEnvironment(deleted.owner.caller, 'secret.list'))).toMatchObject({
      code: 'not_found',
    });
  });

  test('is not_found for the sibling of an environment and of a project that a service token is limited to', async () => {
    const staging = await services.environments.create(
      await world.onProject(world.owner.caller, 'environment.create'),
      {
        slug: 'staging',
      },
    );
    await services.projects.create(await world.onOrganization(world.owner.caller, 'project.create'), { slug: 'other' });
    const { caller } = await world.serviceToken({ scope: 'environment', environmentId: staging.id });
    const { access } = services;
    const [organization, project] = [world.slugs.organization, world.slugs.project];
    expect(await refusalOf(world.onEnvironment(caller, 'secret.list'))).toMatchObject({ code: 'not_found' });
    expect(await refusalOf(access.project(caller, 'project.read', { organization, project: 'other' }))).toMatchObject({
      code: 'not_found',
    });
    const own = await access.environment(caller, 'secret.list', { organization, project, environment: 'staging' });
    expect(own.environmentId).toBe(staging.id);
  });

  test.each([
    ['organization', { organization: 'Not A Slug', project: 'web', environment: 'prod' }],
    ['project', { organization: 'acme', project: '../web', environment: 'prod' }],
    ['environment', { organization: 'acme', project: 'web', environment: '' }],
  ])('names the malformed slug of the %s and does not repeat it', async (field, slugs) => {
    const attempt = services.access.environment(world.owner.caller, 'secret.list', slugs);
    await expect(attempt).rejects.toMatchObject({ code: 'invalid_input', fields: [{ field }] });
    const { detail } = await refusalOf(services.access.environment(world.owner.caller, 'secret.list', slugs));
    expect(detail).not.toMatch(/Not A Slug|\.\.\/web/);
  });

  test('says what would help: another role, a personal token, or the permission to write', async () => {
    const reader = await world.serviceToken({ permission: 'read' });
    const details = await Promise.all(
      [
        refusalOf(world.onEnvironment(world.viewer.caller, 'secret.write')),
        refusalOf(world.onEnvironment(reader.caller, 'secret.write')),
        refusalOf(world.onOrganization(reader.caller, 'service_token.list')),
      ].map(async (refusal) => (await refusal).detail),
    );
    const place = `environment ${world.slugs.organization}/web/prod`;
    expect(details).toEqual([
      `the role viewer does not allow secret.write on ${place}; ask an owner or admin of the organization`,
      `secret.write on ${place} needs a service token with permission read_write`,
      `no service token allows service_token.list on organization ${world.slugs.organization}; use a personal token`,
    ]);
  });

  test('is audited in the chain of what the refused may see, so that its owners see what was tried', async () => {
    const member = callerOf(world.viewer.caller.principal);
    await refusalOf(world.onEnvironment(member, 'secret.write'));
    const rows = await prismaOf(services.database).auditEntry.findMany({ where: { requestId: member.requestId } });
    const target = { ...world.slugs };
    expect(rows).toMatchObject([
      { organizationId: world.organization.id, action: 'secret.write', outcome: 'denied', target, label: null },
    ]);
  });

  test('is audited in the chain of who was refused, and not in that of what they tried to see', async () => {
    const other = await createWorld(services);
    const token = await other.serviceToken({ scope: 'organization' });
    const stranger = callerOf(world.stranger.caller.principal);
    await refusalOf(world.onEnvironment(token.caller, 'secret.list'));
    await refusalOf(world.onEnvironment(stranger, 'secret.list'));
    const rows = await prismaOf(services.database).auditEntry.findMany({
      where: { requestId: { in: [token.caller.requestId, stranger.requestId] } },
      orderBy: { id: 'asc' },
    });
    const target = { ...world.slugs };
    expect(rows).toMatchObject([
      {
        organizationId: other.organization.id,
        action: 'secret.list',
        outcome: 'denied',
        target,
        label: '[Service Token]',
      },
      { organizationId: null, action: 'secret.list', outcome: 'denied', target, label: null },
    ]);
  });
});
