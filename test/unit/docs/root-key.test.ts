import { execFileSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeEach, expect, test } from '@jest/globals';
import { RootKeys } from '../../../src/crypto/root-keys.ts';
import { documentedCommands } from '../../support/cli/documented-commands.ts';
import { readPage } from '../../support/fixtures/documentation.ts';

/** The procedure of docs/backup-and-recovery.md for a new root key, as far as it needs no cluster. */

const folder = mkdtempSync(join(tmpdir(), 'keyframe-root-key-'));
const file = join(folder, 'root-key');
const [, section = ''] = readPage('docs/backup-and-recovery.md').split('\n## Change the root key\n');
const [add = '', publish = '', reorder = ''] = documentedCommands(section.split('\n## ')[0] ?? '').map(
  ({ command }) => command,
);

// As `init` and `openssl` make it: with or without the end of the line.
beforeEach(() => writeFileSync(file, `main:${randomBytes(32).toString('base64')}`));
afterAll(() => rmSync(folder, { recursive: true }));

const run = (script: string): void => {
  execFileSync('bash', ['-eu', '-c', script], { cwd: folder });
};
const keys = (): RootKeys => RootKeys.parse(readFileSync(file, 'utf8'));

test('adds a key that opens and does not wrap yet, then lets it wrap; what the old one wrapped opens all the time', () => {
  const wrapped = keys().wrap(randomBytes(32), 'data-key');
  run(add.slice(add.indexOf('\n')));
  expect(keys().ids).toEqual(['main', 'key-2027']);
  expect(keys().unwrap(wrapped, 'data-key')).toHaveLength(32);
  const former = keys();
  run(reorder);
  expect(keys().ids).toEqual(['key-2027', 'main']);
  expect(keys().unwrap(wrapped, 'data-key')).toHaveLength(32);
  // A server with the former order opens what one with the new order wraps.
  const next = keys().wrap(randomBytes(32), 'data-key');
  expect(next.rootKeyId).toBe('key-2027');
  expect(former.unwrap(next, 'data-key')).toHaveLength(32);
});

test('writes the file into the Secret as it is', () => {
  run(publish.slice(0, publish.indexOf('\n')).replace('\\', '> patch.json'));
  expect(JSON.parse(readFileSync(join(folder, 'patch.json'), 'utf8'))).toEqual({
    stringData: { 'root-key': readFileSync(file, 'utf8') },
  });
});
