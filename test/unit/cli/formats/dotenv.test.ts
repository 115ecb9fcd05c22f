import { describe, expect, test } from '@jest/globals';
import dotenv from 'dotenv';
import fc from 'fast-check';
import { parseDotenv, writeDotenv } from '../../../../src/cli/formats/dotenv.ts';
import { FormatError } from '../../../../src/cli/formats/format-error.ts';
import { secretTables } from './arbitraries.ts';

/** What the package reads, without what JavaScript objects bring along. */
function readByPackage(text: string, options?: { fast: boolean }): Map<string, string> {
  return new Map(Object.entries(dotenv.parse(text, options)));
}

function byKey(entries: readonly [string, string][]): [string, string][] {
  return entries.toSorted(([one], [other]) => (one < other ? -1 : 1));
}

function read(text: string): Record<string, string> {
  return Object.fromEntries(parseDotenv(text));
}

/** Pieces of a file, so that most of what is put together means something to a reader. */
const pieces = fc.constantFrom(
  'A',
  'B',
  'export',
  'a.b',
  '-x',
  '__proto__',
  '=',
  '=',
  ':',
  ' ',
  ' ',
  '\t',
  '\n',
  '\n',
  '\r\n',
  '\r',
  '#',
  '"',
  "'",
  '`',

  '\\',
  '\\"',
  "\\'",
  '\\n',
  '\\r',
  'x',
  'yz',
  '\u2028',
  '\u00A0',
  '\uFEFF',
  '\0',
  '🔑',
  '$',
  'keyframe:json',
  '# keyframe:json',
);
const anyFiles = fc.array(pieces, { maxLength: 24 }).map((parts) => parts.join(''));

const lineOf = (value: fc.Arbitrary<string>): fc.Arbitrary<string> =>
  fc
    .tuple(fc.constantFrom('', ' ', 'export ', 'export  '), fc.constantFrom('=', ' = ', '= ', ' =', ': '), value)
    .map(([before, sign, text]) => `${before}KEY${sign}${text}`);
const within = (quote: string, characters: readonly string[]): fc.Arbitrary<string> =>
  fc.string({ unit: fc.constantFrom(...characters), maxLength: 8 }).map((text) => quote + text + quote);
const trailers = fc.constantFrom('', ' ', '\t', ' # comment', '#', " # it's", ' # "');
/** One line as people write them, which the package and we must both understand. */
const soundLines = lineOf(
  fc
    .tuple(
      fc.oneof(
        within("'", Array.from('ab $"`#\n=🔑')),
        within('"', Array.from("ab $'`#\n=🔑")),
        within('`', Array.from(`ab $"'#\n=🔑`)),
        within('', Array.from('ab$=/.-🔑:')),
        fc.constantFrom(
          '"a\\nb"',
          "'a\\nb'",
          '"a\\rb"',
          '`a\\nb`',
          'a\\nb',
          '"a\\"b"',
          "'it\\'s'",
          "'it's'",
          '"{"a":1}"',
          'a b',
        ),
      ),
      trailers,
    )
    .map(([value, trailer]) => value + trailer),
);

describe('what is written', () => {
  test('any secrets are read back exactly', () => {
    fc.assert(
      fc.property(secretTables, (secrets) => {
        expect([...parseDotenv(writeDotenv(secrets))]).toEqual([...secrets]);
      }),
      { numRuns: 5000 },
    );
  });

  test('the package reads the same, except of values that are marked as JSON', () => {
    fc.assert(
      fc.property(secretTables, (secrets) => {
        const text = writeDotenv(secrets);
        const marked = new Set([...secrets.keys()].filter((key) => isMarked(secrets, key)));
        const expected = byKey([...secrets].filter(([key]) => !marked.has(key)));
        for (const options of [{ fast: false }, { fast: true }]) {
          const found = readByPackage(text, options);
          expect([...found.keys()].sort()).toEqual([...secrets.keys()].sort());
          expect(byKey([...found].filter(([key]) => !marked.has(key)))).toEqual(expected);
        }
      }),
      { numRuns: 5000 },
    );
  });

  test.each([
    ['nothing', '', 'K=\n'],
    ['a word', 'abc-1.2:/@%+,=_', 'K=abc-1.2:/@%+,=_\n'],
    ['a space', 'a b', "K='a b'\n"],
    ['a dollar sign', 'a$b', "K='a$b'\n"],
    ['a hash', 'a#b', "K='a#b'\n"],
    ['several lines', 'a\nb\n', "K='a\nb\n'\n"],
    ['a backslash and n', 'a\\nb', "K='a\\nb'\n"],
    ['a single quote', "it's", 'K="it\'s"\n'],
    ['a carriage return', 'a\r\nb', 'K="a\\r\\nb"\n'],
    ['both quotes', `"it's"`, 'K=`"it\'s"`\n'],
    ['a backslash at the end', 'C:\\', 'K=C:\\\n'],
    ['all quotes, one line', 'a"b\'c`', 'K=a"b\'c`\n'],
    ['all quotes and a hash', '"\'`#', 'K="\\u0022\'`#" # keyframe:json\n'],
    ['a backslash at the end behind a hash', '#\\', 'K="#\\u005c" # keyframe:json\n'],
    ['all quotes and a line separator', "x\"\u2028'`'", 'K="x\\u0022\\u2028\'`\'" # keyframe:json\n'],
    ['a NUL', 'a\0b', "K='a\0b'\n"],
  ])('%s is written in its plainest form', (_, value, text) => {
    expect(writeDotenv(new Map([['K', value]]))).toBe(text);
  });

  test('a value of 256 KiB is read back, whatever it is made of', () => {
    for (const character of ['a', '\\', '\0', '\n', '"', "\\'", '\r\\n', '"\'`#', ' ']) {
      const secrets = new Map([['K', character.repeat(Math.floor((256 * 1024) / character.length))]]);
      expect(parseDotenv(writeDotenv(secrets))).toEqual(secrets);
    }
  });

  function isMarked(secrets: ReadonlyMap<string, string>, key: string): boolean {
    return writeDotenv(new Map([[key, secrets.get(key) ?? '']])).endsWith('" # keyframe:json\n');
  }
});

