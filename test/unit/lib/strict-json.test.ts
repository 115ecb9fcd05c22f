import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { JsonFault, JsonObject, type JsonValue, readJson } from '../../../src/lib/strict-json.ts';

/** What JSON.parse returns for the same text. */
function plain(value: JsonValue): unknown {
  if (Array.isArray(value)) return value.map(plain);
  if (value instanceof JsonObject) {
    return Object.fromEntries(value.members.map((member) => [member.name, plain(member.value)]));
  }
  return value;
}

/** Undefined for a text that is refused. */
function resultOf(read: () => unknown): unknown {
  try {
    return read();
  } catch {
    return undefined;
  }
}

const pieces = [
  '{',
  '}',
  '[',
  ']',
  ':',
  ',',
  '"a"',
  '"b"',
  '1',
  '-',
  '.',
  '0',
  'e',
  'true',
  'null',
  ' ',
  '\n',
  '\r',
  '\t',
];
const oddPieces = [
  '"',
  '\\',
  '\\u00',
  '\\x',
  '\0',
  '\v',
  '\f',
  '\u00a0',
  '\ufeff',
  '\u2028',
  "'",
  '//',
  '/*',
  '*/',
  '+',
  'NaN',
];

test('any JSON is read as JSON.parse reads it', () => {
  fc.assert(
    fc.property(fc.json(), fc.constantFrom(undefined, 1, '\t'), (json, layout) => {
      const text = JSON.stringify(JSON.parse(json), undefined, layout);
      expect(plain(readJson(text))).toEqual(JSON.parse(text));
    }),
    { numRuns: 1000 },
  );
});

test('any text that JSON.parse refuses is refused', () => {
  const token = fc.constantFrom(...pieces, ...pieces, ...oddPieces);
  const texts = fc.array(token, { minLength: 1, maxLength: 7 }).map((tokens) => tokens.join(''));
  const object = texts.map((text) => `{"a":${text}}`);
  const string = texts.map((text) => `"${text}"`);
  fc.assert(
    fc.property(fc.oneof(texts, object, string), (text) => {
      expect(resultOf(() => plain(readJson(text)))).toEqual(resultOf(() => JSON.parse(text) as unknown));
    }),
    { numRuns: 10_000 },
  );
});

test.each([
  ['a comment', '{ // "b"\n"a": 1}', 2],
  ['a comment between lines', '{"a": /* 1 */ 2}', 6],
  ['a comma after the last member', '{"a": 1,}', 8],
  ['a comma after the last element', '[1,]', 3],
  ['a second value', '{} {}', 3],
  ['an end within a string', '{"a": "b', 6],
  ['only white space', ' \n', 2],
])('%s is a fault at its place', (_name, text, index) => {
  expect(() => readJson(text)).toThrow(new JsonFault(index));
  expect(resultOf(() => JSON.parse(text) as unknown)).toBeUndefined();
  const fault = resultOf(() => faultOf(text));
  expect(fault).toMatchObject({ index, message: 'is not valid JSON' });
});

function faultOf(text: string): unknown {
  try {
    return readJson(text);
  } catch (error) {
    return error;
  }
}

test('members with the same name are all there', () => {
  const value = readJson('{"b": 1, "a": 2, "b": {"__proto__": []}}');
  expect(value).toMatchObject({
    members: [
      { name: 'b', index: 1, value: 1 },
      { name: 'a', index: 9, value: 2 },
      { name: 'b', index: 17, value: { members: [{ name: '__proto__', value: [] }] } },
    ],
  });
});

test.each([
  ['lists', '[', ']'],
  ['objects', '{"a":', '}'],
])('%s are nested 100 levels deep at most', (_name, begin, end) => {
  const nested = (depth: number): string => `${begin.repeat(depth)}1${end.repeat(depth)}`;
  expect(plain(readJson(nested(100)))).toEqual(JSON.parse(nested(100)));
  expect(faultOf(nested(101))).toMatchObject({ index: 100 * begin.length });
  expect(faultOf(begin.repeat(1_000_000))).toBeInstanceOf(JsonFault);
});
