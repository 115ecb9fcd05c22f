import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { EventReader } from '../../support/api/event-reader.ts';
import { expectProblem, type HttpAnswer, type HttpClient, startTestApi, type TestApi } from '../../support/api/http.ts';
import { createWorld, type TestToken, type World } from '../../support/api/services.ts';
import { waitFor } from '../../support/fixtures/wait-for.ts';
import { FederationFixtures, type IssuerFixture, jwtFor } from '../../support/oidc/federation-fixtures.ts';
import { JwtSigner, timesFor } from '../../support/oidc/jwt-signer.ts';

const limits = { requests: 12, failedAuthentications: 5, trafficBytes: 0 };
const signer = new JwtSigner('ES256');
let api: TestApi;
let world: World;
let fixtures: FederationFixtures;
let issuer: IssuerFixture;
let token: TestToken;
let audience: string;
let secrets: string;
const absentId = randomUUID();
let address = 0;

beforeAll(async () => {
  // The peer is trusted, so that each test can come from its own address.
  const options = { rateLimits: limits, trustedProxies: ['127.0.0.1'] };
  api = await startTestApi(options, { streams: { checkMs: 200 } });
  api.services.feed.start();
  await waitFor('the feed to hear', () => api.services.feed.ready);
  world = await createWorld(api.services);
  fixtures = new FederationFixtures(api.services.database.pool);
  const { organization, project, environment } = world.slugs;
  secrets = `/secrets/${organization}/${project}/${environment}`;
});

afterAll(() => api.close());

beforeEach(async () => {
  issuer = await fixtures.issuer({ signers: [signer] });
  token = await world.serviceToken();
  audience = await fixtures.federate({ id: token.id, credentialId: token.caller.principal.credentialId }, issuer);
  address += 1;
});

function jwt(claims: Readonly<Record<string, unknown>> = {}): string {
  return jwtFor(signer, issuer, audience, claims);
}

function bearer(text: string): HttpClient {
  return api.client({ reveal: () => text });
}

/** A request from an address of this test. */
function send(text: string, path = '/me', [method, body]: [string, unknown?] = ['GET']): Promise<HttpAnswer> {
  return bearer(text).send(method, path, body, { 'x-forwarded-for': `192.0.2.${address}` });
}

async function auditOf(answer: HttpAnswer): Promise<Record<string, unknown>[]> {
  const { rows } = await api.services.database.pool.query<Record<string, unknown>>(
    'SELECT action, outcome, actor_id, label, target FROM audit_entry WHERE request_id = $1',
    [answer.headers.get('x-request-id')],
  );
  return rows;
}

describe('a JWT', () => {
  test('reads and writes as its service token, and says when it ends', async () => {
    const { exp, iat } = timesFor(300);
    const text = jwt({ exp, iat });
    expect((await send(text)).body).toMatchObject({
      id: token.id,
      expiresAt: new Date(exp * 1000).toISOString(),
      federation: { issuer: 'issuer' },
    });
    expect((await api.client(token.token).send('GET', '/me')).body).not.toHaveProperty('federation');
    const written = await send(text, `${secrets}/A`, ['PUT', { value: 'one' }]);
    expect(written.status).toBe(201);
    expect(await auditOf(written)).toMatchObject([
      { action: 'secret.write', outcome: 'success', actor_id: token.id, label: '[Service Token]' },
    ]);
    expect((await send(text, `${secrets}/A`)).body).toMatchObject({ value: 'one' });
  });

  test('may not do what its service token may not do, which is 403', async () => {
    await expectProblem(send(jwt(), `/members/${world.slugs.organization}`), 'forbidden');
    await api.services.database.pool.query("UPDATE service_token SET permission = 'read' WHERE id = $1", [token.id]);
    await expectProblem(send(jwt(), `${secrets}/A`, ['PUT', { value: 'x' }]), 'forbidden');
  });

  test('of almost 8 KiB is read', async () => {
    const filler = 8_192 - jwt({ filler: '' }).length;
    const text = jwt({ filler: 'f'.repeat(Math.floor((filler * 3) / 4)) });
    expect(text.length).toBeGreaterThan(8_150);
    expect((await send(text)).status).toBe(200);
    await expectProblem(send(`${text}${'A'.repeat(50)}`), 'unauthenticated');
  });

  test('repeats a request with an idempotency key of an earlier JWT', async () => {
    const headers = { 'idempotency-key': randomUUID() };
    const { organization, project, environment } = world.slugs;
    const path = `/snapshots/${organization}/${project}/${environment}`;
    const first = await bearer(jwt()).send('POST', path, { name: 'once' }, headers);
    const second = await bearer(jwt()).send('POST', path, { name: 'once' }, headers);
    expect([first.status, second.status]).toEqual([201, 200]);
    expect(second.body).toEqual(first.body);
    expect(second.headers.get('idempotent-replayed')).toBe('true');
  });

  test('is no session', async () => {
    const answer = await api.client().send('GET', '/me', undefined, { cookie: `__Host-keyframe=${jwt()}` });
    expect(answer.status).toBe(401);
  });
});

