import { beforeAll, describe, expect, test } from '@jest/globals';
import { LockSession } from '../../support/database/locks.ts';
import type { TestDatabase } from '../../support/database/postgres.ts';
import { authenticated, createUser, type TestServices, type TestUser } from '../../support/api/services.ts';
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

describe('a token that an instance admin makes', () => {
  test('stands in for one that was lost, and is audited', async () => {
    const { id } = await createUser(services);
    const { record, token } = await calls.createToken(id, { name: 'instead', expiresInDays: 7 });
    expect((await authenticated(services, token)).principal).toMatchObject({ id, credentialId: record.id });
    const [row] = await auditedOfUser(services, id);
    expect(row).toMatchObject({
      action: 'personal_token.create',
      actorId: admin.id,
      organizationId: null,
      target: { userId: id, personalTokenId: record.id, name: 'instead' },
    });
    expect(JSON.stringify((row as { target: unknown }).target)).not.toContain(token.reveal());
  });

  test('is not made for a disabled user, nor with a faulty name or expiry', async () => {
    const { id } = await createUser(services);
    await expect(calls.createToken(id, { name: '' })).rejects.toMatchObject({ code: 'invalid_input' });
    await expect(calls.createToken(id, { name: 'x', expiresInDays: 0 })).rejects.toMatchObject({
      code: 'invalid_input',
    });
    await calls.update(id, { disabled: true });
    await expect(calls.createToken(id, { name: 'x' })).rejects.toMatchObject({ code: 'conflict' });
  });

  test('for themselves never outlives the one it is made with', async () => {
    const { token } = await calls.createToken(admin.id, { name: 'short', expiresInDays: 1 });
    const caller = await authenticated(services, token);
    await expect(
      userCalls(services, caller).createToken(admin.id, { name: 'x', expiresInDays: 2 }),
    ).rejects.toMatchObject({
      code: 'invalid_input',
      fields: [{ field: 'expiresInDays' }],
    });
    const { record } = await userCalls(services, caller).createToken(admin.id, { name: 'x' });
    expect(record.expiresAt).toEqual(caller.principal.expiresAt);
  });
});

describe('ending a user’s tokens', () => {
  test('ends all of them at once, keeps the user, and is audited', async () => {
    const { id, token: first } = await createUser(services);
    const second = await calls.createToken(id, { name: 'second' });
    await calls.endTokens(id);
    for (const token of [first, second.token]) {
      await expect(services.authentication.authenticate(token.reveal())).rejects.toMatchObject({ fault: 'revoked' });
    }
    await calls.endTokens(id);
    expect((await calls.get(id)).disabledAt).toBeNull();
    const rows = await auditedOfUser(services, id);
    expect(rows.slice(1)).toMatchObject([
      { action: 'personal_token.revoke', target: { userId: id, revoked: 2 } },
      { action: 'personal_token.revoke', target: { userId: id, revoked: 0 } },
    ]);
    const { token } = await calls.createToken(id, { name: 'again' });
    await authenticated(services, token);
  });

  test('leaves out none that is being made at the same time', async () => {
    const user = await createUser(services);
    const session = await LockSession.begin(database.url);
    await session.run('LOCK TABLE audit_entry IN EXCLUSIVE MODE');
    const access = await services.access.person(user.caller, 'personal_token.create');
    const creation = Promise.allSettled([services.personalTokens.create(access, { name: 'in time' })]);
    await session.waitForBlocked(1);
    const ending = calls.endTokens(user.id);
    await session.waitForBlocked(2);
    await session.commit();
    expect(await creation).toMatchObject([{ status: 'fulfilled' }]);
    await ending;
    const where = { userId: user.id, revokedAt: null };
    expect(await prismaOf(services.database).personalToken.count({ where })).toBe(0);
  });

  test('may be one’s own', async () => {
    const self = await createUser(services, { instanceAdmin: true });
    const access = await services.access.instance(self.caller, 'user.update');
    await services.users.endTokens(access, self.id);
    await expect(services.authentication.authenticate(self.token.reveal())).rejects.toMatchObject({ fault: 'revoked' });
  });
});
