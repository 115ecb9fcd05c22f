import { randomUUID } from 'node:crypto';
import { afterEach, beforeEach, describe, expect, jest, test } from '@jest/globals';
import type { BearerPrincipal } from '../../../src/domain/principal.ts';
import { LimitExceeded, namesOf, RateLimits, noRateLimits } from '../../../src/http/admission/rate-limits.ts';

beforeEach(() => void jest.useFakeTimers());
afterEach(() => void jest.useRealTimers());

const address = '192.0.2.1';

function serviceToken(organizationId: string = randomUUID()): BearerPrincipal {
  return {
    type: 'service_token',
    id: randomUUID(),
    name: 'ci',
    organizationId,
    scope: 'organization',
    projectId: null,
    environmentId: null,
    permission: 'read',
    credentialId: randomUUID(),
    expiresAt: null,
  };
}

async function isAdmitted(limits: RateLimits, token: string): Promise<boolean> {
  try {
    await limits.admit(address, namesOf(token));
    return true;
  } catch (error) {
    if (error instanceof LimitExceeded) return false;
    throw error;
  }
}

async function lockAddress(limits: RateLimits, guesses: number): Promise<void> {
  for (let count = 0; count < guesses; count += 1) await limits.guessed(address, namesOf(`guess ${count}`));
}

test('an organization that uses 10,100 tokens does not make the address forget those of others', async () => {
  const limits = new RateLimits({ ...noRateLimits, failedAuthentications: 2 });
  await limits.accepted(namesOf('of another'), serviceToken());
  const organizationId = randomUUID();
  for (let count = 0; count < 10_100; count += 1)
    await limits.accepted(namesOf(`token ${count}`), serviceToken(organizationId));
  await lockAddress(limits, 2);
  expect(await isAdmitted(limits, 'of another')).toBe(true);
  expect(await isAdmitted(limits, 'never seen')).toBe(false);
  expect(await isAdmitted(limits, 'token 0')).toBe(false);
  expect(await isAdmitted(limits, 'token 10099')).toBe(true);
});

test('a token becomes known only while it is below its limit of requests', async () => {
  const limits = new RateLimits({ ...noRateLimits, requests: 1, failedAuthentications: 1 });
  const principal = serviceToken();
  await limits.accepted(namesOf('a'), principal);
  await expect(limits.accepted(namesOf('another of the same credential'), principal)).rejects.toThrow(LimitExceeded);
  await lockAddress(limits, 1);
  expect(await isAdmitted(limits, 'a')).toBe(true);
  expect(await isAdmitted(limits, 'another of the same credential')).toBe(false);
});

test('an ended token is refused above its own limit and locks out no other client at its address', async () => {
  const limits = new RateLimits({ ...noRateLimits, failedAuthentications: 2 });
  const principal = serviceToken();
  for (let count = 0; count < 2; count += 1) await limits.refused(namesOf('ended'), principal);
  expect(await isAdmitted(limits, 'ended')).toBe(false);
  expect(await isAdmitted(limits, 'never seen')).toBe(true);
});

test('a credential that has ended is refused above its limit, with however many JWTs', async () => {
  const limits = new RateLimits({ ...noRateLimits, failedAuthentications: 2 });
  const principal = serviceToken();
  for (let count = 0; count < 2; count += 1) await limits.refused(namesOf(`JWT ${count}`), principal);
  const exceeded = expect.objectContaining({ limit: 'credential', code: 'limit_exceeded' });
  await expect(limits.refused(namesOf('another JWT'), principal)).rejects.toEqual(exceeded);
  await limits.refused(namesOf('a JWT of another credential'), serviceToken());
  expect(await isAdmitted(limits, 'never seen')).toBe(true);
});

