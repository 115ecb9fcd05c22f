import { describe, expect, test } from '@jest/globals';
import * as fc from 'fast-check';
import { randomBytes } from 'node:crypto';
import { inspect } from 'node:util';
import { RootKeyFormatError, RootKeys } from '../../../src/crypto/root-keys.ts';
import { DomainError } from '../../../src/domain/errors/domain-error.ts';

const a = randomBytes(32).toString('base64');
const b = randomBytes(32).toString('base64');

function faultsOf(text: string): readonly string[] {
  try {
    RootKeys.parse(text);
  } catch (error) {
    if (error instanceof RootKeyFormatError) return error.errors;
    throw error;
  }
  return [];
}

function detailOf(work: () => unknown): string {
  try {
    work();
  } catch (error) {
    if (error instanceof DomainError && error.code === 'key_unavailable') return error.detail;
    throw error;
  }
  return 'nothing was thrown';
}

describe('parsing root keys', () => {
  test('keeps the order of the lines, and the first is the current one', () => {
    const keys = RootKeys.parse(`new-1:${b}\n2025.old_a:${a}\n`);
    expect(keys.currentId).toBe('new-1');
    expect(keys.ids).toEqual(['new-1', '2025.old_a']);
  });

  test('takes one line without its end, ends of Windows and empty lines', () => {
    expect(RootKeys.parse(`k:${a}`).ids).toEqual(['k']);
    expect(RootKeys.parse(`\r\n k:${a} \r\n\r\nl:${b}\r\n`).ids).toEqual(['k', 'l']);
  });

  test.each([
    ['nothing', '', ['no key found']],
    ['white space', ' \n\t\n', ['no key found']],
    ['a key without an id', a, ['line 1 has no colon']],
    ['an empty id', `:${a}`, ['line 1 has a malformed id']],
    ['an id of 33 characters', `${'i'.repeat(33)}:${a}`, ['line 1 has a malformed id']],
    ['a key in the place of the id', `${a}:k`, ['line 1 has a malformed id']],
    ['a space before the key', `k: ${a}`, ['line 1 has a key that is not canonical base64']],
    ['no key', 'k:', ['line 1 has a key of 0 bytes instead of 32']],
    ['31 bytes', `k:${randomBytes(31).toString('base64')}`, ['line 1 has a key of 31 bytes instead of 32']],
    ['33 bytes', `k:${randomBytes(33).toString('base64')}`, ['line 1 has a key of 33 bytes instead of 32']],
    ['hexadecimal digits', `k:${randomBytes(32).toString('hex')}`, ['line 1 has a key of 48 bytes instead of 32']],
    ['no padding', `k:${a.slice(0, -1)}`, ['line 1 has a key that is not canonical base64']],
    ['base64url', `k:${'-_'.repeat(21)}8=`, ['line 1 has a key that is not canonical base64']],
    ['bits beyond the last byte', `k:${'A'.repeat(42)}B=`, ['line 1 has a key that is not canonical base64']],
    ['an id twice', `k:${a}\nk:${b}`, ['line 2 has the id of an earlier line']],
    ['a key twice', `k:${a}\nl:${a}`, ['line 2 has the key of an earlier line']],
    ['several faults', `k\n\nk:${a}\nl:x\n`, ['line 1 has no colon', 'line 4 has a key that is not canonical base64']],
  ])('refuses %s', (_what, text, faults) => {
    expect(faultsOf(text)).toEqual(faults);
  });

  test('says how to make a key, and never repeats what it read', () => {
    const canary = 'Canary0123456789';
    for (const text of [canary, `${canary}==:${canary}`, `k:${canary}`, `k:${a}\nl:${a}\n${canary}`]) {
      expect(() => RootKeys.parse(text)).toThrow(/openssl rand -base64 32/);
      expect(() => RootKeys.parse(text)).not.toThrow(new RegExp(canary));
      expect(() => RootKeys.parse(text)).not.toThrow(a);
    }
  });
});

describe('wrapping', () => {
  const purpose = 'data-key:project:key';

  test('is done by the first root key and undone by any', () => {
    const before = RootKeys.parse(`old:${a}`);
    const during = RootKeys.parse(`new:${b}\nold:${a}`);
    const after = RootKeys.parse(`new:${b}`);
    fc.assert(
      fc.property(fc.uint8Array({ minLength: 32, maxLength: 32 }), fc.string(), (key, anyPurpose) => {
        const [old, young] = [before.wrap(key, anyPurpose), during.wrap(key, anyPurpose)];
        expect([old.rootKeyId, young.rootKeyId]).toEqual(['old', 'new']);
        expect(during.unwrap(old, anyPurpose)).toEqual(Buffer.from(key));
        expect(after.unwrap(young, anyPurpose)).toEqual(Buffer.from(key));
      }),
    );
  });

  test('names the root key that is missing', () => {
    const wrapped = RootKeys.parse(`old:${a}`).wrap(randomBytes(32), purpose);
    expect(detailOf(() => RootKeys.parse(`new:${a}`).unwrap(wrapped, purpose))).toMatch(/^Root key "old" is missing/);
  });

  test('names the root key that has other bytes than those that wrapped', () => {
    const wrapped = RootKeys.parse(`k:${a}`).wrap(randomBytes(32), purpose);
    expect(detailOf(() => RootKeys.parse(`k:${b}`).unwrap(wrapped, purpose))).toMatch(/^Root key "k" does not open/);
  });

  test('is bound to its purpose, to its bytes and to the root key that did it', () => {
    const keys = RootKeys.parse(`k:${a}\nl:${b}`);
    const wrapped = keys.wrap(randomBytes(32), purpose);
    const altered = { ...wrapped, wrappedKey: Buffer.from(wrapped.wrappedKey).fill(0, 40, 41) };
    altered.wrappedKey[40] = (wrapped.wrappedKey[40] ?? 0) ^ 1;
    expect(detailOf(() => keys.unwrap(wrapped, 'data-key:project:other'))).toMatch(/^Root key "k" does not open/);
    expect(detailOf(() => keys.unwrap(altered, purpose))).toMatch(/^Root key "k" does not open/);
    expect(detailOf(() => keys.unwrap({ ...wrapped, rootKeyId: 'l' }, purpose))).toMatch(/^Root key "l" does not open/);
  });

  test('shows no key where root keys are printed', () => {
    const keys = RootKeys.parse(`k:${a}`);
    const hex = Buffer.from(a, 'base64').toString('hex');
    for (const text of [inspect(keys, { depth: 9, showHidden: true }), JSON.stringify(keys)]) {
      expect(text).not.toContain(a);
      expect(text.replaceAll(' ', '')).not.toContain(hex.slice(0, 16));
    }
  });
});
