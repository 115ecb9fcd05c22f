import { describe, expect, test } from '@jest/globals';
import { randomUUID } from 'node:crypto';
import { limits } from '../../../src/domain/limits.ts';
import type { Plaintext } from '../../../src/domain/plaintext.ts';
import type { Caller } from '../../../src/domain/principal.ts';
import type { CreatedServiceToken, RotateServiceTokenInput } from '../../../src/services/tokens/service-tokens.ts';
import { LockSession } from '../../support/database/locks.ts';
import type { TestDatabase } from '../../support/database/postgres.ts';
import { secretCalls } from '../../support/api/secret-calls.ts';
import {
  authenticated,
  callerOf,
  createWorld,
  type TestServices,
  type TestToken,
  type World,
} from '../../support/api/services.ts';
import { withWorlds } from '../../support/api/with-services.ts';
import { prismaOf } from '../../support/database/prisma.ts';

let database: TestDatabase;
let services: TestServices;
let world: World;

withWorlds((given) => ({ database, services, world } = given));

async function rotate(
  id: string,
  input?: RotateServiceTokenInput,
  caller: Caller = world.owner.caller,
): Promise<CreatedServiceToken> {
  return services.serviceTokens.rotate(await world.onOrganization(caller, 'service_token.rotate'), id, input);
}

async function opens(token: Plaintext): Promise<string> {
  return services.authentication.authenticate(token.reveal()).then(
    () => 'opens',
    ({ fault }: { fault: string }) => fault,
  );
}

async function credentialsOf({ id }: { readonly id: string }) {
  return prismaOf(services.database).serviceTokenCredential.findMany({
    where: { serviceTokenId: id },
    orderBy: { serial: 'asc' },
  });
}

async function revoke({ id }: TestToken): Promise<void> {
  await services.serviceTokens.revoke(await world.onOrganization(world.owner.caller, 'service_token.revoke'), id);
}

