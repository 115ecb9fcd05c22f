import { randomUUID } from 'node:crypto';
import { beforeEach, describe, expect, test } from '@jest/globals';
import type { JwtExplanation } from '../../../src/services/tokens/jwt-explanation.ts';
import { outcomeOf } from '../../support/api/outcome.ts';
import { createWorld, type TestServices, type World } from '../../support/api/services.ts';
import { withWorlds } from '../../support/api/with-services.ts';
import { prismaOf } from '../../support/database/prisma.ts';
import { FederationFixtures, type IssuerFixture, jwtFor } from '../../support/oidc/federation-fixtures.ts';
import { JwtSigner, timesFor } from '../../support/oidc/jwt-signer.ts';

const signer = new JwtSigner('ES256');
const claims = { repository_id: ['42'], environment: ['production', 'canary-of-the-token'] };
let services: TestServices;
let world: World;
let fixtures: FederationFixtures;
let issuer: IssuerFixture;
let id: string;
let audience: string;

withWorlds((given) => ({ services, world } = given));
beforeEach(async () => {
  fixtures = new FederationFixtures(services.database.pool);
  issuer = await fixtures.issuer({ signers: [signer] });
  ({ id, audience } = await federated(world));
});

/** A federated token of a world. */
async function federated(of: World): Promise<{ id: string; audience: string }> {
  const token = await of.serviceToken();
  const { credentialId } = token.caller.principal;
  return { id: token.id, audience: await fixtures.federate({ id: token.id, credentialId }, issuer, claims) };
}

async function explain(jwt: string, of = id): Promise<JwtExplanation> {
  const access = await world.onOrganization(world.admin.caller, 'service_token.explain');
  return services.federations.explain(access, of, { jwt });
}

/** The check that failed and what is said of it, once those before it passed and those after it were not made. */
async function failure(jwt: string): Promise<unknown> {
  const { isProven, checks } = await explain(jwt);
  const failed = checks.filter(({ outcome }) => outcome === 'failed');
  const place = checks.findIndex(({ outcome }) => outcome === 'failed');
  expect(checks.slice(0, place).every(({ outcome }) => outcome === 'passed')).toBe(true);
  expect(checks.slice(place + 1).every(({ outcome }) => outcome === 'not_checked')).toBe(true);
  return [isProven, ...failed.map(({ check, detail }) => [check, detail])];
}

const signed = (more: Readonly<Record<string, unknown>> = {}): string => jwtFor(signer, issuer, audience, more);
const run = (sql: string, ...values: unknown[]): Promise<unknown> => services.database.pool.query(sql, values);

