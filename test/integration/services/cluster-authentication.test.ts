import { randomUUID } from 'node:crypto';
import { beforeAll, describe, expect, test } from '@jest/globals';
import { generateToken } from '../../../src/crypto/token.ts';
import { DomainError } from '../../../src/domain/errors/domain-error.ts';
import { AuthenticationRefusal } from '../../../src/services/access/authentication.ts';
import { putHomeToken } from '../../../src/store/home-token.ts';
import { inTransaction } from '../../../src/store/transaction.ts';
import type { TestServices } from '../../support/api/services.ts';
import { withServices } from '../../support/api/with-services.ts';
import {
  claimName,
  newHomeToken,
  registerCluster,
  type RemoteCluster,
} from '../../support/database/cluster-credentials.ts';
import { JwtSigner, timesFor } from '../../support/oidc/jwt-signer.ts';

let services: TestServices;

withServices((given) => ({ services } = given));

beforeAll(async () => await claimName(services.database.pool, 'here'));

async function refusalOf(token: string | undefined, name: string | undefined): Promise<DomainError> {
  const error: unknown = await services.clusterAuthentication
    .authenticate(token, name)
    .catch((thrown: unknown) => thrown);
  if (error instanceof DomainError) return error;
  throw error instanceof Error ? error : new Error('the token was accepted');
}

async function faultOf(token: string | undefined, name: string | undefined): Promise<string> {
  const error = await refusalOf(token, name);
  return error instanceof AuthenticationRefusal ? error.fault : error.code;
}

async function run(sql: string, ...values: unknown[]): Promise<void> {
  await services.database.pool.query(sql, values);
}

describe('the home token', () => {
  test('proves any cluster that a controller has claimed, and none that is registered as a remote one', async () => {
    const { pool } = services.database;
    const token = await newHomeToken(pool);
    await registerCluster(pool, 'far-away');
    const home = { isHome: true, credential: 'home_token', acceptedUntil: null };
    expect(await services.clusterAuthentication.authenticate(token, 'here')).toEqual({ name: 'here', ...home });
    await claimName(pool, 'stopped');
    await run('UPDATE served_cluster SET disabled_at = now() WHERE name = $1', 'stopped');
    expect(await services.clusterAuthentication.authenticate(token, 'stopped')).toEqual({ name: 'stopped', ...home });
    expect(await faultOf(token, 'far-away')).toBe('cluster_unknown');
  });

  test('proves a name that no controller has claimed for a hello alone', async () => {
    const token = await newHomeToken(services.database.pool);
    const name = `new-${randomUUID()}`;
    const refused = await refusalOf(token, name);
    expect(refused).toMatchObject({ code: 'limit_exceeded', retryAfterSeconds: 1 });
    const { clusterAuthentication } = services;
    await expect(clusterAuthentication.authenticate(token, name, { isHello: true })).resolves.toMatchObject({ name });
    await claimName(services.database.pool, name);
    await expect(clusterAuthentication.authenticate(token, name)).resolves.toMatchObject({ name });
  });

  test('proves no new name beside 32 home clusters, until one is forgotten', async () => {
    const { pool } = services.database;
    const token = await newHomeToken(pool);
    await registerCluster(pool, 'not-counted');
    await run("INSERT INTO cluster (name, uid, seen_at) VALUES ('not-counted', 'uid', now())");
    const { rows } = await pool.query<{ count: string }>("SELECT count(*) FROM cluster WHERE name <> 'not-counted'");
    const names = Array.from({ length: 32 - Number(rows[0]?.count) }, (_, index) => `home-${index}`);
    const greet = async (): Promise<unknown> =>
      await services.clusterAuthentication.authenticate(token, 'one-more', { isHello: true });
    for (const name of names.slice(1)) await claimName(pool, name);
    await greet();
    await claimName(pool, 'home-0');
    await expect(greet()).rejects.toMatchObject({
      code: 'cluster_unknown',
      detail: expect.stringContaining('keyframe cluster forget'),
    });
    await expect(services.clusterAuthentication.authenticate(token, 'home-0')).resolves.toMatchObject({ isHome: true });
    await run('DELETE FROM cluster WHERE name = ANY($1)', names);
    await expect(greet()).resolves.toMatchObject({ name: 'one-more' });
  });

  test('counts for another hour after it was replaced', async () => {
    const former = await newHomeToken(services.database.pool);
    const present = await newHomeToken(services.database.pool);
    const { acceptedUntil } = await services.clusterAuthentication.authenticate(former, 'here');
    expect(acceptedUntil?.getTime()).toBeGreaterThan(Date.now() + 3_500_000);
    expect(acceptedUntil?.getTime()).toBeLessThan(Date.now() + 3_700_000);
    await run("UPDATE home_token SET former_until = clock_timestamp() - interval '1 ms'");
    expect(await faultOf(former, 'here')).toBe('unknown');
    await expect(services.clusterAuthentication.authenticate(present, 'here')).resolves.toMatchObject({ isHome: true });
  });

  test('stays the present one, and ends no other, if a server writes it again', async () => {
    const former = await newHomeToken(services.database.pool);
    const { token, hash } = generateToken('cluster', randomUUID());
    const put = async (): Promise<boolean> =>
      await inTransaction(services.database, async (tx) => await putHomeToken(tx, hash));
    expect([await put(), await put()]).toEqual([true, false]);
    for (const each of [former, token.reveal()]) {
      await expect(services.clusterAuthentication.authenticate(each, 'here')).resolves.toMatchObject({ name: 'here' });
    }
  });
});

