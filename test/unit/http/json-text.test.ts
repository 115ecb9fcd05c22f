import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { maxDepth, scanJson } from '../../../src/http/json-text.ts';

describe('a JSON text', () => {
  test.each([
    ['{"a":1,"a":2}', 'a'],
    ['{"a":1,"b":{"a":1},"c":[{"a":1},{"a":2}]}', undefined],
    ['{"set":{"K":"1","L":"","K":"2"}}', 'set.K'],
    ['{"x":[1,{"y":1,"y":1}]}', 'x.y'],
    ['{"a":1,"\\u0061":2}', 'a'],
    ['{"a\\\\":1,"a\\\\":2}', '(unprintable name)'],
    ['{"a":"a","b":"a\\",\\"a\\":1","c":["a","a"]}', undefined],
    ['{"canary canary":1,"canary canary":2}', '(unprintable name)'],
    ['{ "a" : 1 ,\n "a"\t: 2 }', 'a'],
    ['{"__proto__":1,"__proto__":2}', '__proto__'],
    ['"a"', undefined],
  ])('%s names twice: %s', (text, repeated) => {
    JSON.parse(text);
    expect(scanJson(text)).toEqual({ isTooDeep: false, repeated });
  });

  test('that any value is written as repeats no name, and does so where a member is added again', () => {
    const written = fc.tuple(fc.dictionary(fc.string({ unit: 'binary' }), fc.jsonValue({ maxDepth: 5 })), fc.nat(2));
    const assertion = fc.property(written, ([members, indent]) => {
      const text = JSON.stringify(members, undefined, indent);
      expect(scanJson(text)).toEqual({ isTooDeep: false, repeated: undefined });
      const [name] = Object.keys(members);
      if (name === undefined) return;
      const again = `${text.slice(0, text.lastIndexOf('}'))}, ${JSON.stringify(name)}: null}`;
      expect(scanJson(again).repeated).toBeDefined();
    });
    fc.assert(assertion);
  });

  test('is nested at most 32 levels deep', () => {
    const nested = (depth: number): string => '{"a":['.repeat(depth / 2) + ']}'.repeat(depth / 2);
    expect(scanJson(nested(maxDepth)).isTooDeep).toBe(false);
    expect(scanJson(`[${nested(maxDepth)}]`).isTooDeep).toBe(true);
  });

  test('that is none gets some answer', () => {
    for (const text of ['', '"', '"\\', '}]', '{"', '{"\\x":1', ',"a"', '{"a"'])
      expect(scanJson(text).isTooDeep).toBe(false);
  });

  test.each([
    ['brackets', '['.repeat(8_000_000)],
    ['quotes with backslashes', `"${'\\"'.repeat(4_000_000)}`],
    ['backslashes', `"${'\\'.repeat(8_000_000)}"`],
    ['names', `{${Array.from({ length: 600_000 }, (_, index) => `"${index}":1`).join(',')}}`],
  ])('of 8 MB of %s is looked through once', (_case, text) => {
    const startedAt = performance.now();
    scanJson(text);
    // A quadratic scan takes hours.
    expect(performance.now() - startedAt).toBeLessThan(60_000);
  });
});
