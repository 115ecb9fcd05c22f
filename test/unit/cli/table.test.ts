import { describe, expect, test } from '@jest/globals';
import { tableLines } from '../../../src/cli/terminal/table.ts';
import { relativeTime, time } from '../../../src/cli/terminal/time.ts';

describe('a table', () => {
  const table = {
    titles: ['ID', 'TEXT', 'NAME'],
    rows: [
      ['1234567890', 'a long text that is cut', 'a name that is cut'],
      ['2', '日本日本日本日本', 'short'],
    ],
    cut: [false, true, true],
  };

  test('is as wide as its cells where that is unlimited', () => {
    expect(tableLines(table)).toEqual([
      'ID          TEXT                     NAME',
      '1234567890  a long text that is cut  a name that is cut',
      '2           日本日本日本日本         short',
    ]);
  });

  test('cuts the widest columns until it fits, and marks what is cut', () => {
    const lines = tableLines(table, 40);
    expect(lines).toEqual([
      'ID          TEXT           NAME',
      '1234567890  a long text …  a name that …',
      '2           日本日本日本…  short',
    ]);
  });

  test('leaves out columns without a value before it cuts others', () => {
    const sparse = {
      titles: ['TEXT', 'EMPTY', 'SOME'],
      rows: [
        ['a long text', '-', '-'],
        ['b', '-', 'x'],
      ],
      cut: [true, false, false],
    };
    expect(tableLines(sparse, 24)[0]).toBe('TEXT         EMPTY  SOME');
    expect(tableLines(sparse, 23)).toEqual(['TEXT         SOME', 'a long text  -', 'b            x']);
    expect(tableLines(sparse, 16)).toEqual(['TEXT        SOME', 'a long te…  -', 'b           x']);
  });

  test('cuts no column that is not marked, and none below 8 characters or its title', () => {
    expect(tableLines(table, 10)).toEqual([
      'ID          TEXT      NAME',
      '1234567890  a long …  a name …',
      '2           日本日…   short',
    ]);
    const [, row] = tableLines({ titles: ['WIDE TITLE'], rows: [['x'.repeat(30)]], cut: [true] }, 3);
    expect(row).toBe(`${'x'.repeat(9)}…`);
  });
});

describe('a time', () => {
  const now = new Date('2027-01-31T12:00:00Z');

  test.each([
    ['2027-01-31T11:59:59.500Z', 'now'],
    ['2027-01-31T11:59:58.000Z', '2 s ago'],
    ['2027-01-31T11:58:01.000Z', '119 s ago'],
    ['2027-01-31T11:58:00.000Z', '2 min ago'],
    ['2027-01-31T10:00:01.000Z', '119 min ago'],
    ['2027-01-31T09:00:00.000Z', '3 h ago'],
    ['2027-01-29T12:00:00.000Z', '2 d ago'],
    ['2026-12-03T12:00:00.000Z', '59 d ago'],
    ['2026-12-02T12:00:00.000Z', '2026-12-02'],
    ['2027-02-02T12:00:00.000Z', 'in 2 d'],
    ['2028-02-02T12:00:00.000Z', '2028-02-02'],
  ])('%s is %s', (iso, text) => {
    expect(relativeTime({ iso }, now)).toBe(text);
  });

  test('that is none is no cell', () => {
    expect([time(null), time(undefined)]).toEqual([null, null]);
  });
});
