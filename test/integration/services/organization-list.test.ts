import { randomUUID } from 'node:crypto';
import { expect, test } from '@jest/globals';
import type { Caller } from '../../../src/domain/principal.ts';
import type { AdministeredOrganizationRecord } from '../../../src/services/tenancy/organizations.ts';
import { resourceCaller } from '../../support/api/resource-caller.ts';
import { createUser, type TestServices, type World } from '../../support/api/services.ts';
import { withWorlds } from '../../support/api/with-services.ts';
import { prismaOf } from '../../support/database/prisma.ts';

let services: TestServices;
let world: World;

withWorlds((given) => ({ services, world } = given));

async function listAll(caller: Caller): Promise<readonly AdministeredOrganizationRecord[]> {
  return services.organizations.listAll(await services.access.instance(caller, 'organization.list_all'));
}

async function listed(caller: Caller, slug: string): Promise<AdministeredOrganizationRecord | undefined> {
  return (await listAll(caller)).find((organization) => organization.slug === slug);
}

test('the list of all organizations has those that the admin is no member of, with the owners of each', async () => {
  const admin = await createUser(services, { instanceAdmin: true });
  const former = await createUser(services);
  const { id: organizationId, slug } = world.organization;
  const prisma = prismaOf(services.database);
  await prisma.membership.create({ data: { organizationId, userId: former.id, role: 'owner' } });
  await prisma.user.update({ where: { id: former.id }, data: { disabledAt: new Date() } });
  const owners = [
    { userId: world.owner.id, email: world.owner.email, disabled: false },
    { userId: former.id, email: former.email, disabled: true },
  ].toSorted((a, b) => (a.email < b.email ? -1 : 1));
  expect(await listed(admin.caller, slug)).toEqual({ ...world.organization, role: null, owners, deletedAt: null });
  expect(await listed(world.owner.caller, slug)).toMatchObject({ role: 'owner' });
  const slugs = (await listAll(admin.caller)).map((organization) => organization.slug);
  expect(slugs).toEqual(slugs.toSorted((a, b) => (a < b ? -1 : 1)));
  expect(new Set(slugs).size).toBe(slugs.length);
});

test('the list of all organizations has one that a SecretEnvironment created, without an owner', async () => {
  const admin = await createUser(services, { instanceAdmin: true });
  const slugs = { organization: `org-${randomUUID().slice(0, 8)}`, project: 'web', environment: 'prod' };
  const resource = resourceCaller({ kind: 'SecretEnvironment', name: 'shop-prod' });
  await services.resourceEnvironments.ensure(await services.resourceAccess.mayEnsureEnvironment(resource), slugs);
  expect(await listed(admin.caller, slugs.organization)).toMatchObject({ role: null, owners: [] });
});

test('the list of all organizations has no deleted one', async () => {
  const admin = await createUser(services, { instanceAdmin: true });
  await services.organizations.delete(await world.onOrganization(world.owner.caller, 'organization.delete'));
  expect(await listed(admin.caller, world.organization.slug)).toBeUndefined();
  const deleted = await services.organizations.listDeleted(
    await services.access.instance(admin.caller, 'organization.list_deleted'),
  );
  const owners = [{ userId: world.owner.id, email: world.owner.email, disabled: false }];
  expect(deleted).toContainEqual(expect.objectContaining({ id: world.organization.id, owners }));
});

test('the list of all organizations is refused to other callers, and the refusal is audited', async () => {
  const token = await world.serviceToken({ scope: 'organization' });
  const owner = await createUser(services);
  const data = { organizationId: world.organization.id, userId: owner.id, role: 'owner' as const };
  await prismaOf(services.database).membership.create({ data });
  for (const { caller } of [owner, world.admin, world.stranger, token]) {
    await expect(listAll(caller)).rejects.toMatchObject({ code: 'forbidden' });
    const where = { actorId: caller.principal.id, action: 'organization.list_all' };
    expect(await prismaOf(services.database).auditEntry.findMany({ where })).toMatchObject([{ outcome: 'denied' }]);
  }
});
