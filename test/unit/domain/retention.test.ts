import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import {
  type Retention,
  type RetentionCandidate,
  judgeRetention,
  keepsSomething,
} from '../../../src/domain/retention.ts';

/** An own, successful one that nothing refers to; its id is its time. */
function taken(at: string, rest: Partial<RetentionCandidate> = {}): RetentionCandidate {
  return { id: at, atMs: Date.parse(`${at}Z`), isSuccessful: true, isOwn: true, references: [], ...rest };
}

function kept(candidates: readonly RetentionCandidate[], retention: Retention, timeZone = 'UTC'): string[] {
  return judgeRetention(candidates, retention, timeZone)
    .filter(({ reasons }) => reasons.length > 0)
    .map(({ id }) => id);
}

const days = (from: number, to: number): RetentionCandidate[] =>
  Array.from({ length: to - from + 1 }, (_, index) => taken(`2026-11-${String(from + index).padStart(2, '0')}T02:00`));

describe('of each sort the newest ones are kept:', () => {
  test.each<[string, RetentionCandidate[], Retention, string[]]>([
    ['the last three', days(1, 9), { keepLast: 3 }, ['2026-11-09T02:00', '2026-11-08T02:00', '2026-11-07T02:00']],
    [
      'the newest of each of two hours',
      [taken('2026-11-01T10:05'), taken('2026-11-01T10:55'), taken('2026-11-01T11:00'), taken('2026-11-01T09:59')],
      { keepHourly: 2 },
      ['2026-11-01T11:00', '2026-11-01T10:55'],
    ],
    [
      'days that have none are not counted',
      [taken('2026-11-01T02:00'), taken('2026-11-05T02:00'), taken('2026-11-05T14:00'), taken('2026-11-09T02:00')],
      { keepDaily: 3 },
      ['2026-11-09T02:00', '2026-11-05T14:00', '2026-11-01T02:00'],
    ],
    // 1, 8 and 15 November are Sundays.
    [
      'weeks end with Sundays',
      days(1, 17),
      { keepWeekly: 3 },
      ['2026-11-17T02:00', '2026-11-15T02:00', '2026-11-08T02:00'],
    ],
    [
      'a week over the turn of the year is one',
      [taken('2026-12-28T02:00'), taken('2026-12-31T02:00'), taken('2027-01-03T02:00'), taken('2027-01-04T02:00')],
      { keepWeekly: 9 },
      ['2027-01-04T02:00', '2027-01-03T02:00'],
    ],
    [
      'the newest of each month',
      [taken('2026-09-30T02:00'), taken('2026-10-01T02:00'), taken('2026-10-31T02:00'), taken('2026-11-01T02:00')],
      { keepMonthly: 2 },
      ['2026-11-01T02:00', '2026-10-31T02:00'],
    ],
    [
      'all sorts together keep what any of them keeps',
      days(1, 17),
      { keepLast: 2, keepDaily: 3, keepWeekly: 2, keepMonthly: 5 },
      ['2026-11-17T02:00', '2026-11-16T02:00', '2026-11-15T02:00'],
    ],
    ['more places than there are ones', days(1, 2), { keepLast: 9 }, ['2026-11-02T02:00', '2026-11-01T02:00']],
  ])('%s', (_, candidates, retention, expected) => {
    expect(kept(candidates.toReversed(), retention)).toEqual(expected);
    expect(kept(candidates, retention)).toEqual(expected);
  });
});

describe('the calendar is that of the time zone:', () => {
  // 23:30 UTC is the next day in Berlin and the same in New York.
  const late = [taken('2026-11-09T22:30'), taken('2026-11-09T23:30'), taken('2026-11-10T01:00')];
  test.each([
    ['UTC', ['2026-11-10T01:00', '2026-11-09T23:30']],
    ['Europe/Berlin', ['2026-11-10T01:00', '2026-11-09T22:30']],
    ['America/New_York', ['2026-11-10T01:00']],
  ])('the days of %s', (timeZone, expected) => {
    expect(kept(late, { keepDaily: 9 }, timeZone)).toEqual(expected);
  });

  test('an hour that the clocks show twice is two', () => {
    const twice = [taken('2026-10-25T00:30'), taken('2026-10-25T01:30'), taken('2026-10-25T01:45')];
    expect(kept(twice, { keepHourly: 9 }, 'Europe/Berlin')).toEqual(['2026-10-25T01:45', '2026-10-25T00:30']);
    const [newest] = judgeRetention(twice, { keepHourly: 1 }, 'Europe/Berlin');
    expect(newest?.reasons).toContain('hourly 2026-10-25T02+01:00');
  });

  test('a day of 25 hours is one', () => {
    const long = [taken('2026-10-24T22:00'), taken('2026-10-25T22:59'), taken('2026-10-25T23:00')];
    expect(kept(long, { keepDaily: 9 }, 'Europe/Berlin')).toEqual(['2026-10-25T23:00', '2026-10-25T22:59']);
  });

  test('half an hour makes two in Lord Howe', () => {
    const shifted = [taken('2026-04-04T14:45'), taken('2026-04-04T15:15')];
    expect(kept(shifted, { keepHourly: 9 }, 'Australia/Lord_Howe')).toHaveLength(2);
  });
});

