import * as messages from '../../../src/controller/kinds/secret-sync/source-messages.ts';
import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { composeValues } from '../../../src/controller/kinds/secret-sync/data/template.ts';
import type { DomainError } from '../../../src/domain/errors/domain-error.ts';
import { costRatio } from '../../support/fixtures/cost-ratio.ts';
import { bytes, composed, limit, refusal, values } from './template-values.ts';

/** What a template comes to, or the code of its refusal. */
function outcome(text: string, synced: ReadonlyMap<string, Buffer>): string {
  try {
    return composed(text, synced);
  } catch (error) {
    return (error as DomainError).code;
  }
}

const table: readonly [text: string, value: string][] = [
  ['', ''],
  ['no reference', 'no reference'],
  ['$(USER)', 'app'],
  ['postgresql://$(USER):$(USER)@db/$(USER)', 'postgresql://app:app@db/app'],
  ['$( USER )', 'app'],
  ['<$(EMPTY)>', '<>'],
  ['$(tls.crt-1)', '-----\nä🔑\n-----'],
  ['$(PASSWORD)', 'p\'s"\\w'],
  ['$(USER | base64)', 'YXBw'],
  ['$(USER|base64|base64)', 'WVhCdw=='],
  ['$(KEYSTORE | base64)', '/wD+'],
  ['{"password": $(PASSWORD | json)}', '{"password": "p\'s\\"\\\\w"}'],
  ['$(tls.crt-1 | json)', '"-----\\nä🔑\\n-----"'],
  ['$(PASSWORD | quote)', `'p'\\''s"\\w'`],
  ['$(EMPTY | quote)', "''"],
  ['$(USER | json | quote | base64)', btoa(`'"app"'`)],
  ['$(HOST | default "db.example")', 'db.example'],
  ['$(HOST | default "")', ''],
  ['$(EMPTY | default "x")', ''],
  ['$(EMPTY | base64 | default "x")', ''],
  ['$(HOST | default "" | default "x")', ''],
  ['$(USER | default "x")', 'app'],
  ['$(HOST | default "a\\"b\\\\c)|$(USER)")', 'a"b\\c)|$(USER)'],
  ['$(HOST | default "x" | base64)', 'eA=='],
  ['$(HOST | base64 | default "x")', 'x'],
  ['$(HOST | json | default "x" | quote | default "y")', "'x'"],
  ['$(PASSWORD | urlencode)', 'p%27s%22%5Cw'],
  ['$(tls.crt-1 | urlencode)', '-----%0A%C3%A4%F0%9F%94%91%0A-----'],
  ['$(KEYSTORE|urlencode)', '%FF%00%FE'],
  ['$(HOST | default "-._~ +/@:!*()" | urlencode)', '-._~%20%2B%2F%40%3A%21%2A%28%29'],
  ['$(PASSWORD | urlencode | urlencode)', 'p%2527s%2522%255Cw'],
  ['<$(LINE | trim)>', '<a b>'],
  ['<$(EMPTY | trim)>', '<>'],
  ['$(LOGIN | json "user")', 'ä@x'],
  ['$(LOGIN | json "user" | urlencode)', '%C3%A4%40x'],
  ['$(LOGIN | json"port")', '12345678901234567890'],
  ['$(LOGIN | json "tls")', '{"on": true, "x": [1.0, {}]}'],
  ['$(LOGIN | json "tls" | json "on" | quote)', "'true'"],
  ['$(LOGIN | json "a b" | default "x")', ''],
  ['$(LOGIN | json "off" | default "x")', 'x'],
  ['$(LOGIN | json "tls.on" | json "x" | default "none")', 'none'],
  ['$(HOST | json "user" | default "y")', 'y'],
  ['$(HOST | default "{\\"a\\":[]}" | json "a")', '[]'],
  ['$$(USER)', '$(USER)'],
  ['$$$(USER)', '$app'],
  ['$$$$(USER)', '$$(USER)'],
  ['$$( | ', '$( | '],
  ['$USER ${USER} $$ $$$ US$ $', '$USER ${USER} $$ $$$ US$ $'],
  ['$(USER)$(USER)$$($(USER)', 'appapp$(app'],
  ['( ) | " \\ $)', '( ) | " \\ $)'],
];

describe('a template', () => {
  test.each(table)('%j comes to %j', (text, value) => expect(composed(text)).toBe(value));

  test('adds its keys, in the order of their names, and changes no other', () => {
    const before = new Map(values);
    const added = composeValues({ data: { b: '$(USER)', a: 'x' } }, values, limit);
    expect(added.map(([name, value]) => [name, value.toString()])).toEqual([
      ['a', 'x'],
      ['b', 'app'],
    ]);
    expect(values).toEqual(before);
    expect(composeValues(undefined, values, limit)).toEqual([]);
  });
});

