import { randomUUID } from 'node:crypto';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { readProof } from '../../../src/services/access/federated-tokens.ts';
import { findFederations } from '../../../src/store/federations.ts';
import { createLogger } from '../../../src/observability/logger.ts';
import { createTestDatabase, type TestDatabase } from '../../support/database/postgres.ts';
import { createWorld, newRootKey, startServices, type TestServices } from '../../support/api/services.ts';
import { FederationFixtures, type IssuerFixture, jwtFor } from '../../support/oidc/federation-fixtures.ts';
import { JwtSigner } from '../../support/oidc/jwt-signer.ts';
import { KeyServer } from '../../support/oidc/key-server.ts';

const [first, second] = [new JwtSigner('ES256', 'first'), new JwtSigner('ES256', 'second')];
const rootKeys = newRootKey();
const lines: string[] = [];
let database: TestDatabase;
/** Two servers on one database. */
let servers: readonly [TestServices, TestServices];
let keyServer: KeyServer;
let fixtures: FederationFixtures;
let issuer: IssuerFixture;
let audience: string;

beforeAll(async () => {
  database = await createTestDatabase();
  const logger = createLogger('debug', { write: (line) => void lines.push(line) });
  const start = () => startServices(database.url, { rootKeys, logger, trustedIssuerPrivateAddresses: true });
  servers = [await start(), await start()];
  fixtures = new FederationFixtures(servers[0].database.pool);
});

afterAll(async () => {
  for (const server of servers) await server.close();
  await database.drop();
});

beforeEach(async () => {
  keyServer = await KeyServer.start();
  keyServer.keys = [first.jwk];
  const { url, ca } = keyServer;
  issuer = await fixtures.issuer({ url, ca });
  const token = await (await createWorld(servers[0])).serviceToken();
  audience = await fixtures.federate({ id: token.id, credentialId: token.caller.principal.credentialId }, issuer);
});

afterEach(async () => {
  for (const server of servers) await server.issuerKeys.drain();
  await keyServer[Symbol.asyncDispose]();
});

/** What a JWT gets from a server: `ok`, a fault, or a code. */
async function outcome(jwt: string, server = servers[0]): Promise<string> {
  return await server.authentication.authenticateBearer(jwt).then(
    () => 'ok',
    (error: { fault?: string; code: string }) => error.fault ?? error.code,
  );
}

async function shift(time: 'fetched_at' | 'fetch_tried_at', age: string): Promise<void> {
  await fixtures.change(issuer, `${time} = now() - interval '${age}'`);
}

interface IssuerRow {
  readonly keys_version: number;
  readonly keys: { readonly keys: readonly unknown[] } | null;
  readonly fetch_fault: string | null;
  readonly fetch_failed_at: Date | null;
}

async function row(): Promise<IssuerRow> {
  const sql = 'SELECT keys_version, keys, fetch_fault, fetch_failed_at FROM trusted_issuer WHERE id = $1';
  const { rows } = await servers[0].database.pool.query<IssuerRow>(sql, [issuer.id]);
  return rows[0] as IssuerRow;
}

