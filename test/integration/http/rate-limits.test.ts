import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { request } from 'node:http';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { generateToken } from '../../../src/crypto/token.ts';
import type { AppOptions } from '../../../src/http/app.ts';
import type { CreatedInvitationView } from '../../../src/wire/sign-in-links.ts';
import { pageHeaders } from '../../support/api/browser-session.ts';
import { type HttpAnswer, type TestApi, expectProblem, startTestApi } from '../../support/api/http.ts';
import { redeem } from '../../support/api/link-browser.ts';
import { type World, createUser, createWorld } from '../../support/api/services.ts';
import { prismaOf } from '../../support/database/prisma.ts';
import { waitFor } from '../../support/fixtures/wait-for.ts';

const limits = { requests: 12, failedAuthentications: 5, trafficBytes: 0 };
let api: TestApi;
let world: World;
let nextAddress = 1;
const others: TestApi[] = [];

beforeAll(async () => {
  // The peer is trusted, so that each test can come from its own address.
  api = await startTestApi({ rateLimits: limits, trustedProxies: ['127.0.0.1'] });
  world = await createWorld(api.services);
});

afterAll(async () => {
  for (const each of [api, ...others]) await each.close();
});

async function startAnother(options: AppOptions = {}): Promise<TestApi> {
  const another = await startTestApi(options);
  others.push(another);
  return another;
}

/** A caller from an address: its requests with a token, or with a text where one should be. */
function from(address: string): (token: string | { reveal(): string } | undefined) => Promise<HttpAnswer> {
  return (token) => {
    const presented = typeof token === 'string' ? token : token?.reveal();
    const authorization: Record<string, string> =
      presented === undefined ? {} : { authorization: `Bearer ${presented}` };
    return api.client().send('GET', '/me', undefined, { 'x-forwarded-for': address, ...authorization });
  };
}

function newAddress(): string {
  nextAddress += 1;
  return `192.0.2.${nextAddress}`;
}

function unknownToken(): string {
  return generateToken('service_token', randomUUID()).token.reveal();
}

/** Runs `work` and returns the names of the statements that the pool ran for it. */
async function statementsOf(work: () => Promise<unknown>): Promise<string[]> {
  const { pool } = api.services.database;
  const query = pool.query.bind(pool);
  const names: string[] = [];
  pool.query = ((...args: unknown[]) => {
    const { name = 'unnamed' } = args[0] as { name?: string };
    // The use of credentials before is noted in the background.
    if (!name.startsWith('credential-touch')) names.push(name);
    return Reflect.apply(query, undefined, args) as unknown;
  }) as typeof pool.query;
  try {
    await work();
  } finally {
    pool.query = query;
  }
  return names;
}