const text = fc.string({ unit: 'grapheme', maxLength: 40 });
const plain = fc.oneof(text, fc.string({ unit: fc.constantFrom('$', '(', ')', 'A', '|', '"', '\\'), maxLength: 12 }));

/** Text as a template has to write it, so that it comes out as it is; `isBeforeReference`: a `$(` follows it. */
function escaped(part: string, isBeforeReference = false): string {
  const inside = part.replaceAll(/\$+(?=\()/g, '$&$&');
  return isBeforeReference ? inside.replace(/\$+$/, '$&$&') : inside;
}

/** What a POSIX shell makes of a word of single quotes and quotes behind backslashes. */
function shellWord(word: string): string {
  return word.replaceAll(/'([^']*)'|\\(.)/gs, (_, quoted?: string, single?: string) => quoted ?? single ?? '');
}

describe('whatever the values are', () => {
  test('they and the text around them come through to the letter', () => {
    fc.assert(
      fc.property(plain, plain, plain, (before, value, after) => {
        const synced = new Map([['A', Buffer.from(value)]]);
        const template = `${escaped(before, true)}$(A)${escaped(after)}`;
        // A half of a pair has no UTF-8, in values as in specs.
        fc.pre([before, value, after].every((part) => part.isWellFormed()));
        expect(composed(template, synced)).toBe(before + value + after);
      }),
      { numRuns: 500 },
    );
  });

  test('each function can be undone by what its form is read with', () => {
    fc.assert(
      fc.property(plain, (value) => {
        const synced = new Map([['A', Buffer.from(value)]]);
        const read = (form: string): string => composed(`$(A | ${form})`, synced);
        expect(JSON.parse(read('json'))).toBe(value);
        expect(Buffer.from(read('base64'), 'base64').toString()).toBe(value);
        expect(shellWord(read('quote'))).toBe(value);
        expect(decodeURIComponent(read('urlencode'))).toBe(value);
        expect(read('urlencode')).toMatch(/^(?:[-._~A-Za-z0-9]|%[0-9A-F]{2})*$/);
        expect(read('trim')).toBe(value.trim());
        const literal = `"${value.replaceAll(/["\\]/g, String.raw`\$&`)}"`;
        expect(composed(`$(B | default ${literal})`, synced)).toBe(value);
      }),
      { numRuns: 500 },
    );
  });

  test('a field of JSON comes through to the letter, and what is no string as its part of the text', () => {
    const written = fc
      .tuple(fc.json(), fc.constantFrom('', ' ', '\n\t'))
      .map(([json, blank]) => `${blank}${json}${blank}`);
    fc.assert(
      fc.property(fc.dictionary(plain, written, { maxKeys: 5 }), plain, (members, other) => {
        const fields = Object.entries(members).map(([name, json]) => `${JSON.stringify(name)}:${json}`);
        const synced = new Map([['A', Buffer.from(`{${fields.join(',')}}`)]]);
        fc.pre([...fields, other].every((part) => part.isWellFormed()));
        for (const name of [...Object.keys(members), other]) {
          const literal = `"${name.replaceAll(/["\\]/g, String.raw`\$&`)}"`;
          const json = Object.hasOwn(members, name) ? (members[name] ?? '').trim() : 'null';
          const value: unknown = JSON.parse(json);
          const expected = typeof value === 'string' ? value : value === null ? 'missing' : json;
          fc.pre(expected.isWellFormed());
          expect(composed(`$(A | json ${literal} | default "missing")`, synced)).toBe(expected);
        }
      }),
      { numRuns: 500 },
    );
  });

  test('base64 and urlencode take any bytes, and nothing else takes what is not text', () => {
    fc.assert(
      fc.property(fc.uint8Array(), (raw) => {
        const synced = new Map([['A', Buffer.from(raw)]]);
        expect(composed('$(A | base64)', synced)).toBe(Buffer.from(raw).toString('base64'));
        const decoded = Buffer.from(raw).toString('utf8');
        const isText = Buffer.from(decoded).equals(Buffer.from(raw));
        expect(outcome('$(A)', synced)).toBe(isText ? decoded : 'template_value_binary');
        const encoded = composed('$(A | urlencode)', synced);
        const bytesOf = encoded.replaceAll(/%(..)/g, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)));
        expect(Buffer.from(bytesOf, 'latin1').equals(Buffer.from(raw))).toBe(true);
        for (const form of ['trim', 'json "f"', 'urlencode | json "f"'])
          expect(outcome(`$(A | ${form} | default "x")`, synced) === 'template_value_binary').toBe(
            !isText && !form.startsWith('urlencode'),
          );
        expect(outcome('$(A | json)', synced)).toBe(isText ? JSON.stringify(decoded) : 'template_value_binary');
        expect(outcome('$(A | quote | base64)', synced) === 'template_value_binary').toBe(!isText);
      }),
    );
  });
});

