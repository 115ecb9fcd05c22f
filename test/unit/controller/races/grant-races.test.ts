import { describe, expect, test } from '@jest/globals';
import { prod } from '../controller-harness.ts';
import { TokenHarness } from '../token-harness.ts';
import { lostAt } from './interleaving.ts';

/** A grant that is withdrawn or given back while the ServiceToken that needs it, or its SecretSync, is reconciled. */

async function issued(): Promise<TokenHarness> {
  const harness = new TokenHarness();
  await harness.issued();
  return harness;
}

async function denied(): Promise<TokenHarness> {
  const harness = await issued();
  harness.withdraw();
  await harness.clock.advance(10_000);
  return harness;
}

const commitSecond = ({ services }: TokenHarness): void => services.change(prod, { A: 'second' });

/** Expects that the token works, and that the Secret holds these values by it. */
function expectGranted(harness: TokenHarness, values: Record<string, string>): void {
  expect(harness.serviceTokens.worksFor(harness.tokenUid)).toBe(true);
  expect([harness.tokenReason, harness.ready()?.reason]).toEqual(['Issued', 'Synced']);
  expect(harness.values()).toEqual(values);
}

/** Expects that the token opens nothing, that both resources say why, and that the Secret keeps its values. */
function expectDenied(harness: TokenHarness): void {
  expect(harness.serviceTokens.worksFor(harness.tokenUid)).toBe(false);
  expect([harness.tokenReason, harness.ready()?.reason]).toEqual(['AccessDenied', 'AccessDenied']);
  expect([{ A: 'alpha' }, { A: 'second' }]).toContainEqual(harness.values());
}

describe('while a ServiceToken is reconciled', () => {
  test('a grant that is withdrawn, and given back at any step, is there', async () => {
    const lost = await lostAt({
      prepare: issued,
      begin: (harness) => harness.withdraw(),
      event: (harness) => harness.grant(),
      later: commitSecond,
      check: (harness) => expectGranted(harness, { A: 'second' }),
    });
    expect(lost).toEqual([]);
  });

  test('a grant that is given back, and withdrawn at any step, is not there', async () => {
    const lost = await lostAt({
      prepare: denied,
      begin: (harness) => harness.grant(),
      event: (harness) => harness.withdraw(),
      later: commitSecond,
      check: expectDenied,
    });
    expect(lost).toEqual([]);
  });

  test('a grant that is withdrawn before the first token is issued lets it open nothing', async () => {
    const lost = await lostAt({
      prepare: async () => {
        const harness = new TokenHarness();
        harness.services.create(prod, 'env', { A: 'alpha' });
        harness.grant();
        await harness.start();
        return harness;
      },
      begin: (harness) => harness.putWithToken(),
      event: (harness) => harness.withdraw(),
      comparisons: 'any',
      check: (harness) => {
        expect(harness.serviceTokens.worksFor(harness.tokenUid) ?? false).toBe(false);
        expect([harness.tokenReason, harness.ready()?.reason]).toEqual(['AccessDenied', 'AccessDenied']);
        expect([undefined, { A: 'alpha' }]).toContainEqual(harness.values());
      },
    });
    expect(lost).toEqual([]);
  });

  test('the revocation of its first token, as soon as there is one, is reported', async () => {
    const lost = await lostAt({
      prepare: async () => {
        const harness = new TokenHarness();
        harness.services.create(prod, 'env', { A: 'alpha' });
        harness.grant();
        await harness.start();
        return harness;
      },
      begin: (harness) => harness.putWithToken(),
      event: (harness) => harness.serviceTokens.revoke(harness.tokenUid),
      comparisons: 'any',
      check: (harness) => {
        // Before the token is made there is nothing to revoke.
        const isRevoked = harness.serviceTokens.find(harness.tokenUid)?.revokedAt !== null;
        const reasons = isRevoked ? ['Revoked', 'TokenRevoked'] : ['Issued', 'Synced'];
        expect([harness.tokenReason, harness.ready()?.reason]).toEqual(reasons);
      },
    });
    expect(lost).toEqual([]);
  });
});

describe('while a SecretSync with a ServiceToken is reconciled', () => {
  test('a grant that is withdrawn and given back at once is there', async () => {
    const lost = await lostAt({
      prepare: issued,
      begin: commitSecond,
      event: (harness) => {
        harness.withdraw();
        harness.grant();
      },
      check: (harness) => expectGranted(harness, { A: 'second' }),
    });
    expect(lost).toEqual([]);
  });

  test('a grant that is withdrawn is reported', async () => {
    const lost = await lostAt({
      prepare: issued,
      begin: commitSecond,
      event: (harness) => harness.withdraw(),
      check: expectDenied,
    });
    expect(lost).toEqual([]);
  });

  test('a grant that is withdrawn, and given back later, has what was committed meanwhile synced', async () => {
    const lost = await lostAt({
      prepare: issued,
      begin: commitSecond,
      event: (harness) => harness.withdraw(),
      later: async (harness) => {
        harness.services.change(prod, { A: 'third' });
        await harness.clock.advance(1000);
        harness.grant();
      },
      check: (harness) => expectGranted(harness, { A: 'third' }),
    });
    expect(lost).toEqual([]);
  });

  test('the revocation of its token is reported', async () => {
    const lost = await lostAt({
      prepare: issued,
      begin: commitSecond,
      event: (harness) => harness.serviceTokens.revoke(harness.tokenUid),
      check: (harness) => {
        expect([harness.tokenReason, harness.ready()?.reason]).toEqual(['Revoked', 'TokenRevoked']);
        expect([{ A: 'alpha' }, { A: 'second' }]).toContainEqual(harness.values());
      },
    });
    expect(lost).toEqual([]);
  });

  test('the revocation of its token during the first reconciles after a restart is reported', async () => {
    const lost = await lostAt({
      prepare: async () => {
        const harness = await issued();
        await harness.controller.stop();
        return new TokenHarness(harness);
      },
      begin: (harness) => harness.start(),
      event: (harness) => harness.serviceTokens.revoke(harness.tokenUid),
      comparisons: 'any',
      check: (harness) => expect([harness.tokenReason, harness.ready()?.reason]).toEqual(['Revoked', 'TokenRevoked']),
    });
    expect(lost).toEqual([]);
  });

  test('the revocation of its token during the reconcile of the ServiceToken is reported', async () => {
    const lost = await lostAt({
      prepare: denied,
      begin: (harness) => harness.grant(),
      event: (harness) => harness.serviceTokens.revoke(harness.tokenUid),
      check: (harness) => expect([harness.tokenReason, harness.ready()?.reason]).toEqual(['Revoked', 'TokenRevoked']),
    });
    expect(lost).toEqual([]);
  });
});
