import { describe, expect, test } from '@jest/globals';
import { CronError, parseCron } from '../../../src/lib/cron-schedule.ts';
import { localTimes } from '../../../src/lib/time-zone.ts';

const minuteMs = 60_000;
const utc = (ms: number | undefined): string | undefined =>
  ms === undefined ? undefined : new Date(ms).toISOString().slice(0, 16);

/** All times from one moment to before another. */
function between(schedule: ReturnType<typeof parseCron>, fromMs: number, toMs: number): number[] {
  const found: number[] = [];
  for (let ms = schedule.nextAfter(fromMs - 1); ms !== undefined && ms < toMs; ms = schedule.nextAfter(ms)) {
    found.push(ms);
  }
  return found;
}

function listed(text: string, timeZone: string, [from, to]: readonly [string, string]): (string | undefined)[] {
  return between(parseCron(text, timeZone), Date.parse(from), Date.parse(to)).map(utc);
}

describe('where the clocks are put forward', () => {
  test.each([
    // 2:00 to 3:00 of 29 March is skipped; 3:00 is 01:00 UTC.
    ['30 2 * * *', 'Europe/Berlin', '2026-03-28', ['2026-03-28T01:30', '2026-03-29T01:00', '2026-03-30T00:30']],
    ['15,45 2 * * *', 'Europe/Berlin', '2026-03-29', ['2026-03-29T01:00', '2026-03-30T00:15', '2026-03-30T00:45']],
    ['0 3 * * *', 'Europe/Berlin', '2026-03-29', ['2026-03-29T01:00', '2026-03-30T01:00']],
    // 2:00 to 3:00 of 8 March is skipped; 3:00 is 07:00 UTC.
    ['30 2 * * *', 'America/New_York', '2026-03-07', ['2026-03-07T07:30', '2026-03-08T07:00', '2026-03-09T06:30']],
    // 2:00 to 2:30 of 4 October is skipped; 2:30 is 15:30 UTC of the day before.
    ['15 2 * * *', 'Australia/Lord_Howe', '2026-10-03', ['2026-10-03T15:30', '2026-10-04T15:15']],
    ['45 2 * * *', 'Australia/Lord_Howe', '2026-10-03', ['2026-10-03T15:45', '2026-10-04T15:45']],
    // Midnight itself is skipped; 1:00 is 04:00 UTC.
    ['0 0 * * *', 'America/Santiago', '2026-09-05', ['2026-09-05T04:00', '2026-09-06T04:00', '2026-09-07T03:00']],
  ])('%j in %s from %s comes once, right after the gap', (text, timeZone, from, expected) => {
    const last = expected.at(-1) ?? '';
    expect(listed(text, timeZone, [`${from}T00:00Z`, `${last.slice(0, 10)}T23:59Z`])).toEqual(expected);
  });

  test.each([
    ['0 * * * *', 'Europe/Berlin', ['2026-03-29T00:00', '2026-03-29T01:00', '2026-03-29T02:00']],
    ['*/30 * * * *', 'Australia/Lord_Howe', ['2026-03-29T00:00', '2026-03-29T00:30', '2026-03-29T01:00']],
  ])('%j in %s goes on by elapsed time', (text, timeZone, expected) => {
    expect(listed(text, timeZone, ['2026-03-29T00:00Z', `${expected.at(-1)}:01Z`])).toEqual(expected);
  });
});