const wrong: readonly [text: string, at: number, problem: string][] = [
  ['$()', 3, messages.keyExpected],
  ['ab$(', 5, messages.keyExpected],
  ['🔑$(', 4, messages.keyExpected],
  ['$(A', 4, messages.endExpected],
  ['$(A B)', 5, messages.endExpected],
  ['$(A$(B))', 4, messages.endExpected],
  ['$(A, json)', 4, messages.endExpected],
  ['$(A | base64', 13, messages.endExpected],
  ['$(A |)', 6, messages.functionExpected('')],
  ['$(A || json)', 6, messages.functionExpected('')],
  ['$(A | upper)', 7, messages.functionExpected('upper')],
  ['$(A | base64x)', 7, messages.functionExpected('base64x')],
  ['$(A | default)', 14, messages.textExpected('default')],
  ["$(A | default 'x')", 15, messages.textExpected('default')],
  ['$(A | default "x)', 15, messages.textExpected('default')],
  ['$(A | default "\\n")', 15, messages.textExpected('default')],
  ['$(USER) $(A | json | nothing)', 22, messages.functionExpected('nothing')],
  ['\n$$$(!)', 6, messages.keyExpected],
  ['$(A | json "x)', 12, messages.textExpected('json')],
  ['$(A | json x)', 12, messages.endExpected],
  ['$(A | json "x" "y")', 16, messages.endExpected],
  ['$(A | trim "x")', 12, messages.endExpected],
];