describe('JWTs, of which each job has another one', () => {
  const audience = (): string => `keyframe/${'a'.repeat(26)}/service-tokens/${randomUUID()}`;
  const jwt = (aud: unknown): string =>
    [{ alg: 'ES256' }, { aud, jti: randomUUID() }, 'x']
      .map((part) => Buffer.from(JSON.stringify(part)).toString('base64url'))
      .join('.');

  test('for one audience that no token has are one guess of the address, and are refused by themselves', async () => {
    const limits = new RateLimits({ ...noRateLimits, failedAuthentications: 2 });
    const wrong = audience();
    for (let count = 0; count < 10; count += 1) await limits.guessed(address, namesOf(jwt(wrong)));
    expect(await isAdmitted(limits, jwt(wrong))).toBe(false);
    expect(await isAdmitted(limits, jwt(audience()))).toBe(true);
    expect(await isAdmitted(limits, 'a value')).toBe(true);
  });

  test('that name no token of Keyframe lock out only each other', async () => {
    const limits = new RateLimits({ ...noRateLimits, failedAuthentications: 2 });
    for (let count = 0; count < 10; count += 1) await limits.guessed(address, namesOf(jwt('https://github.com/acme')));
    expect(await isAdmitted(limits, 'a.b.c')).toBe(false);
    expect(await isAdmitted(limits, jwt(audience()))).toBe(true);
  });

  describe('of the controller of a cluster', () => {
    const ofCluster = `keyframe/${'a'.repeat(26)}/clusters/fra-1`;
    const elsewhere = '198.51.100.1';

    async function isAdmittedFrom(limits: RateLimits, from: string, token: string): Promise<boolean> {
      return await limits.admit(from, namesOf(token)).then(
        () => true,
        () => false,
      );
    }

    test('are known by its audience, in the network from which one was accepted', async () => {
      const limits = new RateLimits({ ...noRateLimits, failedAuthentications: 2 });
      await limits.acceptedCluster(address, namesOf(jwt(ofCluster)), { name: 'fra-1', isHome: false });
      for (const from of [address, elsewhere]) {
        for (let count = 0; count < 10; count += 1) await limits.guessed(from, namesOf(jwt(ofCluster)));
      }
      expect(await isAdmittedFrom(limits, address, jwt(ofCluster))).toBe(true);
      expect(await isAdmittedFrom(limits, elsewhere, jwt(ofCluster))).toBe(false);
    });

    test('that are refused are one guess of the address, and lock out no job', async () => {
      const limits = new RateLimits({ ...noRateLimits, failedAuthentications: 2 });
      for (let count = 0; count < 10; count += 1) await limits.guessed(address, namesOf(jwt(ofCluster)));
      expect(await isAdmitted(limits, jwt(ofCluster))).toBe(false);
      expect(await isAdmitted(limits, jwt(audience()))).toBe(true);
      expect(await isAdmitted(limits, 'a value')).toBe(true);
    });

    test('are not known by those for no audience of Keyframe', async () => {
      const limits = new RateLimits({ ...noRateLimits, failedAuthentications: 2 });
      await limits.acceptedCluster(address, namesOf(jwt(ofCluster)), { name: 'fra-1', isHome: false });
      for (let count = 0; count < 10; count += 1)
        await limits.guessed(address, namesOf(jwt('https://github.com/acme')));
      expect(await isAdmitted(limits, jwt(ofCluster))).toBe(true);
      expect(await isAdmitted(limits, jwt('https://github.com/acme'))).toBe(false);
    });
  });

  test('for many audiences lock out those for audiences that were not accepted before', async () => {
    const limits = new RateLimits({ ...noRateLimits, failedAuthentications: 2 });
    const good = audience();
    await limits.accepted(namesOf(jwt(good)), serviceToken());
    for (let count = 0; count < 2; count += 1) await limits.guessed(address, namesOf(jwt(audience())));
    expect(await isAdmitted(limits, jwt(audience()))).toBe(false);
    expect(await isAdmitted(limits, jwt(good))).toBe(true);
    expect(await isAdmitted(limits, 'a value')).toBe(true);
  });

  test('go on beside guessed values', async () => {
    const limits = new RateLimits({ ...noRateLimits, failedAuthentications: 2 });
    await lockAddress(limits, 2);
    expect(await isAdmitted(limits, jwt(audience()))).toBe(true);
    expect(await isAdmitted(limits, 'a value')).toBe(false);
  });

  test('of one audience take one place, and displace no other token of their organization', async () => {
    const limits = new RateLimits({ ...noRateLimits, failedAuthentications: 1 });
    const [organizationId, job] = [randomUUID(), audience()];
    await limits.accepted(namesOf('a value'), serviceToken(organizationId));
    for (let count = 0; count < 1_100; count += 1)
      await limits.accepted(namesOf(jwt(job)), serviceToken(organizationId));
    await lockAddress(limits, 1);
    expect(await isAdmitted(limits, 'a value')).toBe(true);
  });

  test('that do not prove the token that they name are refused only as often as one of them comes again', async () => {
    const limits = new RateLimits({ ...noRateLimits, failedAuthentications: 2 });
    const [job, again] = [audience(), jwt(audience())];
    for (let count = 0; count < 10; count += 1) await limits.refused(namesOf(jwt(job)));
    for (let count = 0; count < 2; count += 1) await limits.refused(namesOf(again));
    expect(await isAdmitted(limits, jwt(job))).toBe(true);
    expect(await isAdmitted(limits, again)).toBe(false);
  });
});

