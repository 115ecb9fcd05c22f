import { randomUUID } from 'node:crypto';
import { afterEach, beforeEach, expect, jest, test } from '@jest/globals';
import type { BearerPrincipal } from '../../../src/domain/principal.ts';
import { LimitExceeded, RateLimits, noRateLimits } from '../../../src/http/admission/rate-limits.ts';

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
    await limits.admit(address, token);
    return true;
  } catch (error) {
    if (error instanceof LimitExceeded) return false;
    throw error;
  }
}

async function lockAddress(limits: RateLimits, guesses: number): Promise<void> {
  for (let count = 0; count < guesses; count += 1) await limits.refused(address, `guess ${count}`);
}

test('an organization that uses 10,100 tokens does not make the address forget those of others', async () => {
  const limits = new RateLimits({ ...noRateLimits, failedAuthentications: 2 });
  await limits.accepted('of another', serviceToken());
  const organizationId = randomUUID();
  for (let count = 0; count < 10_100; count += 1) await limits.accepted(`token ${count}`, serviceToken(organizationId));
  await lockAddress(limits, 2);
  expect(await isAdmitted(limits, 'of another')).toBe(true);
  expect(await isAdmitted(limits, 'never seen')).toBe(false);
  expect(await isAdmitted(limits, 'token 0')).toBe(false);
  expect(await isAdmitted(limits, 'token 10099')).toBe(true);
});

test('a token becomes known only while it is below its limit of requests', async () => {
  const limits = new RateLimits({ ...noRateLimits, requests: 1, failedAuthentications: 1 });
  const principal = serviceToken();
  await limits.accepted('a', principal);
  await expect(limits.accepted('another of the same credential', principal)).rejects.toThrow(LimitExceeded);
  await lockAddress(limits, 1);
  expect(await isAdmitted(limits, 'a')).toBe(true);
  expect(await isAdmitted(limits, 'another of the same credential')).toBe(false);
});

test('an ended token is refused above its own limit and locks out no other client at its address', async () => {
  const limits = new RateLimits({ ...noRateLimits, failedAuthentications: 2 });
  const principal = serviceToken();
  for (let count = 0; count < 2; count += 1) await limits.refused(address, 'ended', principal);
  expect(await isAdmitted(limits, 'ended')).toBe(false);
  expect(await isAdmitted(limits, 'never seen')).toBe(true);
});

test('a credential that has ended is refused above its limit, with however many JWTs', async () => {
  const limits = new RateLimits({ ...noRateLimits, failedAuthentications: 2 });
  const principal = serviceToken();
  for (let count = 0; count < 2; count += 1) await limits.refused(address, `JWT ${count}`, principal);
  const exceeded = expect.objectContaining({ limit: 'credential', code: 'limit_exceeded' });
  await expect(limits.refused(address, 'another JWT', principal)).rejects.toEqual(exceeded);
  await limits.refused(address, 'a JWT of another credential', serviceToken());
  expect(await isAdmitted(limits, 'never seen')).toBe(true);
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
  await expect(limits.accepted('a', { ...principal, credentialId: randomUUID() })).rejects.toEqual(exceeded);
  await limits.accepted('b', serviceToken());
  jest.advanceTimersByTime(60_000);
  await limits.accepted('a', principal);
});

test('without a limit of traffic no caller is refused', async () => {
  const limits = new RateLimits(noRateLimits);
  const principal = serviceToken();
  await limits.countTraffic(principal, Number.MAX_SAFE_INTEGER);
  await expect(limits.admitTraffic(principal)).resolves.toBeUndefined();
});
