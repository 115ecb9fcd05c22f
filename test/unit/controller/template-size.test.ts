import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import {
  type ValueSize,
  composeValues,
  composedSize,
} from '../../../src/controller/kinds/secret-sync/data/template.ts';
import { composed, limit, values } from './template-values.ts';

describe('the size of composed values', () => {
  const sizes = new Map<string, ValueSize>(
    [...values].map(([name, value]) => [name, { bytes: value.length, isExact: true }]),
  );
  const sizeOf = (data: Record<string, string>, most = limit): ValueSize => composedSize({ data }, sizes, most);

  test.each<readonly [template: string, isExact: boolean]>([
    ['plain äö', true],
    ['$(USER):$(PASSWORD)@', true],
    ['$(tls.crt-1 | base64 | base64)', true],
    ['$(ABSENT | default "ä")$(EMPTY | default "not this")', true],
    ['$(PASSWORD | json)', false],
    ['$(PASSWORD | quote | base64)', false],
    ['$(tls.crt-1 | json | json)', false],
    ['$(KEYSTORE | urlencode | base64)', false],
    ['$(LINE | trim | base64)', false],
    ['$(LOGIN | json "user" | base64)', false],
    ['$(LOGIN | json "nope" | default "x")', false],
  ])('is known before they are composed: %s', (template, isExact) => {
    const { length } = Buffer.from(composed(template));
    const size = sizeOf({ T: template });
    expect(size.isExact).toBe(isExact);
    expect(size.bytes).toBeLessThanOrEqual(length);
    expect(isExact ? size.bytes : length).toBe(length);
  });

  test('is never more than they come to, and exactly that if it says so', () => {
    const part = fc.oneof(
      fc.string({ maxLength: 5 }).map((literal) => literal.replaceAll('$', '')),
      fc
        .tuple(
          fc.constantFrom(
            'USER',
            'PASSWORD',
            'EMPTY',
            'tls.crt-1',
            'LINE',
            'LOGIN | json "port"',
            'ABSENT | default "x"',
          ),
          fc.array(fc.constantFrom('base64', 'json', 'quote', 'trim', 'urlencode', 'default "y"'), { maxLength: 4 }),
        )
        .map(([key, steps]) => `$(${[key, ...steps].join(' | ')})`),
    );
    fc.assert(
      fc.property(fc.array(part, { maxLength: 5 }), (parts) => {
        const template = parts.join('');
        const { length } = Buffer.from(composed(template));
        const size = sizeOf({ T: template });
        expect(size.bytes).toBeLessThanOrEqual(length);
        expect(size.isExact ? size.bytes : length).toBe(length);
      }),
    );
  });

  test('is of all together', () => {
    expect(sizeOf({ ONE: '$(USER)', TWO: '$(USER)$(USER)' })).toEqual({ bytes: 9, isExact: true });
  });

  test('refuses what one of them alone exceeds, and names that cannot be', () => {
    expect(() => sizeOf({ T: '$(PASSWORD)$(PASSWORD)' }, 10)).toThrow('The template of T has more than the 10 bytes');
    expect(() => sizeOf({ USER: 'x' })).toThrow('The key USER comes both');
    expect(() => sizeOf({ T: '$(ABSENT)' })).toThrow('ABSENT');
    expect(() => sizeOf({ T: '$(' })).toThrow('invalid at character');
  });
});

test('values that are too large together are refused before they are all composed', () => {
  const large = new Map([['LARGE', Buffer.alloc(1000, '"')]]);
  const data = Object.fromEntries(Array.from({ length: 32 }, (_, index) => [`T_${index}`, '$(LARGE | json)']));
  expect(() => composeValues({ data }, large, 10_000)).toThrow('The templates together have more than the 10000 bytes');
});

test('a value that is too large alone is refused before all of its parts are put together', () => {
  let reads = 0;
  class CountedValues extends Map<string, Buffer> {
    override get(key: string): Buffer | undefined {
      reads += 1;
      return super.get(key);
    }
  }
  const counted = new CountedValues([['LARGE', Buffer.alloc(1000, 'x')]]);
  const data = { T: '$(LARGE)'.repeat(500) };
  expect(() => composeValues({ data }, counted, 10_000)).toThrow('The template of T has more than the 10000 bytes');
  expect(reads).toBe(11);
});