describe('a rotation', () => {
  test('gives the token a new value, and ends the one before at once', async () => {
    const before = await world.serviceToken();
    const { record, token } = await rotate(before.id);
    expect([await opens(before.token), await opens(token)]).toEqual(['expired', 'opens']);
    const read = await services.serviceTokens.get(
      await world.onOrganization(world.owner.caller, 'service_token.list'),
      before.id,
    );
    // The use of the new value is noted at some moment after it.
    expect({ ...record, lastUsedAt: null }).toEqual({ ...read, lastUsedAt: null });
    expect(record).toMatchObject({
      id: before.id,
      name: 'ci',
      permission: 'read_write',
      expiresAt: null,
      revokedAt: null,
    });
    const { principal } = await authenticated(services, token);
    expect(principal).toMatchObject({ ...before.caller.principal, credentialId: expect.any(String) });
    expect(principal.credentialId).not.toBe(before.caller.principal.credentialId);
  });

  test('leaves the value before good for the overlap, but never longer than it had', async () => {
    const before = await world.serviceToken();
    const first = await rotate(before.id, { overlapSeconds: 60 });
    const second = await rotate(before.id, { overlapSeconds: limits.tokenOverlapSeconds });
    for (const { token } of [before, first, second]) expect(await opens(token)).toBe('opens');
    const [one, two, three] = await credentialsOf(before);
    const secondsLeft = (credential: { expiresAt: Date | null } | undefined): number =>
      ((credential?.expiresAt?.getTime() ?? 0) - Date.now()) / 1000;
    expect(secondsLeft(one)).toBeGreaterThan(30);
    expect(secondsLeft(one)).toBeLessThanOrEqual(60);
    expect(secondsLeft(two)).toBeGreaterThan(limits.tokenOverlapSeconds - 60);
    expect(three?.expiresAt).toBeNull();
    const third = await rotate(before.id);
    const left = await Promise.all([before, first, second, third].map(({ token }) => opens(token)));
    expect(left).toEqual(['expired', 'expired', 'expired', 'opens']);
  });

  test('keeps the moment at which the token ends, for the record and for the new value', async () => {
    const before = await world.serviceToken({ expiresInDays: 1 });
    const { expiresAt } = before.caller.principal;
    expect(expiresAt).toEqual(expect.any(Date));
    const { record, token } = await rotate(before.id, { overlapSeconds: 10 });
    expect(record.expiresAt).toEqual(expiresAt);
    expect((await authenticated(services, token)).principal.expiresAt).toEqual(expiresAt);
    expect((await rotate(before.id, { overlapSeconds: limits.tokenOverlapSeconds })).record.expiresAt).toEqual(
      expiresAt,
    );
    const credentials = await credentialsOf(before);
    expect(credentials.map((credential) => (credential.expiresAt ?? 0) <= (expiresAt ?? 0))).toEqual([
      true,
      true,
      true,
    ]);
  });

  test('is audited as of a service token, and reported to listeners', async () => {
    const { id } = await world.serviceToken();
    const caller = callerOf(world.admin.caller.principal);
    await rotate(id, { overlapSeconds: 5 }, caller);
    const rows = await prismaOf(services.database).auditEntry.findMany({ where: { requestId: caller.requestId } });
    expect(rows).toMatchObject([
      {
        action: 'service_token.rotate',
        outcome: 'success',
        label: '[Service Token]',
        target: { serviceTokenId: id, name: 'ci', serial: 2, overlapSeconds: 5 },
      },
    ]);
  });

  test('of two at once gives each another serial, and only the later value stays', async () => {
    const before = await world.serviceToken();
    const lock = await LockSession.begin(database.url);
    await lock.run('SELECT FROM service_token_credential WHERE service_token_id = $1 FOR UPDATE', [before.id]);
    const rotations = Promise.all([rotate(before.id), rotate(before.id)]);
    await lock.waitForBlocked(2);
    await lock.commit();
    const tokens = (await rotations).map(({ token }) => token);
    expect((await credentialsOf(before)).map(({ serial }) => serial)).toEqual([1, 2, 3]);
    const states = await Promise.all([before.token, ...tokens].map(opens));
    expect(states.sort()).toEqual(['expired', 'expired', 'opens']);
  });

  test('rolls back a change that was under way with the value before', async () => {
    const before = await world.serviceToken();
    const lock = await LockSession.begin(database.url);
    await lock.run('SELECT FROM environment WHERE id = $1 FOR UPDATE', [world.environment.id]);
    const write = secretCalls(services, world, before.caller).put('KEY', 'late');
    const failure = write.then(
      () => undefined,
      (error: unknown) => error,
    );
    await lock.waitForBlocked(1);
    await rotate(before.id);
    await lock.commit();
    expect(await failure).toMatchObject({ code: 'unauthenticated' });
    expect((await secretCalls(services, world, world.viewer.caller).read()).secrets).toEqual({});
  });

  test('of many at once beside changes with the newest values fails none of them for good', async () => {
    const before = await world.serviceToken();
    const writes = [1, 2, 3, 4].map((number) => secretCalls(services, world, before.caller).put(`KEY${number}`, 'x'));
    const rotations = [1, 2, 3, 4].map(() => rotate(before.id, { overlapSeconds: 60 }));
    await Promise.all([...writes, ...rotations]);
    expect((await credentialsOf(before)).map(({ serial }) => serial)).toEqual([1, 2, 3, 4, 5]);
  });

  test('of a revoked or expired token is a conflict, and makes nothing', async () => {
    const revoked = await world.serviceToken();
    await revoke(revoked);
    await expect(rotate(revoked.id)).rejects.toMatchObject({
      code: 'conflict',
      detail: expect.stringContaining('revoked'),
    });
    const expired = await world.serviceToken({ expiresInDays: 1 });
    await services.database.pool.query(
      `UPDATE service_token_credential SET expires_at = now() - interval '1 s' WHERE service_token_id = $1`,
      [expired.id],
    );
    await expect(rotate(expired.id)).rejects.toMatchObject({
      code: 'conflict',
      detail: expect.stringContaining('expired'),
    });
    for (const token of [revoked, expired]) expect(await credentialsOf(token)).toHaveLength(1);
  });

  test('is refused for what is no token of the organization and for an overlap that is none', async () => {
    const { id } = await world.serviceToken();
    const foreign = await (await createWorld(services)).serviceToken();
    for (const other of [randomUUID(), foreign.id])
      await expect(rotate(other)).rejects.toMatchObject({ code: 'not_found' });
    await expect(rotate('x')).rejects.toMatchObject({ code: 'invalid_input', fields: [{ field: 'id' }] });
    for (const overlapSeconds of [-1, 1.5, limits.tokenOverlapSeconds + 1]) {
      const refused = { code: 'invalid_input', fields: [{ field: 'overlapSeconds' }] };
      await expect(rotate(id, { overlapSeconds })).rejects.toMatchObject(refused);
    }
    expect(await opens(foreign.token)).toBe('opens');
  });

  test('is for owners and admins alone', async () => {
    const token = await world.serviceToken({ scope: 'organization' });
    for (const { caller } of [world.developer, world.viewer, token]) {
      await expect(rotate(token.id, {}, caller)).rejects.toMatchObject({ code: 'forbidden' });
    }
    await expect(rotate(token.id, {}, world.stranger.caller)).rejects.toMatchObject({ code: 'not_found' });
    expect(await opens(token.token)).toBe('opens');
  });
});
