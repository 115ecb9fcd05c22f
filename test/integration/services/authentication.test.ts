import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { generateToken } from '../../../src/crypto/token.ts';
import { systemClock } from '../../../src/lib/clock.ts';
import { createLogger } from '../../../src/observability/logger.ts';
import { Authentication } from '../../../src/services/access/authentication.ts';
import { CredentialUsage } from '../../../src/services/access/credential-usage.ts';
import { type Database, openDatabase } from '../../../src/store/database.ts';
import { createTestDatabase, type TestDatabase } from '../../support/database/postgres.ts';
import { PostgresProxy } from '../../support/faults/postgres-proxy.ts';
import { waitFor } from '../../support/fixtures/wait-for.ts';
import { type EnvironmentFixture, StoreFixtures, type TokenFixture } from '../../support/database/store-fixtures.ts';
import { noJwts } from '../../support/oidc/no-jwts.ts';

let server: TestDatabase;
let database: Database;
let usage: CredentialUsage;
let authentication: Authentication;
let fixtures: StoreFixtures;

beforeAll(async () => {
  server = await createTestDatabase();
  database = openDatabase({ url: server.url, poolSize: 6 });
  usage = new CredentialUsage({ database, clock: systemClock, logger: createLogger('silent') });
  authentication = new Authentication({ database, usage, federated: noJwts });
  fixtures = new StoreFixtures(database.pool);
});

afterAll(async () => {
  await usage.drain();
  await database.close();
  await server.drop();
});

async function refusalOf(bearer: string | undefined): Promise<string> {
  const error: unknown = await authentication.authenticate(bearer).catch((thrown: unknown) => thrown);
  expect(error).toMatchObject({ code: 'unauthenticated' });
  return (error as { detail: string }).detail;
}

async function run(sql: string, ...values: unknown[]): Promise<void> {
  await database.pool.query(sql, values);
}

/** The same credential id with another secret part. */
function forged(token: TokenFixture): string {
  const kind = token.principal.type === 'user' ? 'personal_token' : 'service_token';
  return generateToken(kind, token.credentialId).token.reveal();
}

describe('a live token', () => {
  test('of a user stands for the user', async () => {
    const { token, principal } = await fixtures.personalToken({ expiresInSeconds: 60 });
    expect(await authentication.authenticate(token)).toEqual(principal);
    await run('UPDATE app_user SET instance_admin = true WHERE id = $1', principal.id);
    expect(await authentication.authenticate(token)).toMatchObject({ instanceAdmin: true });
  });

  test('of a service stands for it, in each scope', async () => {
    const { organizationId, projectId, environmentId } = await fixtures.environment();
    for (const scope of [{}, { projectId }, { projectId, environmentId, permission: 'read_write' as const }]) {
      const { token, principal } = await fixtures.serviceToken({ organizationId, ...scope });
      expect(await authentication.authenticate(token)).toEqual(principal);
    }
  });
});

