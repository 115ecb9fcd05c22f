import { randomUUID } from 'node:crypto';
import { beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import type { AnyCaller, ResourceCaller } from '../../../src/domain/principal.ts';
import type {
  EnsuredEnvironment,
  EnsureEnvironmentInput,
  EnvironmentOrGone,
} from '../../../src/domain/resources/environments.ts';
import { prismaOf } from '../../support/database/prisma.ts';
import { type PostgresProxy, runs } from '../../support/faults/postgres-proxy.ts';
import { resourceCaller } from '../../support/api/resource-caller.ts';
import { secretCalls } from '../../support/api/secret-calls.ts';
import { createUser, createWorld, type TestServices, type TestUser } from '../../support/api/services.ts';
import { withProxiedServices } from '../../support/api/with-services.ts';

let proxy: PostgresProxy;
let services: TestServices;
let admin: TestUser;
let resource: ResourceCaller;
let slugs: { organization: string; project: string; environment: string };

withProxiedServices((given) => ({ proxy, services } = given));

beforeAll(async () => {
  admin = await createUser(services, { instanceAdmin: true });
});

beforeEach(() => {
  resource = resourceCaller({ kind: 'SecretEnvironment', name: 'shop-prod' });
  slugs = { organization: `org-${randomUUID().slice(0, 8)}`, project: 'web', environment: 'prod' };
});

async function ensure(
  caller: AnyCaller = resource,
  input: Partial<EnsureEnvironmentInput> = {},
): Promise<EnsuredEnvironment> {
  const access = await services.resourceAccess.mayEnsureEnvironment(caller);
  return services.resourceEnvironments.ensure(access, { ...slugs, ...input });
}

async function find(caller: AnyCaller = resource): Promise<EnvironmentOrGone | undefined> {
  return services.resourceEnvironments.find(await services.resourceAccess.owner(caller, 'environment.read'));
}

async function remove(caller: AnyCaller = resource): Promise<boolean> {
  return services.resourceEnvironments.delete(await services.resourceAccess.owner(caller, 'environment.delete'), slugs);
}

async function stored(): Promise<unknown> {
  const organization = await prismaOf(services.database).organization.findUnique({
    where: { slug: slugs.organization },
    select: {
      displayName: true,
      memberships: true,
      projects: { select: { slug: true, displayName: true, environments: { select: { displayName: true } } } },
    },
  });
  return organization;
}

async function audited(caller: ResourceCaller = resource): Promise<string[]> {
  const entries = await prismaOf(services.database).auditEntry.findMany({
    where: { actorId: caller.principal.id },
    orderBy: { id: 'asc' },
  });
  return entries.map(({ action, outcome }) => `${action} ${outcome}`);
}

/** Deletes something of the path past the services, as an owner would. */
async function markDeleted(level: 'organization' | 'project' | 'environment'): Promise<void> {
  const data = { deletedAt: new Date() };
  const prisma = prismaOf(services.database);
  const organization = { slug: slugs.organization };
  if (level === 'organization') await prisma.organization.update({ where: organization, data });
  else if (level === 'project') await prisma.project.updateMany({ where: { organization }, data });
  else await prisma.environment.updateMany({ where: { project: { organization } }, data });
}

async function purge(): Promise<void> {
  const access = await services.access.instance(admin.caller, 'environment.purge');
  await services.environments.purge(access, slugs);
}

describe('the first owners', () => {
  async function appoint(owners: readonly string[], caller: AnyCaller = resource): Promise<void> {
    const access = await services.resourceAccess.mayEnsureEnvironment(caller);
    const { organization } = slugs;
    await services.resourceEnvironments.appointOwners(access, { organization, owners });
  }

  async function ownersNow(): Promise<string[]> {
    const rows = await prismaOf(services.database).membership.findMany({
      where: { organization: { slug: slugs.organization }, role: 'owner' },
      select: { user: { select: { email: true } } },
    });
    return rows.map(({ user }) => user.email).toSorted();
  }

  test('are appointed all together, each with a row of the audit, and only if there is none', async () => {
    expect(await ensure()).toMatchObject({ hasOwner: false });
    const [one, two, late] = [await createUser(services), await createUser(services), await createUser(services)];
    await Promise.all([appoint([one.email, two.email]), appoint([two.email, one.email])]);
    expect(await ownersNow()).toEqual([one.email, two.email].toSorted());
    expect(await ensure()).toMatchObject({ hasOwner: true });
    await appoint([late.email]);
    expect(await ownersNow()).not.toContain(late.email);
    const entries = await prismaOf(services.database).auditEntry.findMany({
      where: { actorId: resource.principal.id, action: 'organization.appoint_owner' },
    });
    expect(entries).toHaveLength(2);
    for (const { outcome, organizationId, target } of entries) {
      expect([outcome, organizationId]).toEqual(['success', expect.any(String)]);
      expect(target).toMatchObject({ organization: slugs.organization, role: 'owner', from: null });
    }
  });

  test('are none if one of them does not exist or is disabled, and the error names those', async () => {
    await ensure();
    const [good, disabled] = [await createUser(services), await createUser(services)];
    await prismaOf(services.database).user.update({ where: { id: disabled.id }, data: { disabledAt: new Date() } });
    await expect(appoint([good.email, disabled.email, 'none@corp.test'])).rejects.toMatchObject({
      code: 'not_found',
      detail: expect.stringContaining(`no owner is appointed: ${disabled.email}, none@corp.test;`),
    });
    expect(await ownersNow()).toEqual([]);
    expect((await audited()).slice(-1)).toEqual(['organization.appoint_owner failed']);
  });

  test('replace an owner who is disabled', async () => {
    await ensure();
    const [former, next] = [await createUser(services), await createUser(services)];
    await appoint([former.email]);
    await prismaOf(services.database).user.update({ where: { id: former.id }, data: { disabledAt: new Date() } });
    expect(await ensure()).toMatchObject({ hasOwner: false });
    await appoint([next.email]);
    expect(await ownersNow()).toContain(next.email);
  });

  test.each(['Ann@corp.test', 'ann', ''])('are addresses in lower case: %j is refused', async (owner) => {
    await ensure();
    await expect(appoint([owner])).rejects.toMatchObject({ code: 'invalid_input' });
  });

  test('are for SecretEnvironments alone', async () => {
    await ensure();
    for (const caller of [resourceCaller({ kind: 'ServiceToken' }), admin.caller]) {
      await expect(appoint([admin.email], caller)).rejects.toMatchObject({ code: 'forbidden' });
    }
  });
});

describe('ensuring an environment', () => {
  test('makes it with all that is above it, without any member, and names it', async () => {
    const made = await ensure(resource, { displayName: 'Production' });
    expect(made).toEqual({
      environmentId: expect.any(String),
      revision: 0,
      revisionId: expect.any(String),
      secretCount: 0,
      created: true,
      hasOwner: false,
      namer: resource.principal.id,
    });
    expect(await stored()).toEqual({
      displayName: slugs.organization,
      memberships: [],
      projects: [{ slug: 'web', displayName: 'web', environments: [{ displayName: 'Production' }] }],
    });
    expect(await audited()).toEqual([
      'organization.create success',
      'project.create success',
      'environment.create success',
    ]);
    const { created: _, hasOwner: __, namer: ___, ...present } = made;
    expect(await find()).toMatchObject({ ...present, ...slugs });
  });

  test('makes just what is missing', async () => {
    await ensure(resourceCaller({ kind: 'SecretEnvironment' }), { environment: 'stage' });
    expect(await ensure()).toMatchObject({ created: true });
    expect(await audited()).toEqual(['environment.create success']);
  });

  test('writes nothing if everything exists, and returns it', async () => {
    const world = await createWorld(services);
    await secretCalls(services, world, world.developer.caller).patch({ A: '1', B: '2' });
    slugs = { ...world.slugs };
    const { id: environmentId } = world.environment;
    expect(await ensure()).toMatchObject({ environmentId, revision: 1, secretCount: 2, created: false });
    expect(await audited()).toEqual([]);
    expect(await find()).toBeUndefined();
  });

  test('changes the name that is shown where another is given, and leaves it where none is', async () => {
    await ensure(resource, { displayName: 'Production' });
    expect(await ensure(resource, { displayName: 'Live' })).toMatchObject({ created: false });
    expect(await ensure()).toMatchObject({ created: false });
    expect(await stored()).toMatchObject({ projects: [{ environments: [{ displayName: 'Live' }] }] });
    expect((await audited()).slice(3)).toEqual(['environment.update success']);
  });

  test('leaves its name to the resource that made it, if that one sets a name', async () => {
    const other = resourceCaller({ kind: 'SecretEnvironment' });
    const [own, others] = [resource.principal.id, other.principal.id];
    expect(await ensure(resource, { displayName: 'Own', namers: [others, own] })).toMatchObject({ namer: own });
    const environments = [{ displayName: 'Own' }];
    for (const namers of [
      [own, others],
      [others, own],
    ]) {
      expect(await ensure(other, { displayName: 'Other', namers })).toMatchObject({ namer: own });
      expect(await stored()).toMatchObject({ projects: [{ environments }] });
    }
    expect(await audited(other)).toEqual([]);
    expect(await ensure(other, { displayName: 'Other', namers: [others] })).toMatchObject({ namer: others });
    expect(await stored()).toMatchObject({ projects: [{ environments: [{ displayName: 'Other' }] }] });
  });

  test('leaves its name to the first one that sets it, if none of these made it', async () => {
    await ensure();
    const first = resourceCaller({ kind: 'SecretEnvironment', name: 'first' });
    const second = resourceCaller({ kind: 'SecretEnvironment', name: 'second' });
    const namers = [first.principal.id, second.principal.id];
    expect(await ensure(second, { displayName: 'Second', namers })).toMatchObject({ namer: namers[0] });
    expect(await stored()).toMatchObject({ projects: [{ environments: [{ displayName: 'prod' }] }] });
    await ensure(first, { displayName: 'First', namers });
    expect(await stored()).toMatchObject({ projects: [{ environments: [{ displayName: 'First' }] }] });
  });

  test('makes one, of 10 calls at once by several resources', async () => {
    const callers = Array.from({ length: 5 }, () => resourceCaller({ kind: 'SecretEnvironment' }));
    const made = await Promise.all([...callers, ...callers].map((caller) => ensure(caller)));
    expect(new Set(made.map(({ environmentId }) => environmentId)).size).toBe(1);
    expect(made.filter(({ created }) => created)).toHaveLength(1);
    const owners = await Promise.all(callers.map((caller) => find(caller)));
    expect(owners.filter((own) => own !== undefined)).toHaveLength(1);
  });

  test.each(['before', 'after'] as const)(
    'makes one in the end, whichever of its statements the connection is lost %s',
    async (when) => {
      const statements = runs(/^(?!SET )(?![^]*(?:unnest|SKIP LOCKED))/);
      await ensure(resourceCaller({ kind: 'SecretEnvironment' }), { organization: `${slugs.organization}-0` });
      const before = proxy.count(statements);
      await ensure(resourceCaller({ kind: 'SecretEnvironment' }), { organization: `${slugs.organization}-1` });
      const count = proxy.count(statements) - before;
      expect(count).toBeGreaterThan(12);
      for (let nth = 1; nth <= count; nth += 1) {
        const caller = resourceCaller({ kind: 'SecretEnvironment' });
        const organization = `${slugs.organization}-${when}-${nth}`;
        const struck = proxy.cut(statements, when, { nth });
        await expect(ensure(caller, { organization })).rejects.toMatchObject({ code: 'store_unavailable' });
        await struck.arrived();
        const { environmentId, created } = await ensure(caller, { organization });
        expect(created).toBe(!(when === 'after' && nth === count));
        expect(await find(caller)).toMatchObject({ environmentId, organization });
        expect((await audited(caller)).filter((entry) => entry === 'environment.create success')).toHaveLength(1);
      }
    },
    60_000,
  );

  test.each(['organization', 'project', 'environment'] as const)(
    'is refused where the %s is deleted and still has its slug, and says what to do',
    async (level) => {
      await ensure();
      await markDeleted(level);
      const commands = {
        organization: `keyframe org undelete ${slugs.organization}`,
        project: `keyframe project undelete ${slugs.project} -o ${slugs.organization}`,
        environment: `keyframe env undelete ${slugs.environment} -o ${slugs.organization} -p ${slugs.project}`,
      };
      const place = Object.values(slugs).slice(0, ['organization', 'project', 'environment'].indexOf(level) + 1);
      await expect(ensure()).rejects.toMatchObject({
        code: 'conflict',
        message:
          `${level} ${place.join('/')} was deleted and still has that slug; undelete it with \`${commands[level]}\`, ` +
          'have an instance admin purge it, or choose another slug',
      });
      expect(await find()).toBe('gone');
    },
  );

  test('makes another one where the first was purged', async () => {
    const { environmentId } = await ensure();
    expect(await remove()).toBe(true);
    await purge();
    expect(await find()).toBe('gone');
    const again = await ensure();
    expect(again.created).toBe(true);
    expect(again.environmentId).not.toBe(environmentId);
    expect(await find()).toMatchObject({ environmentId: again.environmentId });
  });

  test('refuses what is no slug or name', async () => {
    await expect(ensure(resource, { project: 'No Slug' })).rejects.toMatchObject({ code: 'invalid_input' });
    await expect(ensure(resource, { displayName: '' })).rejects.toMatchObject({ code: 'invalid_input' });
    expect(await stored()).toBeNull();
  });

  test('is for SecretEnvironments alone', async () => {
    for (const caller of [
      resourceCaller({ kind: 'SecretSnapshot' }),
      resourceCaller({ kind: 'ServiceToken' }),
      admin.caller,
    ]) {
      for (const call of [ensure, find, remove])
        await expect(call(caller)).rejects.toMatchObject({ code: 'forbidden' });
    }
    expect(await stored()).toBeNull();
  });
});

describe('deleting an environment', () => {
  test('deletes softly what the resource made, ends what is in it, and leaves what is above', async () => {
    const { environmentId } = await ensure();
    expect(await remove()).toBe(true);
    const row = await prismaOf(services.database).environment.findUniqueOrThrow({
      where: { id: environmentId },
      include: { project: { include: { organization: true } } },
    });
    expect(row.deletedAt).toEqual(expect.any(Date));
    expect(row.project).toMatchObject({ deletedAt: null, organization: { deletedAt: null } });
    expect(await find()).toBe('gone');
    expect(await remove()).toBe(false);
    expect((await audited()).at(-1)).toBe('environment.delete success');
  });

  test('touches nothing that the resource found there, or that another one made', async () => {
    const other = resourceCaller({ kind: 'SecretEnvironment' });
    await ensure(other);
    await ensure();
    const { id: uid } = other.principal;
    expect(await remove()).toBe(false);
    expect(await remove(resourceCaller({ kind: 'SecretEnvironment', uid, cluster: 'other' }))).toBe(false);
    expect(await find(other)).toMatchObject(slugs);
  });

  test.each(['organization', 'project'] as const)('is not needed where the %s is deleted', async (level) => {
    await ensure();
    await markDeleted(level);
    expect(await remove()).toBe(false);
  });
});
