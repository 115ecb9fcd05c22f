import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { ApiError } from '../../../src/kube/client/api-error.ts';
import { AuthenticationRefusal } from '../../../src/services/access/authentication.ts';
import { secretSync } from './builders.ts';
import { Harness, prod, syncs } from './controller-harness.ts';
import { serviceToken } from './fake-services.ts';

let harness: Harness;

beforeEach(() => {
  harness = new Harness();
});

afterEach(() => harness.controller.stop());

/** Has the next token that is looked up, twice where the first look may be outdated, be one that is not active yet. */
function pendingNext(): void {
  const refuse = (): never => {
    throw new AuthenticationRefusal('pending', 'the token is not active yet');
  };
  harness.services.duringAuthentication = () => {
    harness.services.duringAuthentication = refuse;
    refuse();
  };
}

describe('a ServiceToken', () => {
  test('is not missed before it is known which ones there are', async () => {
    harness.cluster.before(/^GET .*[/]servicetokens$/, () => {
      throw new ApiError('GET', 503, 'ServiceUnavailable');
    });
    const { metadata, spec } = secretSync();
    const { tokenSecretRef: _, ...bare } = spec;
    harness.cluster.put(syncs, metadata.name, (object) => {
      object['spec'] = { ...bare, tokenRef: { name: 'ci' } };
    });
    await harness.start();
    expect([harness.ready(), harness.reconciled]).toEqual([undefined, []]);
    await harness.clock.advance(60_000);
    expect(harness.ready()).toMatchObject({ reason: 'ServiceTokenNotFound' });
  });
});

describe('a token', () => {
  test('that is not active yet is waited for while nothing is reported', async () => {
    await harness.synced();
    harness.services.tokens.set('kf_svc_next', serviceToken('good'));
    pendingNext();
    harness.putToken('kf_svc_next');
    expect(await harness.calls()).not.toContain(`PATCH ${syncs}/app/status`);
    harness.services.change(prod, { A: 'next' });
    await harness.calls();
    expect(harness.values()).toEqual({ A: 'next' });
    expect(harness.reconciled).toEqual(['Synced']);
  });

  test.each(['pending', 'suspended'] as const)(
    'that is %s when it is seen first is used in the moment in which that is over',
    async (fault) => {
      const principal = serviceToken('good');
      const refuse = (): void => {
        harness.services.duringAuthentication = () => {
          refuse();
          throw new AuthenticationRefusal(fault, `the token is ${fault}`, principal);
        };
      };
      refuse();
      await harness.synced();
      harness.services.tokens.set('kf_svc_good', principal);
      await harness.clock.advance(10_000);
      expect(harness.ready()).toMatchObject({ reason: 'AuthenticationFailed' });
      harness.services.duringAuthentication = undefined;
      harness.services.notify({ kind: 'service_token', serviceTokenId: 'good' });
      await harness.calls();
      expect(harness.ready()?.reason).toBe('Synced');
    },
  );

  test('that does not become active is reported after a while', async () => {
    await harness.synced();
    harness.services.tokens.set('kf_svc_next', serviceToken('good'));
    const keepPending = (): void => {
      harness.services.duringAuthentication = () => {
        keepPending();
        throw new AuthenticationRefusal('pending', 'the token is not active yet', serviceToken('good'));
      };
    };
    keepPending();
    harness.putToken('kf_svc_next');
    await harness.calls();
    expect(harness.ready()?.reason).toBe('Synced');
    await harness.clock.advance(10_000);
    expect(harness.ready()).toMatchObject({ reason: 'AuthenticationFailed' });
    harness.services.duringAuthentication = undefined;
    harness.services.notify({ kind: 'service_token', serviceTokenId: 'good' });
    await harness.calls();
    expect(harness.ready()?.reason).toBe('Synced');
  });
});
