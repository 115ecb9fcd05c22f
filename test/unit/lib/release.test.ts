import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import { checkoutDirectory } from '../../../tools/checkout.ts';
import { isOlderRelease, ownRelease } from '../../../src/lib/release.ts';

test('the own release is that of package.json', () => {
  const text = readFileSync(join(checkoutDirectory, 'package.json'), 'utf8');
  expect(ownRelease()).toBe((JSON.parse(text) as { version: string }).version);
});

test.each([
  ['0.1.0', '0.2.0', true],
  ['0.2.0', '0.1.9', false],
  ['0.9.0', '0.10.0', true],
  ['1.0.0', '0.99.99', false],
  ['0.1.1', '0.1.2', true],
  ['0.1.0', '0.1.0', false],
  ['0.2.0-beta.1', '0.2.0', false],
])('release %s against %s: older is %s', (release, other, isOlder) => {
  expect(isOlderRelease(release, other)).toBe(isOlder);
});
