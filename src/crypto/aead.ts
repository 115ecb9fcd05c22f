import { createCipheriv, createDecipheriv, type KeyObject, randomBytes } from 'node:crypto';

/** The first byte of all sealed data: the version of the format. It is authenticated too. */
export const formatByte = 0x01;
/** Bytes of an AES-256 key. */
export const keyBytes = 32;
/** Bytes that sealing adds to the plaintext. */
export const sealedOverheadBytes = 29;

const algorithm = 'aes-256-gcm';
const nonceBytes = 12;
const tagBytes = 16;
// Without it, Node would also accept tags of 4 bytes, which can be guessed.
const options = { authTagLength: tagBytes };
const format = Uint8Array.of(formatByte);

/** The data were not sealed under this key and associated data. */
export class DecryptionError extends Error {
  constructor() {
    super('cannot decrypt sealed data: it was altered, moved, or sealed under another key');
    this.name = 'DecryptionError';
  }
}

/**
 * Encrypts with AES-256-GCM (NIST SP 800-38D) under a random nonce. Returns the format byte 0x01, nonce (12 bytes), tag
 * (16) and ciphertext. The format byte and `aad` are authenticated too. With random nonces, a key must be used at most
 * 2^32 times (SP 800-38D, 8.3): the caller counts. Throws RangeError if the key does not have 32 bytes.
 */
export function seal(key: KeyObject | Uint8Array, plaintext: Uint8Array, aad: Uint8Array): Buffer<ArrayBuffer> {
  const nonce = randomBytes(nonceBytes);
  const cipher = createCipheriv(algorithm, key, nonce, options);
  cipher.setAAD(format).setAAD(aad);
  const ciphertext = cipher.update(plaintext);
  cipher.final();
  return Buffer.concat([format, nonce, cipher.getAuthTag(), ciphertext]);
}

/** Decrypts the result of `seal`. Throws DecryptionError for another key, other `aad` or any altered byte. */
export function open(key: KeyObject | Uint8Array, sealed: Uint8Array, aad: Uint8Array): Buffer {
  if (sealed.length < sealedOverheadBytes || sealed[0] !== formatByte) throw new DecryptionError();
  const decipher = createDecipheriv(algorithm, key, sealed.subarray(1, 1 + nonceBytes), options);
  decipher.setAuthTag(sealed.subarray(1 + nonceBytes, sealedOverheadBytes));
  decipher.setAAD(format).setAAD(aad);
  const plaintext = decipher.update(sealed.subarray(sealedOverheadBytes));
  try {
    decipher.final();
  } catch {
    plaintext.fill(0);
    throw new DecryptionError();
  }
  return plaintext;
}