describe('where the clocks are put back', () => {
  test.each([
    // 2:00 to 3:00 of 25 October comes twice, from 00:00 and from 01:00 UTC.
    ['30 2 * * *', 'Europe/Berlin', '2026-10-24', ['2026-10-24T00:30', '2026-10-25T00:30', '2026-10-26T01:30']],
    // 1:00 to 2:00 of 1 November comes twice, from 05:00 and from 06:00 UTC.
    ['30 1 * * *', 'America/New_York', '2026-10-31', ['2026-10-31T05:30', '2026-11-01T05:30', '2026-11-02T06:30']],
    // 1:30 to 2:00 of 5 April comes twice, from 14:30 and from 15:00 UTC of the day before.
    ['45 1 * * *', 'Australia/Lord_Howe', '2026-04-04', ['2026-04-04T14:45', '2026-04-05T15:15']],
    ['15 1 * * *', 'Australia/Lord_Howe', '2026-04-04', ['2026-04-04T14:15', '2026-04-05T14:45']],
  ])('%j in %s from %s comes once, at the first of the two', (text, timeZone, from, expected) => {
    const last = expected.at(-1) ?? '';
    expect(listed(text, timeZone, [`${from}T00:00Z`, `${last.slice(0, 10)}T23:59Z`])).toEqual(expected);
  });

  test('every hour is every hour, also the one that the clocks show twice', () => {
    const hours = listed('0 * * * *', 'Europe/Berlin', ['2026-10-24T22:00Z', '2026-10-25T03:00Z']);
    const day = '2026-10-25';
    expect(hours).toEqual(['2026-10-24T22:00', '2026-10-24T23:00', `${day}T00:00`, `${day}T01:00`, `${day}T02:00`]);
  });
});

test.each([
  ['0 0 29 2 *', 'UTC', '2026-01-01', '2028-02-29T00:00'],
  ['0 0 29 2 *', 'UTC', '2097-01-01', '2104-02-29T00:00'],
  ['0 12 29 2 *', 'Europe/Berlin', '2026-01-01', '2028-02-29T11:00'],
  ['0 0 31 * *', 'UTC', '2026-02-01', '2026-03-31T00:00'],
  ['0 0 31 * *', 'UTC', '2026-04-01', '2026-05-31T00:00'],
  ['0 0 L * *', 'UTC', '2026-02-01', '2026-02-28T00:00'],
  ['0 0 L 2 *', 'UTC', '2028-01-01', '2028-02-29T00:00'],
  ['0 0 1,15 * 1', 'UTC', '2026-11-02', '2026-11-02T00:00'],
  // A Monday with an even number: a step is no `*`.
  ['0 0 */2 * 1', 'UTC', '2026-11-02', '2026-11-02T00:00'],
  ['0 0 * * 7', 'UTC', '2026-11-21', '2026-11-22T00:00'],
  ['0 9 * Jan-MAR mon,Wed-FRI', 'UTC', '2026-11-21', '2027-01-01T09:00'],
  ['@hourly', 'Asia/Kathmandu', '2026-11-21', '2026-11-21T00:15'],
  ['@daily', 'America/New_York', '2026-11-21', '2026-11-21T05:00'],
  ['@weekly', 'UTC', '2026-11-21', '2026-11-22T00:00'],
  ['@monthly', 'UTC', '2026-11-21', '2026-12-01T00:00'],
  ['@yearly', 'Pacific/Kiritimati', '2026-11-21', '2026-12-31T10:00'],
])('%j in %s comes next after %s at %s', (text, timeZone, after, expected) => {
  expect(utc(parseCron(text, timeZone).nextAfter(Date.parse(`${after}T00:00Z`) - 1))).toBe(expected);
});

test('the next time is after a moment, the latest is not', () => {
  const schedule = parseCron('*/10 * * * *', 'UTC');
  const at = Date.parse('2026-11-21T10:10:00Z');
  expect(utc(schedule.nextAfter(at))).toBe('2026-11-21T10:20');
  expect(utc(schedule.nextAfter(at - 1))).toBe('2026-11-21T10:10');
  expect(utc(schedule.latestUntil(at))).toBe('2026-11-21T10:10');
  expect(utc(schedule.latestUntil(at - 1))).toBe('2026-11-21T10:00');
  expect(utc(schedule.latestUntil(at + 599_999))).toBe('2026-11-21T10:10');
});

