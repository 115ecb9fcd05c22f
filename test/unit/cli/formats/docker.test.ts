import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { parseDocker, writeDocker } from '../../../../src/cli/formats/docker.ts';
import { secretTables } from './arbitraries.ts';

const table = (entries: Record<string, string>): Map<string, string> => new Map(Object.entries(entries));

/** As docker reads its file (pkg/kvfile): lines of at most 64 KiB, white space at their begin, # and the first =. */
function readByDocker(text: string): [string, string][] {
  return text.split('\n').flatMap((whole): [string, string][] => {
    expect(Buffer.byteLength(whole)).toBeLessThan(64 * 1024);
    const line = whole.replace(/\r$/, '').trimStart();
    if (line === '' || line.startsWith('#')) return [];
    const [, key = '', value = ''] = /^([^=]*)=(.*)$/s.exec(line) ?? [];
    return [[key, value]];
  });
}

describe('the file of docker run --env-file', () => {
  test('holds each value without a line break exactly', () => {
    fc.assert(
      fc.property(secretTables, (given) => {
        const secrets = new Map([...given].map(([key, value]) => [key, value.replaceAll(/[\n\r\0]/g, ' ')]));
        const written = writeDocker(secrets);
        expect(readByDocker(written)).toEqual([...secrets]);
        expect(parseDocker(written)).toEqual(secrets);
      }),
    );
  });

  test('has no quotes, escapes or comments behind a value', () => {
    const secrets = table({ A: '"it\'s" # $HOME \\n', B: '', C: ' =x ' });
    expect(writeDocker(secrets)).toBe('A="it\'s" # $HOME \\n\nB=\nC= =x \n');
    expect(parseDocker('\uFEFF# comment\r\n\r\n  A="x"\r\nB=\r\n')).toEqual(table({ A: '"x"', B: '' }));
  });

  test.each([
    ['a line break', { A: 'x', PEM: 'hunter\n2', KEY: 'hunter\r' }, 'the line breaks or NULs in PEM, KEY; use another'],
    ['a NUL', { B: 'hunter\0' }, 'in B; use another format'],
    [
      'a value that docker cannot read',
      { LONG: 'x'.repeat(64 * 1024) },
      'lines of at most 64 KiB, and LONG needs more',
    ],
  ])('is not written for %s', (_name, entries, message) => {
    expect(() => writeDocker(table(entries))).toThrow(message);
  });

  test.each([
    ['a name alone', 'A=1\nhunter2\n', 'line 2: has no =; docker would take the variable of its caller'],
    ['a key with a space', 'export A=hunter2\n', 'line 1: the key'],
    ['a key that occurs twice', 'A=1\nA=hunter2\n', 'A stands on line 1 and again on line 2'],
  ])('is not read with %s, and nothing of a value is repeated', (_name, text, message) => {
    expect(() => parseDocker(text)).toThrow(message);
    expect(() => parseDocker(text)).not.toThrow('hunter2');
  });
});
