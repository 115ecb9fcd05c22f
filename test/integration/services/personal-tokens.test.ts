import { randomUUID } from 'node:crypto';
import { beforeEach, describe, expect, test } from '@jest/globals';
import { limits } from '../../../src/domain/limits.ts';
import type { Caller } from '../../../src/domain/principal.ts';
import type { CreatedPersonalToken, PersonalTokenInput } from '../../../src/services/tokens/personal-tokens.ts';
import { LockSession } from '../../support/database/locks.ts';
import type { TestDatabase } from '../../support/database/postgres.ts';
import {
  authenticated,
  createUser,
  createWorld,
  type TestServices,
  type TestUser,
} from '../../support/api/services.ts';
import { withServices } from '../../support/api/with-services.ts';
import { prismaOf } from '../../support/database/prisma.ts';

const dayMs = 24 * 60 * 60 * 1000;

let database: TestDatabase;
let services: TestServices;
let user: TestUser;

withServices((given) => ({ database, services } = given));

beforeEach(async () => {
  user = await createUser(services);
});

async function create(input: PersonalTokenInput, caller: Caller = user.caller): Promise<CreatedPersonalToken> {
  return services.personalTokens.create(await services.access.person(caller, 'personal_token.create'), input);
}

async function revoke(id: string, caller: Caller = user.caller): Promise<void> {
  return services.personalTokens.revoke(await services.access.person(caller, 'personal_token.revoke'), id);
}

async function names(caller: Caller = user.caller): Promise<string[]> {
  const access = await services.access.person(caller, 'personal_token.list');
  return (await services.personalTokens.list(access)).personalTokens.map(({ name }) => name);
}

/** A caller with a token of theirs that ends in so many days. */
async function callerEndingIn(days: number): Promise<{ readonly caller: Caller; readonly expiresAt: Date | null }> {
  const { token, record } = await create({ name: 'short', expiresInDays: days });
  return { caller: await authenticated(services, token), expiresAt: record.expiresAt };
}

describe('a personal token', () => {
  test('opens what its user may, is listed with the others and shown once', async () => {
    const { record, token } = await create({ name: 'laptop', expiresInDays: 30 });
    expect(record).toEqual({
      id: expect.any(String),
      name: 'laptop',
      createdAt: expect.any(Date),
      expiresAt: expect.any(Date),
      revokedAt: null,
      lastUsedAt: null,
      creator: null,
    });
    expect(Number(record.expiresAt) - Number(record.createdAt)).toBeCloseTo(30 * dayMs, -4);
    const { principal } = await authenticated(services, token);
    expect(principal).toMatchObject({
      type: 'user',
      id: user.id,
      credentialId: record.id,
      expiresAt: record.expiresAt,
    });
    const access = await services.access.person(user.caller, 'personal_token.list');
    const listed = await services.personalTokens.list(access);
    expect(listed.personalTokens.map(({ name }) => name)).toEqual(['laptop', 'test']);
    expect(listed.nextCursor).toBeNull();
    expect(JSON.stringify(listed)).not.toContain(token.reveal());
  });

  test('leaves audit rows of its making and its end, in no organization’s chain, without itself', async () => {
    const { record, token } = await create({ name: 'laptop' });
    await revoke(record.id);
    const rows = await prismaOf(services.database).auditEntry.findMany({
      where: { actorId: user.id },
      orderBy: { id: 'asc' },
    });
    expect(rows).toMatchObject([
      { organizationId: null, action: 'personal_token.create', outcome: 'success', label: null },
      { organizationId: null, action: 'personal_token.revoke', outcome: 'success', label: null },
    ]);
    expect(rows[0]?.target).toEqual({ personalTokenId: record.id, name: 'laptop', expiresAt: null });
    const text = JSON.stringify(rows, (_key, value: unknown) => (typeof value === 'bigint' ? String(value) : value));
    expect(text).not.toContain(token.reveal());
  });

  test('is listed page by page, newest first, without a gap', async () => {
    for (const name of ['a', 'b', 'c']) await create({ name });
    const access = await services.access.person(user.caller, 'personal_token.list');
    const first = await services.personalTokens.list(access, { limit: 3 });
    expect(first.personalTokens.map(({ name }) => name)).toEqual(['c', 'b', 'a']);
    const rest = await services.personalTokens.list(access, { limit: 3, cursor: first.nextCursor ?? '' });
    expect(rest).toMatchObject({ personalTokens: [{ name: 'test' }], nextCursor: null });
    await expect(services.personalTokens.list(access, { cursor: 'x' })).rejects.toMatchObject({
      code: 'invalid_input',
    });
    await expect(services.personalTokens.list(access, { limit: 0 })).rejects.toMatchObject({ code: 'invalid_input' });
  });

  test.each([
    ['name', { name: '' }],
    ['expiresInDays', { name: 'x', expiresInDays: 0 }],
    ['expiresInDays', { name: 'x', expiresInDays: limits.tokenLifetimeDays + 1 }],
    ['expiresAt', { name: 'x', expiresAt: new Date(0) }],
    ['expiresAt', { name: 'x', expiresAt: new Date(Date.now() + (limits.tokenLifetimeDays + 1) * dayMs) }],
    ['expiresAt', { name: 'x', expiresInDays: 1, expiresAt: new Date(Date.now() + dayMs) }],
  ])('is refused for a faulty %s', async (field, input) => {
    await expect(create(input)).rejects.toMatchObject({ code: 'invalid_input', fields: [{ field }] });
    expect(await names()).toEqual(['test']);
  });

  test('is no service token’s to have', async () => {
    const { caller } = await (await createWorld(services)).serviceToken({ scope: 'organization' });
    for (const action of ['personal_token.list', 'personal_token.create', 'personal_token.revoke'] as const) {
      await expect(services.access.person(caller, action)).rejects.toMatchObject({ code: 'forbidden' });
      const denied = await prismaOf(services.database).auditEntry.count({
        where: { actorId: caller.principal.id, action, outcome: 'denied', label: '[Service Token]' },
      });
      expect(denied).toBe(1);
    }
  });
});

