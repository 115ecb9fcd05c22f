import { describe, expect, test } from '@jest/globals';
import { parse } from 'yaml';
import { Io } from '../../../src/cli/terminal/io.ts';
import { type OutputFormat, Printer } from '../../../src/cli/terminal/printer.ts';
import { shownText } from '../../../src/wire/shown-text.ts';

interface Row {
  readonly key: string;
  readonly size: number | null;
}

async function listed(
  format: OutputFormat,
  rows: readonly Row[],
  isTTY = false,
  width?: number,
): Promise<{ stdout: string; stderr: string }> {
  const written = { stdout: '', stderr: '' };
  const streams = {
    stdin: (async function* () {})(),
    stdout: {
      isTTY,
      ...(width === undefined ? {} : { columns: width }),
      write: (text: string) => (written.stdout += text),
    },
    stderr: { write: (text: string) => (written.stderr += text) },
  };
  const printer = new Printer({ io: new Io({ streams, hasColor: true }), format });
  await printer.list({
    value: { rows },
    rows,
    columns: [
      { title: 'KEY', cell: ({ key }) => key, isCut: true },
      { title: 'SIZE', cell: ({ size }) => size },
    ],
    name: ({ key }) => key,
    whenEmpty: 'Nothing.',
  });
  return written;
}

const rows = [
  { key: 'LONG_NAME', size: 0 },
  { key: 'a\nb', size: null },
];

describe('a list', () => {
  test('is a table with its columns in line, without spaces at the ends', async () => {
    const { stdout } = await listed('table', rows);
    expect(stdout).toBe('KEY        SIZE\nLONG_NAME  0\na\\nb       -\n');
  });

  test('stays in line where characters take two columns or none', async () => {
    const wide = [
      { key: '日本', size: 1 },
      { key: 'e\u0301', size: 2 },
      { key: '🔑', size: 3 },
    ];
    const { stdout } = await listed('table', wide);
    expect(stdout).toBe('KEY   SIZE\n日本  1\ne\u0301     2\n🔑    3\n');
  });

  test('fits the width of a terminal, if the terminal says it, and is whole in a pipe', async () => {
    const long = [{ key: 'a'.repeat(30), size: 1 }];
    const whole = `${'a'.repeat(30)}  1`;
    expect((await listed('table', long, true, 20)).stdout).toContain(`${'a'.repeat(13)}…  1`);
    expect((await listed('table', long, true, 0)).stdout).toContain(whole);
    expect((await listed('table', long, true)).stdout).toContain(whole);
    expect((await listed('table', long, false, 20)).stdout).toContain(whole);
  });

  test('is its value as JSON and YAML, unaltered', async () => {
    expect(JSON.parse((await listed('json', rows)).stdout)).toEqual({ rows });
    expect((await listed('yaml', rows)).stdout).toBe(
      'rows:\n  - key: LONG_NAME\n    size: 0\n  - key: |-\n      a\n      b\n    size: null\n',
    );
  });

  test.each(['json', 'yaml'] as const)(
    'as %s moves no cursor of a terminal, and means the same there',
    async (format) => {
      const evil = [{ key: 'a\u009B2J\u001B[2Jb\u202E\u2028\u{E0001}\nc', size: 1 }];
      const { stdout } = await listed(format, evil, true);
      expect(stdout).not.toMatch(/[\u007F-\u009F\p{Cf}\p{Zl}\p{Zp}]|(?!\n)\p{Cc}/u);
      expect(parse(stdout)).toEqual({ rows: evil });
      expect(parse((await listed(format, evil)).stdout)).toEqual({ rows: evil });
    },
  );

  test('is names, a line each', async () => {
    expect((await listed('name', rows)).stdout).toBe('LONG_NAME\na\\nb\n');
  });

  test('that is empty says so on standard error, as a table alone', async () => {
    expect(await listed('table', [])).toEqual({ stdout: '', stderr: 'Nothing.\n' });
    expect(await listed('name', [])).toEqual({ stdout: '', stderr: '' });
    expect(JSON.parse((await listed('json', [])).stdout)).toEqual({ rows: [] });
  });
});

test.each([
  ['\u001B[31m', String.raw`\u{1b}[31m`],
  ['\u009B2J', String.raw`\u{9b}2J`],
  ['a\r\n\tb', String.raw`a\r\n\tb`],
  ['\u202Eabc\u2066', String.raw`\u{202e}abc\u{2066}`],
  ['\u2028\uFEFF\u0000\u007F', String.raw`\u{2028}\u{feff}\u{0}\u{7f}`],
  ['\uD800', String.raw`\u{d800}`],
  ['grüße 🔑', 'grüße 🔑'],
])('a terminal is shown %j as %s', (text, shown) => {
  expect(shownText(text)).toBe(shown);
});
