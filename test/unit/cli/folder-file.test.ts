import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { findFolderFile } from '../../../src/cli/settings/folder-file.ts';

let folder: string;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'keyframe-folder-'));
});
afterEach(() => rmSync(folder, { recursive: true }));

const path = (): string => join(folder, '.keyframe.json');

test.each([
  ['a pipe without a writer', (): unknown => execFileSync('mkfifo', [path()]), 'is not a file'],
  ['a folder', (): void => mkdirSync(path()), 'is not a file'],
  ['a link to a device without an end', (): void => symlinkSync('/dev/zero', path()), 'is a symbolic link'],
  ['a link to a file', (): void => symlinkSync('/etc/passwd', path()), 'is a symbolic link'],
  ['too long', (): void => writeFileSync(path(), ' '.repeat(16 * 1024 + 1)), 'is longer than 16384 bytes'],
])('a file of the user that is %s is refused', (_, make, message) => {
  make();
  expect(() => findFolderFile(folder)).toThrow(`${path()} ${message}`);
});

test('variables are names and globs', () => {
  const variables = ['DATABASE_URL', 'AWS_*', 'a.b-?'];
  expect(read(JSON.stringify({ variables }))).toEqual({ variables, path: path() });
});

test.each([
  ['no name', [], 'variables must be a list of names'],
  ['a text', 'DATABASE_URL', 'variables must be a list of names'],
  ['a number', [1], 'variables must be a list of names'],
  ['a value', ['A', 'B=hunter2'], 'variables has no name of a variable at place 2'],
])('variables with %s are refused', (_, variables, message) => {
  expect(() => read(JSON.stringify({ variables }))).toThrow(`${path()}: ${message}`);
});

const read = (text: string): unknown => {
  writeFileSync(join(folder, '.keyframe.json'), text);
  return findFolderFile(folder)?.file;
};

test.each([
  ['with the same value', '{"organization": "acme", "organization": "acme"}', 'organization'],
  ['with two servers', '{"url": "https://a.example", "project": "p", "url": "https://b.example"}', 'url'],
  ['in another notation', String.raw`{"\u0075rl" : "https://a.example", "url":"https://b.example"}`, 'url'],
  ['first with something else than a text', '{"url": 1, "url": "https://b.example"}', 'url'],
  ['first with an object', '{"url": {"project": "p"}, "url": "https://b.example"}', 'url'],
])('a field that occurs twice, %s, is refused', (_, text, name) => {
  expect(() => read(text)).toThrow(`.keyframe.json: ${name} occurs twice; keep one of them`);
});

test.each([
  ['a value that looks like a field', '{"organization": "a\\":", "project": "\\"organization\\": b"}'],
  ['a value that is the name of a field', '{"organization": "project", "project": "project"}'],
])('%s is not one', (_, text) => {
  expect(read(text)).toEqual({ ...(JSON.parse(text) as object), path: join(folder, '.keyframe.json') });
});
