import { describe, expect, test } from '@jest/globals';
import { gcm } from '@noble/ciphers/aes.js';
import * as fc from 'fast-check';
import { createCipheriv, createSecretKey, randomBytes } from 'node:crypto';
import { DecryptionError, formatByte, open, seal, sealedOverheadBytes } from '../../../src/crypto/aead.ts';

const key = randomBytes(32);
const aad = Buffer.from('where it belongs');
const bytes = (maxLength: number): fc.Arbitrary<Uint8Array> => fc.uint8Array({ maxLength });
const keys = fc.uint8Array({ minLength: 32, maxLength: 32 });

/** The format as documented, spelled out by hand. */
function parts(sealed: Uint8Array): { nonce: Uint8Array; tag: Uint8Array; ciphertext: Uint8Array } {
  return { nonce: sealed.subarray(1, 13), tag: sealed.subarray(13, 29), ciphertext: sealed.subarray(29) };
}

describe('what is sealed', () => {
  test('opens again under the same key and associated data, from nothing up to 256 KiB', () => {
    for (const length of [0, 1, 15, 16, 17, 256 * 1024]) {
      const plaintext = randomBytes(length);
      const sealed = seal(key, plaintext, aad);
      expect(sealed.length).toBe(length + sealedOverheadBytes);
      expect(open(key, sealed, aad).equals(plaintext)).toBe(true);
    }
  });

  test('opens under a key object of the same bytes', () => {
    expect(open(createSecretKey(key), seal(key, Buffer.from('x'), aad), aad).toString()).toBe('x');
    expect(open(key, seal(createSecretKey(key), Buffer.from('x'), aad), aad).toString()).toBe('x');
  });

  test('has the format byte, a new nonce and a tag before the ciphertext', () => {
    const sealed = [1, 2, 3].map(() => seal(key, Buffer.from('same'), aad));
    expect(sealed.map((one) => one[0])).toEqual([1, 1, 1]);
    expect(new Set(sealed.map((one) => Buffer.from(parts(one).nonce).toString('hex'))).size).toBe(3);
    expect(new Set(sealed.map((one) => Buffer.from(parts(one).ciphertext).toString('hex'))).size).toBe(3);
  });

  test('agrees with an independent AES-256-GCM that opens it', () => {
    fc.assert(
      fc.property(keys, bytes(300), bytes(100), (anyKey, plaintext, anyAad) => {
        const { nonce, tag, ciphertext } = parts(seal(anyKey, plaintext, anyAad));
        const theirs = gcm(anyKey, nonce, Uint8Array.of(formatByte, ...anyAad));
        expect(Buffer.from(theirs.decrypt(Buffer.concat([ciphertext, tag])))).toEqual(Buffer.from(plaintext));
      }),
    );
  });

  test('agrees with an independent AES-256-GCM that sealed it', () => {
    const nonces = fc.uint8Array({ minLength: 12, maxLength: 12 });
    fc.assert(
      fc.property(keys, nonces, bytes(300), bytes(100), (anyKey, nonce, plaintext, anyAad) => {
        const theirs = gcm(anyKey, nonce, Uint8Array.of(formatByte, ...anyAad)).encrypt(plaintext);
        const [ciphertext, tag] = [theirs.subarray(0, -16), theirs.subarray(-16)];
        const sealed = Buffer.concat([Uint8Array.of(formatByte), nonce, tag, ciphertext]);
        expect(open(anyKey, sealed, anyAad)).toEqual(Buffer.from(plaintext));
      }),
    );
  });
});

describe('refused is', () => {
  const sealed = seal(key, Buffer.from('a value'), aad);
  const refused = (altered: Uint8Array, otherKey: Uint8Array = key, otherAad: Uint8Array = aad): void => {
    expect(() => open(otherKey, altered, otherAad)).toThrow(DecryptionError);
  };

  test('each flipped bit of each byte', () => {
    for (let index = 0; index < sealed.length; index += 1) {
      for (let bit = 0; bit < 8; bit += 1) {
        const altered = Buffer.from(sealed);
        altered[index] = (altered[index] ?? 0) ^ (1 << bit);
        refused(altered);
      }
    }
  });

  test('every truncation, from either end, and anything appended', () => {
    for (let length = 0; length < sealed.length; length += 1) {
      refused(sealed.subarray(0, length));
      refused(sealed.subarray(sealed.length - length));
    }
    refused(Buffer.concat([sealed, Buffer.of(0)]));
  });

  test('a tag shorter than 16 bytes, though it is the right beginning of one', () => {
    for (const authTagLength of [4, 8, 12, 13, 14, 15]) {
      for (const plaintext of ['', 'a value']) {
        const nonce = randomBytes(12);
        const cipher = createCipheriv('aes-256-gcm', key, nonce, { authTagLength });
        cipher.setAAD(Buffer.concat([Buffer.of(formatByte), aad]));
        const ciphertext = cipher.update(plaintext);
        cipher.final();
        refused(Buffer.concat([Buffer.of(formatByte), nonce, cipher.getAuthTag(), ciphertext]));
      }
    }
  });

  test('another key', () => {
    refused(sealed, randomBytes(32));
  });

  test('other associated data: none, shorter, longer, another', () => {
    for (const other of ['', 'where it belong', 'where it belongs ', 'Where it belongs']) {
      refused(sealed, key, Buffer.from(other));
    }
  });

  test('another format byte, even where everything else was made for it', () => {
    const nonce = randomBytes(12);
    const made = gcm(key, nonce, Buffer.concat([Buffer.of(2), aad])).encrypt(Buffer.from('x'));
    refused(Buffer.concat([Buffer.of(2), nonce, made.subarray(-16), made.subarray(0, -16)]));
    // Nor does a value of our format open whose format byte was not authenticated.
    const bare = gcm(key, nonce, aad).encrypt(Buffer.from('x'));
    refused(Buffer.concat([Buffer.of(formatByte), nonce, bare.subarray(-16), bare.subarray(0, -16)]));
  });

  test('a key of another length, as the fault of the caller that it is', () => {
    expect(() => seal(randomBytes(16), Buffer.from('x'), aad)).toThrow('Invalid key length');
    expect(() => open(randomBytes(31), sealed, aad)).toThrow('Invalid key length');
  });
});
