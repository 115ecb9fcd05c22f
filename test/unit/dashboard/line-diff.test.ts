import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { lineDiff } from '../../../src/dashboard/text/line-diff.ts';

const shown = (before: string, after: string) =>
  lineDiff(before, after).map(({ side, text }) => `${{ both: ' ', before: '-', after: '+' }[side]}${text}`);

test('keeps as many lines as possible', () => {
  expect(shown('a\nb\nc', 'a\nc\nd')).toEqual([' a', '-b', ' c', '+d']);
  expect(shown('a\nx\nb\ny\nc', 'a\nb\nc')).toEqual([' a', '-x', ' b', '-y', ' c']);
  expect(shown('', 'a')).toEqual(['-', '+a']);
  expect(shown('same', 'same')).toEqual([' same']);
});

test('holds both texts whole, whatever they are', () => {
  const text = fc.array(fc.constantFrom('a', 'b', 'c', ''), { maxLength: 12 }).map((lines) => lines.join('\n'));
  fc.assert(
    fc.property(text, text, (before, after) => {
      const diff = lineDiff(before, after);
      const of = (side: string) =>
        diff
          .filter((line) => line.side === 'both' || line.side === side)
          .map((line) => line.text)
          .join('\n');
      expect([of('before'), of('after')]).toEqual([before, after]);
    }),
  );
});

test('compares only begin and end of what is long', () => {
  const long = Array.from({ length: 5_000 }, (_, index) => `line ${index}`);
  const diff = lineDiff(['x', ...long, 'z'].join('\n'), ['x', ...long.toReversed(), 'z'].join('\n'));
  expect(diff.filter(({ side }) => side === 'both').map(({ text }) => text)).toEqual(['x', 'z']);
});
