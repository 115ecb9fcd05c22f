import { describe, expect, test } from '@jest/globals';
import { ApiError } from '../../../../src/kube/client/api-error.ts';
import { prod, secrets, syncs } from '../controller-harness.ts';
import { TokenHarness } from '../token-harness.ts';
import { type Race, lostAt } from './interleaving.ts';

/** Grants, revocations and environments that change while a SecretSync that names no token is reconciled. */

async function keyless(): Promise<TokenHarness> {
  const harness = new TokenHarness();
  await harness.keyless();
  return harness;
}

/** A controller that leads, with a granted namespace and an environment, and no SecretSync yet. */
async function granted(): Promise<TokenHarness> {
  const harness = new TokenHarness();
  harness.services.create(prod, 'env', { A: 'alpha' });
  harness.grant(['SecretSync']);
  await harness.start();
  return harness;
}

const commitSecond = ({ services }: TokenHarness): void => services.change(prod, { A: 'second' });
const put = (harness: TokenHarness): void => harness.putKeyless();

function expectSynced(harness: TokenHarness, values: Record<string, string>): void {
  expect({ reason: harness.ready()?.reason, values: harness.values() }).toEqual({ reason: 'Synced', values });
}

/** Expects a refusal, and that the Secret holds nothing that came after it. */
function expectRefused(harness: TokenHarness, reason: string): void {
  expect(harness.ready()?.reason).toBe(reason);
  expect([undefined, { A: 'alpha' }, { A: 'second' }]).toContainEqual(harness.values());
}

async function expectNeverLost(race: Race<TokenHarness>): Promise<void> {
  expect(await lostAt(race)).toEqual([]);
}

describe('while the Secret of a keyless SecretSync is changed', () => {
  test('a grant that is withdrawn is reported, and what is committed afterwards is not written', async () => {
    await expectNeverLost({
      prepare: keyless,
      begin: commitSecond,
      event: (harness) => harness.withdraw(),
      later: ({ services }) => services.change(prod, { A: 'third' }),
      check: (harness) => expectRefused(harness, 'AccessDenied'),
    });
  });

  test('a grant that is withdrawn and given back at once is there', async () => {
    await expectNeverLost({
      prepare: keyless,
      begin: commitSecond,
      event: (harness) => {
        harness.withdraw();
        harness.grant(['SecretSync']);
      },
      check: (harness) => expectSynced(harness, { A: 'second' }),
    });
  });

  test('a grant that is withdrawn, and given back later, has what was committed meanwhile synced', async () => {
    await expectNeverLost({
      prepare: keyless,
      begin: commitSecond,
      event: (harness) => harness.withdraw(),
      later: async (harness) => {
        harness.services.change(prod, { A: 'third' });
        await harness.clock.advance(1000);
        harness.grant(['SecretSync']);
      },
      check: (harness) => expectSynced(harness, { A: 'third' }),
    });
  });

  test('a grant that names another environment since then is reported', async () => {
    await expectNeverLost({
      prepare: keyless,
      begin: commitSecond,
      event: (harness) => harness.grant(['SecretSync'], ['dev']),
      check: (harness) => expectRefused(harness, 'AccessDenied'),
    });
  });

  test('the revocation of its token is reported', async () => {
    await expectNeverLost({
      prepare: keyless,
      begin: commitSecond,
      event: ({ services }) => services.setRevoked('env', true),
      later: ({ services }) => services.change(prod, { A: 'third' }),
      check: (harness) => expectRefused(harness, 'TokenRevoked'),
    });
  });

  test('a revocation that is lifted at once, and one that is lifted later, are over', async () => {
    const race = {
      prepare: keyless,
      begin: commitSecond,
      check: (harness: TokenHarness) => expectSynced(harness, { A: 'second' }),
    };
    const revoke = ({ services }: TokenHarness): void => services.setRevoked('env', true);
    const reinstate = ({ services }: TokenHarness): void => services.setRevoked('env', false);
    await expectNeverLost({ ...race, event: revoke, later: reinstate });
    await expectNeverLost({
      ...race,
      event: (harness) => {
        revoke(harness);
        reinstate(harness);
      },
    });
  });

  test('the deletion and re-creation of the SecretSync go on with the token of the namespace', async () => {
    await expectNeverLost({
      prepare: keyless,
      begin: commitSecond,
      event: (harness) => {
        harness.cluster.remove(`${syncs}/app`);
        harness.putKeyless();
      },
      later: ({ services }) => services.change(prod, { A: 'third' }),
      check: (harness) => {
        expectSynced(harness, { A: 'third' });
        expect(harness.services.keylessTokens.size).toBe(1);
      },
    });
  });

  test('an environment that takes its place is not read, and gets no token', async () => {
    await expectNeverLost({
      prepare: keyless,
      begin: commitSecond,
      event: ({ services }) => {
        services.end(prod);
        services.appear(prod, 'other', { A: 'other' });
      },
      check: (harness) => {
        expectRefused(harness, 'SourceReplaced');
        expect([...harness.services.keylessTokens.keys()]).toEqual(['ns env']);
        expect(harness.services.reads.map(({ environmentId }) => environmentId)).not.toContain('other');
      },
    });
  });
});

