import { describe, expect, test } from '@jest/globals';
import * as fc from 'fast-check';
import { createHmac, createSecretKey, randomBytes, randomUUID } from 'node:crypto';
import { clusterFingerprintKey, valueMac } from '../../../src/crypto/fingerprint.ts';
import { setFingerprint } from '../../../src/lib/set-fingerprint.ts';

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

  test('is never the MAC of a value, even under one key', () => {
    // The same bytes, as far as a UUID and a value can spell them.
    const input = Buffer.from('keyframe fingerprint 1\0\0\0\0\u0007context');
    const uuid = input.toString('hex', 0, 16).replace(/^(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-');
    expect(setFingerprint(key, 'context', [])).toEqual(createHmac('sha256', key).update(input).digest());
    expect(valueMac(key, uuid, input.subarray(16))).not.toEqual(setFingerprint(key, 'context', []));
  });
});

describe('the key of a cluster', () => {
  // Computed with Python's `cryptography`: HKDF(SHA256(), 32, salt=None, info).derive(key), where `key` is bytes(range(32))
  // and `info` is b'keyframe cluster fingerprint 1\0' + 'prod-é'.encode(). The fingerprint is
  // hmac.new(derived, b'keyframe fingerprint 1\0' + part(b'ns/app') + part(b'KEY') + part(b'value'), sha256), where
  // part(b) is len(b).to_bytes(4, 'big') + b.
  test('is the HKDF-SHA-256 of the MAC key with the name of the cluster', () => {
    const macKey = createSecretKey(Uint8Array.from({ length: 32 }, (_, index) => index));
    const derived = clusterFingerprintKey(macKey, 'prod-é');
    expect(derived.export().toString('hex')).toBe('012510e8f30c66a756190c72ea72643a926fe533f9427c4367c992fc96452aaa');
    expect(setFingerprint(derived, 'ns/app', entriesOf({ KEY: 'value' })).toString('hex')).toBe(
      '339af88a4d851295145acb93389f71617caf689076f99d195a8a8be0d8623b52',
    );
  });
});
