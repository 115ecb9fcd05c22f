import { describe, expect, test } from '@jest/globals';
import {
  type ComparedConsumer,
  concernsOf,
  isBehind,
  verdictOf,
  whereIsNewest,
} from '../../../src/dashboard/text/newest.ts';

const newest = { revision: 5, revisionId: 'r5' };
const holds5 = {
  cluster: 'c1',
  stale: false,
  health: 'healthy',
  pinned: false,
  syncedRevisionId: 'r5',
} as const;
const compared = (given: Partial<ComparedConsumer['consumer']> = {}): ComparedConsumer => ({
  consumer: { ...holds5, ...given },
  newest,
});
const verdict = (...all: ComparedConsumer[]) =>
  verdictOf(whereIsNewest(all), 'revision 5').map(({ tone, text }) => `${tone}: ${text}`);

describe('what keeps a consumer from being well', () => {
  test.each([
    ['nothing if its Secret holds the newest revision', {}, []],
    [
      'a Secret at an earlier revision, although the controller calls it healthy',
      { syncedRevisionId: 'r4' },
      ['behind'],
    ],
    ['a Secret that holds nothing', { syncedRevisionId: null, health: 'progressing' }, ['behind', 'progressing']],
    ['a cluster that does not report, whatever it reported', { stale: true }, ['stale']],
    ['all at once', { syncedRevisionId: 'r4', stale: true, health: 'stalled' }, ['stalled', 'behind', 'stale']],
    ['a suspension', { health: 'suspended' }, ['suspended']],
    ['not the earlier revision of a pinned one', { pinned: true, syncedRevisionId: 'r1' }, []],
  ] as const)('%s', (_, given, expected) => {
    expect(concernsOf(compared(given))).toEqual(expected);
  });

  test('is judged by the id of the revision: a recovery of the database gives numbers again', () => {
    expect(isBehind(compared({ syncedRevisionId: 'other' }).consumer, newest)).toBe(true);
  });
});

describe('the verdict', () => {
  test('is green only if every consumer is well', () => {
    expect(verdict(compared(), compared())).toEqual(['good: All is well: every Secret holds revision 5.']);
    for (const given of [
      { syncedRevisionId: 'r4' },
      { syncedRevisionId: null },
      { stale: true },
      { health: 'stalled' },
      { health: 'progressing' },
    ] as const) {
      expect([given, verdict(compared(), compared(given)).filter((text) => text.startsWith('good'))]).toEqual([
        given,
        [],
      ]);
    }
  });

  test('lists everything that is wrong', () => {
    expect(
      verdict(
        compared(),
        compared({ health: 'stalled', syncedRevisionId: 'r4' }),
        compared({ health: 'stalled', cluster: 'c2', stale: true }),
        compared({ health: 'progressing', cluster: 'c2', stale: true }),
        compared({ health: 'suspended', syncedRevisionId: 'r3' }),
        compared({ pinned: true, syncedRevisionId: 'r1' }),
      ),
    ).toEqual([
      'danger: 2 of 6 SecretSyncs need a person.',
      'warn: 2 of 6 Secrets do not hold revision 5.',
      'warn: 1 cluster stopped reporting. What is below may be old.',
      'warn: 1 of 6 SecretSyncs is not done yet.',
      'neutral: 1 SecretSync is suspended.',
      'neutral: 1 SecretSync is pinned.',
    ]);
  });

  test('does not claim the newest revision for a pinned Secret', () => {
    expect(verdict(compared(), compared({ pinned: true, syncedRevisionId: 'r1' }))).toEqual([
      'good: All is well: every Secret that is not pinned holds revision 5.',
      'neutral: 1 SecretSync is pinned.',
    ]);
  });

  test('names suspended consumers beside what is well', () => {
    expect(verdict(compared({ health: 'suspended' }))).toEqual([
      'good: All is well: every Secret holds revision 5.',
      'neutral: 1 SecretSync is suspended.',
    ]);
  });
});

test('the numbers count each concern, and only those as well that have none', () => {
  expect(whereIsNewest([compared(), compared({ stale: true, syncedRevisionId: 'r4' })])).toEqual({
    total: 2,
    well: 1,
    counts: { stalled: 0, behind: 1, stale: 1, progressing: 0, suspended: 0 },
    pinned: 0,
    staleClusters: 1,
  });
});
