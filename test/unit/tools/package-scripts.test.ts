import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import { checkoutDirectory } from '../../../tools/checkout.ts';

const { scripts } = JSON.parse(readFileSync(join(checkoutDirectory, 'package.json'), 'utf8')) as {
  scripts: Record<string, string>;
};

test('every npm script that runs a script of the repository prepares a fresh clone first', () => {
  const own = Object.entries(scripts).filter(([, line]) => /\b(?:tools|test)\/\S+\.ts\b/.test(line));
  expect(own.map(([name]) => name)).toEqual(expect.arrayContaining(['start', 'test', 'build', 'generate']));
  for (const [name, line] of own) {
    expect([name, line]).toEqual([name, expect.stringMatching(/^node tools\/bootstrap\.mjs /)]);
  }
});
