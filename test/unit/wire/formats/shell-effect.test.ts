import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { keysRunInShell, writeDotenv } from '../../../../src/wire/formats/dotenv.ts';

/** A value of what shells obey. */
const value = fc
  .array(
    fc.constantFrom(
      ...'a b \' " ` $ \\ ; & | ( ) { } [ ] < > # ! ~ * ='.split(' '),
      ' ',
      '\n',
      '\r',
      '$(',
      'tool',
      '${',
      "$'",
      '$"',
      "\\'",
      ' #',
    ),
    { maxLength: 12 },
  )
  .map((parts) => parts.join(''));

/** What a shell without any program reports when it loads a text. */
function loaded(shell: string, text: string): string {
  const options = { input: text, env: { PATH: '/nowhere' }, encoding: 'utf8' } as const;
  const { status, stdout, stderr } = spawnSync(shell, ['-s'], options);
  return `${status === 0 ? '' : `status ${status}`}${stdout}${stderr}`;
}

test.each([
  ["it's `tool`", true],
  [`it's "both"; tool`, true],
  ["x'y$z", true],
  // Closed for sh. Bash obeys the backslash behind $', and reads the next lines as part of the value.
  [String.raw`$'a\'`, true],
  [`{"text":"it's"}`, false],
  ['plain $(tool) `tool` ; tool', false],
  ["it's plain", false],
])('%j in the format env: %s', (text, runs) => {
  const secrets = new Map([['KEY', text]]);
  expect(keysRunInShell(secrets)).toEqual(runs ? ['KEY'] : []);
});

// Bash has quotes that sh lacks.
test.each(['/bin/sh', '/bin/bash'].filter(existsSync))('%s runs nothing of values without the warning', (shell) => {
  fc.assert(
    fc.property(fc.array(value, { minLength: 20, maxLength: 20 }), (values) => {
      const all = new Map(values.map((text, index) => [`K${index}`, text]));
      const warned = new Set(keysRunInShell(all));
      const quiet = new Map([...all].filter(([key]) => !warned.has(key)));
      expect(loaded(shell, writeDotenv(quiet))).toBe('');
    }),
    { numRuns: 200 },
  );
});
