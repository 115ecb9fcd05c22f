import { createPrivateKey, type KeyObject, sign } from 'node:crypto';
import { readFileSync, statSync } from 'node:fs';
import { ReleaseError } from './release-error.ts';

const makeOne = 'Make one with `openssl genpkey -algorithm ed25519`.';

/** Reads the Ed25519 key that signs a release, from PEM without a passphrase. Throws ReleaseError that names the file. */
export function readSigningKey(file: string): KeyObject {
  let pem: string;
  try {
    if ((statSync(file).mode & 0o077) !== 0) {
      throw new ReleaseError(`Other users can use the signing key ${file}. Run \`chmod 600 ${file}\`.`);
    }
    pem = readFileSync(file, 'utf8');
  } catch (error) {
    if (error instanceof ReleaseError) throw error;
    throw new ReleaseError(`The signing key ${file} cannot be read: ${(error as Error).message}.`, { cause: error });
  }
  const key = parseKey(pem);
  if (key?.asymmetricKeyType === 'ed25519') return key;
  throw new ReleaseError(`${file} holds no private Ed25519 key in PEM without a passphrase. ${makeOne}`);
}

// The error of the parser may quote the key.
function parseKey(pem: string): KeyObject | undefined {
  try {
    return createPrivateKey(pem);
  } catch {
    return undefined;
  }
}

/** The detached signature of a file (RFC 8032), as `openssl pkeyutl -verify -rawin` reads it. */
export function signatureOf(content: Buffer, key: KeyObject): Buffer {
  return sign(null, content, key);
}
