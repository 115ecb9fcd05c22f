import { beforeEach, describe, expect, test } from '@jest/globals';
import { prod, secrets, syncs } from './controller-harness.ts';
import { TokenHarness } from './token-harness.ts';

/** SecretSyncs that name no token: they read with the keyless token of their namespace. */

let harness: TokenHarness;

beforeEach(() => {
  harness = new TokenHarness();
});

const events = (calls: readonly string[]): string[] => calls.filter((call) => call.includes('/events'));
const writes = (calls: readonly string[]): string[] => calls.filter((call) => !call.startsWith('GET '));

function condition(type: string): string | undefined {
  return harness.status().conditions?.find((one) => one.type === type)?.status;
}

describe('a new SecretSync', () => {
  test('takes its Secret and one patch of its status, and no Event', async () => {
    harness.services.create(prod, 'env', { A: 'alpha' });
    harness.grant(['SecretSync']);
    await harness.start();
    await harness.clock.advance(1000);
    harness.cluster.takeCalls();
    harness.putKeyless();
    await harness.clock.advance(1000);
    expect(writes(harness.cluster.takeCalls())).toEqual([`POST ${secrets}`, `PATCH ${syncs}/app/status`]);
    expect(harness.values()).toEqual({ A: 'alpha' });
  });

  test.each(['grant', 'environment'] as const)('may come before its %s, which is no trouble', async (last) => {
    if (last === 'grant') harness.services.create(prod, 'env', { A: 'alpha' });
    else harness.grant(['SecretSync']);
    await harness.start();
    harness.putKeyless();
    await harness.clock.advance(29_000);
    expect([condition('Ready'), condition('Reconciling'), condition('Stalled')]).toEqual(['False', 'True', 'False']);
    if (last === 'grant') harness.grant(['SecretSync']);
    else harness.services.appear(prod, 'env', { A: 'alpha' });
    // Less than 30 s after the SecretSync.
    await harness.clock.advance(900);
    expect(harness.ready()?.reason).toBe('Synced');
    await harness.clock.advance(60_000);
    const calls = harness.cluster.takeCalls();
    expect(events(calls)).toEqual(events(calls).filter((call) => !call.includes('namespaces/ns')));
  });

  test.each([
    ['AccessDenied', () => harness.services.create(prod, 'env', { A: 'alpha' })],
    ['NotFound', () => harness.grant(['SecretSync'])],
    [
      'TokenRevoked',
      () => {
        harness.grant(['SecretSync']);
        harness.services.create(prod, 'env', { A: 'alpha' });
        harness.services.setRevoked('env', true);
      },
    ],
  ])('is Stalled after 30 s for %s, with one Event', async (reason, prepare) => {
    prepare();
    await harness.start();
    await harness.clock.advance(1000);
    harness.cluster.takeCalls();
    harness.putKeyless();
    await harness.clock.advance(29_000);
    expect([harness.ready()?.reason, condition('Stalled')]).toEqual([reason, 'False']);
    expect(events(harness.cluster.takeCalls())).toEqual([]);
    await harness.clock.advance(2000);
    expect([harness.ready()?.reason, condition('Stalled')]).toEqual([reason, 'True']);
    await harness.clock.advance(60_000);
    expect(events(harness.cluster.takeCalls())).toHaveLength(1);
    expect(harness.target()).toBeUndefined();
    // A new leader goes on as the former one ended.
    const next = new TokenHarness(harness);
    await harness.controller.stop();
    harness.cluster.takeCalls();
    await next.start();
    await next.clock.advance(1000);
    expect(writes(next.cluster.takeCalls()).filter((call) => call.includes('/ns/'))).toEqual([]);
    await next.controller.stop();
  });
});

test('a second refusal is under way for 30 s again', async () => {
  harness.services.create(prod, 'env', { A: 'alpha' });
  await harness.start();
  harness.putKeyless();
  await harness.clock.advance(20_000);
  harness.grant(['SecretSync']);
  await harness.clock.advance(60_000);
  expect(harness.ready()?.reason).toBe('Synced');
  harness.withdraw();
  await harness.clock.advance(20_000);
  expect([harness.ready()?.reason, condition('Stalled')]).toEqual(['AccessDenied', 'False']);
  await harness.clock.advance(20_000);
  expect([harness.ready()?.reason, condition('Stalled')]).toEqual(['AccessDenied', 'True']);
});

