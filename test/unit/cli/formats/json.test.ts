import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { costRatio } from '../../../support/fixtures/cost-ratio.ts';
import { FormatError } from '../../../../src/wire/formats/format-error.ts';
import { parseJson, writeJson } from '../../../../src/cli/formats/json.ts';
import { secretTables } from './arbitraries.ts';

describe('JSON', () => {
  test('any secrets are read back exactly, here and by JSON.parse', () => {
    fc.assert(
      fc.property(secretTables, (secrets) => {
        const text = writeJson(secrets);
        expect([...parseJson(text)]).toEqual([...secrets]);
        expect(JSON.parse(text)).toEqual(Object.fromEntries(secrets));
      }),
      { numRuns: 3000 },
    );
  });

  test('however an object of strings is laid out, it is read as JSON.parse reads it', () => {
    const layouts = fc.constantFrom(0, 1, '\t', '\r\n', '\r');
    fc.assert(
      fc.property(secretTables, layouts, (secrets, layout) => {
        const lineEnd = String(layout).includes('\r') ? String(layout) : '\n';
        const text = JSON.stringify(Object.fromEntries(secrets), undefined, lineEnd === '\n' ? layout : 2);
        const laidOut = text.replaceAll('\n', lineEnd);
        expect(Object.fromEntries(parseJson(`\uFEFF ${laidOut}\n`))).toEqual(Object.fromEntries(secrets));
      }),
      { numRuns: 1000 },
    );
  });

  test('a value of 256 KiB is read back, whatever it is made of', () => {
    for (const character of ['a', '\\', '\0', '"', '\n', '\u2028']) {
      const secrets = new Map([['K', character.repeat(Math.floor((256 * 1024) / Buffer.byteLength(character)))]]);
      expect(parseJson(writeJson(secrets))).toEqual(secrets);
    }
  });

  test('as much as an environment can hold is read in the time of some calls of JSON.parse', async () => {
    const value = '\n"swordfish'.repeat(145);
    const secrets = new Map(Array.from({ length: 10_000 }, (_, index) => [`KEY_${index}`, value] as const));
    const text = writeJson(secrets);
    expect(parseJson(text).size).toBe(10_000);
    const ratio = await costRatio({ subject: () => parseJson(text), floor: () => JSON.parse(text) as unknown });
    // With a library for YAML it is about seventy.
    expect(ratio).toBeLessThan(25);
  });

  test('the order of keys is that of the file, whatever they look like', () => {
    const secrets = new Map([
      ['B', '1'],
      ['10', '2'],
      ['9', '3'],
    ]);
    expect([...parseJson(writeJson(secrets))]).toEqual([...secrets]);
  });

  test('an empty object holds nothing, both ways', () => {
    expect(parseJson(' { } ').size).toBe(0);
    expect(writeJson(new Map())).toBe('{}\n');
  });

  test.each([
    ['no JSON', '{\n"A": hunter2}', 'line 2: is not valid JSON'],
    ['a word far from the end', '{\n"A": hunter2,\n"B": "1",\n"C": "2"\n}\n', 'line 2: is not valid JSON'],
    ['single quotes', `{\n"A": "1",\n"B": 'hunter2'\n,\n"C": "2"}\n`, 'line 3: is not valid JSON'],
    ['a text that ends early', '{"A": "hunter2"\n,\n', 'line 3: is not valid JSON'],
    ['a line end within a string', '{\n"A": "hunter2\n"}', 'line 2: is not valid JSON'],
    ['nothing at all', '', 'line 1: is not valid JSON'],
    ['a comma too many', '{"A": "hunter2",}', 'line 1: is not valid JSON'],
    ['a list', '["hunter2"]', 'line 1: must be a JSON object'],
    ['a string', '"hunter2"', 'line 1: must be a JSON object'],
    ['null', 'null', 'line 1: must be a JSON object'],
    ['a number', '{"A": "hunter2",\n "B": 12345}', 'line 2: the value of B is not a string; put it in quotes'],
    ['a boolean', '{"B": true}', 'line 1: the value of B is not a string'],
    ['null as a value', '{"B": null}', 'line 1: the value of B is not a string'],
    ['a list within', '{"B": ["hunter2"]}', 'line 1: the value of B is a list; only strings can be secrets'],
    ['an object within', '{"B": {"C": "hunter2"}}', 'line 1: the value of B is an object; only strings'],
    ['a name twice', '{"A": "hunter2",\n\n"A": "hunter3"}', 'A stands on line 1 and again on line 3'],
    ['a name twice, written in two ways', '{"A": "1", "\\u0041": "2"}', 'A stands on line 1 and again on line 1'],
    ['a name twice, with a number before', '{"A": 12345,\n"A": "1"}', 'line 1: the value of A is not a string'],
    [
      'a name twice, with quotes in its values',
      '{"A": "\\"\\\\",\n"A": "\\\\"}',
      'A stands on line 1 and again on line 2',
    ],
    [
      'a number after lone carriage returns',
      '{\r"A":\r"hunter2",\n"B":\r12345}',
      'line 2: the value of B is not a string',
    ],
    ['a key that is not allowed', '{"__proto__": "hunter2"}', 'line 1: the key __proto__ must not be'],
    ['a key that may be a value', '{"hunter 2": "x"}', 'line 1: the key (unprintable name) must be 1 to 253'],
    ['a lone surrogate', '{"A": "\\ud800hunter2"}', 'line 1: the value of A must be valid Unicode'],
    ['a value that is too long', `{"A": "${'hunter2'.repeat(40_000)}"}`, 'the value of A must be at most 262144 bytes'],
  ])('%s is an error that says where and never what', (_, text, message) => {
    const error = faultOf(text);
    expect(error).toBeInstanceOf(FormatError);
    expect((error as FormatError).message).toContain(message);
    expect((error as FormatError).message).not.toMatch(/hunter|12345/);
  });
});

function faultOf(text: string): unknown {
  try {
    return parseJson(text);
  } catch (error) {
    return error;
  }
}