describe('a JWT is refused', () => {
  async function expectRefused(text: string): Promise<void> {
    const answer = await send(text);
    const problem = await expectProblem(Promise.resolve(answer), 'unauthenticated');
    expect(problem.detail).toContain('the JWT was refused');
    expect(answer.headers.get('www-authenticate')).toBe('Bearer realm="keyframe", error="invalid_token"');
    expect(await auditOf(answer)).toEqual([]);
  }

  test.each<[string, () => string]>([
    ['that is malformed', () => 'a.b.c'],
    ['for another audience', () => jwtFor(signer, issuer, 'https://github.com/acme')],
    ['with another audience beside', () => jwtFor(signer, issuer, [audience, 'https://vault.example'])],
    ['for a token that does not exist', () => jwtFor(signer, issuer, audience.slice(0, -36) + absentId)],
  ])(
    '%s: 401 in the one text, without an audit entry, and locks out no other job of its address',
    async (_case, text) => {
      for (let count = 0; count < limits.failedAuthentications; count += 1) await expectRefused(text());
      await expectProblem(send(text()), 'limit_exceeded');
      expect((await send(jwt())).status).toBe(200);
      expect((await send(token.token.reveal())).status).toBe(200);
    },
  );

  test('for many tokens that do not exist: a guess each, and the address is refused', async () => {
    const guess = (): string => jwtFor(signer, issuer, audience.slice(0, -36) + randomUUID());
    for (let count = 0; count < limits.failedAuthentications; count += 1) await expectRefused(guess());
    await expectProblem(send(guess()), 'limit_exceeded');
    // Not seen before, so it cannot be distinguished from a guess.
    await expectProblem(send(jwt()), 'limit_exceeded');
  });

  test.each<[string, () => string]>([
    ['of another key', () => jwtFor(new JwtSigner('ES256', signer.keyId), issuer, audience)],
    ['with another claim', () => jwt({ environment: 'test' })],
    ['that has expired', () => jwt(timesFor(60, Date.now() - 3_600_000))],
  ])('%s: 401 in the one text, without an audit entry, and is no guess', async (_case, text) => {
    for (let count = 0; count < 2 * limits.failedAuthentications; count += 1) await expectRefused(text());
    expect((await send(jwt())).status).toBe(200);
    const again = text();
    for (let count = 0; count < limits.failedAuthentications; count += 1) await expectRefused(again);
    await expectProblem(send(again), 'limit_exceeded');
  });

  test('of a revoked service token: 401 in the same text, with an audit entry, and counts for its credential', async () => {
    await api.services.database.pool.query('UPDATE service_token SET revoked_at = now() WHERE id = $1', [token.id]);
    const answer = await send(jwt());
    expect((await expectProblem(Promise.resolve(answer), 'unauthenticated')).detail).toContain('the JWT was refused');
    expect(await auditOf(answer)).toMatchObject([
      { action: 'authenticate', outcome: 'denied', actor_id: token.id, target: { fault: 'revoked' } },
    ]);
    for (let count = 1; count < limits.failedAuthentications; count += 1) await send(jwt());
    const refused = await send(jwt());
    await expectProblem(Promise.resolve(refused), 'limit_exceeded');
    expect(await auditOf(refused)).toEqual([]);
    const other = await world.serviceToken();
    const to = await fixtures.federate({ id: other.id, credentialId: other.caller.principal.credentialId }, issuer);
    expect((await send(jwtFor(signer, issuer, to))).status).toBe(200);
  });

  test('of an issuer that must be accepted again: 401 issuer_changed', async () => {
    await fixtures.change(issuer, 'generation = 2');
    const forbid = (isForbidden: boolean) =>
      api.services.database.pool.query('UPDATE organization SET impersonation_forbidden = $1', [isForbidden]);
    await forbid(true);
    const answer = await send(jwt());
    await forbid(false);
    expect(answer.status).toBe(401);
    expect((await expectProblem(Promise.resolve(answer), 'issuer_changed')).detail).toContain(
      'keyframe token accept-issuer',
    );
  });

  test('by an issuer that is away for too long: 503 with Retry-After', async () => {
    await fixtures.change(
      issuer,
      "jwks_url = 'https://127.0.0.1:1/keys', fetch_tried_at = now() - interval '10 seconds'",
    );
    const answer = await send(jwt());
    expect(answer.status).toBe(503);
    await expectProblem(Promise.resolve(answer), 'issuer_unavailable');
    expect(answer.headers.get('retry-after')).toBe('60');
    for (let count = 1; count < limits.requests; count += 1) await send(jwt());
    await expectProblem(send(jwt()), 'limit_exceeded');
  });
});

describe('requests with JWTs', () => {
  test('count for their credential together, whatever JWT they have', async () => {
    const statuses: number[] = [];
    for (let count = 0; count < limits.requests; count += 1) statuses.push((await send(jwt())).status);
    expect(new Set(statuses)).toEqual(new Set([200]));
    await expectProblem(send(jwt()), 'limit_exceeded');
    await expectProblem(send(token.token.reveal()), 'limit_exceeded');
  });

  test('go on beside guesses of the same address if a JWT of their token was accepted before', async () => {
    expect((await send(jwt())).status).toBe(200);
    const guess = (): string => jwtFor(signer, issuer, audience.slice(0, -36) + randomUUID());
    for (let count = 0; count < limits.failedAuthentications; count += 1) await send(guess());
    await expectProblem(send(guess()), 'limit_exceeded');
    expect((await send(jwt())).status).toBe(200);
  });
});

describe('a stream of changes', () => {
  const open = (text: string): Promise<EventReader> => {
    const { organization, project, environment } = world.slugs;
    const url = `http://127.0.0.1:${api.port}/api/v1/changes/${organization}/${project}/${environment}`;
    return EventReader.open(url, { reveal: () => text });
  };

  test('ends when its JWT ends', async () => {
    // It is accepted for another 2 to 3 seconds.
    const reader = await open(jwt(timesFor(3, Date.now() - 60_000)));
    await reader.take(1);
    expect(await reader.nextAtOnce()).toBeUndefined();
    reader.close();
  });

  test('ends when the issuer of its JWT is disabled', async () => {
    const reader = await open(jwt());
    await reader.take(1);
    await fixtures.change(issuer, 'disabled_at = now()');
    expect(await reader.nextAtOnce()).toBeUndefined();
    reader.close();
  });
});
