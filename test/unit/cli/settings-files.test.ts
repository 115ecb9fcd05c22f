import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, symlinkSync, truncateSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { Configuration } from '../../../src/cli/settings/configuration.ts';
import { readEnvironment } from '../../../src/cli/settings/environment.ts';
import { readRegularFile } from '../../../src/cli/settings/regular-file.ts';
import { withToken } from '../../../src/cli/settings/sign-ins.ts';
import { TrustedFolders } from '../../../src/cli/settings/trusted-folders.ts';
import { changeUserFile, readUserFile } from '../../../src/cli/settings/user-file.ts';

let folder: string;
let path: string;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'keyframe-settings-'));
  path = join(folder, 'file.json');
});
afterEach(() => rmSync(folder, { recursive: true }));

const readers = {
  'the stored sign-ins': (): unknown => readUserFile(path, () => undefined),
  'the trusted folders': (): unknown =>
    new TrustedFolders(path).stateOf({ file: { path: '/a/.keyframe.json' }, text: '{}' }),
};

describe.each(Object.entries(readers))('the file of %s', (_, read) => {
  test.each([
    ['a pipe without a writer', (): unknown => execFileSync('mkfifo', [path]), 'is not a file'],
    ['a device without an end', (): void => symlinkSync('/dev/zero', path), 'is not a file'],
    [
      'too large',
      (): void => {
        writeFileSync(path, '');
        truncateSync(path, 17 * 1024 * 1024);
      },
      'is longer than 16777216 bytes',
    ],
  ])('that is %s is refused', (_case, make, message) => {
    make();
    expect(read).toThrow(`${path} ${message}`);
  });

  test('may be a link to a file of the user', () => {
    writeFileSync(join(folder, 'real.json'), '{}', { mode: 0o600 });
    symlinkSync(join(folder, 'real.json'), path);
    expect(read).not.toThrow();
  });
});

test('a sign-in keeps what another command stored since the file was read', () => {
  const before = readUserFile(path, undefined);
  const signIn = (name: string): void =>
    changeUserFile(path, (present) =>
      withToken(present, { profile: name, url: 'https://a.example' }, `kf_pat_${name}`),
    );
  signIn('one');
  signIn('two');
  expect(before).toEqual({});
  expect(Object.keys(readUserFile(path, undefined).profiles ?? {})).toEqual(['one', 'two']);
});

test('a file without an end that is named as a token file is read up to a limit', () => {
  const environment = readEnvironment({ HOME: folder, KEYFRAME_TOKEN_FILE: '/dev/zero' }, folder);
  const configuration = new Configuration({ environment, flags: {} });
  expect(() => configuration.givenToken).toThrow('KEYFRAME_TOKEN_FILE names a file that is longer than 65536 bytes');
});

test('a token file in UTF-16 is named as such', () => {
  writeFileSync(path, Buffer.from('\uFEFFkf_svc_secret\r\n', 'utf16le'));
  const environment = readEnvironment({ HOME: folder, KEYFRAME_TOKEN_FILE: path }, folder);
  const configuration = new Configuration({ environment, flags: {} });
  expect(() => configuration.givenToken).toThrow('KEYFRAME_TOKEN_FILE is in UTF-16, which PowerShell 5 writes');
});

test('a file of several pieces is read whole', () => {
  const text = 'ü'.repeat(100_000);
  writeFileSync(path, text);
  expect(readRegularFile(path, { maxBytes: 200_000, followsLinks: false }).text).toBe(text);
  expect(() => readRegularFile(path, { maxBytes: 199_999, followsLinks: false })).toThrow(
    'is longer than 199999 bytes',
  );
});