describe('a token that is made with one that ends', () => {
  test('ends with it by default, and may end before', async () => {
    const { caller, expiresAt } = await callerEndingIn(10);
    expect((await create({ name: 'same' }, caller)).record.expiresAt).toEqual(expiresAt);
    const sooner = (await create({ name: 'sooner', expiresInDays: 9 }, caller)).record;
    expect(Number(sooner.expiresAt)).toBeLessThan(Number(expiresAt));
  });

  test('never outlives it', async () => {
    const { caller, expiresAt } = await callerEndingIn(10);
    const later = new Date(Number(expiresAt) + 1000);
    for (const input of [{ expiresInDays: 11 }, { expiresAt: later }]) {
      const [field] = Object.keys(input);
      await expect(create({ name: 'later', ...input }, caller)).rejects.toMatchObject({
        code: 'invalid_input',
        fields: [{ field, message: expect.stringContaining('must not outlive') }],
      });
    }
    expect(await names()).toEqual(['short', 'test']);
  });
});

describe('revoking a personal token', () => {
  test('ends it at the very next request, and changes nothing when done again', async () => {
    const { record, token } = await create({ name: 'laptop' });
    await revoke(record.id);
    const prisma = prismaOf(services.database);
    const { revokedAt } = await prisma.personalToken.findUniqueOrThrow({ where: { id: record.id } });
    expect(revokedAt).toEqual(expect.any(Date));
    await expect(services.authentication.authenticate(token.reveal())).rejects.toMatchObject({ fault: 'revoked' });
    await revoke(record.id);
    expect((await prisma.personalToken.findUniqueOrThrow({ where: { id: record.id } })).revokedAt).toEqual(revokedAt);
  });

  test('may be of the very token it is asked with', async () => {
    const { record, token } = await create({ name: 'laptop' });
    const caller = await authenticated(services, token);
    await revoke(record.id, caller);
    await expect(create({ name: 'late' }, caller)).rejects.toMatchObject({ code: 'unauthenticated' });
    expect(await names()).toEqual(['laptop', 'test']);
  });

  test('does not reach another user’s', async () => {
    const other = await createUser(services, { instanceAdmin: true });
    const { record, token } = await create({ name: 'laptop' });
    for (const id of [record.id, randomUUID()]) {
      await expect(revoke(id, other.caller)).rejects.toMatchObject({ code: 'not_found' });
    }
    await expect(revoke('laptop', other.caller)).rejects.toMatchObject({ code: 'invalid_input' });
    expect(await services.authentication.authenticate(token.reveal())).toMatchObject({ id: user.id });
    expect(await names(other.caller)).toEqual(['test']);
  });

  test('that is not committed yet holds back a token being made with it, which is not made', async () => {
    const { record, token } = await create({ name: 'laptop' });
    const caller = await authenticated(services, token);
    const session = await LockSession.begin(database.url);
    await session.run('LOCK TABLE audit_entry IN EXCLUSIVE MODE');
    const revocation = Promise.allSettled([revoke(record.id)]);
    await session.waitForBlocked(1);
    const creation = Promise.allSettled([create({ name: 'late' }, caller)]);
    await session.waitForBlocked(2);
    await session.commit();
    expect(await revocation).toMatchObject([{ status: 'fulfilled' }]);
    expect(await creation).toMatchObject([{ status: 'rejected', reason: { code: 'unauthenticated' } }]);
    expect(await names()).toEqual(['laptop', 'test']);
  });
});

describe('the number of live tokens', () => {
  async function fillUpTo(count: number): Promise<void> {
    await services.database.pool.query(
      `INSERT INTO personal_token (id, user_id, name, token_hash, delegators)
       SELECT gen_random_uuid(), $1, 'many', decode(repeat('00', 32), 'hex'), '{}' FROM generate_series(1, $2::int)`,
      [user.id, count - 1],
    );
  }

  test('is bounded, also when two are made at once', async () => {
    await fillUpTo(limits.personalTokensPerUser - 1);
    const session = await LockSession.begin(database.url);
    // Neither is committed before both have come as far as they come without each other.
    await session.run('LOCK TABLE audit_entry IN EXCLUSIVE MODE');
    const both = Promise.allSettled([create({ name: 'a' }), create({ name: 'b' })]);
    await session.waitForBlocked(2);
    await session.commit();
    const attempts = await both;
    expect(attempts.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected']);
    expect(attempts).toContainEqual(
      expect.objectContaining({ reason: expect.objectContaining({ code: 'quota_exceeded' }) }),
    );
  });

  test('leaves out those that are revoked or have expired', async () => {
    await fillUpTo(limits.personalTokensPerUser);
    await expect(create({ name: 'one too many' })).rejects.toMatchObject({ code: 'quota_exceeded' });
    const where = { userId: user.id, name: 'many' };
    const [first, second] = await prismaOf(services.database).personalToken.findMany({ where, take: 2 });
    await revoke(first?.id ?? '');
    await create({ name: 'in place of a revoked one' });
    await prismaOf(services.database).personalToken.update({
      where: { id: second?.id ?? '' },
      data: { expiresAt: new Date(Date.now() - 1000) },
    });
    await create({ name: 'in place of an expired one' });
    await expect(create({ name: 'one too many' })).rejects.toMatchObject({ code: 'quota_exceeded' });
  });
});
