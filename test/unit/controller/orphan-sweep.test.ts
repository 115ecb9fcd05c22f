import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { orphanSuspended } from '../../../src/controller/kinds/service-token/messages.ts';
import { settled } from './fake-clock.ts';
import { TokenHarness, serviceTokensPath } from './token-harness.ts';

/** Tokens whose ServiceToken no reconcile handles, between two resyncs. */

const path = `${serviceTokensPath}/app-token`;
const minuteMs = 60_000;
const foreign = 'example.com/hold';
let harness: TokenHarness;
let uid: string;

beforeEach(async () => {
  harness = new TokenHarness();
  await harness.issued();
  uid = harness.cluster.get(path)?.metadata.uid ?? '';
});

afterEach(() => harness.controller.stop());

/** Replaces the finalizers and deletes the ServiceToken before the controller sees the first of these writes. */
async function removeAtOnce(finalizers: string[]): Promise<void> {
  const release = harness.cluster.holdWatches();
  harness.cluster.put(serviceTokensPath, 'app-token', ({ metadata }) => {
    metadata.finalizers = finalizers;
  });
  harness.cluster.collect(path);
  release();
  await settled();
}

describe('an old token is suspended at once', () => {
  // Not long before a resync, which sweeps too.
  beforeEach(() => harness.clock.advance(6 * minuteMs));

  test('if its ServiceToken is gone without its finalizer', async () => {
    await removeAtOnce([]);
    expect(harness.cluster.get(path)).toBeUndefined();
    expect(harness.serviceTokens.find(uid)).toMatchObject({ suspendedAt: expect.any(Date), revokedAt: null });
  });

  test('if its deleted ServiceToken is kept by the finalizer of another controller alone', async () => {
    await removeAtOnce([foreign]);
    expect(harness.cluster.get(path)?.metadata.finalizers).toEqual([foreign]);
    expect(harness.serviceTokens.find(uid)).toMatchObject({ suspendedAt: expect.any(Date), revokedAt: null });
  });
});

test('a token works while its ServiceToken exists', async () => {
  await harness.clock.advance(20 * minuteMs);
  expect(harness.serviceTokens.worksFor(uid)).toBe(true);
});

test('a token is revoked, not suspended, if another finalizer keeps its ServiceToken after the cleanup', async () => {
  await harness.clock.advance(6 * minuteMs);
  harness.cluster.put(serviceTokensPath, 'app-token', ({ metadata }) => {
    metadata.finalizers = [...(metadata.finalizers ?? []), foreign];
  });
  harness.cluster.collect(path);
  await settled();
  expect(harness.cluster.get(path)?.metadata.finalizers).toEqual([foreign]);
  expect(harness.serviceTokens.find(uid)).toMatchObject({ suspendedAt: null, revokedAt: expect.any(Date) });
});

test.each([
  ['is gone', []],
  ['is kept by another finalizer', [foreign]],
])('a token that was too young when its ServiceToken %s is suspended before the next resync', async (_, finalizers) => {
  await harness.clock.advance(minuteMs);
  await removeAtOnce(finalizers);
  expect(harness.serviceTokens.worksFor(uid)).toBe(true);
  await harness.clock.advance(6 * minuteMs);
  expect(harness.serviceTokens.worksFor(uid)).toBe(false);
});

describe('a new token that no reconcile handles', () => {
  beforeEach(async () => {
    await harness.clock.advance(minuteMs);
    await removeAtOnce([]);
  });

  test('is suspended as soon as its grant is withdrawn', async () => {
    expect(harness.serviceTokens.worksFor(uid)).toBe(true);
    harness.withdraw();
    await settled();
    expect(harness.serviceTokens.find(uid)).toMatchObject({ suspendedAt: expect.any(Date) });
    expect(harness.logs.map(({ msg }) => msg)).toContain(orphanSuspended);
  });

  test('is suspended as soon as its grant covers another environment only', async () => {
    harness.grant(['ServiceToken'], ['other']);
    await settled();
    expect(harness.serviceTokens.worksFor(uid)).toBe(false);
  });

  test('works while a grant covers it, however the grants change', async () => {
    harness.grant(['ServiceToken'], ['prod', 'other']);
    await settled();
    expect(harness.serviceTokens.worksFor(uid)).toBe(true);
  });
});