describe('the ServiceAccount token of a registered controller', () => {
  test('proves its cluster until a minute after it expires', async () => {
    const cluster = await registerCluster(services.database.pool, 'remote-1');
    const { iat, exp } = timesFor(3_600);
    const principal = await services.clusterAuthentication.authenticate(cluster.token({ iat, exp }), 'remote-1');
    const acceptedUntil = new Date((exp + 60) * 1000);
    expect(principal).toEqual({ name: 'remote-1', isHome: false, credential: 'jwt', acceptedUntil });
  });

  test('proves no other cluster, not even of the same API server', async () => {
    const { pool } = services.database;
    const one = await registerCluster(pool, 'one');
    const two = await registerCluster(pool, 'two');
    expect(await faultOf(one.token(), 'two')).toBe('jwt_unknown_audience');
    expect(await faultOf(one.token({ aud: [two.audience] }), 'two')).toBe('jwt_unknown_key');
    const sameKey = new JwtSigner('ES256', two.signer.keyId);
    const forged = { iss: two.iss, sub: two.subject, aud: two.audience, ...timesFor(60) };
    expect(await faultOf(sameKey.sign(forged), 'two')).toBe('jwt_signature');
  });

  test.each([
    ['of another account', { sub: 'system:serviceaccount:keyframe:default' }, 'jwt_claims'],
    ['of another issuer', { iss: 'https://kubernetes.default.svc' }, 'jwt_issuer'],
    ['that lives longer than an hour', timesFor(3_601), 'jwt_lifetime'],
    ['that has expired', timesFor(600, Date.now() - 700_000), 'jwt_expired'],
    ['with another audience beside it', { aud: ['https://kubernetes.default.svc', 'x'] }, 'jwt_foreign_audience'],
  ])('is refused %s', async (_, claims, fault) => {
    const name = `refused-${randomUUID()}`;
    const cluster = await registerCluster(services.database.pool, name);
    expect(await faultOf(cluster.token(claims), name)).toBe(fault);
    await expect(services.clusterAuthentication.authenticate(cluster.token(), name)).resolves.toMatchObject({ name });
  });

  test('is refused for another installation', async () => {
    const cluster = await registerCluster(services.database.pool, 'copied');
    const audience = cluster.audience.replace(/\/\w{26}\//, `/${'a'.repeat(26)}/`);
    expect(await faultOf(cluster.token({ aud: [audience] }), 'copied')).toBe('jwt_unknown_audience');
  });

  test('is refused with what an instance admin does, and without the check that failed', async () => {
    const cluster = await registerCluster(services.database.pool, 'explained');
    const { code, detail } = await refusalOf(cluster.token({ sub: 'other' }), 'explained');
    expect(code).toBe('unauthenticated');
    expect(detail).toContain('keyframe cluster update explained');
    expect(detail).not.toMatch(/sub|subject|claim/);
  });

  describe('raises the alert', () => {
    /** Refuses a JWT of a cluster. `seen`: when a controller of it last led. */
    async function isRaised(seen: string | null, refused: (cluster: RemoteCluster) => string): Promise<boolean> {
      const name = `alert-${randomUUID()}`;
      const cluster = await registerCluster(services.database.pool, name);
      if (seen !== null) {
        await run(`INSERT INTO cluster (name, uid, seen_at) VALUES ($1, 'uid', now() - $2::interval)`, name, seen);
      }
      await refusalOf(refused(cluster), name);
      return services.refusedClusters.recent().some((noted) => noted.cluster === name);
    }

    const ofUnknownKey = ({ iss, subject: sub, audience }: RemoteCluster): string =>
      new JwtSigner('ES256').sign({ iss, sub, aud: [audience], ...timesFor(60) });
    const withWrongSignature = ({ iss, subject: sub, audience, signer }: RemoteCluster): string =>
      new JwtSigner('ES256', signer.keyId).sign({ iss, sub, aud: [audience], ...timesFor(60) });
    const ofOtherAccount = (cluster: RemoteCluster): string => cluster.token({ sub: 'other' });
    const forOtherInstallation = (cluster: RemoteCluster): string =>
      cluster.token({ aud: [cluster.audience.replace(/\/\w{26}\//, `/${'a'.repeat(26)}/`)] });

    test.each<[what: string, seen: string | null, refused: (cluster: RemoteCluster) => string, raises: boolean]>([
      ['of an unknown key, while no controller is accepted', '2 minutes', ofUnknownKey, true],
      ['of an unknown key, before a controller was accepted', null, ofUnknownKey, true],
      ['with a wrong signature, while no controller is accepted', '2 minutes', withWrongSignature, true],
      ['of an unknown key, beside a controller that is accepted', '10 seconds', ofUnknownKey, false],
      ['with a wrong signature, beside a controller that is accepted', '10 seconds', withWrongSignature, false],
      ['of another account, beside a controller that is accepted', '10 seconds', ofOtherAccount, true],
      ['of another installation, while no controller is accepted', null, forOtherInstallation, false],
      ['that is none, while no controller is accepted', null, () => 'a.b.c', false],
    ])('for a JWT %s: case %#', async (_, seen, refused, raises) => {
      expect(await isRaised(seen, refused)).toBe(raises);
    });
  });

  test('is refused after a restore from a backup, if its keys cannot be fetched', async () => {
    const url = 'https://127.0.0.1:1/keys';
    const cluster = await registerCluster(services.database.pool, 'restored', { url });
    await run('UPDATE trusted_issuer SET disabled_at = now() WHERE cluster = $1', 'restored');
    const { detail } = await refusalOf(cluster.token(), 'restored');
    expect(detail).toContain('keyframe cluster enable restored');
    expect(await faultOf(cluster.token(), 'restored')).toBe('issuer_disabled');
  });

  test('without a right signature gets the same answer for each name, registered or not', async () => {
    const { pool } = services.database;
    const known = await registerCluster(pool, 'known');
    const restored = await registerCluster(pool, 'known-restored', { url: 'https://127.0.0.1:1/keys' });
    await run('UPDATE trusted_issuer SET disabled_at = now() WHERE cluster = $1', restored.name);
    const forged = (name: string): string =>
      new JwtSigner('ES256', known.signer.keyId).sign({
        iss: known.iss,
        sub: known.subject,
        aud: known.audience.replace(/[^/]+$/, name),
        ...timesFor(60),
      });
    const answers = await Promise.all(
      ['known', 'known-restored', 'unheard-of'].map(async (name) => {
        const { code, detail } = await refusalOf(forged(name), name);
        return { code, detail: detail.replaceAll(name, 'NAME') };
      }),
    );
    expect(answers[0]?.code).toBe('unauthenticated');
    expect(answers).toEqual([answers[0], answers[0], answers[0]]);
  });
});

test('a token of another kind proves no cluster', async () => {
  expect(await faultOf(generateToken('service_token', randomUUID()).token.reveal(), 'here')).toBe('malformed');
  expect(await faultOf(undefined, 'here')).toBe('missing');
  expect(await faultOf(generateToken('cluster', randomUUID()).token.reveal(), 'here')).toBe('unknown');
});

test.each([undefined, '', 'a b', '../x', 'x'.repeat(129)])(
  'a request that names the cluster %j is refused',
  async (name) => {
    expect(await faultOf(await newHomeToken(services.database.pool), name)).toBe('malformed');
  },
);

test('no token of a cluster is a token of the API', async () => {
  const cluster = await registerCluster(services.database.pool, 'no-client');
  const home = await newHomeToken(services.database.pool);
  await expect(services.authentication.authenticateBearer(home)).rejects.toMatchObject({
    code: 'unauthenticated',
    detail: expect.stringContaining('/api/v1/cluster/'),
  });
  await expect(services.authentication.authenticateBearer(cluster.token())).rejects.toMatchObject({
    code: 'unauthenticated',
    fault: 'jwt_foreign_audience',
  });
});
