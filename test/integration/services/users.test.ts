import { randomUUID } from 'node:crypto';
import { beforeAll, describe, expect, test } from '@jest/globals';
import { limits } from '../../../src/domain/limits.ts';
import type { UserRecord } from '../../../src/services/people/users.ts';
import { LockSession } from '../../support/database/locks.ts';
import type { TestDatabase } from '../../support/database/postgres.ts';
import { secretCalls } from '../../support/api/secret-calls.ts';
import {
  authenticated,
  createUser,
  createWorld,
  type TestServices,
  type TestUser,
} from '../../support/api/services.ts';
import { auditedOfUser, type UserCalls, userCalls } from '../../support/api/user-calls.ts';
import { withServices } from '../../support/api/with-services.ts';
import { prismaOf } from '../../support/database/prisma.ts';

let database: TestDatabase;
let services: TestServices;
let admin: TestUser;
let calls: UserCalls;

withServices((given) => ({ database, services } = given));

beforeAll(async () => {
  admin = await createUser(services, { instanceAdmin: true });
  calls = userCalls(services, admin.caller);
});

function newEmail(): string {
  return `${randomUUID()}@example.test`;
}

const disabled = { code: 'unauthenticated', fault: 'disabled' };

describe('a user', () => {
  test('is made with a token that works, and read', async () => {
    const email = newEmail();
    const { user, token } = await calls.create({ email, displayName: 'Ada' });
    expect(user).toEqual({
      id: expect.any(String),
      email,
      displayName: 'Ada',
      instanceAdmin: false,
      createdAt: expect.any(Date),
      disabledAt: null,
    });
    expect(await calls.get(user.id)).toEqual(user);
    const { principal } = await authenticated(services, token);
    expect(principal).toMatchObject({ id: user.id, name: email, instanceAdmin: false, expiresAt: null });
    const [row] = await auditedOfUser(services, user.id);
    expect(row).toMatchObject({
      organizationId: null,
      actorId: admin.id,
      action: 'user.create',
      outcome: 'success',
      target: { userId: user.id, email, instanceAdmin: false, personalTokenId: principal.credentialId },
      label: null,
    });
    expect(JSON.stringify((row as { target: unknown }).target)).not.toContain(token.reveal());
  });

  test('may be an instance admin from the start', async () => {
    const { token } = await calls.create({ email: newEmail(), instanceAdmin: true });
    const { caller } = { caller: await authenticated(services, token) };
    expect((await userCalls(services, caller).create({ email: newEmail() })).user.displayName).toBeNull();
  });

  test('has an e-mail address in lower case, which no other has, however it is written', async () => {
    const email = newEmail();
    const { user } = await calls.create({ email: email.toUpperCase() });
    expect(user.email).toBe(email);
    const taken = { code: 'conflict', detail: expect.stringContaining(email) };
    await expect(calls.create({ email })).rejects.toMatchObject(taken);
    await calls.update(user.id, { disabled: true });
    await expect(calls.create({ email: email.replace('@e', '@E') })).rejects.toMatchObject(taken);
  });

  test('is made once, when it is asked for twice at once', async () => {
    const email = newEmail();
    const attempts = await Promise.allSettled([calls.create({ email }), calls.create({ email })]);
    expect(attempts.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected']);
  });

  test.each([
    '',
    'ada',
    '@',
    'ada@',
    '@example.test',
    'a@b@c',
    ' ada@example.test',
    'a da@example.test',
    'ä@example.test',
  ])('has no e-mail address such as %j', async (email) => {
    await expect(calls.create({ email })).rejects.toMatchObject({
      code: 'invalid_input',
      fields: [{ field: 'email' }],
    });
  });

  test.each(['', ' ', 'a\u0000', 'a'.repeat(201)])('has no display name such as %j', async (displayName) => {
    const fault = { code: 'invalid_input', fields: [{ field: 'displayName' }] };
    await expect(calls.create({ email: newEmail(), displayName })).rejects.toMatchObject(fault);
    await expect(calls.update(admin.id, { displayName })).rejects.toMatchObject(fault);
  });

  test('is for instance admins alone to make, list, read and change', async () => {
    const world = await createWorld(services);
    const machine = await world.serviceToken({ scope: 'organization' });
    for (const action of ['user.create', 'user.list', 'user.read', 'user.update'] as const) {
      for (const { caller } of [world.admin, world.stranger, machine]) {
        await expect(services.access.instance(caller, action)).rejects.toMatchObject({ code: 'forbidden' });
      }
    }
  });

  test('is not found where there is none', async () => {
    for (const attempt of [
      () => calls.get(randomUUID()),
      () => calls.update(randomUUID(), { displayName: 'x' }),
      () => calls.createToken(randomUUID(), { name: 'x' }),
      () => calls.endTokens(randomUUID()),
    ]) {
      await expect(attempt()).rejects.toMatchObject({ code: 'not_found' });
    }
    await expect(calls.get('x')).rejects.toMatchObject({ code: 'invalid_input' });
    await expect(calls.update('x', {})).rejects.toMatchObject({ code: 'invalid_input' });
  });
});

describe('the users', () => {
  test('are listed by e-mail address, page by page, disabled ones too', async () => {
    const access = await services.access.instance(admin.caller, 'user.list');
    const [, second] = [await calls.create({ email: newEmail() }), await calls.create({ email: newEmail() })];
    await calls.update(second.user.id, { disabled: true });
    const whole = await services.users.list(access);
    const emails = whole.users.map(({ email }) => email);
    expect(emails).toEqual([...emails].sort());
    expect(whole.nextCursor).toBeNull();
    expect(whole.users).toContainEqual(await calls.get(second.user.id));
    const paged: UserRecord[] = [];
    for (let cursor: string | null | undefined; cursor !== null;) {
      const page = await services.users.list(access, cursor === undefined ? { limit: 2 } : { limit: 2, cursor });
      expect(page.users.length).toBeLessThanOrEqual(2);
      paged.push(...page.users);
      cursor = page.nextCursor;
    }
    expect(paged).toEqual(whole.users);
    for (const page of [{ cursor: 'x' }, { limit: 0 }, { limit: limits.pageSize + 1 }]) {
      await expect(services.users.list(access, page)).rejects.toMatchObject({ code: 'invalid_input' });
    }
  });
});

describe('changing a user', () => {
  test('renames, promotes and demotes, and is audited', async () => {
    const { id, caller } = await createUser(services);
    expect(await calls.update(id, { displayName: 'Ada', instanceAdmin: true })).toMatchObject({
      displayName: 'Ada',
      instanceAdmin: true,
      disabledAt: null,
    });
    const promoted = { ...caller, principal: await services.authentication.authenticate(await tokenOf(id)) };
    await services.access.instance(promoted, 'user.list');
    expect(await calls.update(id, { displayName: null, instanceAdmin: false })).toMatchObject({
      displayName: null,
      instanceAdmin: false,
    });
    expect(await calls.update(id, {})).toMatchObject({ displayName: null });
    expect(await auditedOfUser(services, id)).toMatchObject([
      { action: 'user.update', organizationId: null, target: { displayName: 'Ada', instanceAdmin: true } },
      { action: 'personal_token.create' },
      { action: 'user.update', target: { displayName: null, instanceAdmin: false } },
      { action: 'user.update' },
    ]);
  });

  async function tokenOf(id: string): Promise<string> {
    return (await calls.createToken(id, { name: 'new' })).token.reveal();
  }

  test('to disabled ends all their tokens at the very next request, until they are enabled again', async () => {
    const world = await createWorld(services);
    const { developer } = world;
    const secrets = secretCalls(services, world, developer.caller);
    await secrets.put('KEY', 'x');
    const { disabledAt } = await calls.update(developer.id, { disabled: true });
    expect(disabledAt).toBeInstanceOf(Date);
    await expect(services.authentication.authenticate(developer.token.reveal())).rejects.toMatchObject(disabled);
    await expect(secrets.put('KEY', 'late')).rejects.toMatchObject({ code: 'unauthenticated' });
    expect((await calls.update(developer.id, { disabled: true })).disabledAt).toEqual(disabledAt);
    expect((await calls.update(developer.id, { disabled: false })).disabledAt).toBeNull();
    await secrets.put('KEY', 'again');
  });

  test('waits for the change they have under way, and refuses the one that comes after', async () => {
    const world = await createWorld(services);
    const { developer } = world;
    const session = await LockSession.begin(database.url);
    await session.run('LOCK TABLE audit_entry IN EXCLUSIVE MODE');
    const disabling = Promise.allSettled([calls.update(developer.id, { disabled: true })]);
    await session.waitForBlocked(1);
    const write = Promise.allSettled([secretCalls(services, world, developer.caller).put('KEY', 'late')]);
    await session.waitForBlocked(2);
    await session.commit();
    expect(await disabling).toMatchObject([{ status: 'fulfilled' }]);
    expect(await write).toMatchObject([{ status: 'rejected', reason: { code: 'unauthenticated' } }]);
  });

  test('to disabled is refused for the only owner of organizations, naming them and what to do', async () => {
    const world = await createWorld(services);
    const { owner, slugs } = world;
    const error = (await calls.update(owner.id, { disabled: true }).catch((thrown: unknown) => thrown)) as Error;
    expect(error).toMatchObject({ code: 'conflict' });
    expect(error.message).toContain(slugs.organization);
    expect(error.message).toContain(`DELETE /api/v1/users/${owner.id}/personal-tokens`);
    expect((await calls.get(owner.id)).disabledAt).toBeNull();
    const access = await world.onOrganization(owner.caller, 'member.set');
    await services.members.set(access, { id: world.admin.id }, { role: 'owner' });
    expect(await calls.update(owner.id, { disabled: true })).toMatchObject({ disabledAt: expect.any(Date) });
    await expect(calls.update(world.admin.id, { disabled: true })).rejects.toMatchObject({ code: 'conflict' });
  });

  test('to disabled with force leaves an organization without an owner, which its audit shows; another is appointed', async () => {
    const world = await createWorld(services);
    const { owner, admin: next, organization, slugs } = world;
    await calls.update(owner.id, { disabled: true, force: true });
    const where = { action: 'user.update', organizationId: organization.id };
    const [entry, ...others] = await prismaOf(services.database).auditEntry.findMany({ where });
    expect(others).toEqual([]);
    expect(entry?.target).toMatchObject({ userId: owner.id, email: owner.email, disabled: true, force: true });
    const access = await services.access.instance(admin.caller, 'organization.appoint_owner');
    const { member } = await services.members.appointOwner(access, slugs, { id: next.id });
    expect(member).toMatchObject({ userId: next.id, role: 'owner' });
    expect((await calls.update(owner.id, { disabled: false })).disabledAt).toBeNull();
  });

  test('to another e-mail address is for disabled users, and frees the former one', async () => {
    const { user } = await calls.create({ email: newEmail() });
    const [former, next] = [user.email, newEmail()];
    const conflict = { code: 'conflict' };
    await expect(calls.update(user.id, { email: next })).rejects.toMatchObject(conflict);
    await calls.update(user.id, { disabled: true });
    await expect(calls.update(user.id, { email: admin.email })).rejects.toMatchObject(conflict);
    await expect(calls.update(user.id, { email: 'ada' })).rejects.toMatchObject({ code: 'invalid_input' });
    expect(await calls.update(user.id, { email: next })).toMatchObject({ id: user.id, email: next });
    const { user: second } = await calls.create({ email: former });
    expect(second.id).not.toBe(user.id);
    const rows = await auditedOfUser(services, user.id);
    expect(rows.map(({ target }) => target)).toContainEqual({ userId: user.id, email: former, newEmail: next });
    // Repeating it changes nothing.
    expect(await calls.update(user.id, { email: next })).toMatchObject({ email: next });
  });

  test('to disabled does not mind an organization that is deleted', async () => {
    const world = await createWorld(services);
    const { owner } = world;
    await services.organizations.delete(await world.onOrganization(owner.caller, 'organization.delete'));
    expect(await calls.update(owner.id, { disabled: true })).toMatchObject({ disabledAt: expect.any(Date) });
  });

  test('is refused to an admin who is one no more when it comes to it', async () => {
    const [late, other] = [await createUser(services, { instanceAdmin: true }), await createUser(services)];
    const access = await services.access.instance(late.caller, 'user.update');
    await calls.update(late.id, { instanceAdmin: false });
    for (const attempt of [
      () => services.users.update(access, other.id, { instanceAdmin: true }),
      () => services.users.createToken(access, other.id, { name: 'x' }),
      () => services.users.endTokens(access, other.id),
    ]) {
      await expect(attempt()).rejects.toMatchObject({ code: 'forbidden' });
    }
    expect((await calls.get(other.id)).instanceAdmin).toBe(false);
  });
});
