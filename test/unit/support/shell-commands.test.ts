import { expect, test } from '@jest/globals';
import { shellCommands } from '../../support/cli/shell-commands.ts';

test.each([
  ['a b | c && d; e & f', [['a', 'b'], ['c'], ['d'], ['e'], ['f']]],
  [`a 'b c' "d \\"e" f\\ g`, [['a', 'b c', 'd "e', 'f g']]],
  ['a \\\n  b # not this\nc', [['a', 'b'], ['c']]],
  [
    'for x in $(a b); do c "$x" ${y:+--z "$y"} ${w}1; done',
    [
      ['a', 'b'],
      ['for', 'x', 'in', '1'],
      ['c', '1', '11'],
    ],
  ],
  ['A=1 B=$(c (d)) e > f 2>/dev/null <<<"g" h', [['c'], ['d'], ['e', 'h']]],
  ['diff <(a b) <(c) && d', [['a', 'b'], ['c'], ['diff', '1', '1'], ['d']]],
  ["a -f - <<'YAML'\nb: c\nYAML\nd", [['a', '-f', '-'], ['d']]],
  ['while ! a; do b; done', [['a'], ['b']]],
])('%s', (script, commands) => {
  expect(shellCommands(script)).toEqual(commands);
});
