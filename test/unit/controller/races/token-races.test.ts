import { describe, expect, test } from '@jest/globals';
import { AuthenticationRefusal } from '../../../../src/services/access/authentication.ts';
import { Harness, prod, syncs } from '../controller-harness.ts';
import { settled } from '../fake-clock.ts';
import { serviceToken } from '../fake-services.ts';
import { TokenHarness, serviceTokensPath } from '../token-harness.ts';
import { lostAt } from './interleaving.ts';

/** What becomes of a token while its SecretSync is reconciled. */

async function synced(): Promise<Harness> {
  const harness = new Harness();
  await harness.synced({ spec: { maxDeletedKeys: '100%' } });
  return harness;
}

const commitSecond = ({ services }: Harness): void => services.change(prod, { A: 'second' });

/** Ends a token, and reports it as the database does. */
function revoke({ services }: Harness, name = 'good'): void {
  services.tokens.set(
    `kf_svc_${name}`,
    new AuthenticationRefusal('revoked', 'the token was revoked', serviceToken(name)),
  );
  services.notify({ kind: 'service_token', serviceTokenId: name });
}

function give({ services }: Harness, name: string): void {
  services.tokens.set(`kf_svc_${name}`, serviceToken(name));
}

/** Expects that the token is refused, and that the Secret keeps what it was permitted to hold last. */
function expectRefused(harness: Harness): void {
  expect(harness.ready()?.reason).toBe('AuthenticationFailed');
  expect([{ A: 'alpha', B: 'beta' }, { A: 'second' }]).toContainEqual(harness.values());
}

function expectSynced(harness: Harness, values: Record<string, string>): void {
  expect(harness.values()).toEqual(values);
  expect(harness.ready()?.reason).toBe('Synced');
}

describe('during a reconcile', () => {
  test('the revocation of its token is reported', async () => {
    const lost = await lostAt({
      prepare: synced,
      begin: commitSecond,
      event: (harness) => revoke(harness),
      check: expectRefused,
    });
    expect(lost).toEqual([]);
  });

  test('the revocation of a token that is new to it is reported', async () => {
    const lost = await lostAt({
      prepare: async () => {
        const harness = await synced();
        give(harness, 'next');
        return harness;
      },
      begin: (harness) => harness.putToken('kf_svc_next'),
      event: (harness) => revoke(harness, 'next'),
      check: expectRefused,
    });
    expect(lost).toEqual([]);
  });

  test('a new token in the place of a revoked one is used', async () => {
    const lost = await lostAt({
      prepare: synced,
      begin: commitSecond,
      event: (harness) => {
        revoke(harness);
        give(harness, 'next');
        harness.putToken('kf_svc_next');
      },
      check: (harness) => expectSynced(harness, { A: 'second' }),
    });
    expect(lost).toEqual([]);
  });

  test('a new token in the place of a revoked one is used, and its revocation reported', async () => {
    const lost = await lostAt({
      prepare: synced,
      begin: commitSecond,
      event: (harness) => {
        revoke(harness);
        give(harness, 'next');
        harness.putToken('kf_svc_next');
      },
      later: (harness) => revoke(harness, 'next'),
      check: expectRefused,
    });
    expect(lost).toEqual([]);
  });

  test('a token that is resumed is used', async () => {
    const lost = await lostAt({
      prepare: async () => {
        const harness = await synced();
        const refusal = new AuthenticationRefusal('suspended', 'the token is suspended', serviceToken('next'));
        harness.services.tokens.set('kf_svc_next', refusal);
        harness.services.change(prod, { A: 'second' }, { missed: true });
        return harness;
      },
      begin: (harness) => harness.putToken('kf_svc_next'),
      event: (harness) => {
        give(harness, 'next');
        harness.services.notify({ kind: 'service_token', serviceTokenId: 'next' });
      },
      check: (harness) => expectSynced(harness, { A: 'second' }),
    });
    expect(lost).toEqual([]);
  });

  test('a token that is suspended at first, and resumed later, is used', async () => {
    const lost = await lostAt({
      prepare: async () => {
        const harness = await synced();
        const refusal = new AuthenticationRefusal('suspended', 'the token is suspended', serviceToken('next'));
        harness.services.tokens.set('kf_svc_next', refusal);
        return harness;
      },
      begin: (harness) => harness.putToken('kf_svc_next'),
      event: commitSecond,
      later: async (harness) => {
        expectRefused(harness);
        give(harness, 'next');
        harness.services.notify({ kind: 'service_token', serviceTokenId: 'next' });
        await settled();
        expectSynced(harness, { A: 'second' });
      },
      check: (harness) => expectSynced(harness, { A: 'second' }),
    });
    expect(lost).toEqual([]);
  });

  test('the deletion of the token Secret is reported, and its return followed', async () => {
    const lost = await lostAt({
      prepare: synced,
      begin: commitSecond,
      event: ({ cluster }) => cluster.remove('/api/v1/namespaces/ns/secrets/token'),
      later: async (harness) => {
        expect(harness.ready()?.reason).toBe('TokenSecretNotFound');
        harness.services.change(prod, { A: 'third' });
        await harness.clock.advance(0);
        harness.putToken('kf_svc_good');
      },
      check: (harness) => expectSynced(harness, { A: 'third' }),
    });
    expect(lost).toEqual([]);
  });

  test('another token Secret in the spec is read, whatever becomes of the one before', async () => {
    const lost = await lostAt({
      prepare: async () => {
        const harness = await synced();
        give(harness, 'next');
        harness.putToken('kf_svc_next', 'other');
        return harness;
      },
      begin: commitSecond,
      event: (harness) => {
        harness.putSync({ spec: { tokenSecretRef: { name: 'other', key: 'token' }, maxDeletedKeys: '100%' } });
        revoke(harness);
      },
      later: (harness) => revoke(harness, 'next'),
      check: expectRefused,
    });
    expect(lost).toEqual([]);
  });
});