test('the traffic of a caller is used up until the minute ends, with whichever of their tokens, and no other caller is refused', async () => {
  const limits = new RateLimits({ ...noRateLimits, trafficBytes: 100 });
  const principal = serviceToken();
  await limits.countTraffic(principal, 99);
  await limits.admitTraffic(principal);
  // It may exceed the limit, as no request may be too large for it.
  await limits.countTraffic(principal, 1000);
  const exceeded = expect.objectContaining({ limit: 'traffic', code: 'limit_exceeded', retryAfterSeconds: 60 });
  await expect(limits.admitTraffic(principal)).rejects.toEqual(exceeded);
  await expect(limits.accepted(namesOf('a'), { ...principal, credentialId: randomUUID() })).rejects.toEqual(exceeded);
  await limits.accepted(namesOf('b'), serviceToken());
  jest.advanceTimersByTime(60_000);
  await limits.accepted(namesOf('a'), principal);
});

test('without a limit of traffic no caller is refused', async () => {
  const limits = new RateLimits(noRateLimits);
  const principal = serviceToken();
  await limits.countTraffic(principal, Number.MAX_SAFE_INTEGER);
  await expect(limits.admitTraffic(principal)).resolves.toBeUndefined();
});

describe('a cluster', () => {
  const cluster = { name: 'fra-1', isHome: false };

  test.each([
    ['items', { items: 10 }, { clusterItems: 10 }],
    ['bytes', { bytes: 10 }, { clusterBytes: 10 }],
  ])('has a limit of %s for a minute and a network, whichever token it presents', async (_, used, limit) => {
    const limits = new RateLimits({ ...noRateLimits, ...limit });
    await limits.acceptedCluster(address, namesOf('first'), cluster);
    await limits.countCluster(address, cluster, used);
    const refusal: unknown = await limits
      .acceptedCluster(address, namesOf('second'), cluster)
      .catch((error: unknown) => error);
    expect(refusal).toMatchObject({ code: 'limit_exceeded', limit: 'cluster', retryAfterSeconds: 60 });
    await limits.acceptedCluster(address, namesOf('first'), { name: 'fra-2', isHome: false });
    // What a thief of its token uses up elsewhere is not the controller's.
    await limits.acceptedCluster('198.51.100.7', namesOf('second'), cluster);
    jest.advanceTimersByTime(60_000);
    await limits.acceptedCluster(address, namesOf('second'), cluster);
  });

  test('shares its limits with all other home clusters, and with no remote one', async () => {
    const limits = new RateLimits({ ...noRateLimits, clusterItems: 10 });
    for (let count = 0; count < 10; count += 1)
      await limits.countCluster(address, { name: `home-${count}`, isHome: true }, { items: 1 });
    const accepted = limits.acceptedCluster(address, namesOf('home'), { name: 'another', isHome: true });
    await expect(accepted).rejects.toMatchObject({ code: 'limit_exceeded', limit: 'cluster' });
    await limits.acceptedCluster(address, namesOf('remote'), { name: 'home-1', isHome: false });
  });

  test('with an accepted token is admitted after others of its address guessed', async () => {
    const limits = new RateLimits({ ...noRateLimits, failedAuthentications: 1 });
    await limits.acceptedCluster(address, namesOf('accepted'), cluster);
    await lockAddress(limits, 1);
    expect([await isAdmitted(limits, 'accepted'), await isAdmitted(limits, 'another')]).toEqual([true, false]);
  });
});