describe('what is read', () => {
  test('of any text we read what the package reads, or refuse it', () => {
    let readable = 0;
    fc.assert(
      fc.property(anyFiles, (text) => {
        const found = readOrRefused(text);
        if (found === undefined || isOurs(text)) return;
        readable += 1;
        expect(byKey([...found])).toEqual(byKey([...readByPackage(text)]));
      }),
      { numRuns: 20_000 },
    );
    expect(readable).toBeGreaterThan(1000);
  });

  test('lines as people write them are read, and as the package reads them', () => {
    fc.assert(
      fc.property(soundLines, (line) => {
        expect([...parseDotenv(`\n# a comment\n${line}\nLAST=1\n`)]).toEqual([...readByPackage(`${line}\nLAST=1`)]);
      }),
      { numRuns: 5000 },
    );
  });

  test('comments, blank lines, a byte order mark and lines ended by CR LF or CR are no matter', () => {
    expect(read('\uFEFF# first\r\n\r\nA=1 # one\r\n  export B="2"\r\n\r\tC: 3\r# last')).toEqual({
      A: '1',
      B: '2',
      C: '3',
    });
  });

  test('a value in double quotes may go over lines, and keeps what it holds', () => {
    const key = '-----BEGIN KEY-----\nMIIE+/=\n# no comment\n-----END KEY-----\n';
    expect(read(`KEY="${key}" # a comment\nB=1`)).toEqual({ KEY: key, B: '1' });
  });

  test.each(["A='x'\u2028B=1", "A=x\u2028'y'", '# c\u2028A=1', "A='x' # c\u2029B=1", "A=x\u2028'y'z"])(
    'a line separator is to us what it is to the package (%j)',
    (text) => {
      expect(parseDotenv(text)).toEqual(readByPackage(text));
    },
  );

  test('an empty file holds nothing', () => {
    expect(parseDotenv('').size).toBe(0);
    expect(parseDotenv('\n# only this').size).toBe(0);
  });

  test('a value marked as JSON is read as JSON', () => {
    expect(read('A="\\u0022x\\u005c\\u0000" # keyframe:json\r\nB=2')).toEqual({ A: '"x\\\0', B: '2' });
  });

  test.each([
    ['a line without a sign', 'A=1\n\nhunter2 hunter2\n', 'line 3: is neither KEY=value nor a comment'],
    ['an export without a value', 'export A', 'line 1: is neither'],
    ['an export on a line of its own', 'export\nA=hunter2', 'line 1: is neither'],
    ['a quoted value on the next line', "A=\n'hunter2'", 'line 2: is neither'],
    ['a value on the next line', 'A:\nB=1', 'line 1: is neither'],
    ['a sign on the next line', 'A\n=hunter2', 'line 1: is neither'],
    ['a quote that is not closed', "A=1\nB='hunter2\nC=3", 'line 2: a value begins with a quote that is not closed'],
    ['one quote alone', 'A="', 'line 1: a value begins with a quote'],
    ['text behind a closed quote', 'A="hunter2" x', 'line 1: a value begins with a quote'],
    ['a quoted value cut by a hash', "A='it's # hunter2'", 'line 1: a value begins with a quote'],
    ['a key twice', '# c\nA=hunter2\nB=1\nexport A=hunter3', 'A stands on line 2 and again on line 4'],
    ['a key twice behind lines of a value', 'A="\n\n"\nA=1', 'A stands on line 1 and again on line 4'],
    ['a key that is not allowed', '__proto__=hunter2', 'line 1: the key __proto__ must not be'],
    ['a key of dots', '..=hunter2', 'line 1: the key .. must not be'],
    ['a key that is too long', `${'K'.repeat(254)}=hunter2`, 'line 1: the key (unprintable name) must be 1 to 253'],
    [
      'a value that is too long',
      `A=${'hunter2'.repeat(40_000)}`,
      'line 1: the value of A must be at most 262144 bytes',
    ],
    ['marked JSON that is none', 'A="\\x" # keyframe:json', 'line 1: what stands before "# keyframe:json"'],
    ['marked JSON with a bare quote', 'A="hunter\\"2" # keyframe:json', 'line 1: what stands before'],
    ['a mark behind something else', 'A=hunter2 # keyframe:json', 'line 1: what stands before'],
    [
      'marked JSON with a lone surrogate',
      'A="\\ud800" # keyframe:json',
      'line 1: the value of A must be valid Unicode',
    ],
  ])('%s is an error that says where and never what', (_, text, message) => {
    const reading = (): unknown => parseDotenv(text);
    expect(reading).toThrow(FormatError);
    expect(reading).toThrow(message);
    expect(reading).not.toThrow(/hunter/);
  });

  function readOrRefused(text: string): ReadonlyMap<string, string> | undefined {
    try {
      return parseDotenv(text);
    } catch (error) {
      if (error instanceof FormatError) return undefined;
      throw error;
    }
  }

  /** The one comment that has a meaning to us alone. */
  function isOurs(text: string): boolean {
    return text.includes('" # keyframe:json');
  }
});