describe('the keys of a URL', () => {
  test('are fetched once when they are first needed, by several servers together', async () => {
    const jwts = Array.from({ length: 40 }, () => jwtFor(first, issuer, audience));
    const outcomes = await Promise.all(jwts.map((jwt, index) => outcome(jwt, servers[index % 2 === 0 ? 0 : 1])));
    expect(new Set(outcomes)).toEqual(new Set(['ok']));
    expect(keyServer.requests).toBe(1);
  });

  test('are kept without what an issuer should not publish', async () => {
    keyServer.keys = [{ ...first.privateKey.export({ format: 'jwk' }), kid: 'first', note: 'x' }];
    expect(await outcome(jwtFor(first, issuer, audience))).toBe('ok');
    const { kid, x, y } = first.jwk;
    expect((await row()).keys).toEqual({ keys: [{ kty: 'EC', alg: 'ES256', crv: 'P-256', kid, x, y }] });
  });

  test('are fetched once a minute for 10,000 unknown key ids at two servers', async () => {
    expect(await outcome(jwtFor(first, issuer, audience))).toBe('ok');
    await shift('fetch_tried_at', '61 seconds');
    const faults = new Set<string>();
    for (let round = 0; round < 100; round += 1) {
      const jwts = Array.from({ length: 100 }, () => jwtFor(first, issuer, audience).replace(/^[^.]+/, unknownKey));
      const found = await Promise.all(jwts.map((jwt, index) => outcome(jwt, servers[index % 2 === 0 ? 0 : 1])));
      for (const fault of found) faults.add(fault);
    }
    expect(faults).toEqual(new Set(['jwt_unknown_key']));
    expect(keyServer.requests).toBe(2);
    await shift('fetch_tried_at', '61 seconds');
    expect(await outcome(jwtFor(second, issuer, audience))).toBe('jwt_unknown_key');
    expect(keyServer.requests).toBe(3);
  });

  test('are fetched for a key that was added, and all servers use it', async () => {
    expect(await outcome(jwtFor(first, issuer, audience))).toBe('ok');
    keyServer.keys = [first.jwk, second.jwk];
    expect(await outcome(jwtFor(second, issuer, audience))).toBe('jwt_unknown_key');
    await shift('fetch_tried_at', '61 seconds');
    const asked = servers.map((server) => outcome(jwtFor(second, issuer, audience), server));
    expect(await Promise.all(asked)).toEqual(['ok', 'ok']);
    expect(await outcome(jwtFor(first, issuer, audience), servers[1])).toBe('ok');
    expect((await row()).keys_version).toBe(3);
    expect(keyServer.requests).toBe(2);
  });

  test('are fetched again after five minutes, so that a key that was withdrawn ends', async () => {
    expect(await outcome(jwtFor(first, issuer, audience))).toBe('ok');
    keyServer.keys = [second.jwk];
    await shift('fetched_at', '6 minutes');
    await shift('fetch_tried_at', '6 minutes');
    expect(await outcome(jwtFor(first, issuer, audience))).toBe('ok');
    await servers[0].issuerKeys.drain();
    for (const server of servers)
      expect(await outcome(jwtFor(first, issuer, audience), server)).toBe('jwt_unknown_key');
    expect(await outcome(jwtFor(second, issuer, audience), servers[1])).toBe('ok');
  });

  test('are fetched before they are used if they are ten minutes old, so that no withdrawn key works then', async () => {
    expect(await outcome(jwtFor(first, issuer, audience))).toBe('ok');
    keyServer.keys = [second.jwk];
    await shift('fetched_at', '11 minutes');
    await shift('fetch_tried_at', '11 minutes');
    const asked = servers.map((server) => outcome(jwtFor(first, issuer, audience), server));
    expect(await Promise.all(asked)).toEqual(['jwt_unknown_key', 'jwt_unknown_key']);
    expect(keyServer.requests).toBe(2);
  });

  test('keep their version if they are fetched again as they were', async () => {
    expect(await outcome(jwtFor(first, issuer, audience))).toBe('ok');
    await shift('fetch_tried_at', '61 seconds');
    expect(await outcome(jwtFor(second, issuer, audience))).toBe('jwt_unknown_key');
    expect((await row()).keys_version).toBe(2);
  });

  test('serve for an hour while the issuer is away', async () => {
    expect(await outcome(jwtFor(first, issuer, audience))).toBe('ok');
    keyServer.answer = (_request, response) => response.writeHead(500).end();
    await shift('fetched_at', '59 minutes');
    await shift('fetch_tried_at', '2 minutes');
    expect(await outcome(jwtFor(first, issuer, audience))).toBe('ok');
    expect(await outcome(jwtFor(second, issuer, audience))).toBe('jwt_unknown_key');
    await servers[0].issuerKeys.drain();
    await shift('fetched_at', '61 minutes');
    // The other server would wait until that fetch cannot be under way any more.
    await shift('fetch_tried_at', '10 seconds');
    for (const server of servers)
      expect(await outcome(jwtFor(first, issuer, audience), server)).toBe('issuer_unavailable');
    expect(keyServer.requests).toBe(2);
    expect(lines.join('')).toContain('"fault":"response","code":"500"');
  });

  test('count again as soon as the issuer is back', async () => {
    expect(await outcome(jwtFor(first, issuer, audience))).toBe('ok');
    await shift('fetched_at', '2 hours');
    expect(await outcome(jwtFor(first, issuer, audience))).toBe('issuer_unavailable');
    await shift('fetch_tried_at', '61 seconds');
    const asked = servers.map((server) => outcome(jwtFor(first, issuer, audience), server));
    expect(await Promise.all(asked)).toEqual(['ok', 'ok']);
  });

  test('prove nothing before the first fetch succeeds', async () => {
    keyServer.answer = (request) => request.socket.destroy();
    expect(await outcome(jwtFor(first, issuer, audience))).toBe('issuer_unavailable');
    expect(await outcome(jwtFor(first, issuer, audience))).toBe('issuer_unavailable');
    expect(keyServer.requests).toBe(1);
  });

  test('have the fault of their last fetch, until one succeeds', async () => {
    keyServer.answer = (_request, response) => response.writeHead(500, { 'x-canary': 'canary' }).end('canary');
    expect(await outcome(jwtFor(first, issuer, audience))).toBe('issuer_unavailable');
    expect(await row()).toMatchObject({ fetch_fault: 'response', fetch_failed_at: expect.any(Date) });
    keyServer.answer = (_request, response) => response.end('canary');
    await shift('fetch_tried_at', '61 seconds');
    expect(await outcome(jwtFor(first, issuer, audience), servers[1])).toBe('issuer_unavailable');
    expect(await row()).toMatchObject({ fetch_fault: 'no_key_set' });
    keyServer.answer = (_request, response) => response.end(JSON.stringify({ keys: [first.jwk] }));
    await shift('fetch_tried_at', '61 seconds');
    expect(await outcome(jwtFor(first, issuer, audience))).toBe('ok');
    expect(await row()).toMatchObject({ fetch_fault: null, fetch_failed_at: null });
  });

  test('have no fault of a fetch that ends after an admin changed the issuer', async () => {
    const asked = Promise.withResolvers<void>();
    const go = Promise.withResolvers<void>();
    keyServer.answer = (_request, response) => {
      asked.resolve();
      void go.promise.then(() => response.writeHead(500).end());
    };
    const waiting = outcome(jwtFor(first, issuer, audience));
    await asked.promise;
    await fixtures.change(issuer, 'ca = NULL, generation = 2, fetch_tried_at = NULL');
    go.resolve();
    expect(await waiting).toBe('issuer_unavailable');
    expect(await row()).toMatchObject({ fetch_fault: null, fetch_failed_at: null });
  });

  test('are not stored if an admin changed the issuer during the fetch', async () => {
    const asked = Promise.withResolvers<void>();
    const go = Promise.withResolvers<void>();
    keyServer.answer = (_request, response) => {
      asked.resolve();
      void go.promise.then(() => response.end(JSON.stringify({ keys: [first.jwk] })));
    };
    const waiting = outcome(jwtFor(first, issuer, audience));
    await asked.promise;
    await fixtures.change(issuer, 'ca = NULL, generation = 2, fetch_tried_at = NULL');
    go.resolve();
    expect(await waiting).toBe('issuer_unavailable');
    expect((await row()).keys).toBeNull();
  });

  test('do not verify a JWT whose issuer an admin changed after its token was looked up', async () => {
    expect(await outcome(jwtFor(first, issuer, audience))).toBe('ok');
    await shift('fetch_tried_at', '61 seconds');
    const asked = Promise.withResolvers<void>();
    const go = Promise.withResolvers<void>();
    keyServer.answer = (_request, response) => {
      asked.resolve();
      void go.promise.then(() => response.end(JSON.stringify({ keys: [first.jwk] })));
    };
    const waiting = outcome(jwtFor(second, issuer, audience));
    await asked.promise;
    // As if another server had fetched from the URL that the admin has set.
    const keys = JSON.stringify({ keys: [second.jwk] });
    await fixtures.change(
      issuer,
      `generation = 2, keys = '${keys}', keys_version = 9, fetched_at = now(), fetch_tried_at = now()`,
    );
    go.resolve();
    expect(await waiting).toBe('jwt_unknown_key');
    expect(await outcome(jwtFor(second, issuer, audience))).toBe('ok');
  });

  test('of a disabled issuer are not fetched', async () => {
    await fixtures.change(issuer, 'disabled_at = now()');
    expect(await outcome(jwtFor(first, issuer, audience))).toBe('issuer_disabled');
    expect(keyServer.requests).toBe(0);
  });

  test('are not fetched from a private address without the setting', async () => {
    const cautious = await startServices(database.url, { rootKeys });
    expect(await outcome(jwtFor(first, issuer, audience), cautious)).toBe('issuer_unavailable');
    await cautious.close();
    expect(keyServer.requests).toBe(0);
  });
});