describe('a token is refused', () => {
  test('when there is none', async () => {
    expect(await refusalOf(undefined)).toContain('a token is needed');
    expect(await refusalOf('')).toContain('a token is needed');
  });

  test('when it is malformed, cut off, mistyped or of another make', async () => {
    const { token } = await fixtures.personalToken();
    const last = token.at(-1) === '0' ? '1' : '0';
    const texts = [
      'x',
      'Bearer',
      token.slice(0, -1),
      token.slice(0, -1) + last,
      ` ${token}`,
      `${token}\n`,
      `kf_xyz_${token.slice(7)}`,
    ];
    for (const text of texts) expect(await refusalOf(text)).toContain('malformed');
    expect(await refusalOf(`kf_svc_${token.slice(7)}`)).toContain('malformed');
  });

  test('when it is unknown, and one with the right id and a wrong secret part gets the same answer', async () => {
    const personal = await fixtures.personalToken();
    const service = await fixtures.serviceToken({ organizationId: (await fixtures.environment()).organizationId });
    const unknown = await refusalOf(generateToken('personal_token', randomUUID()).token.reveal());
    expect(unknown).toContain('unknown');
    expect(await refusalOf(generateToken('service_token', randomUUID()).token.reveal())).toBe(unknown);
    expect(await refusalOf(forged(personal))).toBe(unknown);
    expect(await refusalOf(forged(service))).toBe(unknown);
    await run('UPDATE personal_token SET revoked_at = now() WHERE id = $1', personal.credentialId);
    await run('UPDATE service_token SET revoked_at = now() WHERE id = $1', service.principal.id);
    expect(await refusalOf(forged(personal))).toBe(unknown);
    expect(await refusalOf(forged(service))).toBe(unknown);
  });

  test('when a service token’s credential is given out as a personal token', async () => {
    const service = await fixtures.serviceToken({ organizationId: (await fixtures.environment()).organizationId });
    expect(await refusalOf(generateToken('personal_token', service.credentialId).token.reveal())).toContain('unknown');
  });

  test('at the very next call after it was revoked, whole or by its credential', async () => {
    const { organizationId } = await fixtures.environment();
    const revocations: [TokenFixture, string][] = [
      [await fixtures.personalToken(), 'UPDATE personal_token SET revoked_at = now() WHERE id = $1'],
      [
        await fixtures.serviceToken({ organizationId }),
        'UPDATE service_token_credential SET revoked_at = now() WHERE id = $1',
      ],
      [
        await fixtures.serviceToken({ organizationId }),
        'UPDATE service_token SET revoked_at = now() WHERE id = (SELECT service_token_id FROM service_token_credential WHERE id = $1)',
      ],
    ];
    for (const [{ token, credentialId }, revoke] of revocations) {
      await authentication.authenticate(token);
      await run(revoke, credentialId);
      expect(await refusalOf(token)).toContain('revoked');
    }
  });

  test('when it has expired, by the clock of the database', async () => {
    const { organizationId } = await fixtures.environment();
    const tokens = [
      await fixtures.personalToken({ expiresInSeconds: 6 }),
      await fixtures.serviceToken({ organizationId, expiresInSeconds: 6 }),
    ];
    for (const { token } of tokens) await authentication.authenticate(token);
    await sleep(6_100);
    for (const { token } of tokens) expect(await refusalOf(token)).toContain('expired');
    const past = await fixtures.serviceToken({ organizationId, expiresInSeconds: -3600 });
    expect(await refusalOf(past.token)).toContain('expired');
  });

  test('when its user is disabled, until they are enabled again', async () => {
    const { token, principal } = await fixtures.personalToken();
    await run('UPDATE app_user SET disabled_at = now() WHERE id = $1', principal.id);
    expect(await refusalOf(token)).toContain('disabled');
    await run('UPDATE app_user SET disabled_at = NULL WHERE id = $1', principal.id);
    expect(await authentication.authenticate(token)).toEqual(principal);
  });

  test('while it is pending', async () => {
    const { organizationId } = await fixtures.environment();
    const { token, credentialId } = await fixtures.serviceToken({ organizationId });
    await run(`UPDATE service_token_credential SET state = 'pending' WHERE id = $1`, credentialId);
    expect(await refusalOf(token)).toContain('not active yet');
  });

  // What a deletion ends: the scopes at or below it.
  test.each([
    ['organization', 3],
    ['project', 2],
    ['environment', 1],
  ] as const)('when its %s was deleted, or one above its scope', async (table, ends) => {
    const place = await fixtures.environment();
    const tokens = await tokensOfEachScope(place);
    const id = { organization: place.organizationId, project: place.projectId, environment: place.environmentId }[
      table
    ];
    await run(`UPDATE ${table} SET deleted_at = now() WHERE id = $1`, id);
    const details = await Promise.all(
      tokens.map(({ token }) =>
        authentication.authenticate(token).then(
          () => 'live',
          (error: Error) => error.message,
        ),
      ),
    );
    expect(details.filter((detail) => detail !== 'live')).toHaveLength(ends);
    for (const detail of details.slice(0, ends)) expect(detail).toContain('was deleted');
  });

  test('when its rows name a project or environment of another parent', async () => {
    const [mine, theirs] = [await fixtures.environment(), await fixtures.environment()];
    const { organizationId, projectId } = mine;
    const strayProject = await fixtures.serviceToken({ organizationId, projectId: theirs.projectId });
    const strayEnvironment = await fixtures.serviceToken({
      organizationId,
      projectId,
      environmentId: theirs.environmentId,
    });
    expect(await refusalOf(strayProject.token)).toContain('was deleted');
    expect(await refusalOf(strayEnvironment.token)).toContain('was deleted');
  });

  test('with store_unavailable, and not as unknown, when the database is away', async () => {
    const proxy = await PostgresProxy.start(server.url);
    const cut = openDatabase({ url: proxy.url, poolSize: 2 });
    const { token } = await fixtures.personalToken();
    proxy.refuse();
    const away = new Authentication({ database: cut, usage, federated: noJwts });
    await expect(away.authenticate(token)).rejects.toMatchObject({ code: 'store_unavailable' });
    await cut.close();
    await proxy.close();
  });
});

