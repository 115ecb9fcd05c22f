import { describe, expect, test } from '@jest/globals';
import { Harness, prod, secrets } from '../controller-harness.ts';
import { settled } from '../fake-clock.ts';
import { type Race, lostAt, rest } from './interleaving.ts';

/** What is committed while the change feed is away or a comparison is under way. */

async function synced(): Promise<Harness> {
  const harness = new Harness();
  await harness.synced({ spec: { maxDeletedKeys: '100%' } });
  return harness;
}

const commitSecond = ({ services }: Harness): void => services.change(prod, { A: 'second' });

type Missed = Pick<Race<Harness>, 'check'> & { readonly happen: (harness: Harness) => void };

const missed: readonly (readonly [what: string, missed: Missed])[] = [
  [
    'commit',
    {
      happen: ({ services }) => services.change(prod, { A: 'third' }),
      check: (harness) => {
        expect(harness.values()).toEqual({ A: 'third' });
        expect(harness.status()).toMatchObject({ syncedRevision: 3, wantedRevision: 3 });
      },
    },
  ],
  [
    'deletion of the environment',
    {
      happen: ({ services }) => services.end(prod),
      check: (harness) => expect(harness.ready()?.reason).toBe('NotFound'),
    },
  ],
  [
    'revocation of the token',
    {
      happen: ({ services }) => void services.tokens.set('kf_svc_good', 'the token was revoked'),
      check: (harness) => expect(harness.ready()?.reason).toBe('AuthenticationFailed'),
    },
  ],
];

describe.each(missed)('during a reconcile, a missed %s', (_, { happen, check }) => {
  test('is found if the feed is back during the same reconcile', async () => {
    const lost = await lostAt({
      prepare: synced,
      begin: commitSecond,
      event: (harness) => {
        harness.services.isFeedLost = true;
        happen(harness);
        harness.services.ready();
      },
      comparisons: 1,
      check,
    });
    expect(lost).toEqual([]);
  });

  test('is found if the feed is back after the reconcile', async () => {
    const lost = await lostAt({
      prepare: synced,
      begin: commitSecond,
      event: (harness) => {
        harness.services.isFeedLost = true;
        happen(harness);
      },
      later: ({ services }) => services.ready(),
      comparisons: 1,
      check,
    });
    expect(lost).toEqual([]);
  });

  test('is found by a comparison that is asked during the reconcile and answered after it', async () => {
    const lost = await lostAt({
      prepare: synced,
      begin: commitSecond,
      event: (harness) => {
        harness.services.isFeedLost = true;
        happen(harness);
        harness.services.duringComparison = settled;
        harness.services.ready();
      },
      comparisons: 1,
      check,
    });
    expect(lost).toEqual([]);
  });
});

test('during a reconcile, the missed creation of an environment that is waited for is found when the feed is back', async () => {
  const lost = await lostAt({
    prepare: async () => {
      const harness = await synced();
      harness.services.end(prod);
      await harness.calls();
      return harness;
    },
    begin: (harness) => harness.edit((secret) => void delete secret.metadata.annotations?.['keyframe.dev/source']),
    event: (harness) => {
      harness.services.isFeedLost = true;
      harness.services.create(prod, 'again', { A: 'again' });
    },
    restMs: 0,
    later: ({ services }) => services.ready(),
    comparisons: 1,
    check: (harness) => expect(harness.values()).toEqual({ A: 'again' }),
  });
  expect(lost).toEqual([]);
});

/** A controller that waits for the answer of a comparison. */
class ComparingHarness extends Harness {
  answer: () => void = () => {};

  static async prepared(): Promise<ComparingHarness> {
    const harness = new ComparingHarness();
    await harness.synced({ spec: { maxDeletedKeys: '100%' } });
    const { promise, resolve } = Promise.withResolvers<void>();
    harness.services.duringComparison = () => promise;
    harness.answer = resolve;
    harness.services.ready();
    await settled();
    return harness;
  }
}

describe('the answer of a comparison', () => {
  const expectSecond = (harness: ComparingHarness): void => {
    expect(harness.values()).toEqual({ A: 'second' });
    expect(harness.status()).toMatchObject({ syncedRevision: 2 });
  };
  const expectOnce = (harness: ComparingHarness): void => {
    expectSecond(harness);
    expect(harness.reconciled).toEqual(['Synced']);
  };

  test('that is older than a reading under way asks for no further reading', async () => {
    const lost = await lostAt({
      prepare: () => ComparingHarness.prepared(),
      begin: commitSecond,
      event: (harness) => harness.answer(),
      check: expectOnce,
    });
    expect(lost).toEqual([]);
  });

  test('that is older than the last reading asks for no further reading', async () => {
    const harness = await ComparingHarness.prepared();
    commitSecond(harness);
    await settled();
    harness.answer();
    await rest(harness);
    expectOnce(harness);
    await harness.controller.stop();
  });

  test('that is older than a deletion and creation of the SecretSync does no harm', async () => {
    const harness = await ComparingHarness.prepared();
    harness.cluster.remove('/apis/keyframe.dev/v1alpha1/namespaces/ns/secretsyncs/app');
    commitSecond(harness);
    await settled();
    harness.putSync({ spec: { maxDeletedKeys: '100%' } });
    harness.answer();
    await rest(harness);
    expectSecond(harness);
    await harness.controller.stop();
  });
});

test('the feed is lost during a write, and so is the deletion of what it wrote: it is written again', async () => {
  const harness = new Harness();
  await harness.synced();
  harness.cluster.beforeAnswer(/^PUT/, async () => {
    harness.cluster.remove(`${secrets}/app`);
    await settled();
    harness.services.ready();
  });
  harness.services.change(prod, { A: 'second', B: 'beta' });
  await rest(harness);
  expect(harness.values()).toEqual({ A: 'second', B: 'beta' });
  expect(harness.ready()?.reason).toBe('Synced');
  await harness.controller.stop();
});