// The right times are computed here once more in another way: minute by minute, by what the clocks show.
describe('minute by minute over a change of the clocks', () => {
  const changes = [
    ['Europe/Berlin', '2026-03-28'],
    ['Europe/Berlin', '2026-10-24'],
    ['America/New_York', '2026-03-07'],
    ['America/New_York', '2026-10-31'],
    ['Australia/Lord_Howe', '2026-04-04'],
    ['Australia/Lord_Howe', '2026-10-03'],
  ] as const;
  const times = [
    [[0], [2]],
    [[30], [2]],
    [
      [15, 45],
      [1, 2, 3],
    ],
    [[0], 'all'],
    [[0, 20, 40], 'all'],
  ] as const;

  test.each(changes)('in %s from %s all times are the right ones, looked for forwards and backwards', (zone, from) => {
    const fromMs = Date.parse(`${from}T00:00Z`);
    const toMs = fromMs + 60 * 60 * minuteMs;
    for (const [minutes, hours] of times) {
      const schedule = parseCron(`${minutes.join(',')} ${hours === 'all' ? '*' : hours.join(',')} * * *`, zone);
      const isMeant = (shownMs: number): boolean => {
        const shown = new Date(shownMs);
        const isHour = hours === 'all' || (hours as readonly number[]).includes(shown.getUTCHours());
        return isHour && (minutes as readonly number[]).includes(shown.getUTCMinutes());
      };
      const expected = meantTimes({ zone, fromMs, toMs, isMeant, goesByElapsedTime: hours === 'all' });
      expect(between(schedule, fromMs, toMs).map(utc)).toEqual(expected.map(utc));
      for (let ms = (expected[0] ?? 0) + 7; ms < toMs; ms += 17 * minuteMs) {
        expect(utc(schedule.latestUntil(ms))).toBe(utc(expected.findLast((each) => each <= ms)));
      }
    }
  });
});

interface Meant {
  readonly zone: string;
  readonly fromMs: number;
  readonly toMs: number;
  /** Whether a time on the clocks, given as if it were of UTC, is one of the schedule. */
  readonly isMeant: (shownMs: number) => boolean;
  readonly goesByElapsedTime: boolean;
}

function meantTimes({ zone, fromMs, toMs, isMeant, goesByElapsedTime }: Meant): number[] {
  const local = localTimes(zone);
  const shownAt = (ms: number): number => ms + local(ms).offsetMinutes * minuteMs;
  const found: number[] = [];
  // Up to where the clocks have been.
  let shownUntilMs = shownAt(fromMs) - minuteMs;
  for (let ms = fromMs; ms < toMs; ms += minuteMs) {
    const shownMs = shownAt(ms);
    if (goesByElapsedTime) {
      if (isMeant(shownMs)) found.push(ms);
      continue;
    }
    let isDue = false;
    for (let passedMs = shownUntilMs + minuteMs; passedMs <= shownMs; passedMs += minuteMs) isDue ||= isMeant(passedMs);
    if (isDue) found.push(ms);
    shownUntilMs = Math.max(shownUntilMs, shownMs);
  }
  return found;
}

test.each([
  '',
  '* * * *',
  '* * * * * *',
  '60 * * * *',
  '0 24 * * *',
  '0 0 0 * *',
  '0 0 32 * *',
  '0 0 * 13 *',
  '0 0 * * 8',
  '*/0 * * * *',
  '5-1 * * * *',
  '0,,1 * * * *',
  '? * * * *',
  '0 0 15W * *',
  '0 0 LW * *',
  '0 0 * * 1#2',
  '0 0 * * L',
  ' 0 0 * * *',
  'TZ=UTC 0 0 * * *',
  'CRON_TZ=UTC 0 0 * * *',
  '@reboot',
  '@every 5m',
  '2026-11-21T10:00:00',
])('%j is no schedule', (text) => {
  expect(() => parseCron(text, 'UTC')).toThrow(CronError);
});

test.each([
  ['30 25 * * *', 'UTC', 'schedule'],
  ['0 0 30 2 *', 'UTC', 'schedule'],
  ['0 2 * *', 'UTC', 'schedule'],
  ['30 2 * * *', 'Europe/Berln', 'timeZone'],
])('the fault of %j in %j names its %s', (text, timeZone, of) => {
  expect(() => parseCron(text, timeZone)).toThrow(expect.objectContaining({ name: 'CronError', of }));
});

test.each(['0 0 30 2 *', '0 0 31 4,6,9,11 *'])('%j never comes, and is refused', (text) => {
  expect(() => parseCron(text, 'UTC')).toThrow('never runs');
});

test.each(['Europe/Nowhere', '', '+05:30', 'Z', 'local', 'UTC '])('%j is no time zone', (timeZone) => {
  expect(() => parseCron('@daily', timeZone)).toThrow('is not an IANA time zone');
});
