import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { randomUUID } from 'node:crypto';
import { generateToken } from '../../../src/crypto/token.ts';
import { Authentication } from '../../../src/services/access/authentication.ts';
import { type Database, openDatabase } from '../../../src/store/database.ts';
import { createTestDatabase, type TestDatabase } from '../../support/database/postgres.ts';
import { StoreFixtures, type TokenFixture } from '../../support/database/store-fixtures.ts';
import { noJwts } from '../../support/oidc/no-jwts.ts';

let server: TestDatabase;
let database: Database;
let authentication: Authentication;
let fixtures: StoreFixtures;

beforeAll(async () => {
  server = await createTestDatabase();
  database = openDatabase({ url: server.url, poolSize: 6 });
  authentication = new Authentication({ database, usage: { note: () => {} }, federated: noJwts });
  fixtures = new StoreFixtures(database.pool);
});

afterAll(async () => {
  await database.close();
  await server.drop();
});

/** The detail with which a token is refused. */
async function refusalOf(bearer: string): Promise<string> {
  return authentication.authenticate(bearer).then(
    () => 'allowed',
    ({ detail }: { detail: string }) => detail,
  );
}

/** The same credential id with another secret part. */
function forged({ principal, credentialId }: TokenFixture): string {
  const kind = principal.type === 'user' ? 'personal_token' : 'service_token';
  return generateToken(kind, credentialId).token.reveal();
}

test('tokens that come at the same time stand each for their own, whatever becomes of the others', async () => {
  const { organizationId } = await fixtures.environment();
  const tokens: TokenFixture[] = [];
  for (let count = 0; count < 5; count += 1) {
    tokens.push(await fixtures.personalToken(), await fixtures.serviceToken({ organizationId }));
  }
  // Not in the order in which they lie in their table, and twice.
  const newestFirst = [...tokens.toReversed(), ...tokens];
  const refused = [
    (await fixtures.serviceToken({ organizationId, expiresInSeconds: -1 })).token,
    generateToken('service_token', randomUUID()).token.reveal(),
    ...tokens.map(forged),
  ];
  const [principals, details] = await Promise.all([
    Promise.all(newestFirst.map(({ token }) => authentication.authenticate(token))),
    Promise.all(refused.map(refusalOf)),
  ]);
  expect(principals).toEqual(newestFirst.map(({ principal }) => principal));
  expect(details.slice(0, 2)).toEqual([expect.stringContaining('expired'), expect.stringContaining('unknown')]);
  expect(new Set(details.slice(1)).size).toBe(1);
});

test('a caller who comes after a revocation is refused, however many with the same token are under way', async () => {
  const token = await fixtures.serviceToken({ organizationId: (await fixtures.environment()).organizationId });
  const before = Array.from({ length: 50 }, () => authentication.authenticate(token.token).catch(() => 'refused'));
  await database.pool.query('UPDATE service_token_credential SET revoked_at = now() WHERE id = $1', [
    token.credentialId,
  ]);
  const after = Array.from({ length: 50 }, () => refusalOf(token.token));
  for (const detail of await Promise.all(after)) expect(detail).toContain('revoked');
  await Promise.all(before);
});