describe('keys that are given by value', () => {
  test('serve for ever, and are never fetched', async () => {
    await fixtures.change(issuer, `jwks_url = NULL, keys = '${JSON.stringify({ keys: [first.jwk] })}'`);
    await shift('fetched_at', '2 days');
    expect(await outcome(jwtFor(first, issuer, audience))).toBe('ok');
    expect(await outcome(jwtFor(second, issuer, audience))).toBe('jwt_unknown_key');
    expect(keyServer.requests).toBe(0);
  });

  test('count no more from the moment when an admin replaces them', async () => {
    const replace = (signer: JwtSigner) =>
      fixtures.change(
        issuer,
        `jwks_url = NULL, keys = '${JSON.stringify({ keys: [signer.jwk] })}', keys_version = keys_version + 1`,
      );
    await replace(first);
    for (const server of servers) expect(await outcome(jwtFor(first, issuer, audience), server)).toBe('ok');
    await replace(second);
    for (const server of servers) {
      expect(await outcome(jwtFor(first, issuer, audience), server)).toBe('jwt_unknown_key');
      expect(await outcome(jwtFor(second, issuer, audience), server)).toBe('ok');
    }
  });
});

test('keys are not those of a generation that the lookup of the token did not judge', async () => {
  const [found] = await findFederations(servers[0].database.pool, [audience]);
  const keys = JSON.stringify({ keys: [second.jwk] });
  await fixtures.change(issuer, `jwks_url = NULL, keys = '${keys}', keys_version = 2, generation = 2`);
  if (found === undefined) throw new Error('the token is federated');
  const stale = { ...found.issuer, fetched: undefined };
  await expect(servers[0].issuerKeys.keyFor(stale, readProof(jwtFor(second, issuer, audience)))).rejects.toMatchObject({
    fault: 'jwt_unknown_key',
  });
});

test('no log line has anything of a JWT', () => {
  expect(lines.length).toBeGreaterThan(0);
  expect(lines.join('')).not.toMatch(/eyJ|repository_id/);
});

/** A header of a JWT with a key id that no key has. */
function unknownKey(): string {
  return Buffer.from(JSON.stringify({ alg: 'ES256', typ: 'JWT', kid: randomUUID() })).toString('base64url');
}
