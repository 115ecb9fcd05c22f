import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { parse, parseAllDocuments } from 'yaml';
import { FormatError } from '../../../../src/wire/formats/format-error.ts';
import { parseYaml, writeYaml } from '../../../../src/cli/formats/yaml.ts';
import { secretKeys, secretTables, secretValues } from './arbitraries.ts';

async function read(text: string): Promise<Record<string, string>> {
  return Object.fromEntries(await parseYaml(text));
}

describe('YAML', () => {
  test('any secrets are read back exactly, here and by readers of YAML 1.2 and 1.1', async () => {
    await fc.assert(
      fc.asyncProperty(secretTables, async (secrets) => {
        const text = writeYaml(secrets);
        expect([...(await parseYaml(text))]).toEqual([...secrets]);
        for (const version of ['1.2', '1.1'] as const) {
          expect(parse(text, { version })).toEqual(Object.fromEntries(secrets));
        }
      }),
      { numRuns: 1500 },
    );
  });

  test('what YAML calls unprintable, or some readers take for the end of a line, is escaped', () => {
    const value = '\0\t\n\u007F\u0085\u009B\u2028\u2029\uFEFF\uFFFE\uFFFF é🔑';
    const written = '\\u0000\\t\\n\\u007f\\u0085\\u009b\\u2028\\u2029\\ufeff\\ufffe\\uffff é🔑';
    expect(writeYaml(new Map([['A', value]]))).toBe(`A: "${written}"\n`);
  });

  test('a value without quotes is read only where both versions of YAML make this string of it', async () => {
    await fc.assert(
      fc.asyncProperty(secretKeys, secretValues, async (key, value) => {
        const text = `"${key}": ${value}\n`;
        const found = await parseYaml(text).catch((error: unknown) => {
          if (error instanceof FormatError) return undefined;
          throw error;
        });
        if (found === undefined || found.size !== 1) return;
        for (const version of ['1.2', '1.1'] as const) {
          // The value may be the mark of an empty document, such as `---`.
          const [first, ...rest] = [parseAllDocuments(text, { version })]
            .flat()
            .map((document) => document.toJS() as unknown);
          expect(first).toEqual(Object.fromEntries(found));
          expect(rest.filter((other) => other !== null)).toEqual([]);
        }
      }),
      { numRuns: 3000 },
    );
  });

  test('a value of 256 KiB is read back, whatever it is made of', async () => {
    for (const character of ['a', '\\', '\0', '"', '\n', ' ']) {
      const secrets = new Map([['K', character.repeat(256 * 1024)]]);
      expect(await parseYaml(writeYaml(secrets))).toEqual(secrets);
    }
  });

  test.each(['A: x\n---\n', '---\n# comment\n---\nA: x\n...\n'])(
    '%j has one document that holds something',
    async (text) => {
      expect([...(await parseYaml(text))]).toEqual([['A', 'x']]);
    },
  );

  test('it is read as people write it: quotes, blocks, comments, anchors, the mark of a document', async () => {
    const text = `\uFEFF---
# a comment
PLAIN: some text   # another
SINGLE: 'it''s'
"DOUBLE": "a\\tb\\0"
BLOCK: |
  line 1
    line 2
FOLDED: >-
  one
  two
BASE: &base https://example.com
SAME: *base
TAGGED: !!str 0123
NO: "no"
123: x
`;
    expect(await read(text)).toEqual({
      PLAIN: 'some text',
      SINGLE: "it's",
      DOUBLE: 'a\tb\0',
      BLOCK: 'line 1\n  line 2\n',
      FOLDED: 'one two',
      BASE: 'https://example.com',
      SAME: 'https://example.com',
      TAGGED: '0123',
      NO: 'no',
      '123': 'x',
    });
  });

  test('an empty file and an empty mapping hold nothing', async () => {
    for (const text of ['', '# nothing', '{}', '---\n']) expect(await read(text)).toEqual({});
    expect(writeYaml(new Map())).toBe('{}\n');
  });

  test.each([
    'yes',
    'No',
    'on',
    'OFF',
    'y',
    'true',
    'null',
    '~',
    '',
    '1',
    '1.10',
    '0123',
    '0o17',
    '0x1F',
    '1_000',
    '12:30:45',
    '2001-12-14',
    '.inf',
    '1e3',
    '!!binary aGk=',
    '!!int "3"',
  ])('the value %j must stand in quotes', async (value) => {
    await expect(parseYaml(`A: x\nB: ${value}\n`)).rejects.toThrow(
      'line 2: YAML does not take the value of B for a string, or not everywhere; put it in quotes',
    );
    expect(await read(writeYaml(new Map([['B', value]])))).toEqual({ B: value });
  });

  test.each([
    ['no YAML', 'A: "hunter2', 'line 1: is not valid YAML (MISSING_CHAR)'],
    ['a tab for indentation', 'A:\n\thunter2: x', 'line 2: is not valid YAML (TAB_AS_INDENT)'],
    ['an unknown tag', 'A: !hunter2 x', 'line 1: is not valid YAML (TAG_RESOLVE_FAILED)'],
    ['an unknown alias', 'A: x\nB: *hunter2', 'line 2: '],
    ['a list', '- hunter2', 'line 1: must be a YAML mapping'],
    ['a text', 'hunter2', 'line 1: must be a YAML mapping'],
    ['two documents', 'A: x\n---\nB: hunter2', 'line 2: a second YAML document begins'],
    ['a list within', 'A:\n  - hunter2', 'line 1: the value of A is a list or mapping; only strings'],
    ['a mapping within', 'A: {hunter2: x}', 'line 1: the value of A is a list or mapping'],
    ['an alias of a mapping', 'A: x\nB: &b {hunter2: x}\nC: *b', 'line 2: the value of B is a list or mapping'],
    ['a merge', '<<: {A: hunter2}', 'line 1: the value of (unprintable name) is a list or mapping'],
    ['a key twice', 'A: hunter2\n\nA: hunter3', 'A stands on line 1 and again on line 3'],
    ['a key twice, in quotes', 'A: hunter2\n"A": hunter3', 'A stands on line 1 and again on line 2'],
    ['a key that is not allowed', '__proto__: hunter2', 'line 1: the key __proto__ must not be'],
    ['a key that may be a value', 'hunter 2: x', 'line 1: the key (unprintable name) must be 1 to 253'],
    ['a key that is no text', '[A]: hunter2', 'line 1: a key must be a plain text'],
    ['no key', ': hunter2', 'line 1: a key must be a plain text'],
    ['a lone surrogate', 'A: "hunter\\ud800"', 'line 1: the value of A must be valid Unicode'],
    ['a value that is too long', `A: ${'hunter2'.repeat(40_000)}`, 'the value of A must be at most 262144 bytes'],
  ])('%s is an error that says where and never what', async (_, text, message) => {
    const refused = parseYaml(text);
    await expect(refused).rejects.toThrow(FormatError);
    await expect(refused).rejects.toThrow(message);
    await expect(refused).rejects.not.toThrow(/hunter/);
  });
});
