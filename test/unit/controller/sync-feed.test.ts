import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { DomainError } from '../../../src/domain/errors/domain-error.ts';
import { ApiError } from '../../../src/kube/client/api-error.ts';
import { Harness, prod, shortestChange } from './controller-harness.ts';
import { settled } from './fake-clock.ts';

let harness: Harness;
const inStep = { A: 'alpha', B: 'beta' };

beforeEach(() => {
  harness = new Harness();
});

afterEach(() => harness.controller.stop());

describe('after the feed was away', () => {
  test('a missed change is found by one comparison', async () => {
    await harness.synced();
    harness.services.change(prod, { A: 'missed' }, { missed: true });
    expect(await harness.calls()).toEqual([]);
    harness.services.ready();
    expect(await harness.calls()).toEqual(shortestChange);
    expect(harness.values()).toEqual({ A: 'missed' });
  });

  test('a change that was missed during a read is found, though the read ended after the comparison', async () => {
    await harness.synced();
    harness.services.duringRead = async () => {
      harness.services.change(prod, { A: 'missed' }, { missed: true });
      harness.services.ready();
      await settled();
    };
    harness.services.change(prod, { A: 'second' });
    await settled();
    await settled();
    expect(harness.values()).toEqual({ A: 'missed' });
  });

  test('a start reconciles each SecretSync just once', async () => {
    await harness.synced();
    await harness.controller.stop();
    const again = new Harness(harness);
    await again.start();
    expect(again.reconciled).toEqual(['Synced']);
    await again.controller.stop();
  });

  test('a missed revocation is found as well', async () => {
    await harness.synced();
    harness.services.tokens.set('kf_svc_good', 'the token was revoked; use another');
    harness.services.ready();
    await harness.calls();
    expect(harness.ready()?.reason).toBe('AuthenticationFailed');
  });

  test('a comparison that fails is tried again until it succeeds', async () => {
    await harness.synced();
    harness.services.change(prod, { A: 'missed' }, { missed: true });
    harness.services.comparisonFault = new DomainError('store_unavailable', 'the database cannot be reached');
    harness.services.ready();
    await harness.calls();
    expect(harness.values()).toEqual(inStep);
    await harness.clock.advance(1000);
    await harness.calls();
    expect(harness.values()).toEqual({ A: 'missed' });
  });

  test('what failed because the API server was away is done as soon as it is back', async () => {
    await harness.synced();
    const away = (): never => {
      throw new ApiError('any', 0, 'Unreachable');
    };
    harness.cluster.breakWatches(away);
    for (let call = 0; call < 100; call += 1) harness.cluster.before(/ns\/secrets\/|status$/, away);
    harness.services.change(prod, { A: 'x' });
    await harness.clock.advance(120_000);
    expect(harness.values()).toEqual(inStep);
    const warnings = harness.logs.filter(({ level, key }) => level === 'warn' && key === 'ns/app');
    expect(warnings).toMatchObject([{ reason: 'ClusterUnavailable' }]);
    harness.cluster.mend();
    await harness.clock.advance(31_000);
    expect(harness.values()).toEqual({ A: 'x' });
  });

  test('what had failed is tried again, but not what has an event of its own', async () => {
    await harness.synced({ spec: { environmentRef: { organization: 'acme', project: 'web', name: 'later' } } });
    harness.putSync({ name: 'tokenless', spec: { tokenSecretRef: { name: 'absent', key: 'token' } } });
    await harness.calls();
    harness.services.create('acme/web/later', 'later', { L: '1' });
    harness.reconciled.splice(0);
    harness.services.ready();
    await harness.calls();
    expect(harness.reconciled).toEqual(['Synced']);
    expect(harness.values()).toEqual({ L: '1' });
  });
});
