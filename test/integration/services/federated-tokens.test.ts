import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { DomainError } from '../../../src/domain/errors/domain-error.ts';
import { Plaintext } from '../../../src/domain/plaintext.ts';
import { AuthenticationRefusal } from '../../../src/services/access/authentication.ts';
import { createTestDatabase, type TestDatabase } from '../../support/database/postgres.ts';
import {
  createWorld,
  startServices,
  type TestServices,
  type TestToken,
  type World,
} from '../../support/api/services.ts';
import { FederationFixtures, type IssuerFixture, jwtFor } from '../../support/oidc/federation-fixtures.ts';
import { JwtSigner, timesFor } from '../../support/oidc/jwt-signer.ts';

const signer = new JwtSigner('ES256');
let database: TestDatabase;
let services: TestServices;
let world: World;
let fixtures: FederationFixtures;
let issuer: IssuerFixture;
let token: TestToken;
let audience: string;

beforeAll(async () => {
  database = await createTestDatabase();
  services = await startServices(database.url);
  world = await createWorld(services);
  fixtures = new FederationFixtures(services.database.pool);
});

afterAll(async () => {
  await services.close();
  await database.drop();
});

beforeEach(async () => {
  issuer = await fixtures.issuer({ signers: [signer] });
  token = await world.serviceToken();
  audience = await federate(token, issuer);
});

async function federate(to: TestToken, by: IssuerFixture): Promise<string> {
  return await fixtures.federate({ id: to.id, credentialId: to.caller.principal.credentialId }, by);
}

async function refusalOf(jwt: string): Promise<AuthenticationRefusal> {
  const error: unknown = await services.authentication.authenticateBearer(jwt).catch((thrown: unknown) => thrown);
  if (error instanceof AuthenticationRefusal) return error;
  throw error instanceof Error ? error : new Error('the JWT was accepted');
}

async function run(sql: string, ...values: unknown[]): Promise<void> {
  await services.database.pool.query(sql, values);
}

function seconds(date: Date | null | undefined): number {
  return (date?.getTime() ?? Number.NaN) / 1000;
}

describe('a JWT', () => {
  test('stands for its service token until it expires', async () => {
    const { exp, iat } = timesFor(300);
    const principal = await services.authentication.authenticateBearer(jwtFor(signer, issuer, audience, { iat, exp }));
    expect(principal).toEqual({
      ...token.caller.principal,
      expiresAt: new Date(exp * 1000),
      jwtEndsAt: new Date((exp + 60) * 1000),
    });
  });

  test('ends with its service token, if that ends before', async () => {
    await run(
      "UPDATE service_token_credential SET expires_at = now() + interval '10 seconds' WHERE id = $1",
      token.caller.principal.credentialId,
    );
    const { expiresAt } = await services.authentication.authenticateBearer(jwtFor(signer, issuer, audience));
    expect(seconds(expiresAt)).toBeLessThan(Date.now() / 1000 + 11);
  });

  test('notes the use of its service token', async () => {
    await services.authentication.authenticateBearer(jwtFor(signer, issuer, audience));
    await services.usage.drain();
    const { rows } = await services.database.pool.query<{ last_used_at: Date | null }>(
      'SELECT last_used_at FROM service_token_credential WHERE id = $1',
      [token.caller.principal.credentialId],
    );
    expect(rows[0]?.last_used_at).not.toBeNull();
  });

  test('is no token where only values are', async () => {
    await expect(services.authentication.authenticate(jwtFor(signer, issuer, audience))).rejects.toMatchObject({
      fault: 'malformed',
    });
  });
});