describe('of a token Secret that another SecretSync reads as well', () => {
  /** Two SecretSyncs that read one token Secret, whose token was revoked a moment ago. */
  async function revoked(): Promise<Harness> {
    const harness = await synced();
    harness.putSync({ name: 'web' });
    await harness.calls();
    revoke(harness);
    give(harness, 'next');
    await harness.clock.advance(10_000);
    harness.cluster.remove(`${syncs}/web`);
    await harness.calls();
    return harness;
  }

  test('a new token that comes during the first reconcile is used', async () => {
    const lost = await lostAt({
      prepare: revoked,
      begin: (harness) => harness.putSync({ name: 'web' }),
      event: (harness) => harness.putToken('kf_svc_next'),
      check: (harness) => {
        expect(harness.ready('web')?.reason).toBe('Synced');
        expect(harness.values('web')).toEqual({ A: 'alpha', B: 'beta' });
      },
    });
    expect(lost).toEqual([]);
  });

  test('a deletion that comes during the first reconcile is reported', async () => {
    const lost = await lostAt({
      prepare: async () => {
        const harness = await revoked();
        harness.putToken('kf_svc_next');
        await harness.calls();
        return harness;
      },
      begin: (harness) => harness.putSync({ name: 'web' }),
      event: ({ cluster }) => cluster.remove('/api/v1/namespaces/ns/secrets/token'),
      check: (harness) => expect(harness.ready('web')?.reason).toBe('TokenSecretNotFound'),
    });
    expect(lost).toEqual([]);
  });
});

describe('the ServiceToken that a SecretSync names', () => {
  const putToken = (harness: TokenHarness): void => harness.putServiceToken('ci');
  const name = ({ cluster }: TokenHarness): void => {
    cluster.put(syncs, 'app', (object) => {
      object['spec'] = { ...(object['spec'] as object), tokenRef: { name: 'ci' }, maxDeletedKeys: '100%' };
    });
  };
  const issued = async (): Promise<TokenHarness> => {
    const harness = new TokenHarness();
    await harness.issued();
    return harness;
  };

  test('is used if it appears during the reconcile, and if it appears later', async () => {
    const race = {
      prepare: issued,
      begin: name,
      // Without a token nothing is read.
      minSteps: 2,
      check: (harness: TokenHarness) => expect(harness.ready()?.reason).toBe('Synced'),
    };
    expect(await lostAt({ ...race, event: putToken })).toEqual([]);
    expect(await lostAt({ ...race, event: () => {}, later: putToken })).toEqual([]);
  });

  test('is missed if it is deleted during the reconcile, and if it is deleted later', async () => {
    const race = {
      prepare: async (): Promise<TokenHarness> => {
        const harness = await issued();
        putToken(harness);
        name(harness);
        await harness.clock.advance(10_000);
        expect(harness.ready()?.reason).toBe('Synced');
        return harness;
      },
      begin: ({ services }: TokenHarness) => services.change(prod, { A: 'second' }),
      check: (harness: TokenHarness) => expect(harness.ready()?.reason).toBe('ServiceTokenNotFound'),
    };
    const remove = ({ cluster }: TokenHarness): void => cluster.collect(`${serviceTokensPath}/ci`);
    expect(await lostAt({ ...race, event: remove })).toEqual([]);
    expect(await lostAt({ ...race, event: () => {}, later: remove })).toEqual([]);
  });
});
