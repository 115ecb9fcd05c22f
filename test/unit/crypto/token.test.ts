import { describe, expect, test } from '@jest/globals';
import * as fc from 'fast-check';
import { createHash, randomUUID } from 'node:crypto';
import { inspect } from 'node:util';
import { crc32 } from 'node:zlib';
import { generateToken, hashesEqual, parseToken, type TokenKind } from '../../../src/crypto/token.ts';

const kinds = fc.constantFrom<TokenKind>('service_token', 'personal_token', 'cluster');
const alphabet = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';

/** The checksum as documented: CRC-32 in six digits of base62. */
function withChecksum(unsigned: string): string {
  let [rest, digits] = [crc32(unsigned), ''];
  for (let place = 0; place < 6; place += 1) {
    digits = alphabet.charAt(rest % 62) + digits;
    rest = Math.floor(rest / 62);
  }
  return unsigned + digits;
}

describe('a token', () => {
  test('comes back from its text: kind, credential and the hash that is stored', () => {
    fc.assert(
      fc.property(kinds, fc.uuid(), (kind, credentialId) => {
        const { token, hash } = generateToken(kind, credentialId);
        const parsed = parseToken(token.reveal());
        expect(parsed).toEqual({ kind, credentialId, hash });
        expect(hash).toEqual(createHash('sha256').update(token.reveal()).digest());
      }),
    );
  });

  test('holds the least and the greatest UUID', () => {
    for (const id of ['00000000-0000-0000-0000-000000000000', 'ffffffff-ffff-ffff-ffff-ffffffffffff']) {
      expect(parseToken(generateToken('service_token', id).token.reveal())?.credentialId).toBe(id);
    }
  });

  test('has its prefix and 71 characters of base62, the last six a checksum of all before', () => {
    const service = generateToken('service_token', randomUUID()).token.reveal();
    expect(service).toMatch(/^kf_svc_[0-9A-Za-z]{71}$/);
    expect(generateToken('personal_token', randomUUID()).token.reveal()).toMatch(/^kf_pat_[0-9A-Za-z]{71}$/);
    expect(withChecksum(service.slice(0, -6))).toBe(service);
  });

  test('has 256 new bits each time, also for the same credential', () => {
    const id = randomUUID();
    const secrets = Array.from({ length: 100 }, () => generateToken('service_token', id).token.reveal().slice(29, 72));
    expect(new Set(secrets).size).toBe(100);
    // Every place varies, the first too: the secret fills its 43 characters.
    for (let place = 0; place < 43; place += 1) {
      expect(new Set(secrets.map((secret) => secret[place])).size).toBeGreaterThan(5);
    }
  });

  test('prints nowhere', () => {
    const generated = generateToken('service_token', randomUUID());
    const text = generated.token.reveal();
    expect(
      `${inspect(generated, { depth: 9, showHidden: true })} ${JSON.stringify(generated)} ${String(generated.token)}`,
    ).not.toContain(text);
  });

  test('needs a UUID', () => {
    expect(() => generateToken('service_token', 'not-a-uuid')).toThrow(TypeError);
  });
});

describe('refused is', () => {
  test.each(['service_token', 'personal_token'] as const)('each other character in each place of a %s', (kind) => {
    const text = generateToken(kind, randomUUID()).token.reveal();
    const accepted: number[] = [];
    for (let place = 0; place < text.length; place += 1) {
      for (const character of `${alphabet}_- `.replace(text[place] ?? '', '')) {
        if (parseToken(text.slice(0, place) + character + text.slice(place + 1)) !== undefined) accepted.push(place);
      }
    }
    expect(accepted).toEqual([]);
  });

  test('any one character replaced, left out, doubled or exchanged with its neighbour', () => {
    fc.assert(
      fc.property(
        kinds,
        fc.nat(77),
        fc.string({ unit: 'grapheme', minLength: 1, maxLength: 1 }),
        (kind, place, other) => {
          const text = generateToken(kind, randomUUID()).token.reveal();
          const [before, at, next, after] = [
            text.slice(0, place),
            text[place] ?? '',
            text[place + 1] ?? '',
            text.slice(place + 2),
          ];
          const altered = [
            before + other + next + after,
            before + next + after,
            before + at + at + next + after,
            before + next + at + after,
          ];
          for (const one of altered.filter((candidate) => candidate !== text)) expect(parseToken(one)).toBeUndefined();
        },
      ),
    );
  });

  test('a token cut short, lengthened, or with white space around it', () => {
    const text = generateToken('service_token', randomUUID()).token.reveal();
    for (let length = 0; length < text.length; length += 1) expect(parseToken(text.slice(0, length))).toBeUndefined();
    for (const other of [`${text}0`, ` ${text}`, `${text} `, `${text}\n`, `Bearer ${text}`, text + text]) {
      expect(parseToken(other)).toBeUndefined();
    }
  });

  test('a token with the prefix of the other kind', () => {
    const text = generateToken('service_token', randomUUID()).token.reveal();
    expect(parseToken(text.replace('kf_svc_', 'kf_pat_'))).toBeUndefined();
  });

  test('a credential id beyond 128 bits, though its checksum is right', () => {
    const [greatest, beyond] = ['7n42DGM5Tflk9n8mt7Fhc7', '7n42DGM5Tflk9n8mt7Fhc8'];
    expect(parseToken(withChecksum(`kf_svc_${greatest}${'0'.repeat(43)}`))?.credentialId).toMatch(/^ffffffff-/);
    expect(parseToken(withChecksum(`kf_svc_${beyond}${'0'.repeat(43)}`))).toBeUndefined();
    expect(parseToken(withChecksum(`kf_svc_${'z'.repeat(65)}`))).toBeUndefined();
  });

  test('a body of another length or alphabet, though its checksum is right', () => {
    expect(parseToken(withChecksum(`kf_svc_${'1'.repeat(65)}`))?.kind).toBe('service_token');
    for (const body of [
      '1'.repeat(64),
      '1'.repeat(66),
      `-${'1'.repeat(64)}`,
      `${'1'.repeat(64)}_`,
      `\n${'1'.repeat(64)}`,
      '',
    ]) {
      expect(parseToken(withChecksum(`kf_svc_${body}`))).toBeUndefined();
    }
  });

  test('any other text', () => {
    fc.assert(
      fc.property(fc.string(), (text) => {
        expect(parseToken(text)).toBeUndefined();
        expect(parseToken(`kf_svc_${text}`)).toBeUndefined();
      }),
    );
  });
});

test('hashes are equal only when all their bytes are', () => {
  const { hash } = generateToken('service_token', randomUUID());
  expect(hashesEqual(hash, Buffer.from(hash))).toBe(true);
  for (let index = 0; index < hash.length; index += 1) {
    const other = Buffer.from(hash);
    other[index] = (other[index] ?? 0) ^ 1;
    expect(hashesEqual(hash, other)).toBe(false);
  }
  expect(hashesEqual(hash, hash.subarray(1))).toBe(false);
  expect(hashesEqual(Buffer.alloc(0), hash)).toBe(false);
});