describe('nothing is composed of', () => {
  test.each(wrong)('%j, and the place is named', (template, at, problem) => {
    const { code, detail } = refusal(template);
    expect(code).toBe('template_invalid');
    expect(detail).toContain(`The template of T is invalid at character ${at}: ${problem}. `);
  });

  test('keys that are missing, each named once', () => {
    const { code, detail } = refusal('$(USER) $(HOST) $(PORT | base64) $(HOST | json) $(NAME | default "x")');
    expect(code).toBe('template_key_missing');
    expect(detail).toContain(
      'keys that the Secret does not get from the environment: HOST, PORT. Nothing is written. Set',
    );
  });

  test('keys of a template, the same or another', () => {
    const data = { URL: '$(HOST):1', HOST: 'x', SELF: '$(SELF)' };
    expect(() => composeValues({ data: { SELF: data.SELF } }, values, limit)).toThrow('another template');
    expect(() => composeValues({ data: { URL: data.URL, HOST: data.HOST } }, values, limit)).toThrow(
      'another template',
    );
  });

  test('values that are not text', () => {
    const { code, detail } = refusal('$(KEYSTORE | json)');
    expect(code).toBe('template_value_binary');
    expect(detail).toContain('The template of T refers to KEYSTORE, whose value is not UTF-8');
  });

  test.each([
    [
      'no JSON',
      '$(USER | json "user" | default "x")',
      'template_field_missing',
      'field "user" of USER, which is not a JSON object',
    ],
    ['an array', '$(LIST | json "0")', 'template_field_missing', 'field "0" of LIST, which is not a JSON object'],
    ['null', '$(HOST | default "null" | json "x")', 'template_field_missing', 'of HOST, which is not a JSON object'],
    [
      'an object without the field',
      '$(LOGIN | json "nope")',
      'template_field_missing',
      '"nope" of LOGIN, which is missing or null',
    ],
    [
      'an object with null',
      '$(LOGIN | json "off")',
      'template_field_missing',
      '"off" of LOGIN, which is missing or null',
    ],
    ['an object of JavaScript', '$(LOGIN | json "constructor")', 'template_field_missing', 'which is missing or null'],
    [
      'a field with a default before it',
      '$(LOGIN | default "x" | json "no")',
      'template_field_missing',
      'missing or null',
    ],
    [
      'half of a surrogate pair',
      '$(HALF | json "h")',
      'template_value_binary',
      'field "h" of HALF, which is not valid Unicode',
    ],
  ])('a field of %s', (_, template, code, words) => {
    const synced = new Map(values).set('LIST', Buffer.from('["a"]')).set('HALF', Buffer.from('{"h": "\\ud83d"}'));
    const found = refusal(template, synced);
    expect(found.code).toBe(code);
    expect(found.detail).toContain(words);
  });

  test('a name that the environment gives already, unless that key is hidden', () => {
    const data = { USER: '<$(USER)>', OTHER: '$(USER)' };
    expect(() => composeValues({ data }, values, limit)).toThrow('The key USER comes both');
    const hidden = { keysField: 'spec.keys', hidden: new Set(['USER']) };
    const added = composeValues({ data }, values, limit, hidden).map(([name, value]) => [name, value.toString()]);
    expect(added).toEqual([
      ['OTHER', 'app'],
      ['USER', '<app>'],
    ]);
  });

  test.each([
    ['references', '$(USER)'.repeat(4)],
    ['text', 'x'.repeat(11)],
    ['a function', '$(USER | base64 | base64 | base64)'],
    ['a default', '$(HOST | default "12345678901")'],
    ['percents', '$(PASSWORD | urlencode)'],
  ])('more bytes than there may be: %s', (_, template) => {
    expect(refusal(template, values, 10).code).toBe('target_too_large');
    expect(() => composed(template, values, 1000)).not.toThrow();
  });

  test('what would grow without end: each function, again and again, is stopped at the limit', async () => {
    const synced = new Map([
      ['A', Buffer.alloc(200_000, '"')],
      ['Q', Buffer.alloc(200_000, "'")],
    ]);
    const chain = (key: string, form: string): string => `$(${key}${` | ${form}`.repeat(1500)})`;
    const templates = [
      chain('A', 'base64'),
      chain('A', 'json'),
      chain('A', 'urlencode'),
      chain('Q', 'quote'),
      '$(A)'.repeat(4000),
    ];
    const floor = (): string => composed('$(A)'.repeat(5), synced);
    for (const template of templates) {
      expect(refusal(template, synced).code).toBe('target_too_large');
      // What comes to just the limit is the floor. All of the longest template would be 800 times as much.
      expect(await costRatio({ subject: () => refusal(template, synced), floor })).toBeLessThan(150);
    }
  });

  test('what costs much and comes to little: many fields of a long JSON, and long white space', async () => {
    const synced = new Map([
      ['J', Buffer.from(`{"n": ${'['.repeat(120_000)}${']'.repeat(120_000)}, "a": 1}`)],
      ['W', Buffer.alloc(256 * 1024, ' ')],
      ['U', Buffer.alloc(256 * 1024, 'a')],
    ]);
    // A single one is fine, however deep the JSON.
    expect(composed('$(J | json "a")$(W | trim)', synced)).toBe('1');
    const many = ['$(J | json "a")'.repeat(1000), '$(W | trim)'.repeat(1400), `$(U${' | urlencode'.repeat(1300)})`];
    const floor = (): string => composed('$(J | json "a")$(W | trim)', synced);
    for (const template of many) {
      const { code, detail } = refusal(template, synced);
      expect([code, detail]).toEqual(['target_too_large', messages.templateWorkTooLarge(8 * limit).detail]);
      // All fields would be a thousand times as much.
      expect(await costRatio({ subject: () => refusal(template, synced), floor })).toBeLessThan(200);
    }
    // It counts over all templates.
    const data = Object.fromEntries(Array.from({ length: 30 }, (_, at) => [`T${at}`, '$(W | trim)'.repeat(5)]));
    expect(() => composeValues({ data }, synced, limit)).toThrow('would process more than');
  });

  test('dollars alone takes linear time, however many', async () => {
    expect(composed('$'.repeat(16_384))).toBe('$'.repeat(16_384));
    expect(composed(`${'$'.repeat(16_000)}(`)).toBe(`${'$'.repeat(8_000)}(`);
    for (const dollars of ['$'.repeat(16_384), `${'$'.repeat(16_000)}(`]) {
      const floor = (): string => composed('a'.repeat(16_384));
      const ratio = await costRatio({ subject: () => composed(dollars), floor });
      // A search that starts again at each dollar takes thousands of times as long.
      expect(ratio).toBeLessThan(200);
    }
  });
});

test('no refusal shows a value, a default or the text around', () => {
  const canary = 'CANARY0';
  const synced = new Map([
    ['A', Buffer.from(canary)],
    ['B', Buffer.concat([Buffer.from(canary), bytes])],
    // Values that JSON.parse quotes in its error, and that have a field of this name or not.
    ['C', Buffer.from(`{"${canary}"`)],
    ['J', Buffer.from(`{"${canary}": "${canary}"}`)],
    ['H', Buffer.from(`{"f": "${canary}\\ud83d"}`)],
  ]);
  const templates = [
    `$(A) ${canary} $(`,
    `$(A | default "${canary}" !)`,
    `$(MISSING) $(X | default "${canary}")`,
    '$(A)$(B)',
    `$(A)${canary}`.repeat(3),
    '$(A | json "f")',
    '$(J | json "f")',
    '$(C | json "f")',
    '$(H | json "f")',
    '$(J | urlencode | urlencode)',
  ];
  for (const template of templates) {
    const { detail, cause } = refusal(template, synced, 40);
    expect([detail, String(cause)].join(' ')).not.toContain(canary);
  }
});
