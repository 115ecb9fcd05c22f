import { spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  mkdirSync,
  mkdtempSync,
  readFileSync,
  readdirSync,
  rmSync,
  statSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { KnownVariables } from '../../../src/cli/settings/known-variables.ts';
import { compileCacheEnv } from '../../support/api/compile-cache.ts';

let home: string;
let path: string;
let known: KnownVariables;

beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), 'keyframe-known-'));
  path = join(home, 'keyframe', 'known-variables.json');
  known = new KnownVariables(path);
});
afterEach(() => rmSync(home, { recursive: true }));

const at = (place: string, url = 'https://keyframe.example'): { url: string; place: string } => ({ url, place });

test('nothing is known of an environment before names are added', () => {
  known.add(at('acme/shop/staging'), ['A']);
  expect(known.namesOf(at('acme/shop/production'))).toBeUndefined();
  expect(known.namesOf(at('acme/shop/staging', 'https://other.example'))).toBeUndefined();
});

test('names are added to those of before, in a file that only its owner can read', () => {
  known.add(at('acme/shop/staging'), ['A', 'B']);
  known.add(at('acme/shop/staging'), ['C', 'A']);
  expect(known.namesOf(at('acme/shop/staging'))).toEqual(new Set(['A', 'B', 'C']));
  expect(statSync(path).mode & 0o777).toBe(0o600);
  expect(readdirSync(dirname(path))).toEqual(['known-variables.json']);
  expect(JSON.parse(readFileSync(path, 'utf8'))).toEqual({
    'https://keyframe.example acme/shop/staging': ['A', 'B', 'C'],
  });
});

test('the environments that were used last stay, of more than 500', () => {
  const others = Array.from({ length: 500 }, (_, index) => [`https://keyframe.example acme/shop/env-${index}`, ['A']]);
  mkdirSync(dirname(path));
  writeFileSync(path, JSON.stringify(Object.fromEntries(others)));
  known.add(at('acme/shop/env-0'), ['B']);
  known.add(at('acme/shop/new'), ['A']);
  expect(known.namesOf(at('acme/shop/env-0'))).toEqual(new Set(['A', 'B']));
  expect(known.namesOf(at('acme/shop/env-1'))).toBeUndefined();
  expect(known.namesOf(at('acme/shop/env-2'))).toEqual(new Set(['A']));
});

test('a use without new names keeps an environment that others would soon displace', () => {
  const keys = (): string[] => Object.keys(JSON.parse(readFileSync(path, 'utf8')) as object);
  mkdirSync(dirname(path));
  const all = Array.from({ length: 500 }, (_, index) => [`u env-${index}`, ['A']]);
  writeFileSync(path, JSON.stringify(Object.fromEntries(all)));
  known.add({ url: 'u', place: 'env-249' }, ['A']);
  expect(keys().indexOf('u env-249')).toBe(499);
  const { ino } = statSync(path);
  known.add({ url: 'u', place: 'env-251' }, ['A']);
  // Others displace it much later, so the file is not written.
  expect([keys().indexOf('u env-251'), statSync(path).ino]).toEqual([250, ino]);
});

test('the file has a bounded size', () => {
  const names = (letter: string): string[] =>
    Array.from({ length: 20_000 }, (_, index) => `${letter.repeat(245)}${index}`);
  const full = ['A', 'B', 'C'].map((letter) => [`https://keyframe.example ${letter}`, names(letter)]);
  mkdirSync(dirname(path));
  writeFileSync(path, JSON.stringify(Object.fromEntries(full)));
  known.add(at('D'), names('D'));
  expect(statSync(path).size).toBeLessThan(16 * 1024 * 1024);
  expect(Object.keys(JSON.parse(readFileSync(path, 'utf8')) as object)).toEqual(
    ['B', 'C', 'D'].map((letter) => `https://keyframe.example ${letter}`),
  );
  expect(known.namesOf(at('D'))?.size).toBe(20_000);
});

test.each(['{', '[]', 'null', '', '{"a": "b"}', '{"a": [1]}'])('a malformed file is an error: %j', (text) => {
  mkdirSync(dirname(path));
  writeFileSync(path, text);
  expect(() => known.namesOf(at('a'))).toThrow(`${path} is not a list of known variables`);
});

test('processes that add names at the same time lose none', async () => {
  const module = new URL('../../../src/cli/settings/known-variables.ts', import.meta.url).href;
  const source = `
    const { KnownVariables } = await import(${JSON.stringify(module)});
    const known = new KnownVariables(${JSON.stringify(path)});
    for (let i = 0; i < 25; i += 1) known.add({ url: 'u', place: 'p' + (i % 5) }, [process.argv[1] + '_' + i]);`;
  const ends = ['A', 'B', 'C', 'D'].map(async (name) => {
    const env = { ...process.env, ...compileCacheEnv };
    const child = spawn(process.execPath, ['--input-type=module', '-e', source, name], { stdio: 'inherit', env });
    return ((await once(child, 'exit')) as [number])[0];
  });
  expect(await Promise.all(ends)).toEqual([0, 0, 0, 0]);
  const places = [0, 1, 2, 3, 4].map((index) => known.namesOf({ url: 'u', place: `p${index}` })?.size);
  expect(places).toEqual([20, 20, 20, 20, 20]);
});

test('the lock of a process that was killed is removed', () => {
  mkdirSync(dirname(path));
  writeFileSync(`${path}.lock`, '');
  utimesSync(`${path}.lock`, 0, 0);
  known.add(at('a'), ['A']);
  expect(readdirSync(dirname(path))).toEqual(['known-variables.json']);
});
