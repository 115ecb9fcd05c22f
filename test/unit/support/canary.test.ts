import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { inspect } from 'node:util';
import { Canary } from '../../support/fixtures/canary.ts';

const canary = new Canary();
const bytes = Buffer.from(canary.value);
const encodingsOf = (text: string | Uint8Array): string[] =>
  canary.traces(Buffer.from(text)).map(({ encoding }) => encoding);
const twice = (text: string): string => Buffer.from(Buffer.from(text).toString('base64')).toString('base64');

describe('a canary is found', () => {
  test.each([
    ['plain', canary.value, 'plain'],
    ['JSON', JSON.stringify({ value: canary.value }), 'plain'],
    ['JSON in JSON', JSON.stringify(JSON.stringify({ value: canary.value })), 'plain'],
    ['a URL', `?q=${encodeURIComponent(canary.value)}`, 'plain'],
    ['a form', new URLSearchParams({ q: canary.value }).toString(), 'plain'],
    ['hexadecimal', bytes.toString('hex'), 'hex'],
    ['upper-case hexadecimal', bytes.toString('hex').toUpperCase(), 'hex'],
    ["PostgreSQL's bytea", `(1,"\\\\x${bytes.toString('hex')}")`, 'hex'],
    ['a printed Buffer', inspect(bytes), 'hex with spaces'],
    ['a Buffer in JSON', JSON.stringify(bytes), 'byte numbers'],
    ['a printed list of bytes', [...bytes].join(', '), 'byte numbers'],
    ['a URL that encodes everything', bytes.toString('hex').replaceAll(/../g, '%$&'), 'every byte URL-encoded'],
    [
      'JSON that escapes everything',
      bytes.toString('hex').toUpperCase().replaceAll(/../g, '\\u00$&'),
      'every character JSON-escaped',
    ],
    ['UTF-16', Buffer.from(canary.value, 'utf16le'), 'UTF-16'],
  ])('in %s', (_form, text, encoding) => {
    expect(encodingsOf(text)).toContain(encoding);
  });

  test.each([0, 1, 2])('in base64 and base64url after 3n+%i other bytes', (offset) => {
    for (const before of [offset, offset + 3, offset + 30]) {
      const surrounded = Buffer.concat([Buffer.alloc(before, 'ÿ'), bytes, Buffer.alloc(7, 'ÿ')]);
      expect(encodingsOf(surrounded.toString('base64'))).toEqual(
        [`base64, offset ${offset}`, `base64, offset ${(offset + tailShift) % 3}`].filter(unique),
      );
      expect(encodingsOf(surrounded.toString('base64url'))).toContain(`base64, offset ${offset}`);
    }
  });

  test('in base64 of base64, whatever stands around it', () => {
    fc.assert(
      fc.property(fc.string(), fc.string(), fc.string(), (before, between, after) => {
        const inner = Buffer.from(before + canary.value + after).toString('base64');
        return encodingsOf(Buffer.from(between + inner).toString('base64')).some((encoding) =>
          /base64.*then base64/.test(encoding),
        );
      }),
    );
    expect(encodingsOf(twice(canary.value))).not.toEqual([]);
  });

  test('when it was cut short at either end', () => {
    expect(encodingsOf(`${canary.value.slice(0, 18)}…`)).toEqual(['plain']);
    expect(encodingsOf(`…${canary.value.slice(-18)}`)).toEqual(['plain']);
    expect(encodingsOf(`${bytes.toString('base64').slice(0, 24)}…`)).toEqual(['base64, offset 0']);
  });

  test('as a part of a secret that is there anyway', () => {
    const token = `kf_svc_${'a'.repeat(22)}0123456789abcdefghijklmnopqrstuvwxyzABCDEFG`;
    const watched = new Canary(token);
    for (const text of [token, token.slice(-32), token.slice(0, -16), Buffer.from(token).toString('base64')]) {
      expect(watched.traces(Buffer.from(text))).not.toEqual([]);
    }
    expect(watched.traces(Buffer.from(token.slice(0, 29)))).toEqual([]);
  });

  test('with the place where it stands', () => {
    expect(canary.traces(Buffer.from(`12345${canary.value}`))[0]?.offset).toBe(5);
  });
});

describe('a canary is not found', () => {
  test('where it is not', () => {
    fc.assert(fc.property(fc.uint8Array({ maxLength: 400 }), (others) => canary.traces(others).length === 0));
    expect(encodingsOf(JSON.stringify({ value: new Canary().value }))).toEqual([]);
    expect(encodingsOf(canary.value.toLowerCase())).toEqual([]);
  });
});

// Head and tail of the value need not stand at the same offset.
const tailShift = (bytes.length - 16) % 3;
const unique = <Item>(item: Item, index: number, items: readonly Item[]): boolean => items.indexOf(item) === index;
