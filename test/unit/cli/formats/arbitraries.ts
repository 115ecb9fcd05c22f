import fc from 'fast-check';
import { validateSecretKey } from '../../../../src/wire/secret-rules.ts';

/** Any key that Keyframe takes, those that other formats dislike among them. */
export const secretKeys: fc.Arbitrary<string> = fc
  .oneof(
    fc.stringMatching(/^[A-Z_][A-Z0-9_]{0,8}$/),
    fc.stringMatching(/^[A-Za-z0-9._-]{1,9}$/),
    fc.constantFrom(
      'export',
      'a.b',
      '-x',
      '1',
      '.env',
      'NO',
      'y',
      'null',
      '~',
      '0x10',
      'constructor',
      'toString',
      '--',
    ),
  )
  .filter((key) => validateSecretKey(key) === undefined);

// What formats give a meaning to; drawn far more often than by chance.
const delicate = [
  '"',
  "'",
  '`',
  '\\',
  '\\n',
  '\\r',
  '\n',
  '\r',
  '\r\n',
  '#',
  ' #',
  ' # keyframe:json',
  '$',
  '${A}',
  '$(id)',
  ' ',
  '\t',
  '=',

  '\0',
  '\u0001',
  '\u000B',
  '\f',
  '\u001B',
  '\u007F',
  '\u0085',
  '\u00A0',
  '\u2028',
  '\u2029',
  '\uFEFF',
  '\uFFFE',
  '\uFFFF',

  'A=',
  '\nB=',
  'export ',
  ': ',
  '- ',
  '...',
  '---',
  '<<',
  '&a',
  '*a',
  '!x',
  '%',
  '{',
  '}',
  '[',
  ']',
  ',',
  '🔑',
  'é',
  'x',
  'word',
];

/** Any value: Unicode text without lone surrogates, mostly made of what is hard to write down. */
export const secretValues: fc.Arbitrary<string> = fc.oneof(
  { weight: 6, arbitrary: fc.array(fc.constantFrom(...delicate), { maxLength: 8 }).map((parts) => parts.join('')) },
  { weight: 2, arbitrary: fc.string({ unit: 'binary', maxLength: 12 }) },
  {
    weight: 1,
    arbitrary: fc.constantFrom(
      'yes',
      'no',
      'null',
      '~',
      '1',
      '1.0',
      '1e3',
      '0x1F',
      '0755',
      '12:30:45',
      '2001-12-14',
      'true',
    ),
  },
);

/** The secrets of an environment. */
export const secretTables: fc.Arbitrary<Map<string, string>> = fc
  .uniqueArray(fc.tuple(secretKeys, secretValues), { selector: ([key]) => key, maxLength: 6 })
  .map((entries) => new Map(entries));
