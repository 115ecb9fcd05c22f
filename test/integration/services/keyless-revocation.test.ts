import { beforeEach, describe, expect, test } from '@jest/globals';
import { setImmediate as turn, setTimeout as pause } from 'node:timers/promises';
import type { ServiceTokenRecord } from '../../../src/services/tokens/service-tokens.ts';
import type { SecretCalls } from '../../support/api/secret-calls.ts';
import { createWorld, type TestServices, type World } from '../../support/api/services.ts';
import { codeOf, TestSyncReader } from '../../support/api/sync-reader.ts';
import { withWorlds } from '../../support/api/with-services.ts';
import { prismaOf } from '../../support/database/prisma.ts';

let services: TestServices;
let world: World;
let calls: SecretCalls;
let own: TestSyncReader;
let tokenId: string;

withWorlds((given) => ({ services, world, calls } = given));

beforeEach(async () => {
  await calls.put('API_KEY', 'value');
  own = new TestSyncReader(services, world);
  ({ tokenId } = await own.enter());
});

async function revoke(id = tokenId): Promise<void> {
  await services.serviceTokens.revoke(await world.onOrganization(world.admin.caller, 'service_token.revoke'), id);
}

async function reinstate(id = tokenId, by = world): Promise<ServiceTokenRecord> {
  const access = await by.onOrganization(by.admin.caller, 'service_token.reinstate');
  return await services.serviceTokens.reinstate(access, id);
}

async function get(id = tokenId): Promise<ServiceTokenRecord> {
  return await services.serviceTokens.get(await world.onOrganization(world.admin.caller, 'service_token.list'), id);
}

const value = { API_KEY: 'value' };

describe('reinstating', () => {
  test('lets the SecretSyncs of the holder read again, is audited and notified, and changes nothing the second time', async () => {
    await revoke();
    expect(await own.outcome()).toBe('token_revoked');
    const events: unknown[] = [];
    services.feed.start();
    const leave = services.feed.subscribe({ onEvent: (event) => void events.push(event), onReady: () => undefined });
    while (!services.feed.ready) await turn();
    expect(await reinstate()).toMatchObject({
      id: tokenId,
      revokedAt: null,
      holder: { cluster: 'test', namespace: 'team-a' },
      cluster: 'test',
    });
    expect(await own.outcome()).toEqual(value);
    while (events.length === 0) await turn();
    const organizationId = world.organization.id;
    expect(events).toEqual([{ kind: 'service_token', organizationId, serviceTokenId: tokenId }]);
    await reinstate();
    leave();
    expect(events).toHaveLength(1);
    const audited = await prismaOf(services.database).auditEntry.findMany({
      where: { organizationId: world.organization.id, action: 'service_token.reinstate' },
      orderBy: { id: 'asc' },
    });
    expect(audited.map(({ target }) => target)).toEqual([
      expect.objectContaining({ serviceTokenId: tokenId, cluster: 'test', namespace: 'team-a' }),
      expect.objectContaining({ serviceTokenId: tokenId, alreadyLive: true }),
    ]);
    expect(audited).toMatchObject([
      { label: '[Service Token]', outcome: 'success', actorId: world.admin.id },
      { label: '[Service Token]' },
    ]);
  });

  test('is for keyless tokens of the organization alone', async () => {
    const other = await world.serviceToken();
    await revoke(other.id);
    expect(await reinstate(other.id).catch(codeOf)).toBe('conflict');
    expect(await get(other.id)).toMatchObject({ revokedAt: expect.any(Date), holder: null, cluster: null });
    await revoke();
    expect(await reinstate(tokenId, await createWorld(services)).catch(codeOf)).toBe('not_found');
    expect(await own.outcome()).toBe('token_revoked');
  });
});

test('a keyless token cannot be rotated', async () => {
  const access = await world.onOrganization(world.admin.caller, 'service_token.rotate');
  await expect(services.serviceTokens.rotate(access, tokenId)).rejects.toMatchObject({
    code: 'conflict',
    detail: expect.stringContaining('has no value'),
  });
  expect(await prismaOf(services.database).serviceTokenCredential.count({ where: { serviceTokenId: tokenId } })).toBe(
    0,
  );
});

