import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { findKubectl } from '../../../tools/devcluster/cluster/kubectl-program.ts';

const folder = mkdtempSync(join(tmpdir(), 'keyframe-kubectl-'));
const at = (name: string): string => join(folder, name);

beforeAll(() => {
  for (const name of ['assets', 'first', 'second', 'empty', 'text']) mkdirSync(at(name));
  for (const name of ['assets', 'first', 'second']) writeFileSync(at(`${name}/kubectl`), '', { mode: 0o755 });
  writeFileSync(at('text/kubectl'), '', { mode: 0o644 });
});

afterAll(() => rmSync(folder, { recursive: true }));

const path = (...names: string[]): string => names.map(at).join(':');

test.each([
  ['that of the assets goes first', { KUBEBUILDER_ASSETS: at('assets'), PATH: path('first') }, 'assets'],
  ['assets without one leave it to the path', { KUBEBUILDER_ASSETS: at('empty'), PATH: path('first') }, 'first'],
  ['of the path the first one', { PATH: path('empty', 'second', 'first') }, 'second'],
  ['one that is no program is passed over', { PATH: path('text', 'first') }, 'first'],
  ['an empty part of the path is no folder', { KUBEBUILDER_ASSETS: '', PATH: `:${at('first')}` }, 'first'],
])('%s', (_name, env, expected) => {
  expect(findKubectl(env)).toBe(at(`${expected}/kubectl`));
});

test('there may be none', () => {
  expect([findKubectl({}), findKubectl({ PATH: path('empty', 'text') })]).toEqual([undefined, undefined]);
});
