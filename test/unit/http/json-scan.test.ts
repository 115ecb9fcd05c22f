import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { maxDepth, scanJson } from '../../../src/http/request/json-scan.ts';

const scan = (text: string): ReturnType<typeof scanJson> => scanJson(text, Infinity);

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
  ])('%s names twice: %s', async (text, repeated) => {
    JSON.parse(text);
    await expect(scan(text)).resolves.toEqual({ excess: undefined, repeated });
  });

  test('that any value is written as repeats no name, and does so where a member is added again', async () => {
    const written = fc.tuple(fc.dictionary(fc.string({ unit: 'binary' }), fc.jsonValue({ maxDepth: 5 })), fc.nat(2));
    const assertion = fc.asyncProperty(written, async ([members, indent]) => {
      const text = JSON.stringify(members, undefined, indent);
      expect(await scan(text)).toEqual({ excess: undefined, repeated: undefined });
      const [name] = Object.keys(members);
      if (name === undefined) return;
      const again = `${text.slice(0, text.lastIndexOf('}'))}, ${JSON.stringify(name)}: null}`;
      expect((await scan(again)).repeated).toBeDefined();
    });
    await fc.assert(assertion);
  });

  test('is nested at most 32 levels deep', async () => {
    const nested = (depth: number): string => '{"a":['.repeat(depth / 2) + ']}'.repeat(depth / 2);
    expect((await scan(nested(maxDepth))).excess).toBeUndefined();
    expect((await scan(`[${nested(maxDepth)}]`)).excess).toBe('depth');
  });

  test('that is none gets some answer', async () => {
    for (const text of ['', '"', '"\\', '}]', '{"', '{"\\x":1', ',"a"', '{"a"'])
      expect((await scan(text)).excess).toBeUndefined();
  });

  test('may have as many members and elements as allowed, wherever they are', async () => {
    // Three members, two elements, and one for the object that could have one.
    const text = '{"a":"x,{[","b":[1,2],"c":{}}';
    await expect(scanJson(text, 6)).resolves.toEqual({ excess: undefined, repeated: undefined });
    await expect(scanJson(text, 5)).resolves.toEqual({ excess: 'entries', repeated: undefined });
  });

  test('is looked through in turns of the event loop', async () => {
    const names = Array.from({ length: 200_000 }, (_, index) => `"${index}":1`).join(',');
    let turns = 0;
    const count = setInterval(() => (turns += 1), 1);
    await scan(`{${names}}`);
    clearInterval(count);
    expect(turns).toBeGreaterThan(2);
  });
});
