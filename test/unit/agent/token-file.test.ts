import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { TokenFile } from '../../../src/agent/token-file.ts';

/** Which token a controller presents while its file and the server's are replaced at different moments. */

let folder: string;
let path: string;
let nowMs: number;
let file: TokenFile;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'keyframe-token-file-'));
  path = join(folder, 'token');
  nowMs = 0;
  file = new TokenFile(path, () => nowMs);
  writeFileSync(path, 'one\n');
});

afterEach(() => rmSync(folder, { recursive: true }));

test('a new token that the server refuses is tried again after ten seconds, and the one before is used meanwhile', () => {
  file.accept(file.current());
  writeFileSync(path, 'two');
  expect([file.current(), file.refuse('two')]).toEqual(['two', 'one']);
  nowMs = 9_999;
  expect(file.current()).toBe('one');
  nowMs = 10_000;
  expect(file.current()).toBe('two');
});

test('a token that comes after a refused one is used at once', () => {
  file.accept(file.current());
  writeFileSync(path, 'two');
  file.refuse(file.current());
  writeFileSync(path, 'three');
  expect(file.current()).toBe('three');
});

test('the token before gives way to the new one as soon as the server refuses it', () => {
  file.accept(file.current());
  writeFileSync(path, 'two');
  file.refuse(file.current());
  expect([file.current(), file.refuse('one')]).toEqual(['one', 'two']);
});

test('a token that was never accepted is no other one to try', () => {
  file.current();
  writeFileSync(path, 'two');
  expect(file.refuse(file.current())).toBeUndefined();
});
