import { randomUUID } from 'node:crypto';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, jest, test } from '@jest/globals';
import { HttpClient, startTestApi, type TestApi } from '../../support/api/http.ts';
import {
  claimName,
  newHomeToken,
  registerCluster,
  type RemoteCluster,
} from '../../support/database/cluster-credentials.ts';
import { JwtSigner, timesFor } from '../../support/oidc/jwt-signer.ts';

/** JWTs that prove no cluster, from networks that have guessed before. */

const maxGuesses = 5;
const maxItems = 30;
let api: TestApi;
let remote: RemoteCluster;
let network = 0;

beforeAll(async () => {
  const rateLimits = { requests: 0, failedAuthentications: maxGuesses, trafficBytes: 0, clusterItems: maxItems };
  // The peer is trusted, so that each request can come from its own address.
  api = await startTestApi({ rateLimits, trustedProxies: ['127.0.0.1'] });
});

afterAll(() => api.close());

beforeEach(async () => {
  network += 1;
  remote = await registerCluster(api.services.database.pool, `fra-${randomUUID()}`);
});

afterEach(() => void jest.restoreAllMocks());

const hello = { uid: randomUUID(), isLeading: false, kinds: [], release: '1.0.0', protocol: { min: 1, max: 1 } };

async function statusOf(token: string, address = `192.0.2.${network}`, name = remote.name): Promise<number> {
  const headers = {
    'keyframe-cluster': name,
    'keyframe-process': randomUUID(),
    'x-forwarded-for': address,
  };
  const client = new HttpClient(`http://127.0.0.1:${api.port}`, token);
  return (await client.send('POST', '/cluster/hello', hello, headers)).status;
}

function forged(name = remote.name): string {
  const { iss, subject: sub, audience, signer } = remote;
  const aud = audience.replace(/[^/]+$/, name);
  return new JwtSigner('ES256', signer.keyId).sign({ iss, sub, aud, jti: randomUUID(), ...timesFor(60) });
}

async function useUp(name?: string): Promise<void> {
  for (let count = 0; count < maxGuesses; count += 1) expect(await statusOf(forged(name), undefined, name)).toBe(401);
}

test.each([
  ['that is registered', () => remote.name],
  ['that is not registered', () => 'unheard-of'],
])('forged JWTs for a cluster %s are refused before a look-up', async (_, nameOf) => {
  const name = nameOf();
  await useUp(name);
  const query = jest.spyOn(api.services.database.pool, 'query');
  expect(await statusOf(forged(name), undefined, name)).toBe(429);
  expect(query).not.toHaveBeenCalled();
});

test('a controller that was accepted works on beside forged JWTs of its network, with a new token too', async () => {
  expect(await statusOf(remote.token())).toBe(200);
  await useUp();
  expect(await statusOf(remote.token())).toBe(200);
  expect(await statusOf(forged())).toBe(401);
});

test('forged JWTs are refused in another network than that of the controller', async () => {
  expect(await statusOf(remote.token(), `198.51.100.${network}`)).toBe(200);
  await useUp();
  expect(await statusOf(forged())).toBe(429);
  expect(await statusOf(remote.token(), `198.51.100.${network}`)).toBe(200);
});

test('forged JWTs for one cluster lock out no other cluster of the network', async () => {
  const other = await registerCluster(api.services.database.pool, `ams-${randomUUID()}`);
  await useUp();
  expect(await statusOf(other.token(), undefined, other.name)).toBe(200);
});

test('a token that has expired is a guess of its network', async () => {
  const expired = remote.token(timesFor(60, Date.now() - 3_600_000));
  for (let count = 0; count < maxGuesses; count += 1) expect(await statusOf(expired)).toBe(401);
  expect(await statusOf(remote.token())).toBe(429);
});

describe('the home token with the name of a remote cluster', () => {
  test('is no guess, and locks out no home cluster of its network', async () => {
    const { pool } = api.services.database;
    const token = await newHomeToken(pool);
    await claimName(pool, 'home', hello.uid);
    for (let count = 0; count < 2 * maxGuesses; count += 1) expect(await statusOf(token)).toBe(401);
    expect(await statusOf(token, undefined, 'home')).toBe(200);
  });

  test('counts for the limits of the home clusters', async () => {
    const token = await newHomeToken(api.services.database.pool);
    const statuses: number[] = [];
    for (let count = 0; count <= maxItems; count += 1) statuses.push(await statusOf(token));
    expect([statuses[0], statuses.at(-1)]).toEqual([401, 429]);
    expect(await statusOf(remote.token())).toBe(200);
  });
});