describe('refused tokens of one address', () => {
  test('get 401 up to the limit, then 429 with Retry-After, without a look into the database', async () => {
    const send = from(newAddress());
    const codes: number[] = [];
    for (const token of ['malformed', unknownToken(), 'kf_pat_x', unknownToken(), unknownToken()]) {
      codes.push((await send(token)).status);
    }
    expect(codes).toEqual([401, 401, 401, 401, 401]);
    const statements = await statementsOf(async () => {
      for (const token of [unknownToken(), 'malformed']) {
        const answer = await send(token);
        await expectProblem(Promise.resolve(answer), 'limit_exceeded');
        const seconds = answer.headers.get('retry-after');
        expect(seconds).toMatch(/^[1-9][0-9]*$/);
        expect(Number(seconds)).toBeLessThanOrEqual(60);
      }
    });
    expect(statements).toEqual([]);
  });

  test('do not lock out tokens that were seen to be good, nor other addresses', async () => {
    const address = newAddress();
    const { token } = await createUser(api.services);
    const late = await createUser(api.services);
    expect((await from(newAddress())(token)).status).toBe(200);
    for (let count = 0; count < limits.failedAuthentications; count += 1) await from(address)(unknownToken());
    expect((await from(address)(token)).status).toBe(200);
    // Not seen before, so it cannot be distinguished from a guess.
    expect((await from(address)(late.token)).status).toBe(429);
    expect((await from(newAddress())(late.token)).status).toBe(200);
    expect((await from(address)(late.token)).status).toBe(200);
  });

  test('a token that was good and is revoked costs one more look, and then none', async () => {
    const address = newAddress();
    const { id, token } = await world.serviceToken();
    expect((await from(address)(token)).status).toBe(200);
    const revocation = await world.onOrganization(world.owner.caller, 'service_token.revoke');
    await api.services.serviceTokens.revoke(revocation, id);
    for (let count = 0; count < limits.failedAuthentications; count += 1) await from(address)(unknownToken());
    expect((await from(address)(token)).status).toBe(401);
    expect((await from(address)(token)).status).toBe(429);
  });

  test('one good token takes one place, however its header is spelt, and displaces no other token', async () => {
    const address = newAddress();
    const [one, other] = [await createUser(api.services), await createUser(api.services)];
    expect((await from(address)(one.token)).status).toBe(200);
    const spellings = (count: number): string => `${' '.repeat(count)}${other.token.reveal()}`;
    expect((await from(address)(other.token)).status).toBe(200);
    const statuses = new Set<number>();
    for (let count = 1; count < limits.failedAuthentications; count += 1) {
      statuses.add((await from(address)(spellings(count))).status);
    }
    expect([...statuses]).toEqual([401]);
    for (let count = 0; count < 2; count += 1) await from(address)(unknownToken());
    expect((await from(address)(unknownToken())).status).toBe(429);
    expect((await from(address)(one.token)).status).toBe(200);
  });

  test('tokens that were valid but have ended are not guesses of their address; each has its own limit', async () => {
    const address = newAddress();
    const { id, token } = await world.serviceToken();
    const fresh = await createUser(api.services);
    const revocation = await world.onOrganization(world.owner.caller, 'service_token.revoke');
    await api.services.serviceTokens.revoke(revocation, id);
    for (let count = 0; count < limits.failedAuthentications; count += 1) {
      expect((await from(address)(token)).status).toBe(401);
    }
    // From another address too: the limit is the token's.
    const statements = await statementsOf(async () => {
      const refused = await expectProblem(from(newAddress())(token), 'limit_exceeded');
      expect(refused.detail).toMatch(/^this token was refused too often within a minute; try again in /);
    });
    expect(statements).toEqual([]);
    expect((await from(address)(fresh.token)).status).toBe(200);
    expect((await from(address)(unknownToken())).status).toBe(401);
    const rows = await prismaOf(api.services.database).auditEntry.count({ where: { actorId: id } });
    expect(rows).toBe(limits.failedAuthentications);
  });

  test('requests without a token guess nothing and are not counted', async () => {
    const send = from(newAddress());
    for (let count = 0; count < 2 * limits.failedAuthentications; count += 1) {
      expect((await send(undefined)).status).toBe(401);
    }
    expect((await send(unknownToken())).status).toBe(401);
  });

  test('a network of IPv6 counts as one address', async () => {
    for (let count = 0; count < limits.failedAuthentications; count += 1) {
      expect((await from(`2001:db8:1:2::${count}`)(unknownToken())).status).toBe(401);
    }
    expect((await from('2001:db8:1:2:3::9')(unknownToken())).status).toBe(429);
    expect((await from('2001:db8:1:3::9')(unknownToken())).status).toBe(401);
  });
});

describe('requests with one token', () => {
  test('are counted down in RateLimit, and above the limit 429 until the minute ends', async () => {
    const [one, other] = [await createUser(api.services), await createUser(api.services)];
    const send = from(newAddress());
    for (let left = limits.requests - 1; left >= 0; left -= 1) {
      const { status, headers } = await send(one.token);
      expect(status).toBe(200);
      expect(headers.get('ratelimit-policy')).toBe('"requests";q=12;w=60');
      expect(headers.get('ratelimit')).toMatch(new RegExp(`^"requests";r=${left};t=[1-9][0-9]?$`));
    }
    const answer = await send(one.token);
    await expectProblem(Promise.resolve(answer), 'limit_exceeded');
    expect(Number(answer.headers.get('retry-after'))).toBeGreaterThan(0);
    expect((await send(other.token)).status).toBe(200);
  });

  test('a request above the limit leaves no audit entry, and its log line shows whose it was', async () => {
    const { id, token } = await world.serviceToken();
    const send = from(newAddress());
    for (let count = 0; count <= limits.requests; count += 1) await send(token);
    const rows = await prismaOf(api.services.database).auditEntry.count({ where: { actorId: id } });
    expect(rows).toBe(limits.requests);
    expect(api.logs.at(-1)).toMatchObject({ status: 429, code: 'limit_exceeded', principalId: id });
  });
});

test('failures and limits are counted by kind', async () => {
  const address = newAddress();
  const textOf = async (name: string): Promise<number> => {
    const line = (await api.metrics.render()).split('\n').find((text) => text.startsWith(name));
    return Number(line?.split(' ').at(-1) ?? 0);
  };
  const names = [
    'keyframe_authentication_failures_total{fault="unknown"}',
    'keyframe_authentication_failures_total{fault="malformed"}',
    'keyframe_authentication_failures_total{fault="missing"}',
    'keyframe_rate_limited_requests_total{limit="address"}',
  ];
  const before = await Promise.all(names.map(textOf));
  for (const token of [unknownToken(), 'no token', 'x', undefined, 'x', 'x', 'x']) await from(address)(token);
  const after = await Promise.all(names.map(textOf));
  expect(after.map((count, index) => count - (before[index] ?? 0))).toEqual([1, 4, 1, 1]);
});

