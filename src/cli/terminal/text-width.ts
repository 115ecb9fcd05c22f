import { isPrintableAscii } from '../../wire/printable-ascii.ts';

/** How many columns of a terminal a text takes. */
export function widthOf(text: string): number {
  return isPrintableAscii(text) ? text.length : sumOfWidths(text);
}

function sumOfWidths(text: string): number {
  // What terminals show in two columns (East Asian wide and full width, and emoji), and what in none.
  const wide = new RegExp(
    String.raw`[\u1100-\u115F\u2E80-\u303E\u3041-\uA4CF\uA960-\uA97C\uAC00-\uD7A3\uF900-\uFAFF\uFE30-\uFE6F\uFF00-\uFF60\uFFE0-\uFFE6\u{20000}-\u{3FFFD}\p{Emoji_Presentation}]`,
    'u',
  );
  const combining = new RegExp(String.raw`\p{M}`, 'u');
  return Array.from(text).reduce((sum, char) => sum + (wide.test(char) ? 2 : combining.test(char) ? 0 : 1), 0);
}
