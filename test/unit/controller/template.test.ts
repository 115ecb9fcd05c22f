import * as messages from '../../../src/controller/kinds/secret-sync/source-messages.ts';
import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import {
  type ValueSize,
  composeValues,
  composedSize,
} from '../../../src/controller/kinds/secret-sync/data/template.ts';
import { DomainError } from '../../../src/domain/errors/domain-error.ts';

const limit = 1024 * 1024;
// Not UTF-8.
const bytes = Buffer.from([0xff, 0x00, 0xfe]);
const values = new Map<string, Buffer>(
  Object.entries({ USER: 'app', PASSWORD: 'p\'s"\\w', EMPTY: '', 'tls.crt-1': '-----\nä🔑\n-----' }).map(
    ([key, value]): [string, Buffer] => [key, Buffer.from(value)],
  ),
).set('KEYSTORE', bytes);

/** What a template of the key T comes to. */
function composed(text: string, synced: ReadonlyMap<string, Buffer> = values, most = limit): string {
  const [entry] = composeValues({ data: { T: text } }, synced, most);
  return entry?.[1].toString('utf8') ?? '';
}

function refusal(text: string, synced = values, most = limit): DomainError {
  try {
    composed(text, synced, most);
  } catch (error) {
    if (error instanceof DomainError) return error;
    throw error;
  }
  throw new Error('nothing was refused');
}

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
        const literal = `"${value.replaceAll(/["\\]/g, String.raw`\$&`)}"`;
        expect(composed(`$(B | default ${literal})`, synced)).toBe(value);
      }),
      { numRuns: 500 },
    );
  });

  test('base64 takes any bytes, and nothing else takes what is not text', () => {
    fc.assert(
      fc.property(fc.uint8Array(), (raw) => {
        const synced = new Map([['A', Buffer.from(raw)]]);
        expect(composed('$(A | base64)', synced)).toBe(Buffer.from(raw).toString('base64'));
        const decoded = Buffer.from(raw).toString('utf8');
        const isText = Buffer.from(decoded).equals(Buffer.from(raw));
        expect(outcome('$(A)', synced)).toBe(isText ? decoded : 'template_value_binary');
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
  ['$(A | default)', 14, messages.textExpected],
  ["$(A | default 'x')", 15, messages.textExpected],
  ['$(A | default "x)', 15, messages.textExpected],
  ['$(A | default "\\n")', 15, messages.textExpected],
  ['$(USER) $(A | json | nothing)', 22, messages.functionExpected('nothing')],
  ['\n$$$(!)', 6, messages.keyExpected],
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

  test('a name that the environment gives already', () => {
    expect(() => composeValues({ data: { USER: 'x' } }, values, limit)).toThrow('The key USER comes both');
  });

  test.each([
    ['references', '$(USER)'.repeat(4)],
    ['text', 'x'.repeat(11)],
    ['a function', '$(USER | base64 | base64 | base64)'],
    ['a default', '$(HOST | default "12345678901")'],
  ])('more bytes than there may be: %s', (_, template) => {
    expect(refusal(template, values, 10).code).toBe('target_too_large');
    expect(() => composed(template, values, 1000)).not.toThrow();
  });

  test('what would grow without end: each function, again and again, is stopped at the limit', () => {
    const synced = new Map([
      ['A', Buffer.alloc(200_000, '"')],
      ['Q', Buffer.alloc(200_000, "'")],
    ]);
    const chain = (key: string, form: string): string => `$(${key}${` | ${form}`.repeat(1500)})`;
    for (const template of [chain('A', 'base64'), chain('A', 'json'), chain('Q', 'quote'), '$(A)'.repeat(4000)]) {
      const began = process.cpuUsage();
      expect(refusal(template, synced).code).toBe('target_too_large');
      expect(process.cpuUsage(began).user / 1000).toBeLessThan(500);
    }
  });

  test('dollars alone is quick, however many', () => {
    const began = process.cpuUsage();
    expect(composed('$'.repeat(16_384))).toBe('$'.repeat(16_384));
    expect(composed(`${'$'.repeat(16_000)}(`)).toBe(`${'$'.repeat(8_000)}(`);
    expect(process.cpuUsage(began).user / 1000).toBeLessThan(100);
  });
});

test('no refusal shows a value, a default or the text around', () => {
  const canary = 'CANARY0';
  const synced = new Map([
    ['A', Buffer.from(canary)],
    ['B', Buffer.concat([Buffer.from(canary), bytes])],
  ]);
  const templates = [
    `$(A) ${canary} $(`,
    `$(A | default "${canary}" !)`,
    `$(MISSING) $(X | default "${canary}")`,
    '$(A)$(B)',
    `$(A)${canary}`.repeat(3),
  ];
  for (const template of templates) expect(refusal(template, synced, 40).detail).not.toContain(canary);
});

describe('the size of composed values', () => {
  const sizes = new Map<string, ValueSize>(
    [...values].map(([name, value]) => [name, { bytes: value.length, isExact: true }]),
  );
  const sizeOf = (data: Record<string, string>, most = limit): ValueSize => composedSize({ data }, sizes, most);

  test.each<readonly [template: string, isExact: boolean]>([
    ['plain äö', true],
    ['$(USER):$(PASSWORD)@', true],
    ['$(tls.crt-1 | base64 | base64)', true],
    ['$(ABSENT | default "ä")$(EMPTY | default "not this")', true],
    ['$(PASSWORD | json)', false],
    ['$(PASSWORD | quote | base64)', false],
    ['$(tls.crt-1 | json | json)', false],
  ])('is known before they are composed: %s', (template, isExact) => {
    const { length } = Buffer.from(composed(template));
    const size = sizeOf({ T: template });
    expect(size.isExact).toBe(isExact);
    expect(size.bytes).toBeLessThanOrEqual(length);
    expect(isExact ? size.bytes : length).toBe(length);
  });

  test('is never more than they come to, and exactly that if it says so', () => {
    const part = fc.oneof(
      fc.string({ maxLength: 5 }).map((literal) => literal.replaceAll('$', '')),
      fc
        .tuple(
          fc.constantFrom('USER', 'PASSWORD', 'EMPTY', 'tls.crt-1', 'ABSENT | default "x"'),
          fc.array(fc.constantFrom('base64', 'json', 'quote', 'default "y"'), { maxLength: 4 }),
        )
        .map(([key, steps]) => `$(${[key, ...steps].join(' | ')})`),
    );
    fc.assert(
      fc.property(fc.array(part, { maxLength: 5 }), (parts) => {
        const template = parts.join('');
        const { length } = Buffer.from(composed(template));
        const size = sizeOf({ T: template });
        expect(size.bytes).toBeLessThanOrEqual(length);
        expect(size.isExact ? size.bytes : length).toBe(length);
      }),
    );
  });

  test('is of all together', () => {
    expect(sizeOf({ ONE: '$(USER)', TWO: '$(USER)$(USER)' })).toEqual({ bytes: 9, isExact: true });
  });

  test('refuses what one of them alone exceeds, and names that cannot be', () => {
    expect(() => sizeOf({ T: '$(PASSWORD)$(PASSWORD)' }, 10)).toThrow('The template of T has more than the 10 bytes');
    expect(() => sizeOf({ USER: 'x' })).toThrow('The key USER comes both');
    expect(() => sizeOf({ T: '$(ABSENT)' })).toThrow('ABSENT');
    expect(() => sizeOf({ T: '$(' })).toThrow('invalid at character');
  });
});

test('values that are too large together are refused before they are all composed', () => {
  const large = new Map([['LARGE', Buffer.alloc(1000, '"')]]);
  const data = Object.fromEntries(Array.from({ length: 32 }, (_, index) => [`T_${index}`, '$(LARGE | json)']));
  expect(() => composeValues({ data }, large, 10_000)).toThrow('The templates together have more than the 10000 bytes');
});

test('a value that is too large alone is refused before all of its parts are put together', () => {
  let reads = 0;
  class CountedValues extends Map<string, Buffer> {
    override get(key: string): Buffer | undefined {
      reads += 1;
      return super.get(key);
    }
  }
  const counted = new CountedValues([['LARGE', Buffer.alloc(1000, 'x')]]);
  const data = { T: '$(LARGE)'.repeat(500) };
  expect(() => composeValues({ data }, counted, 10_000)).toThrow('The template of T has more than the 10000 bytes');
  expect(reads).toBe(11);
});
