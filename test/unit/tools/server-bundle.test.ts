import { expect, test } from '@jest/globals';
import { transformSync } from 'esbuild';
import { serverBundle } from '../../../tools/build/server.ts';

test('a resource of a loop is released by Node itself, not by a replacement of the bundler', () => {
  const { target, supported } = serverBundle;
  const source = 'for (const one of all) { using held = one; held.use(); }';
  expect(transformSync(source, { target, supported }).code).toContain('using held = one;');
});