test('an environment that replaces the one of a revoked token is read at once', async () => {
  harness.services.create(prod, 'env', { A: 'alpha' });
  harness.services.setRevoked('env', true);
  harness.grant(['SecretSync']);
  await harness.start();
  harness.putKeyless();
  await harness.clock.advance(1000);
  expect(harness.ready()?.reason).toBe('TokenRevoked');
  harness.services.end(prod);
  await harness.clock.advance(1000);
  expect(harness.ready()?.reason).toBe('NotFound');
  harness.services.appear(prod, 'another', { A: 'beta' });
  await harness.clock.advance(1000);
  expect(harness.values()).toEqual({ A: 'beta' });
});

describe('an edit of the grants', () => {
  test('reads nothing if it leaves what the SecretSync needs as it is', async () => {
    await harness.keyless();
    const reads = harness.services.reads.length;
    harness.grant(['SecretSync'], ['prod', 'dev']);
    await harness.clock.advance(5000);
    harness.grant(['SecretSync', 'ServiceToken'], ['prod']);
    await harness.clock.advance(5000);
    expect(harness.services.reads).toHaveLength(reads);
    expect(harness.reconciled).not.toContain('Synced');
    harness.grant(['SecretSnapshot'], ['prod']);
    await harness.clock.advance(5000);
    expect(harness.ready()?.reason).toBe('AccessDenied');
  });

  test('updates what a refusal says the namespace is granted', async () => {
    await harness.start();
    harness.putKeyless();
    await harness.clock.advance(1000);
    expect(harness.ready()?.message).toContain('is granted, for SecretSync: nothing.');
    harness.grant(['SecretSync'], ['dev']);
    await harness.clock.advance(1000);
    expect(harness.ready()?.message).toContain('is granted, for SecretSync: Read on acme/web/dev.');
    expect(harness.ready()?.message).toContain('add a rule to AccessGrant team:');
  });
});

describe('a grant that is withdrawn', () => {
  test('once the values are read keeps them from being written', async () => {
    await harness.keyless();
    harness.services.onStep = (step) => {
      if (step === 'after reading values') harness.withdraw();
    };
    harness.services.change(prod, { A: 'second' });
    await harness.clock.advance(1000);
    expect([harness.ready()?.reason, harness.values()]).toEqual(['AccessDenied', { A: 'alpha' }]);
  });

  test('by the labels of a namespace counts as well', async () => {
    await harness.keyless();
    harness.cluster.put('/apis/keyframe.dev/v1alpha1/accessgrants', 'team', (object) => {
      const { rules } = object['spec'] as { readonly rules: unknown };
      object['spec'] = { namespaceSelector: { matchLabels: { team: 'a' } }, rules };
    });
    await harness.clock.advance(1000);
    expect(harness.ready()?.reason).toBe('AccessDenied');
    for (const [team, reason] of [
      ['a', 'Synced'],
      ['b', 'AccessDenied'],
    ] as const) {
      harness.cluster.put('/api/v1/namespaces', 'ns', ({ metadata }) => {
        metadata.labels = { team };
      });
      await harness.clock.advance(1000);
      expect(harness.ready()?.reason).toBe(reason);
    }
  });
});

describe('the record of a Secret', () => {
  test('has another environment at its place neither read nor given a token without consent', async () => {
    await harness.keyless();
    harness.services.end(prod);
    harness.services.appear(prod, 'other', { A: 'other' });
    await harness.clock.advance(1000);
    expect(harness.ready()).toMatchObject({ reason: 'SourceReplaced' });
    expect(harness.ready()?.message).toContain('keyframe.dev/source-');
    expect([...harness.services.keylessTokens.keys()]).toEqual(['ns env']);
    harness.edit((secret) => {
      const { 'keyframe.dev/source': _, ...kept } = secret.metadata.annotations ?? {};
      secret.metadata.annotations = kept;
    });
    await harness.clock.advance(1000);
    expect([harness.ready()?.reason, harness.values()]).toEqual(['Synced', { A: 'other' }]);
    expect([...harness.services.keylessTokens.keys()]).toEqual(['ns env', 'ns other']);
  });
});
