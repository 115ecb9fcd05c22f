import { describe, expect, test } from '@jest/globals';
import * as fc from 'fast-check';
import { createHmac, createSecretKey, randomBytes, randomUUID } from 'node:crypto';
import { setFingerprint, valueMac } from '../../../src/crypto/fingerprint.ts';

const key = createSecretKey(randomBytes(32));
const otherKey = createSecretKey(randomBytes(32));
const id = randomUUID();
const entriesOf = (record: Readonly<Record<string, string>>): [string, Uint8Array][] =>
  Object.entries(record).map(([name, value]) => [name, Buffer.from(value)]);
const fingerprint = (record: Readonly<Record<string, string>>, context = 'target'): string =>
  setFingerprint(key, context, entriesOf(record)).toString('hex');

const mac = (secretId: string, value: string): string => valueMac(key, secretId, Buffer.from(value)).toString('hex');

describe('the MAC of a value', () => {
  test('is the same for the same value of the same secret, whatever the case of its UUID', () => {
    expect(mac(id, 'v')).toBe(mac(id, 'v'));
    expect(mac(id.toUpperCase(), 'v')).toBe(mac(id, 'v'));
    expect(mac(id, 'v')).toMatch(/^[0-9a-f]{64}$/);
  });

  test('differs for another value, another secret and another key', () => {
    const macs = [
      mac(id, 'v'),
      mac(id, ''),
      mac(id, 'v '),
      mac(randomUUID(), 'v'),
      valueMac(otherKey, id, Buffer.from('v')).toString('hex'),
    ];
    expect(new Set(macs).size).toBe(macs.length);
  });
});

describe('the fingerprint of a set', () => {
  test('does not depend on the order', () => {
    const names = fc.uniqueArray(fc.tuple(fc.string(), fc.uint8Array({ maxLength: 20 })), {
      selector: ([name]) => name,
    });
    fc.assert(
      fc.property(
        names.chain((set) => fc.tuple(fc.constant(set), fc.shuffledSubarray(set, { minLength: set.length }))),
        ([set, shuffled]) => {
          expect(setFingerprint(key, 'c', shuffled)).toEqual(setFingerprint(key, 'c', set));
        },
      ),
    );
  });

  test('differs whenever a name, a value, the context or the key does', () => {
    const all = [
      fingerprint({}),
      fingerprint({ a: '' }),
      fingerprint({ a: 'b' }),
      fingerprint({ b: 'a' }),
      fingerprint({ ab: '' }),
      fingerprint({ '': 'ab' }),
      fingerprint({ a: '', b: '' }),
      fingerprint({ a: 'x', b: 'y' }),
      fingerprint({ a: 'y', b: 'x' }),
      fingerprint({ a: '\0\0\0\u0001b\0\0\0\u0001y' }),
      fingerprint({ 'a\0\0\0\u0001xb': 'y' }),
      fingerprint({ a: 'b' }, 'other'),
      fingerprint({ a: 'b' }, ''),
      fingerprint({ target: 'b' }, 'a'),
      setFingerprint(otherKey, 'target', entriesOf({ a: 'b' })).toString('hex'),
    ];
    expect(new Set(all).size).toBe(all.length);
  });

  test('is never the MAC of a value, though one key makes both', () => {
    // The same bytes, as far as a UUID and a value can spell them.
    const input = Buffer.from('keyframe fingerprint 1\0\0\0\0\u0007context');
    const uuid = input.toString('hex', 0, 16).replace(/^(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-');
    expect(setFingerprint(key, 'context', [])).toEqual(createHmac('sha256', key).update(input).digest());
    expect(valueMac(key, uuid, input.subarray(16))).not.toEqual(setFingerprint(key, 'context', []));
  });
});