test('without limits nothing is counted', async () => {
  const unlimited = await startAnother();
  const { token } = await createUser(unlimited.services);
  for (let count = 0; count < 70; count += 1) {
    expect((await unlimited.client({ reveal: unknownToken }).send('GET', '/me')).status).toBe(401);
  }
  const { status, headers } = await unlimited.client(token).send('GET', '/me');
  expect([status, headers.has('ratelimit')]).toEqual([200, false]);
});

test('more requests at once than the server takes are answered 503 with Retry-After, and others go on', async () => {
  const small = await startAnother({ workLimits: { requests: 1 } });
  // Nothing but the body is missing, so that the request waits for it instead of being refused at once.
  const { token } = await createUser(small.services, { instanceAdmin: true });
  const waiting = request({ port: small.port, method: 'POST', path: '/api/v1/organizations', host: '127.0.0.1' });
  waiting.setHeader('authorization', `Bearer ${token.reveal()}`).setHeader('expect', '100-continue');
  waiting.setHeader('content-type', 'application/json');
  waiting.on('error', () => undefined).flushHeaders();
  await once(waiting, 'continue');
  const refused = await small.client(token).send('GET', '/me');
  await expectProblem(Promise.resolve(refused), 'overloaded');
  expect(refused.headers.get('retry-after')).toBe('1');
  expect((await small.client().request('GET', '/healthz')).status).toBe(200);
  waiting.destroy();
  await waitFor('the place to be free', async () => (await small.client(token).send('GET', '/me')).status === 200);
});

test('one caller takes no more than their part of the requests under way, and leaves the rest to others', async () => {
  const small = await startAnother({ workLimits: { requests: 10, requestsPerParty: 1 } });
  const [one, other] = [await createUser(small.services), await createUser(small.services)];
  const waiting = request({ port: small.port, method: 'POST', path: '/api/v1/personal-tokens', host: '127.0.0.1' });
  waiting.setHeader('authorization', `Bearer ${one.token.reveal()}`).setHeader('content-type', 'application/json');
  waiting.setHeader('expect', '100-continue').on('error', () => undefined);
  waiting.flushHeaders();
  await once(waiting, 'continue');
  const refused = small.client(one.token);
  await waitFor("the request to be known as its caller's", async () => {
    const { status, headers } = await refused.send('GET', '/me');
    return status === 429 && headers.get('retry-after') === '1';
  });
  await expectProblem(refused.send('GET', '/me'), 'limit_exceeded');
  expect((await small.client(other.token).send('GET', '/me')).status).toBe(200);
  waiting.destroy();
  await waitFor('the place to be free', async () => (await refused.send('GET', '/me')).status === 200);
});

describe('requests that need no token', () => {
  const ask = (address: string): Promise<HttpAnswer> =>
    api.client().send('GET', '/sign-in', undefined, { 'x-forwarded-for': address });

  test('are limited by address', async () => {
    const [busy, other] = [newAddress(), newAddress()];
    for (let count = 0; count < limits.requests; count += 1) expect((await ask(busy)).status).toBe(200);
    const { detail } = await expectProblem(ask(busy), 'limit_exceeded');
    expect(detail).toContain('without a token came from this address');
    expect((await ask(other)).status).toBe(200);
  });

  test('are refused to an address that has guessed too often', async () => {
    const address = newAddress();
    const send = from(address);
    for (let count = 0; count < limits.failedAuthentications; count += 1) {
      await expectProblem(send(unknownToken()), 'unauthenticated');
    }
    await expectProblem(ask(address), 'limit_exceeded');
  });

  test('count as guesses when what they present is refused, although it is known', async () => {
    const path = `/organizations/${world.slugs.organization}/invitations`;
    const wanted = { email: `${randomUUID()}@new.example.test`, role: 'developer' };
    const { link } = await api.client(world.admin.token).expectStatus<CreatedInvitationView>(201, 'POST', path, wanted);
    const member = `/members/${world.slugs.organization}/${world.admin.id}`;
    await api.client(world.owner.token).expectStatus(204, 'DELETE', member);
    const address = newAddress();
    const use = async (): Promise<HttpAnswer> => redeem(api, link, { ...pageHeaders, 'x-forwarded-for': address });
    for (let count = 0; count < limits.failedAuthentications; count += 1) await expectProblem(use(), 'conflict');
    await expectProblem(use(), 'limit_exceeded');
  });
});
