import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { ApiError } from '../../../src/kube/client/api-error.ts';
import { Harness, prod, secrets, shortestChange } from './controller-harness.ts';

let harness: Harness;

beforeEach(() => {
  harness = new Harness();
});

afterEach(() => harness.controller.stop());

describe('a write', () => {
  test('that another client came before is judged again on what exists then', async () => {
    await harness.synced();
    harness.cluster.before(/^PUT/, () =>
      harness.edit((secret) => {
        secret.metadata.labels = { ...secret.metadata.labels, mine: 'yes' };
      }),
    );
    harness.services.change(prod, { A: 'alpha2' });
    expect(await harness.calls()).toEqual([
      `GET ${secrets}/token`,
      `PUT ${secrets}/app`,
      `GET ${secrets}/app`,
      ...shortestChange,
    ]);
    expect(harness.values()).toEqual({ A: 'alpha2' });
    expect(harness.target()?.metadata.labels).toMatchObject({ mine: 'yes' });
    expect(harness.writes.slice(-2)).toEqual(['replace conflict', 'replace done']);
  });

  test('that comes too late for a deletion makes the Secret again', async () => {
    await harness.synced();
    harness.cluster.before(/^PUT/, () => harness.cluster.remove(`${secrets}/app`));
    harness.services.change(prod, { A: 'alpha2' });
    await harness.calls();
    expect(harness.values()).toEqual({ A: 'alpha2' });
    expect(harness.writes.slice(-2)).toEqual(['replace conflict', 'repair done']);
    expect(harness.reconciled).toEqual(['Synced']);
  });

  test.each([
    ['changed', () => harness.edit(({ metadata }) => (metadata.labels = { ...metadata.labels, mine: 'yes' }))],
    ['deleted', () => harness.cluster.remove(`${secrets}/app`)],
  ])('that is to recreate the Secret, and finds it %s, is judged again', async (_, meddle) => {
    await harness.synced();
    harness.services.change(prod, { 'ssh-privatekey': 'x' });
    await harness.calls();
    harness.reconciled.splice(0);
    harness.cluster.before(/^DELETE/, meddle);
    harness.putSync({ target: { type: 'kubernetes.io/ssh-auth' } });
    await harness.calls();
    expect(harness.target()).toMatchObject({ type: 'kubernetes.io/ssh-auth' });
    expect(harness.writes).toContain('delete conflict');
    expect(harness.reconciled).toEqual(['Synced']);
  });

  test('of an older state never wins over a newer one of another controller', async () => {
    await harness.synced();
    const other = new Harness(harness);
    other.controller.start();
    await other.calls();
    // This one has read «second» and is held before its write, while the other writes «third».
    harness.cluster.before(/^PUT/, async () => {
      await other.calls();
      harness.services.change(prod, { A: 'third' });
      await other.calls();
    });
    harness.services.change(prod, { A: 'second' });
    await harness.clock.advance(5000);
    await other.clock.advance(5000);
    expect(harness.values()).toEqual({ A: 'third' });
    expect(harness.status()).toMatchObject({ syncedRevision: 3 });
    await other.controller.stop();
  });

  test('that is in vain again and again is given up for a while', async () => {
    await harness.synced();
    for (let look = 0; look < 3; look += 1) {
      harness.cluster.before(/^PUT/, () =>
        harness.edit(({ metadata }) => {
          metadata.labels = { ...metadata.labels, turn: String(look) };
        }),
      );
    }
    harness.services.change(prod, { A: 'alpha2' });
    const calls = await harness.calls();
    expect(calls.filter((call) => call.startsWith('PUT'))).toHaveLength(4);
    // The next reconcile begins at once and is the one that is reported.
    expect(harness.reconciled).toEqual(['Conflict', 'Synced']);
    expect(harness.status()).toMatchObject({ syncedRevision: 2 });
    expect(harness.values()).toEqual({ A: 'alpha2' });
  });

  test.each([
    [403, 'Forbidden', 'ResourceQuotas'],
    [422, 'Invalid', 'spec.target.labels'],
    [404, 'NotFound', 'The namespace no longer exists.'],
  ])('refused with %s says so in our own words, and is tried again', async (status, reason, advice) => {
    harness.cluster.before(/^POST .*secrets$/, () => {
      throw new ApiError('POST', status, reason);
    });
    await harness.synced();
    expect(harness.ready()).toMatchObject({ status: 'False', reason: 'TargetRefused' });
    expect(harness.ready()?.message).toContain(`The API server refused Secret app (${status} ${reason}). `);
    expect(harness.ready()?.message).toContain(advice);
    await harness.clock.advance(1000);
    await harness.calls();
    expect(harness.ready()?.reason).toBe('Synced');
  });

  test.each([0, 429, 500, 503])(
    'that fails with %s leaves the status of the last one, and is tried again',
    async (status) => {
      await harness.synced();
      harness.cluster.before(/^PUT/, () => {
        throw new ApiError('PUT', status, 'Fault', { retryAfterMs: 2000 });
      });
      harness.services.change(prod, { A: 'alpha2' });
      await harness.calls();
      expect(harness.ready()).toMatchObject({ status: 'False', reason: 'ClusterUnavailable' });
      expect(harness.status()).toMatchObject({ wantedRevision: 2, syncedRevision: 1 });
      await harness.clock.advance(1999);
      expect(await harness.calls()).toEqual([]);
      await harness.clock.advance(1);
      await harness.calls();
      expect(harness.status()).toMatchObject({ wantedRevision: 2, syncedRevision: 2 });
      expect(harness.values()).toEqual({ A: 'alpha2' });
    },
  );
});