describe('the time of use', () => {
  async function used(table: string, id: string): Promise<Record<string, Date | null>> {
    return (await database.pool.query(`SELECT * FROM ${table} WHERE id = $1`, [id])).rows[0] as Record<
      string,
      Date | null
    >;
  }

  test('is noted beside the request: the first, and then not again within a minute', async () => {
    const { organizationId } = await fixtures.environment();
    const service = await fixtures.serviceToken({ organizationId });
    const personal = await fixtures.personalToken();
    const refused = await fixtures.serviceToken({ organizationId, expiresInSeconds: -1 });
    for (const { token } of [service, personal, service]) await authentication.authenticate(token);
    await refusalOf(refused.token);
    await usage.drain();
    const first = await used('service_token_credential', service.credentialId);
    expect(first['first_used_at']).toEqual(expect.any(Date));
    expect(first['last_used_at']).toEqual(expect.any(Date));
    expect((await used('personal_token', personal.credentialId))['last_used_at']).toEqual(expect.any(Date));
    expect((await used('service_token_credential', refused.credentialId))['last_used_at']).toBeNull();
    await authentication.authenticate(service.token);
    await usage.drain();
    expect(await used('service_token_credential', service.credentialId)).toEqual(first);
    await run(
      `UPDATE service_token_credential SET last_used_at = now() - interval '61 seconds' WHERE id = $1`,
      service.credentialId,
    );
    await authentication.authenticate(service.token);
    await usage.drain();
    const later = await used('service_token_credential', service.credentialId);
    expect(later['first_used_at']).toEqual(first['first_used_at']);
    expect(later['last_used_at']?.getTime()).toBeGreaterThanOrEqual(first['last_used_at']?.getTime() ?? Infinity);
  });

  test('is noted without being asked for, soon', async () => {
    const { token, credentialId } = await fixtures.personalToken();
    await authentication.authenticate(token);
    const lastUse = async (): Promise<unknown> => (await used('personal_token', credentialId))['last_used_at'];
    expect(await waitFor('the use to be noted', async () => (await lastUse()) ?? undefined)).toEqual(expect.any(Date));
  });

  test('waits for no lock, and a failure to note it reaches no caller', async () => {
    const { token, credentialId } = await fixtures.personalToken();
    const client = await database.pool.connect();
    await client.query('BEGIN');
    await client.query('SELECT 1 FROM personal_token WHERE id = $1 FOR SHARE', [credentialId]);
    await authentication.authenticate(token);
    await usage.drain();
    expect((await used('personal_token', credentialId))['last_used_at']).toBeNull();
    await client.query('COMMIT');
    client.release();
    const gone = openDatabase({ url: 'postgres://x@127.0.0.1:1/x', poolSize: 2 });
    const failing = new CredentialUsage({ database: gone, clock: systemClock, logger: createLogger('silent') });
    failing.note('personal_token', credentialId);
    await failing.drain();
    await gone.close();
  });
});

/** Environment, project and organization scope, in this order. */
async function tokensOfEachScope({
  organizationId,
  projectId,
  environmentId,
}: EnvironmentFixture): Promise<TokenFixture[]> {
  return [
    await fixtures.serviceToken({ organizationId, projectId, environmentId }),
    await fixtures.serviceToken({ organizationId, projectId }),
    await fixtures.serviceToken({ organizationId }),
  ];
}