describe('a JWT is refused', () => {
  /** Before it is known whose it is. */
  const unproven: [string, string, () => Promise<string> | string][] = [
    ['that is malformed', 'jwt_malformed', () => 'a.b.c'],
    [
      'for another instance',
      'jwt_unknown_audience',
      () => jwtFor(signer, issuer, audience.replace(/keyframe\/./, 'keyframe/z')),
    ],
    [
      'for a service token that is not there',
      'jwt_unknown_audience',
      () => jwtFor(signer, issuer, audience.slice(0, -36) + randomUUID()),
    ],
    [
      'for a service token that is not federated',
      'jwt_unknown_audience',
      async () => jwtFor(signer, issuer, audience.slice(0, -36) + (await world.serviceToken()).id),
    ],
    ['of an unknown key', 'jwt_unknown_key', () => jwtFor(new JwtSigner('ES256'), issuer, audience)],
    [
      'of an unknown key with a known id',
      'jwt_signature',
      () => jwtFor(new JwtSigner('ES256', signer.keyId), issuer, audience),
    ],
    ['of an issuer of another name', 'jwt_issuer', () => jwtFor(signer, { iss: 'https://issuer.example/' }, audience)],
    [
      'that lives longer than its issuer allows',
      'jwt_lifetime',
      () => jwtFor(signer, issuer, audience, timesFor(3_601)),
    ],
    ['with a claim as a number', 'jwt_claims', () => jwtFor(signer, issuer, audience, { repository_id: 42 })],
    ['with a claim as a list', 'jwt_claims', () => jwtFor(signer, issuer, audience, { repository_id: ['42'] })],
    ['of another repository', 'jwt_claims', () => jwtFor(signer, issuer, audience, { repository_id: '43' })],
  ];

  test.each(unproven)('%s (%s), in the one text that says nothing of why', async (_case, fault, jwt) => {
    const refusal = await refusalOf(await jwt());
    expect(refusal).toMatchObject({ code: 'unauthenticated', fault, principal: undefined });
    expect(refusal.detail).toBe((await refusalOf('a.b.c')).detail);
  });

  test('of another trusted issuer with the same iss, because the audience selects the issuer', async () => {
    const other = new JwtSigner('ES256', signer.keyId);
    const twin = await fixtures.issuer({ signers: [other] });
    const second = await world.serviceToken();
    const secondAudience = await federate(second, twin);
    expect((await refusalOf(jwtFor(other, issuer, audience))).fault).toBe('jwt_signature');
    expect((await refusalOf(jwtFor(signer, twin, secondAudience))).fault).toBe('jwt_signature');
    expect(await services.authentication.authenticateBearer(jwtFor(other, twin, secondAudience))).toMatchObject({
      id: second.id,
    });
  });

  test('at another service token of the same issuer', async () => {
    const second = await world.serviceToken();
    const secondAudience = await federate(second, issuer);
    const [, body = ''] = jwtFor(signer, issuer, secondAudience).split('.');
    const [header = '', , signature = ''] = jwtFor(signer, issuer, audience).split('.');
    expect((await refusalOf(`${header}.${body}.${signature}`)).fault).toBe('jwt_signature');
  });

  test('with an algorithm that its issuer does not allow', async () => {
    await fixtures.change(issuer, "algorithms = '{RS256}'");
    expect((await refusalOf(jwtFor(signer, issuer, audience))).fault).toBe('jwt_issuer_algorithm');
  });

  /** After it is known whose it is. */
  const ended: [string, string, string, () => Promise<unknown>][] = [
    [
      'of a revoked service token',
      'revoked',
      'unauthenticated',
      () => run('UPDATE service_token SET revoked_at = now() WHERE id = $1', token.id),
    ],
    [
      'of a suspended service token',
      'suspended',
      'unauthenticated',
      () => run('UPDATE service_token SET suspended_at = now() WHERE id = $1', token.id),
    ],
    [
      'of an expired service token',
      'expired',
      'unauthenticated',
      () => run('UPDATE service_token_credential SET expires_at = now() WHERE service_token_id = $1', token.id),
    ],
    [
      'of a disabled issuer',
      'issuer_disabled',
      'unauthenticated',
      () => fixtures.change(issuer, 'disabled_at = now()'),
    ],
    [
      'of an issuer that was changed, in an organization that forbids impersonation',
      'issuer_changed',
      'issuer_changed',
      async () => {
        await fixtures.change(issuer, 'generation = generation + 1');
        await run('UPDATE organization SET impersonation_forbidden = true WHERE id = $1', world.organization.id);
      },
    ],
  ];

  test.each(ended)('%s (%s), and names its principal', async (_case, fault, code, end) => {
    await end();
    const refusal = await refusalOf(jwtFor(signer, issuer, audience));
    await run('UPDATE organization SET impersonation_forbidden = false WHERE id = $1', world.organization.id);
    expect(refusal).toMatchObject({ code, fault, principal: { id: token.id } });
    expect(refusal.detail === (await refusalOf('a.b.c')).detail).toBe(code === 'unauthenticated');
  });

  test('not if its issuer was changed in an organization that allows impersonation', async () => {
    await fixtures.change(issuer, 'generation = generation + 1');
    expect(await services.authentication.authenticateBearer(jwtFor(signer, issuer, audience))).toMatchObject({
      id: token.id,
    });
  });

  test('if its claims do not hold, without the fault of its service token', async () => {
    await run('UPDATE service_token SET revoked_at = now() WHERE id = $1', token.id);
    const refusal = await refusalOf(jwtFor(signer, issuer, audience, { environment: 'test' }));
    expect(refusal).toMatchObject({ fault: 'jwt_claims', principal: undefined });
  });

  test('of a federation that has ended', async () => {
    await run('UPDATE service_token_federation SET ended_at = now() WHERE audience = $1', audience);
    expect((await refusalOf(jwtFor(signer, issuer, audience))).fault).toBe('jwt_unknown_audience');
  });

  test('of an issuer that was deleted', async () => {
    await run('DELETE FROM trusted_issuer WHERE id = $1', issuer.id);
    expect((await refusalOf(jwtFor(signer, issuer, audience))).fault).toBe('jwt_unknown_audience');
  });
});

describe('a change with a JWT', () => {
  async function change(during: () => Promise<unknown>, times = timesFor(300)): Promise<unknown> {
    const jwt = jwtFor(signer, issuer, audience, times);
    const principal = await services.authentication.authenticateBearer(jwt);
    const access = await world.onEnvironment({ ...token.caller, principal }, 'secret.write');
    await during();
    return await services.secrets
      .put(access, `K${randomUUID().slice(0, 8)}`, { value: new Plaintext('x') })
      .catch((error: unknown) => (error instanceof DomainError ? error.code : error));
  }

  test('is made', async () => {
    expect(await change(() => Promise.resolve())).toMatchObject({ version: 1 });
  });

  test('is not made if the JWT ends meanwhile', async () => {
    // It is accepted for another 2 to 3 seconds.
    const times = timesFor(3, Date.now() - 60_000);
    expect(await change(() => new Promise((resolve) => setTimeout(resolve, 3_100)), times)).toBe('unauthenticated');
  });

  test.each<[string, () => Promise<unknown>]>([
    ['the issuer is disabled', () => fixtures.change(issuer, 'disabled_at = now()')],
    [
      'the federation ends',
      () => run('UPDATE service_token_federation SET ended_at = now() WHERE audience = $1', audience),
    ],
    ['the service token is revoked', () => run('UPDATE service_token SET revoked_at = now() WHERE id = $1', token.id)],
  ])('is not made if %s meanwhile', async (_case, during) => {
    expect(await change(during)).toBe('unauthenticated');
  });
});
