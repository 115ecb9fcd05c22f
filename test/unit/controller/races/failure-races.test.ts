import { AuthenticationRefusal } from '../../../../src/services/access/authentication.ts';
import { describe, expect, test } from '@jest/globals';
import { DomainError } from '../../../../src/domain/errors/domain-error.ts';
import { ApiError } from '../../../../src/kube/client/api-error.ts';
import { Harness, prod } from '../controller-harness.ts';
import { settled } from '../fake-clock.ts';
import { serviceToken } from '../fake-services.ts';
import { lostAt } from './interleaving.ts';

/** A reconcile that fails at one call, and what is committed until it is tried again. */

function fail(_: Harness, step: string): never {
  if (step.includes('/')) throw new ApiError(step, 503, 'ServiceUnavailable');
  throw new DomainError('store_unavailable', 'the database cannot be reached');
}

async function synced(): Promise<Harness> {
  const harness = new Harness();
  await harness.synced({ spec: { maxDeletedKeys: '100%' } });
  return harness;
}

/** A controller at rest, with an environment that no SecretSync reads yet. */
async function unread(): Promise<Harness> {
  const harness = new Harness();
  harness.services.create(prod, 'env', { A: 'alpha' });
  harness.services.tokens.set('kf_svc_good', serviceToken('good'));
  harness.putToken('kf_svc_good');
  await harness.start();
  return harness;
}

function expectSynced(harness: Harness, values: Record<string, string>, revision: number): void {
  expect(harness.values()).toEqual(values);
  expect(harness.ready()?.reason).toBe('Synced');
  expect(harness.status()).toMatchObject({ syncedRevision: revision });
}

describe('after a transient failure at any call', () => {
  test('a commit is synced at once, before the backoff has passed', async () => {
    const lost = await lostAt({
      prepare: synced,
      begin: ({ services }) => services.change(prod, { A: 'second' }),
      event: fail,
      later: async (harness) => {
        harness.services.change(prod, { A: 'third' });
        await settled();
        expect(harness.values()).toEqual({ A: 'third' });
      },
      restMs: 0,
      check: (harness) => expectSynced(harness, { A: 'third' }, 3),
    });
    expect(lost).toEqual([]);
  });

  test('what it was about is synced after the backoff, without another commit', async () => {
    const lost = await lostAt({
      prepare: synced,
      begin: ({ services }) => services.change(prod, { A: 'second' }),
      event: fail,
      check: (harness) => expectSynced(harness, { A: 'second' }, 2),
    });
    expect(lost).toEqual([]);
  });

  test('of the very first reconcile, a commit is synced', async () => {
    const lost = await lostAt({
      prepare: unread,
      begin: (harness) => harness.putSync(),
      event: fail,
      restMs: 0,
      // A watch that failed has the controller compare when it is back.
      comparisons: 'any',
      later: async (harness) => {
        harness.services.change(prod, { A: 'second' });
        await harness.clock.advance(60_000);
      },
      check: (harness) => expectSynced(harness, { A: 'second' }, 2),
    });
    expect(lost).toEqual([]);
  });

  test('the creation of the environment that was waited for is followed', async () => {
    const lost = await lostAt({
      prepare: async () => {
        const harness = await synced();
        const pending = new AuthenticationRefusal('pending', 'the token is not active yet', serviceToken('other'));
        harness.services.tokens.set('kf_svc_other', pending);
        harness.services.end(prod);
        await harness.calls();
        return harness;
      },
      begin: (harness) => harness.putToken('kf_svc_other'),
      event: (harness, step) => {
        harness.services.tokens.set('kf_svc_other', serviceToken('other'));
        harness.services.notify({ kind: 'service_token', serviceTokenId: 'other' });
        fail(harness, step);
      },
      restMs: 0,
      later: async (harness) => {
        harness.services.appear(prod, 'env', { A: 'restored' });
        await harness.clock.advance(60_000);
      },
      check: (harness) => expectSynced(harness, { A: 'restored' }, 1),
    });
    expect(lost).toEqual([]);
  });
});