describe('the explanation of a JWT', () => {
  test('of one that proves the token passes all checks', async () => {
    const { isProven, checks } = await explain(signed());
    expect(isProven).toBe(true);
    expect(checks.map(({ check }) => check)).toEqual(
      'form header audience token key signature issuer times claims credential'.split(' '),
    );
    expect(checks.every(({ outcome, detail }) => outcome === 'passed' && detail === null)).toBe(true);
  });

  test.each<[string, string, () => string, string]>([
    ['is none', 'form', () => 'kf_svc_canary', 'this is not a JWT'],
    ['is too long', 'form', () => signed({ canary: 'x'.repeat(9_000) }), 'longer than 8 KiB'],
    [
      'has an algorithm that is never accepted',
      'header',
      () => signer.sign({ aud: audience }, { alg: 'none' }),
      'not signed with',
    ],
    ['is for another program', 'audience', () => jwtFor(signer, issuer, 'https://canary'), 'not for Keyframe'],
    ['has two audiences', 'audience', () => jwtFor(signer, issuer, [audience, 'canary']), 'several audiences'],
    ['has an unknown key', 'key', () => jwtFor(new JwtSigner('ES256'), issuer, audience), 'has no key for the JWT'],
    ['has another signature', 'signature', () => `${signed().slice(0, -6)}AAAAAA`, 'signature of the JWT is wrong'],
    ['has another iss', 'issuer', () => signed({ iss: 'https://canary' }), 'the claim iss'],
    ['has expired', 'times', () => signed(timesFor(60, Date.now() - 3_600_000)), 'has expired'],
    ['lives too long', 'times', () => signed(timesFor(7_200)), 'valid for longer'],
  ])('that %s fails at %s', async (_what, check, jwt, text) => {
    expect(await failure(jwt())).toEqual([false, [check, expect.stringContaining(text)]]);
  });

  test('names the claims that are wrong, and no value of the JWT', async () => {
    const jwt = signed({ repository_id: 42, environment: 'canary' });
    const text = 'environment has another value than the token requires, repository_id is no text';
    expect(await failure(jwt)).toEqual([false, ['claims', expect.stringContaining(text)]]);
    expect(await failure(signed({ environment: undefined }))).toEqual([
      false,
      ['claims', expect.stringContaining('environment is missing')],
    ]);
    expect(JSON.stringify(await explain(jwt))).not.toContain('canary');
  });

  test('for another token says the same as for no token, in each organization', async () => {
    const foreign = await federated(await createWorld(services));
    const unknown = audience.replace(id, randomUUID());
    const others = [foreign.audience, (await federated(world)).audience, unknown];
    const found = await Promise.all(others.map((aud) => failure(jwtFor(signer, issuer, aud))));
    expect(found[0]).toEqual([false, ['token', expect.stringContaining('not that of this service token')]]);
    expect(new Set(found.map((one) => JSON.stringify(one))).size).toBe(1);
  });

  test.each<[string, string, string]>([
    ['was revoked', 'UPDATE service_token SET revoked_at = now() WHERE id = $1', 'was revoked'],
    ['is suspended', 'UPDATE service_token SET suspended_at = now() WHERE id = $1', 'is suspended'],
    [
      'has expired',
      `UPDATE service_token_credential SET expires_at = now() WHERE service_token_id = $1`,
      'the service token has expired',
    ],
  ])('for a token that %s says so', async (_what, sql, text) => {
    await run(sql, id);
    expect(await failure(signed())).toEqual([true, ['credential', expect.stringContaining(text)]]);
  });

  test('that proves nothing for a revoked token says both', async () => {
    await run('UPDATE service_token SET revoked_at = now() WHERE id = $1', id);
    const { checks } = await explain('x');
    expect(checks[0]).toMatchObject({ outcome: 'failed' });
    expect(checks.at(-1)).toMatchObject({ outcome: 'failed', detail: expect.stringContaining('was revoked') });
  });

  test('says that the issuer was changed, if the organization forbids impersonation', async () => {
    await fixtures.change(issuer, 'generation = generation + 1');
    expect((await explain(signed())).checks.at(-1)).toMatchObject({ outcome: 'passed' });
    await run('UPDATE organization SET impersonation_forbidden = true WHERE id = $1', world.organization.id);
    expect(await failure(signed())).toEqual([true, ['credential', expect.stringContaining('token accept-issuer')]]);
    const access = await world.onOrganization(world.admin.caller, 'service_token.accept_issuer');
    await services.federations.acceptIssuer(access, id, { generation: 2 });
    expect((await explain(signed())).checks.at(-1)).toMatchObject({ outcome: 'passed' });
  });

  test('says that the issuer is disabled, or was deleted', async () => {
    await fixtures.change(issuer, 'disabled_at = now()');
    expect(await failure(signed())).toEqual([true, ['credential', expect.stringContaining('is disabled')]]);
    await prismaOf(services.database).trustedIssuer.delete({ where: { id: issuer.id } });
    expect(await failure(signed())).toEqual([
      false,
      ['token', expect.stringContaining('issuer of the service token was deleted')],
    ]);
  });

  test('says why the keys of the issuer were not fetched', async () => {
    // Nothing listens there.
    await fixtures.change(issuer, `jwks_url = 'https://127.0.0.1:1/keys'`);
    const reason = /^the keys .* within the last hour\. The last fetch failed at \d{4}-\S+Z: the server cannot connect/;
    expect(await failure(signed())).toEqual([false, ['key', expect.stringMatching(reason)]]);
    await fixtures.change(issuer, 'fetch_fault = NULL, fetch_failed_at = NULL');
    expect(await failure(signed())).toEqual([false, ['key', expect.stringContaining('again in a minute')]]);
    await run('UPDATE service_token SET revoked_at = now() WHERE id = $1', id);
    expect((await explain(signed())).checks.at(-1)).toMatchObject({ outcome: 'failed' });
  });

  test('of an unknown key says that the last fetch of the keys failed', async () => {
    // Nothing listens there. The keys of before are still usable.
    await fixtures.change(issuer, `jwks_url = 'https://127.0.0.1:1/keys', fetched_at = now()`);
    const unknown = jwtFor(new JwtSigner('ES256'), issuer, audience);
    const reason = /has no key for the JWT.* The last fetch failed at \d{4}-\S+Z: the server cannot connect/;
    expect(await failure(unknown)).toEqual([false, ['key', expect.stringMatching(reason)]]);
    // None is due within a minute.
    expect(await failure(unknown)).toEqual([false, ['key', expect.stringMatching(reason)]]);
    await fixtures.change(issuer, 'fetch_fault = NULL, fetch_failed_at = NULL');
    expect(await failure(unknown)).toEqual([false, ['key', expect.not.stringContaining('The last fetch failed')]]);
  });

  test('is audited with the check that failed, and without any of the JWT', async () => {
    await explain(signed({ environment: 'canary' }));
    const where = { organizationId: world.organization.id, action: 'service_token.explain' };
    const entries = await prismaOf(services.database).auditEntry.findMany({ where });
    expect(entries).toMatchObject([
      { outcome: 'success', label: '[Service Token]', target: { serviceTokenId: id, failed: 'claims' } },
    ]);
    expect(JSON.stringify(entries.map(({ target }) => target))).not.toContain('canary');
  });

  test('is refused for a token with a value, and for one of another organization', async () => {
    const valued = await world.serviceToken();
    expect(await outcomeOf(explain(signed(), valued.id))).toBe('conflict');
    const foreign = await federated(await createWorld(services));
    expect(await outcomeOf(explain(signed(), foreign.id))).toBe('not_found');
    expect(await outcomeOf(explain(signed(), 'x'))).toBe('invalid_input');
  });
});
