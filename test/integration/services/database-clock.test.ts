import { createHash, randomUUID } from 'node:crypto';
import { beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { limits } from '../../../src/domain/limits.ts';
import type { Caller } from '../../../src/domain/principal.ts';
import type { StreamEvent } from '../../../src/services/changes/change-stream.ts';
import { findCredentials, touchCredentials } from '../../../src/store/credentials.ts';
import { secretCalls } from '../../support/api/secret-calls.ts';
import { withServerClockOff } from '../../support/api/server-clock.ts';
import { type TestServices, type World, authenticated, createUser } from '../../support/api/services.ts';
import { type SnapshotCalls } from '../../support/api/snapshot-calls.ts';
import { TokenResource } from '../../support/api/token-resource.ts';
import { userCalls } from '../../support/api/user-calls.ts';
import { prismaOf } from '../../support/database/prisma.ts';
import { waitFor } from '../../support/fixtures/wait-for.ts';
import { createWorldCalls, withServices } from '../../support/api/with-services.ts';

/** What ends or began is judged by the database's clock, however wrong the clock of the server is. */

const minuteMs = 60_000;
const hourMs = 60 * minuteMs;

let services: TestServices;
let world: World;
let snapshots: SnapshotCalls;

withServices((given) => ({ services } = given), { streams: { maxStreams: 8, checkMs: 100 } });

beforeAll(async () => {
  services.feed.start();
  await waitFor('the feed to hear', () => services.feed.ready);
});

beforeEach(async () => {
  ({ world, snapshots } = await createWorldCalls(services));
});

const clocks: [string, number][] = [
  ['an hour ahead', hourMs],
  ['an hour behind', -hourMs],
];

async function sql<Row>(text: string, ...values: unknown[]): Promise<Row[]> {
  return (await services.database.pool.query(text, values)).rows as Row[];
}

/** Lets a credential end so many minutes from now, by the database's clock. */
async function expireIn(table: 'personal_token' | 'service_token_credential', id: string, minutes: number) {
  await sql(
    `UPDATE ${table} SET expires_at = clock_timestamp() + make_interval(mins => $2) WHERE id = $1`,
    id,
    minutes,
  );
}

/** Milliseconds from the database's clock to a moment. */
async function fromNow(moment: Date | null): Promise<number> {
  const [row] = await sql<{ ms: string }>(
    'SELECT extract(epoch FROM $1::timestamptz - clock_timestamp()) * 1000 AS ms',
    moment,
  );
  return Number(row?.ms);
}

function outcomeOf(work: Promise<unknown>): Promise<string> {
  return work.then(
    () => 'done',
    ({ fault, code }: { fault?: string; code?: string }) => fault ?? code ?? 'failed',
  );
}

describe.each(clocks)('with the clock of the server %s', (_name, byMs) => {
  test('a token opens something until it ends, and nothing from then on', async () => {
    const service = await world.serviceToken();
    const { viewer } = world;
    const kinds = [
      ['personal_token', viewer.token, viewer.caller],
      ['service_token_credential', service.token, service.caller],
    ] as const;
    for (const [table, token, { principal }] of kinds) {
      const open = (): Promise<string> => outcomeOf(services.authentication.authenticate(token.reveal()));
      await expireIn(table, principal.credentialId, 30);
      expect(await withServerClockOff(byMs, open)).toBe('done');
      await expireIn(table, principal.credentialId, -30);
      expect(await withServerClockOff(byMs, open)).toBe('expired');
    }
  });

  test('a change under way commits while its token lives, and is undone if that has ended', async () => {
    const service = await world.serviceToken();
    const { developer } = world;
    const kinds = [
      ['personal_token', developer.caller],
      ['service_token_credential', service.caller],
    ] as const;
    for (const [table, caller] of kinds) {
      const put = (): Promise<string> => outcomeOf(secretCalls(services, world, caller).put('KEY', randomUUID()));
      await expireIn(table, caller.principal.credentialId, 30);
      expect(await withServerClockOff(byMs, put)).toBe('done');
      await expireIn(table, caller.principal.credentialId, -30);
      expect(await withServerClockOff(byMs, put)).toBe('unauthenticated');
    }
  });

  test('a stream of changes goes on while its token lives, and ends with it', async () => {
    const { caller } = world.viewer;
    const abort = new AbortController();
    await withServerClockOff(byMs, async () => {
      await expireIn('personal_token', caller.principal.credentialId, 30);
      const opened = await services.changeStreams.start(await world.onEnvironment(caller, 'change.list'), undefined);
      const events = opened(abort.signal)[Symbol.asyncIterator]();
      const next = async (): Promise<StreamEvent['kind'] | 'end'> => {
        const { done, value } = await events.next();
        return done === true ? 'end' : value.kind;
      };
      expect([await next(), await next()]).toEqual(['ready', 'idle']);
      await expireIn('personal_token', caller.principal.credentialId, -30);
      await waitFor('the stream to end', async () => (await next()) === 'end');
    });
    abort.abort();
  });

  test('a new token lives as long as asked, and one that would end in the past is refused', async () => {
    await withServerClockOff(byMs, async () => {
      const { caller } = world.viewer;
      const create = async (input: { expiresInDays?: number; expiresAt?: Date }): Promise<Date | null> => {
        const access = await services.access.person(caller, 'personal_token.create');
        return (await services.personalTokens.create(access, { name: 'new', ...input })).record.expiresAt;
      };
      const now = Date.now() + (await fromNow(new Date())) * -1;
      const lifetimeMs = await fromNow(await create({ expiresInDays: 1 }));
      expect(Math.abs(lifetimeMs - 24 * hourMs)).toBeLessThan(5 * minuteMs);
      const { caller: ofService } = await world.serviceToken({ expiresInDays: 1 });
      const serviceLifetimeMs = await fromNow(ofService.principal.expiresAt);
      expect(Math.abs(serviceLifetimeMs - 24 * hourMs)).toBeLessThan(5 * minuteMs);
      expect(await outcomeOf(create({ expiresAt: new Date(now + 30 * minuteMs) }))).toBe('done');
      expect(await outcomeOf(create({ expiresAt: new Date(now - 30 * minuteMs) }))).toBe('invalid_input');
    });
  });

  test('a token that has ended leaves its place among the live ones of its user, and no other does', async () => {
    const create = (): Promise<string> =>
      withServerClockOff(byMs, async () => {
        const access = await services.access.person(world.stranger.caller, 'personal_token.create');
        return outcomeOf(services.personalTokens.create(access, { name: 'one more' }));
      });
    await prismaOf(services.database).personalToken.createMany({
      data: Array.from({ length: limits.personalTokensPerUser - 1 }, () => {
        const id = randomUUID();
        const tokenHash = createHash('sha256').update(id).digest();
        return { id, userId: world.stranger.id, name: 'many', tokenHash, delegators: [] };
      }),
    });
    const many = `SET expires_at = clock_timestamp() + make_interval(mins => $2) WHERE user_id = $1 AND name = 'many'`;
    await sql(`UPDATE personal_token ${many}`, world.stranger.id, 30);
    expect(await create()).toBe('quota_exceeded');
    await sql(`UPDATE personal_token ${many}`, world.stranger.id, -30);
    expect(await create()).toBe('done');
  });

  test('a token can be rotated until it ends, and not from then on', async () => {
    const { id, caller } = await world.serviceToken();
    const rotate = (): Promise<string> =>
      withServerClockOff(byMs, async () => {
        const access = await world.onOrganization(world.owner.caller, 'service_token.rotate');
        return outcomeOf(services.serviceTokens.rotate(access, id, { overlapSeconds: limits.tokenOverlapSeconds }));
      });
    await expireIn('service_token_credential', caller.principal.credentialId, 30);
    expect(await rotate()).toBe('done');
    await sql(
      `UPDATE service_token_credential SET expires_at = clock_timestamp() - interval '30 minutes'
        WHERE service_token_id = $1`,
      id,
    );
    expect(await rotate()).toBe('conflict');
  });

  test('a rotated value stays good for its overlap', async () => {
    const before = await world.serviceToken();
    await withServerClockOff(byMs, async () => {
      const access = await world.onOrganization(world.owner.caller, 'service_token.rotate');
      await services.serviceTokens.rotate(access, before.id, { overlapSeconds: 600 });
      expect(await outcomeOf(services.authentication.authenticate(before.token.reveal()))).toBe('done');
    });
    const [old] = await prismaOf(services.database).serviceTokenCredential.findMany({
      where: { serviceTokenId: before.id },
      orderBy: { serial: 'asc' },
    });
    expect(Math.abs((await fromNow(old?.expiresAt ?? null)) - 600_000)).toBeLessThan(5 * minuteMs);
  });

  test('an Idempotency-Key stands for its change for 24 hours', async () => {
    const request = { key: randomUUID(), requestHash: createHash('sha256').update('same').digest() };
    const create = (): Promise<string> =>
      withServerClockOff(byMs, async () => (await snapshots.create({ idempotency: request })).id);
    const age = (minutes: number): Promise<unknown> =>
      sql(
        'UPDATE idempotency_record SET created_at = clock_timestamp() - make_interval(mins => $2) WHERE key = $1',
        request.key,
        minutes,
      );
    const first = await create();
    await age(24 * 60 - 30);
    expect(await create()).toBe(first);
    await age(24 * 60 + 30);
    expect(await create()).not.toBe(first);
  });

  test('the use of a credential is due after a minute, and is noted with the time of the database', async () => {
    const { principal } = (await createUser(services)).caller;
    const { pool } = services.database;
    const isDue = (): Promise<boolean | undefined> =>
      withServerClockOff(
        byMs,
        async () => (await findCredentials(pool, 'personal_token', [principal.credentialId]))[0]?.useDue,
      );
    const used = (seconds: number): Promise<unknown> =>
      sql(
        'UPDATE personal_token SET last_used_at = clock_timestamp() - make_interval(secs => $2) WHERE id = $1',
        principal.credentialId,
        seconds,
      );
    await used(10);
    expect(await isDue()).toBe(false);
    await used(90);
    expect(await isDue()).toBe(true);
    await withServerClockOff(byMs, () => touchCredentials(pool, 'personal_token', [principal.credentialId]));
    const { lastUsedAt } = await prismaOf(services.database).personalToken.findUniqueOrThrow({
      where: { id: principal.credentialId },
    });
    expect(Math.abs(await fromNow(lastUsedAt))).toBeLessThan(5 * minuteMs);
  });

  test('revocations and deletions have the time of the database', async () => {
    const { id } = await world.serviceToken();
    await withServerClockOff(byMs, async () => {
      await services.serviceTokens.revoke(await world.onOrganization(world.owner.caller, 'service_token.revoke'), id);
      await services.environments.delete(await world.onEnvironment(world.owner.caller, 'environment.delete'));
    });
    const { revokedAt } = await prismaOf(services.database).serviceToken.findUniqueOrThrow({ where: { id } });
    const { deletedAt } = await prismaOf(services.database).environment.findUniqueOrThrow({
      where: { id: world.environment.id },
    });
    for (const moment of [revokedAt, deletedAt]) expect(Math.abs(await fromNow(moment))).toBeLessThan(5 * minuteMs);
  });

  test('a token derived from another person’s counts as the member’s if it is older than the confirmation', async () => {
    const { viewer } = world;
    const admin = await createUser(services, { instanceAdmin: true });
    const given = await userCalls(services, admin.caller).createToken(viewer.id, { name: 'given' });
    const givenCaller = await authenticated(services, given.token);
    const derive = async (): Promise<Caller> => {
      const access = await services.access.person(givenCaller, 'personal_token.create');
      return authenticated(services, (await services.personalTokens.create(access, { name: 'derived' })).token);
    };
    const forbid = async (forbidden: boolean): Promise<unknown> => {
      const access = await world.onOrganization(world.owner.caller, 'organization.set_impersonation');
      return services.organizations.setImpersonation(access, forbidden);
    };
    const confirm = async (): Promise<unknown> => {
      const access = await world.onOrganization(world.owner.caller, 'member.set');
      return services.members.set(access, { id: viewer.id }, { role: 'viewer', confirmTokens: true });
    };
    const opens = (caller: Caller): Promise<string> => outcomeOf(world.onEnvironment(caller, 'environment.read'));
    // Either the token or the confirmation comes from a server whose clock is wrong.
    const before = await withServerClockOff(byMs, derive);
    await forbid(true);
    const between = await withServerClockOff(byMs, derive);
    expect([await opens(before), await opens(between)]).toEqual(['done', 'forbidden']);
    await withServerClockOff(byMs, confirm);
    const after = await derive();
    expect([await opens(between), await opens(after)]).toEqual(['done', 'forbidden']);
    await forbid(false);
    await withServerClockOff(byMs, () => forbid(true));
    expect([await opens(after), await opens(await derive())]).toEqual(['done', 'forbidden']);
  });

  test('a cluster holds its name for ten minutes after it was seen', async () => {
    const name = randomUUID();
    const program = { release: '1.2.3', protocol: { min: 1, max: 1 }, kinds: [] };
    const ask = async (uid: string): Promise<unknown> =>
      (await services.clusters.hello(name, { uid, isLeading: true, ...program })).holder ?? 'ours';
    const claim = (uid: string): Promise<unknown> => withServerClockOff(byMs, () => ask(uid));
    expect(await claim('one')).toBe('ours');
    expect(await ask('two')).toMatchObject({ heldBy: 'one' });
    const age = 'UPDATE cluster SET seen_at = clock_timestamp() - make_interval(mins => $2) WHERE name = $1';
    await sql(age, name, 9);
    expect(await claim('two')).toMatchObject({ heldBy: 'one' });
    await sql(age, name, 11);
    expect(await claim('two')).toBe('ours');
  });

  test('the sweep sees a token of a custom resource five minutes after it was made', async () => {
    const own = new TokenResource(services, world);
    const { tokenId } = await own.minted({ permission: 'read' });
    const isSeen = (): Promise<boolean> =>
      withServerClockOff(byMs, async () => {
        const { tokens, next } = await services.resourceTokens.live('test', { namespaces: null, after: null });
        expect(next).toBeNull();
        return tokens.some(({ uid }) => uid === own.caller.principal.id);
      });
    const age = 'UPDATE service_token SET created_at = clock_timestamp() - make_interval(mins => $2) WHERE id = $1';
    await sql(age, tokenId, 1);
    expect(await isSeen()).toBe(false);
    await sql(age, tokenId, 30);
    expect(await isSeen()).toBe(true);
  });
});