test('lists show the holder, and the last use to the minute', async () => {
  await services.usage.drain();
  const { lastUsedAt } = await get();
  expect(lastUsedAt).toEqual(expect.any(Date));
  await own.read();
  await services.usage.drain();
  expect((await get()).lastUsedAt).toEqual(lastUsedAt);
  await services.database.pool.query(
    `UPDATE service_token SET last_used_at = now() - interval '61 seconds' WHERE id = $1`,
    [tokenId],
  );
  await own.read();
  await services.usage.drain();
  const noted = await get();
  expect(noted.lastUsedAt?.getTime()).toBeGreaterThanOrEqual(lastUsedAt?.getTime() ?? Infinity);
  const access = await world.onOrganization(world.admin.caller, 'service_token.list');
  const { serviceTokens } = await services.serviceTokens.list(access);
  expect(serviceTokens).toEqual([noted]);
  expect(noted).toMatchObject({
    name: 'SecretSyncs of team-a (cluster test)',
    scope: 'environment',
    permission: 'read',
    holder: { cluster: 'test', namespace: 'team-a' },
    expiresAt: null,
  });
});

/** Seeded, so that a failure can be repeated. */
function randomly(seed: number): (below: number) => number {
  let state = seed;
  return (below) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state % below;
  };
}

const rounds = 200;

describe('in any interleaving', () => {
  test('nothing is read after an answered revocation, and everything after an answered reinstatement', async () => {
    const next = randomly(7);
    let clock = 0;
    const tick = (): number => (clock += 1);
    const wait = async (): Promise<void> => {
      await pause(next(12));
      for (let turns = next(40); turns > 0; turns -= 1) await turn();
    };
    const faults: string[] = [];
    let refused = 0;
    let late = 0;
    for (let round = 0; round < rounds; round += 1) {
      let [revoked, reinstating, reinstated] = [Infinity, Infinity, Infinity];
      const read = async (): Promise<void> => {
        // Another SecretSync of the namespace, as one that was deleted and made again.
        const reader = new TestSyncReader(services, world);
        const begun = tick();
        const outcome = await reader.outcome();
        const ended = tick();
        const isRead = outcome !== 'token_revoked';
        if (!isRead) refused += 1;
        if (begun > revoked && ended < reinstating) {
          late += 1;
          if (isRead) faults.push(`round ${round}: read at ${begun}, revoked at ${revoked}`);
        }
        if (begun > reinstated && !isRead) faults.push(`round ${round}: refused at ${begun} after ${reinstated}`);
        if (isRead && JSON.stringify(outcome) !== JSON.stringify(value))
          faults.push(`round ${round}: ${JSON.stringify(outcome)}`);
      };
      const readers = Array.from({ length: 5 }, async () => {
        await wait();
        await read();
      });
      const admin = (async () => {
        await wait();
        await revoke();
        revoked = tick();
        // On a slow machine, hardly any of the readers begins and ends within this time.
        if (round % 10 === 0) await read();
        else await wait();
        reinstating = tick();
        await reinstate();
        reinstated = tick();
      })();
      await Promise.all([...readers, admin]);
      expect(await own.outcome()).toEqual(value);
    }
    expect(faults).toEqual([]);
    // Else the rounds would prove nothing.
    expect(refused).toBeGreaterThan(rounds / 10);
    expect(late).toBeGreaterThan(rounds / 20);
  });

  test('revocations and reinstatements at the same time leave what the list shows', async () => {
    const next = randomly(11);
    const seen = new Set<boolean>();
    for (let round = 0; round < 60; round += 1) {
      await Promise.all(Array.from({ length: 4 }, () => (next(2) === 0 ? revoke() : reinstate())));
      const isRevoked = (await get()).revokedAt !== null;
      seen.add(isRevoked);
      expect(await own.outcome()).toEqual(isRevoked ? 'token_revoked' : value);
    }
    expect(seen.size).toBe(2);
  });
});
