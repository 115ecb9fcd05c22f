import { setTimeout as pause } from 'node:timers/promises';
import { beforeEach, expect, test } from '@jest/globals';
import { ClusterCalls, clusterRule } from '../../support/api/cluster-calls.ts';
import type { SecretCalls } from '../../support/api/secret-calls.ts';
import type { TestServices, World } from '../../support/api/services.ts';
import { TestSyncReader } from '../../support/api/sync-reader.ts';
import { TokenResource } from '../../support/api/token-resource.ts';
import { withWorlds } from '../../support/api/with-services.ts';
import { isFull } from '../../support/fixtures/test-size.ts';

/** Rules, grants, states and what is done under them, at the same moment. */

const races = isFull ? 200 : 40;

let services: TestServices;
let world: World;
let calls: SecretCalls;
let clusters: ClusterCalls;

withWorlds((given) => ({ services, world, calls } = given));

beforeEach(async () => {
  await calls.put('API_KEY', 'value');
  clusters = new ClusterCalls(services, world);
  await new TestSyncReader(services, world).read();
});

async function soon(): Promise<void> {
  await pause(Math.random() * 6);
}

test.each<[string, () => Promise<unknown>, () => Promise<unknown>]>([
  ['its rules go', () => clusters.set([]), () => clusters.set(null)],
  ['its cluster is disabled', () => clusters.disable(), () => clusters.enable()],
])('no token is live after %s, however the two fall', async (_case, end, again) => {
  const outcomes = new Set<string>();
  for (let race = 0; race < races; race += 1) {
    const tokens = Array.from({ length: 3 }, () => new TokenResource(services, world));
    const minting = tokens.map(async (token) => {
      await soon();
      const made = await token.minted().catch(() => undefined);
      return { token, made };
    });
    await soon();
    await end();
    for (const { token, made } of await Promise.all(minting)) {
      const opens = made === undefined ? 'refused' : await token.opens(made);
      outcomes.add(opens);
      expect(opens).not.toBe('opens');
    }
    await again();
  }
  expect(outcomes).toContain('refused');
});

test('a read that begins after rule and grant is judged by both', async () => {
  const reader = new TestSyncReader(services, world);
  const granted = reader.grants;
  for (let race = 0; race < races; race += 1) {
    const [hasRule, hasGrant] = [Math.random() < 0.5, Math.random() < 0.5];
    const during = [0, 1, 2].map(async () => {
      await soon();
      return reader.outcome();
    });
    reader.grants = hasGrant ? granted : [];
    await clusters.set(hasRule ? [clusterRule(world)] : []);
    const after = await reader.outcome();
    const expected = !hasGrant ? 'forbidden' : hasRule ? { API_KEY: 'value' } : 'cluster_not_allowed';
    expect(after).toEqual(expected);
    const possible = ['forbidden', 'cluster_not_allowed', '{"API_KEY":"value"}'];
    for (const outcome of await Promise.all(during)) {
      expect(possible).toContain(typeof outcome === 'string' ? outcome : JSON.stringify(outcome));
    }
  }
});
