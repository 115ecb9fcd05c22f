import { describe, expect, test } from '@jest/globals';
import dotenv from 'dotenv';
import fc from 'fast-check';
import { type DotenvFile, parseDotenv, writeDotenv } from '../../../../src/wire/formats/dotenv.ts';
import { FormatError } from '../../../../src/wire/formats/format-error.ts';
import type { SecretTable } from '../../../../src/wire/formats/secret-table.ts';
import { secretTables } from '../../cli/formats/arbitraries.ts';

/** What the package reads, without what JavaScript objects bring along. */
function readByPackage(text: string, options?: { fast: boolean }): Map<string, string> {
  return new Map(Object.entries(dotenv.parse(text, options)));
}

function byKey(entries: readonly [string, string][]): [string, string][] {
  return entries.toSorted(([one], [other]) => (one < other ? -1 : 1));
}

function parsed(text: string): SecretTable {
  return parseDotenv(text).secrets;
}

function read(text: string): Record<string, string> {
  return Object.fromEntries(parsed(text));
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
    // Behind quotes within quotes, a # right at the end makes the line unreadable to all.
    .filter(([value, trailer]) => !(/^(['"]).*\1.*\1$/.test(value) && trailer === '#'))
    .map(([value, trailer]) => value + trailer),
);

describe('what is written', () => {
  test('any secrets are read back exactly', () => {
    fc.assert(
      fc.property(secretTables, (secrets) => {
        expect([...parsed(writeDotenv(secrets))]).toEqual([...secrets]);
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
      expect(parsed(writeDotenv(secrets))).toEqual(secrets);
    }
  });

  function isMarked(secrets: ReadonlyMap<string, string>, key: string): boolean {
    return writeDotenv(new Map([[key, secrets.get(key) ?? '']])).endsWith('" # keyframe:json\n');
  }
});

describe('what is read', () => {
  test('of any text we read what the package reads, or refuse it, or warn', () => {
    let readable = 0;
    fc.assert(
      fc.property(anyFiles, (text) => {
        const found = readOrRefused(text);
        if (found === undefined || isOurs(text) || found.warnings.length > 0) return;
        readable += 1;
        expect(byKey([...found.secrets])).toEqual(byKey([...readByPackage(text)]));
      }),
      { numRuns: 20_000 },
    );
    expect(readable).toBeGreaterThan(1000);
  });

  test('lines as people write them are read, and as the package reads them', () => {
    let sure = 0;
    fc.assert(
      fc.property(soundLines, (line) => {
        const { secrets, warnings } = parseDotenv(`\n# a comment\n${line}\nLAST=1\n`);
        expect([...secrets.keys()]).toEqual(['KEY', 'LAST']);
        expect(new Set(warnings.map((warning) => `${warning.key} ${warning.line}`)).size).toBeLessThanOrEqual(1);
        if (warnings.length > 0) return;
        sure += 1;
        expect([...secrets]).toEqual([...readByPackage(`${line}\nLAST=1`)]);
      }),
      { numRuns: 5000 },
    );
    expect(sure).toBeGreaterThan(1000);
  });

  test('a file that we wrote gives a warning only where no form is common to all readers', () => {
    fc.assert(
      fc.property(secretTables, (secrets) => {
        const { warnings } = parseDotenv(writeDotenv(secrets));
        const rare = [...secrets].filter(([, value]) => /\\|\$|\r|\n|'[^]*"|"[^]*'/.test(value)).map(([key]) => key);
        for (const { key } of warnings) expect(rare).toContain(key);
      }),
    );
    expect(
      parseDotenv(
        writeDotenv(
          new Map([
            ['A', 'x#y z'],
            ['B', '"$HOME"'],
            ['C', "it's\n"],
            ['D', 'C:\\d'],
          ]),
        ),
      ).warnings,
    ).toEqual([]);
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
      expect(parsed(text)).toEqual(readByPackage(text));
    },
  );

  test('an empty file holds nothing', () => {
    expect(parsed('').size).toBe(0);
    expect(parsed('\n# only this').size).toBe(0);
  });

  test('a value marked as JSON is read as JSON', () => {
    expect(read('A="\\u0022x\\u005c\\u0000" # keyframe:json\r\nB=2')).toEqual({ A: '"x\\\0', B: '2' });
  });

  test.each([
    ['a line without a sign', 'A=1\n\nhunter2 hunter2\n', 'line 3: is neither KEY=value nor a comment'],
    ['a name alone', 'A=1\nhunter2\n', 'line 2: has a name and no =; KEY= is the empty value'],
    ['an exported name alone', 'export hunter2 \nA=1', 'line 1: has a name and no ='],
    ['an export without a value', 'export A', 'line 1: has a name and no ='],
    ['an export alone on a line', 'export\nA=hunter2', 'line 1: has a name and no ='],
    ['a quoted value on the next line', "A=\n'hunter2'", 'line 2: is neither'],
    ['a value on the next line', 'A:\nB=1', 'line 1: is neither'],
    ['a sign on the next line', 'A\n=hunter2', 'line 1: has a name and no ='],
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
    const reading = (): unknown => parsed(text);
    expect(reading).toThrow(FormatError);
    expect(reading).toThrow(message);
    expect(reading).not.toThrow(/hunter/);
  });

  function readOrRefused(text: string): DotenvFile | undefined {
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

/** What python-dotenv 1.2.2 and compose-go 2.16.2 made of each text; undefined where they refused the line or the file. */
const otherReaders = [
  { text: 'K=ab#cd', python: 'ab#cd', compose: 'ab#cd' },
  { text: 'K=http://x/#frag', python: 'http://x/#frag', compose: 'http://x/#frag' },
  { text: 'K=#x', python: '#x', compose: '#x' },
  { text: 'K= # c', python: '', compose: '# c' },
  { text: 'K=a # c', python: 'a', compose: 'a' },
  { text: 'K=a\t# c', python: 'a', compose: 'a\t# c' },
  { text: "K='a#b' # c", python: 'a#b', compose: 'a#b' },
  { text: 'K="a # b"#c', python: 'a # b', compose: 'a # b' },
  { text: 'K="he said \\"hi\\""', python: 'he said "hi"', compose: 'he said "hi"' },
  { text: "K='it\\'s'", python: "it's", compose: "it's" },
  { text: 'K="C:\\\\dir"', python: 'C:\\dir', compose: 'C:\\dir' },
  { text: "K='C:\\\\dir'", python: 'C:\\dir', compose: 'C:\\\\dir' },
  { text: 'K="a\\\\" # c', python: 'a\\', compose: 'a\\' },
  { text: 'K="a\\nb"', python: 'a\nb', compose: 'a\nb' },
  { text: "K='a\\nb'", python: 'a\\nb', compose: 'a\\nb' },
  { text: 'K="a\\tb"', python: 'a\tb', compose: 'a\tb' },
  { text: 'K="C:\\dir\\"', python: undefined, compose: undefined },
  { text: "K='C:\\dir\\'", python: undefined, compose: undefined },
  { text: 'K=C:\\dir\\', python: 'C:\\dir\\', compose: 'C:\\dir\\' },
  { text: 'K=a$b', python: 'a$b', compose: 'a' },
  { text: 'K=${A}', python: '', compose: '' },
  { text: 'K="a$b"', python: 'a$b', compose: 'a' },
  { text: "K='a$b'", python: 'a$b', compose: 'a$b' },
  { text: 'K="a\\$b"', python: 'a\\$b', compose: 'a$b' },
  { text: 'K="pa$$w"', python: 'pa$$w', compose: 'pa$w' },
  { text: 'K=`a b`', python: '`a b`', compose: '`a b`' },
  { text: 'K: v', python: undefined, compose: 'v' },
  { text: "K='it's'", python: undefined, compose: undefined },
  { text: 'K="{"a":1}"', python: undefined, compose: undefined },
  { text: 'export K=v', python: 'v', compose: 'v' },
  { text: 'K = v', python: 'v', compose: 'v' },
  { text: 'K=a b', python: 'a b', compose: 'a b' },
  { text: 'K="one\ntwo"', python: 'one\ntwo', compose: 'one\ntwo' },
  { text: 'K=', python: '', compose: '' },
];

describe('of what readers understand differently', () => {
  test.each(otherReaders)(
    '$text, our value is that of one reader at least, with a warning only where they differ',
    ({ text, python, compose }) => {
      const { secrets, warnings } = parseDotenv(text);
      const ours = secrets.get('K');
      const all = [readByPackage(text).get('K'), python, compose];
      expect(all).toContain(ours);
      expect(warnings.length > 0).toBe(new Set(all).size > 1);
      for (const warning of warnings) expect(warning).toMatchObject({ line: 1, key: 'K' });
    },
  );

  test.each([
    ['K=ab#cd', 'ab#cd'],
    ['K=http://x/#frag', 'http://x/#frag'],
    [String.raw`K="he said \"hi\""`, 'he said "hi"'],
    [String.raw`K='it\'s'`, "it's"],
    [String.raw`K="C:\\dir"`, String.raw`C:\dir`],
    ['K=a#b # c', 'a#b'],
  ])('%s is what python-dotenv and Compose read', (text, value) => {
    expect(read(text)).toEqual({ K: value });
  });

  test('warnings name the line and the key, and hold nothing of the value', () => {
    const { warnings } = parseDotenv('A=1\n\nPW=hunter#2\nexport Q="hunter \\"3\\" $4"\n');
    expect(warnings.map(({ line, key }) => [line, key])).toEqual([
      [3, 'PW'],
      [4, 'Q'],
      [4, 'Q'],
    ]);
    expect(JSON.stringify(warnings)).not.toMatch(/hunter/);
  });
});
