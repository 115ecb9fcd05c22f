import { generateKeyPairSync } from 'node:crypto';
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from '@jest/globals';
import { readSigningKey } from '../../../tools/release/signature.ts';

const folder = mkdtempSync(join(tmpdir(), 'keyframe-signing-'));
afterAll(() => rmSync(folder, { recursive: true }));

const pemOf = (type: 'ed25519' | 'x25519'): string =>
  generateKeyPairSync(type as 'ed25519')
    .privateKey.export({ type: 'pkcs8', format: 'pem' })
    .toString();

function keyFile(content: string, mode = 0o600): string {
  const file = join(folder, 'release.key');
  writeFileSync(file, content);
  chmodSync(file, mode);
  return file;
}

test('is read from a private file with an Ed25519 key', () => {
  expect(readSigningKey(keyFile(pemOf('ed25519'))).asymmetricKeyType).toBe('ed25519');
});

test.each([
  ['a key of another kind', pemOf('x25519')],
  ['no key', 'secret words'],
  ['nothing', ''],
])('is refused if the file holds %s, without a word of its content', (_case, content) => {
  const read = (): unknown => readSigningKey(keyFile(content));
  expect(read).toThrow(/holds no private Ed25519 key .* Make one with `openssl genpkey -algorithm ed25519`\.$/);
  expect(read).not.toThrow('secret words');
});

test('is refused if other users can read it, or if there is no file', () => {
  const file = keyFile(pemOf('ed25519'), 0o640);
  expect(() => readSigningKey(file)).toThrow(`Run \`chmod 600 ${file}\``);
  expect(() => readSigningKey(join(folder, 'absent'))).toThrow('cannot be read: ENOENT');
});