describe('while a keyless SecretSync is reconciled for the first time', () => {
  test('the revocation of the token that is being created is reported', async () => {
    await expectNeverLost({
      prepare: granted,
      begin: put,
      event: ({ services }) => services.setRevoked('env', true),
      comparisons: 'any',
      check: (harness) => expectRefused(harness, 'TokenRevoked'),
    });
  });

  test('an environment that ends is missed, and synced when it appears again', async () => {
    await expectNeverLost({
      prepare: granted,
      begin: put,
      event: ({ services }) => services.end(prod),
      later: async (harness) => {
        expect(['NotFound', 'Synced']).toContain(harness.ready()?.reason);
        await harness.clock.advance(0);
        harness.cluster.remove(`${secrets}/app`);
        await harness.clock.advance(1000);
        harness.services.appear(prod, 'next', { A: 'next' });
      },
      check: (harness) => expectSynced(harness, { A: 'next' }),
    });
  });

  test('a change of the leader is survived', async () => {
    await expectNeverLost({
      prepare: granted,
      begin: put,
      event: async (harness) => {
        harness.lease.isTaken = true;
        await harness.clock.advance(20_000);
        harness.lease.isTaken = false;
        await harness.clock.advance(20_000);
      },
      comparisons: 'any',
      check: (harness) => expectSynced(harness, { A: 'alpha' }),
    });
  });
});

/** Whether a controller that gets no further than so many calls left work, which the next controller completes. */
async function isCompletedAfter(calls: number): Promise<boolean> {
  const harness = await granted();
  let made = 0;
  const die = (step: string): void => {
    made += 1;
    if (made > calls) throw new ApiError(step, 0, 'Unreachable');
  };
  [harness.cluster.onStep, harness.services.onStep] = [die, die];
  put(harness);
  await harness.clock.advance(1000);
  await harness.controller.stop();
  [harness.cluster.onStep, harness.services.onStep] = [undefined, undefined];
  const next = new TokenHarness(harness);
  await next.start();
  await next.clock.advance(1000);
  expectSynced(next, { A: 'alpha' });
  expect(next.services.keylessTokens.size).toBe(1);
  await next.controller.stop();
  return made > calls;
}

test('the first reconcile of a keyless SecretSync is completed by the next controller, after whichever call one ends', async () => {
  let calls = 0;
  while (await isCompletedAfter(calls)) calls += 1;
  expect(calls).toBeGreaterThan(10);
});

describe('while a keyless SecretSync is refused', () => {
  test('a reinstatement that no event reported is found by the next comparison', async () => {
    const harness = await keyless();
    harness.services.setRevoked('env', true);
    await harness.clock.advance(60_000);
    expectRefused(harness, 'TokenRevoked');
    harness.services.isFeedLost = true;
    harness.services.setRevoked('env', false);
    await harness.clock.advance(1000);
    expectRefused(harness, 'TokenRevoked');
    harness.services.ready();
    await harness.clock.advance(1000);
    expectSynced(harness, { A: 'alpha' });
  });

  test('a revocation that no event reported is found by the next comparison', async () => {
    const harness = await keyless();
    harness.services.isFeedLost = true;
    harness.services.setRevoked('env', true);
    await harness.clock.advance(1000);
    expectSynced(harness, { A: 'alpha' });
    harness.services.ready();
    await harness.clock.advance(1000);
    expectRefused(harness, 'TokenRevoked');
  });
});
