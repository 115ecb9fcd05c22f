import { beforeEach, describe, expect, test } from '@jest/globals';
import { TokenHarness } from './token-harness.ts';

/** What an organization allows the cluster, and whether the cluster is enabled. */

let harness: TokenHarness;

beforeEach(() => {
  harness = new TokenHarness();
});

async function reasonAfter(change: () => void): Promise<string | undefined> {
  change();
  await harness.clock.advance(1000);
  return harness.ready()?.reason;
}

describe.each([
  ['keyless', 'ClusterNotAllowed', 'ClusterDisabled'],
  // The reason is that of its ServiceToken.
  ['issued', 'ServiceTokenNotReady', 'ServiceTokenNotReady'],
] as const)('a SecretSync in step (%s)', (kind, notAllowed, disabled) => {
  beforeEach(() => harness[kind]());

  test('is refused as soon as the rules are narrower, keeps its Secret, and reads again as soon as they are wider', async () => {
    expect(await reasonAfter(() => harness.services.setRules(false))).toBe(notAllowed);
    expect(harness.values()).toEqual({ A: 'alpha' });
    expect(await reasonAfter(() => harness.services.setRules(true))).toBe('Synced');
  });

  test('is refused as long as the cluster is disabled', async () => {
    expect(await reasonAfter(() => harness.services.setClusterState('disabled'))).toBe(disabled);
    expect(await reasonAfter(() => harness.services.setClusterState('enabled'))).toBe('Synced');
  });

  test('is reconciled by the next comparison if the change was not reported', async () => {
    const missed = { missed: true };
    expect(await reasonAfter(() => harness.services.setRules(false, missed))).toBe('Synced');
    expect(await reasonAfter(() => harness.services.ready())).toBe(notAllowed);
    expect(await reasonAfter(() => harness.services.setRules(true, missed))).toBe(notAllowed);
    expect(await reasonAfter(() => harness.services.ready())).toBe('Synced');
  });

  test('is not reconciled by rules that it has seen, nor by those of another organization', async () => {
    harness.services.notify({ kind: 'cluster_rules', cluster: 'test', version: 0, isNothing: false });
    await harness.clock.advance(1000);
    expect(harness.reconciled).toEqual([]);
  });
});

describe('a ServiceToken', () => {
  test('suspends its token if its cluster is refused, and resumes it', async () => {
    await harness.issued();
    await reasonAfter(() => harness.services.setRules(false));
    expect(harness.tokenReason).toBe('ClusterNotAllowed');
    expect(harness.serviceTokens.worksFor(harness.tokenUid)).toBe(false);
    await reasonAfter(() => harness.services.setRules(true));
    expect(harness.serviceTokens.worksFor(harness.tokenUid)).toBe(true);
  });
});