describe('whatever the retention says,', () => {
  test('what is referred to stays, and says by what', () => {
    const pinned = taken('2026-11-01T02:00', { references: ['SecretSync web'] });
    const [, verdict] = judgeRetention([pinned, taken('2026-11-02T02:00')], { keepLast: 1 }, 'UTC');
    expect(verdict).toEqual({ id: pinned.id, reasons: ['referred to by SecretSync web'] });
  });

  test('the newest successful one stays', () => {
    expect(kept(days(1, 5), { keepLast: 0 })).toEqual(['2026-11-05T02:00']);
    const failed = taken('2026-11-06T02:00', { isSuccessful: false });
    expect(kept([...days(1, 5), failed], { keepLast: 1 })).toEqual([failed.id, '2026-11-05T02:00']);
  });

  test('what is not successful fills no place, and goes when a newer one is', () => {
    const failed = taken('2026-11-02T02:00', { isSuccessful: false });
    expect(kept([taken('2026-11-01T02:00'), failed, taken('2026-11-03T02:00')], { keepLast: 2 })).toEqual([
      '2026-11-03T02:00',
      '2026-11-01T02:00',
    ]);
    expect(kept([failed], { keepLast: 1 })).toEqual([failed.id]);
  });

  test('what others made stays, and fills no place', () => {
    const foreign = taken('2026-11-09T02:00', { isOwn: false });
    const candidates = [foreign, ...days(1, 3)];
    expect(kept(candidates, { keepLast: 1 })).toEqual([foreign.id, '2026-11-03T02:00']);
  });
});

test('of equal times the greater id is the newer, in whatever order they come', () => {
  const at = '2026-11-01T02:00';
  const same = ['b', 'c', 'a'].map((id) => taken(at, { id }));
  expect(kept(same, { keepLast: 1 })).toEqual(['c']);
  expect(kept(same.toReversed(), { keepDaily: 1 })).toEqual(['c']);
});

test('a verdict names every place that one fills', () => {
  const [newest, older] = judgeRetention(
    [taken('2026-11-20T02:00'), taken('2026-11-21T02:00')],
    { keepLast: 2, keepHourly: 1, keepDaily: 1, keepWeekly: 1, keepMonthly: 1 },
    'Europe/Berlin',
  );
  const hour = 'hourly 2026-11-21T03+01:00';
  const places = ['last 1', hour, 'daily 2026-11-21', 'weekly 2026-W47', 'monthly 2026-11', 'newest successful'];
  expect(newest?.reasons).toEqual(places);
  expect(older?.reasons).toEqual(['last 2']);
});

test.each([
  [{}, false],
  [{ keepLast: 0, keepDaily: 0 }, false],
  [{ keepMonthly: 1 }, true],
  [{ keepLast: 1 }, true],
])('%j keeps something: %s', (retention, expected) => {
  expect(keepsSomething(retention)).toBe(expected);
});

describe('of any snapshots, by any retention,', () => {
  const hourMs = 3_600_000;
  const candidate = fc.record({
    id: fc.uuid(),
    // Near each other, so that many share hours, days and moments.
    atMs: fc.integer({ min: 0, max: 24 * 60 }).map((hours) => Date.parse('2026-10-01T00:00Z') + hours * hourMs),
    isSuccessful: fc.boolean(),
    isOwn: fc.boolean(),
    references: fc.oneof({ weight: 5, arbitrary: fc.constant([]) }, fc.constant(['SecretSync web'])),
  });
  const candidates = fc.uniqueArray(candidate, { selector: ({ id }) => id, maxLength: 60 });
  const count = fc.option(fc.integer({ min: 0, max: 6 }), { nil: undefined });
  const retention = fc.record({
    keepLast: count,
    keepHourly: count,
    keepDaily: count,
    keepWeekly: count,
    keepMonthly: count,
  });
  const timeZone = fc.constantFrom('UTC', 'Europe/Berlin', 'America/New_York', 'Australia/Lord_Howe');

  test('none goes that is referred to, was made by others, or is the only successful one', () => {
    fc.assert(
      fc.property(candidates, retention, timeZone, (all, rule, zone) => {
        const gone = new Set(all.map(({ id }) => id));
        for (const id of kept(all, rule, zone)) gone.delete(id);
        const goes = all.filter(({ id }) => gone.has(id));
        expect(goes.every(({ isOwn, references }) => isOwn && references.length === 0)).toBe(true);
        const good = all.filter(({ isOwn, isSuccessful }) => isOwn && isSuccessful);
        const goodStays = good.filter(({ id }) => !gone.has(id));
        expect(goodStays.length).toBeGreaterThanOrEqual(Math.min(good.length, Math.max(rule.keepLast ?? 0, 1)));
        // The newest good one of all is among them.
        const newestMs = Math.max(...good.map(({ atMs }) => atMs));
        expect(good.length === 0 || goodStays.some(({ atMs }) => atMs === newestMs)).toBe(true);
      }),
    );
  });

  test('each is judged once, the same in whatever order they come, and what is kept is kept again', () => {
    fc.assert(
      fc.property(candidates, retention, timeZone, (all, rule, zone) => {
        const verdicts = judgeRetention(all, rule, zone);
        expect(verdicts.map(({ id }) => id).toSorted()).toEqual(all.map(({ id }) => id).toSorted());
        expect(judgeRetention(all.toReversed(), rule, zone)).toEqual(verdicts);
        const staying = new Set(kept(all, rule, zone));
        const left = all.filter(({ id }) => staying.has(id));
        expect(kept(left, rule, zone)).toHaveLength(left.length);
      }),
    );
  });
});
