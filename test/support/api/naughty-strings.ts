import { bodyLimits } from '../../../src/wire/contract/body-limits.ts';
import { problem } from '../../../src/wire/problem.ts';
import type { Reply } from './keep-alive-client.ts';

/** Part of each text that is no plain name: wherever it turns up, a text was repeated. */
export const naughtyMark = 'MisplacedSecret7f3a';

/** Texts that have hurt others, by what they are. Those of plain letters carry no mark; what is 1 MB long is elsewhere. */
export const naughtyStrings: ReadonlyMap<string, string> = new Map([
  ['nothing', ''],
  ['a space', ' '],
  ['other white space', '\u00a0\u2003\u3000'],
  ['a NUL', `\0${naughtyMark}`],
  ['a NUL at the end', `${naughtyMark}\0`],
  ['control characters', `${naughtyMark}\u0001\u0007\u0008\u001b[31m\u007f`],
  ['C1 control characters', `${naughtyMark}\u0085\u009b`],
  ['line breaks', `${naughtyMark}\r\nX-Injected: 1\r\n\r\n`],
  ['a tab', `a\t${naughtyMark}`],
  ['line and paragraph separators', `a\u2028${naughtyMark}\u2029`],
  ['a lone high surrogate', `${naughtyMark}\ud800`],
  ['a lone low surrogate', `\udc00${naughtyMark}`],
  ['surrogates the wrong way round', `${naughtyMark}\udc00\ud800`],
  ['a noncharacter', `${naughtyMark}\uffff\ufffe`],
  ['the replacement character', `${naughtyMark}\ufffd`],
  ['a right-to-left override', `${naughtyMark}\u202etxt.exe`],
  ['right-to-left isolates', `\u2067${naughtyMark}\u2069`],
  ['Arabic and Hebrew', `${naughtyMark} مرحبا שלום`],
  ['zero-width characters', `${naughtyMark}\u200b\u200d\u2060`],
  ['a byte order mark', `\ufeff${naughtyMark}`],
  ['emoji', `${naughtyMark} 😀👩‍👩‍👧‍👦🏳️‍🌈🇦🇶`],
  ['an astral letter', `${naughtyMark}𝒳𐍈`],
  ['many combining characters', `${naughtyMark}Z${'\u0300\u0323'.repeat(20)}`],
  ['é composed', `${naughtyMark} caf\u00e9`],
  ['é decomposed', `${naughtyMark} cafe\u0301`],
  ['a Turkish i', `${naughtyMark} İıſK`],
  ['full-width letters', `${naughtyMark} ａｄｍｉｎ`],
  ['a Cyrillic a', `${naughtyMark}\u0430dmin`],
  ['spaces around', ` ${naughtyMark} `],
  ['__proto__', '__proto__'],
  ['constructor', 'constructor'],
  ['prototype', 'prototype'],
  ['toString', 'toString'],
  ['hasOwnProperty', 'hasOwnProperty'],
  ['a dot', '.'],
  ['two dots', '..'],
  ['two dots and a name', '..name'],
  ['a path upwards', `../../${naughtyMark}`],
  ['a path upwards on Windows', String.raw`..\..\${naughtyMark}`],
  ['an encoded path', `%2e%2e%2f${naughtyMark}`],
  ['an encoded NUL', `%00${naughtyMark}`],
  ['a faulty encoding', `%${naughtyMark}%zz`],
  ['zero', '0'],
  ['minus one', '-1'],
  ['a big number', '99999999999999999999999'],
  ['an exponent', '1e309'],
  ['a hexadecimal number', '0x10'],
  ['NaN', 'NaN'],
  ['null', 'null'],
  ['undefined', 'undefined'],
  ['true', 'true'],
  ['other digits', `${naughtyMark}١٢٣`],
  ['SQL', `'; DROP TABLE secret; -- ${naughtyMark}`],
  ['SQL of a pattern', `%_\\${naughtyMark}`],
  ['a shell', `$(touch /tmp/x) \`id\` ; ${naughtyMark} | cat`],
  ['HTML', `<script>alert("${naughtyMark}")</script>`],
  ['a template', `{{7*7}} \${7*7} <%= ${naughtyMark} %>`],
  ['a format', `%s%n%d ${naughtyMark}`],
  ['JSON', `{"${naughtyMark}":[1]}`],
  ['quotes and backslashes', `"\\"'\\\\${naughtyMark}`],
  ['a log forgery', `\${jndi:ldap://x/${naughtyMark}}`],
  ['300 letters', 'n'.repeat(300)],
  ['2,000 letters', 'n'.repeat(2000)],
]);

export const megabyte = naughtyMark.padEnd(2 ** 20, 'x');

/** What is accepted, or all that is not, of the strings and of 1 MB: by what they are. */
export type Accepted = { readonly only: readonly string[] } | { readonly allBut: readonly string[] };

const words = ['constructor', 'prototype', 'null', 'undefined', 'true', 'zero'];
const numbers = ['minus one', 'a big number', 'an exponent', 'a hexadecimal number', 'NaN'];
const plain = [...words, ...numbers, 'toString', 'hasOwnProperty'];
const dots = ['a dot', 'two dots', 'two dots and a name'];
const blank = ['nothing', 'a space', 'other white space'];
const broken = ['a lone high surrogate', 'a lone low surrogate', 'surrogates the wrong way round', '1 MB'];
const visible = [
  'HTML',
  'JSON',
  'SQL of a pattern',
  'a faulty encoding',
  'a log forgery',
  'a path upwards',
  'a path upwards on Windows',
  'an encoded NUL',
  'an encoded path',
  'quotes and backslashes',
];
const control = ['a NUL', 'a NUL at the end', 'control characters', 'C1 control characters', 'line breaks', 'a tab'];

/** By the rules of docs/interface.md sections 2 and 8. */
export const accepted = {
  slugs: { only: [...words, 'a hexadecimal number', 'an exponent', 'a big number'] },
  keys: { only: plain },
  clusterNames: { only: plain.filter((what) => what !== 'minus one') },
  values: { allBut: broken },
  comments: { allBut: [...broken, ...control, '2,000 letters'] },
  names: { allBut: [...broken, ...control, ...blank, '300 letters', '2,000 letters'] },
  /** What may stand before the @ of an e-mail address: whatever is visible and of ASCII, up to 64 characters. */
  localParts: { only: [...plain, ...dots, '__proto__', ...visible] },
  prefixes: { only: [...plain, ...dots, '__proto__'] },
} as const satisfies Record<string, Accepted>;

/** Bytes that are no UTF-8, by what they are. */
export const brokenUtf8: ReadonlyMap<string, Buffer> = new Map([
  ['an overlong NUL', Buffer.from([0xc0, 0x80])],
  ['an overlong dot', Buffer.from([0xc0, 0xae])],
  ['an overlong slash of three bytes', Buffer.from([0xe0, 0x80, 0xaf])],
  ['a surrogate', Buffer.from([0xed, 0xa0, 0x80])],
  ['a code point beyond the last', Buffer.from([0xf4, 0x90, 0x80, 0x80])],
  ['half a character', Buffer.from([0xf0, 0x9f, 0x98])],
  ['a continuation alone', Buffer.from([0x80])],
  ['bytes that never occur', Buffer.from([0xfe, 0xff])],
]);

/** A text percent-encoded, also one with lone surrogates (each as the three bytes that UTF-8 forbids). */
export function percentEncoded(text: string): string {
  return Array.from(text)
    .map((character) => (character.isWellFormed() ? encodeURIComponent(character) : wtf8(character)))
    .join('');
}

/** Every byte percent-encoded. */
export function percentBytes(bytes: Buffer): string {
  return bytes.toString('hex').replaceAll(/../g, '%$&');
}

function wtf8(surrogate: string): string {
  const code = surrogate.charCodeAt(0);
  return percentBytes(Buffer.from([0xed, 0x80 | ((code >> 6) & 0x3f), 0x80 | (code & 0x3f)]));
}

/** What a faulty text is answered with: a field's fault, or for a path a word on the whole. */
const codesWithoutField: ReadonlySet<string> = new Set(['malformed_request', 'not_found', 'method_not_allowed']);

/**
 * Throws an Error unless an answer is a problem that names the field and does not repeat the text. Where the text is
 * empty or cannot be decoded there may be no field: as a part of a path it is none. A text that is longer than most bodies
 * may be refused with its body.
 */
export function expectNamedFault(
  { status, text: answer }: Pick<Reply, 'status' | 'text'>,
  text: string,
  field: RegExp,
): void {
  const complain = (fault: string): never => {
    throw new Error(`${JSON.stringify(text.slice(0, 80))} ${fault}: ${status} ${answer}`);
  };
  if (status < 400 || status >= 500) complain('was not refused by a 4xx');
  if (isRepeated(answer, text)) complain('was repeated');
  const { code, errors = [] } = problem.parse(JSON.parse(answer));
  if (mayNameNoField(text, code)) return;
  if (code !== 'invalid_input' || !errors.some((error) => field.test(error.field)))
    complain('was not refused by its field');
}

function mayNameNoField(text: string, code: string): boolean {
  const isTooLong = text.length > bodyLimits.usual.maxBytes && code === 'payload_too_large';
  return isTooLong || ((text === '' || !text.isWellFormed()) && codesWithoutField.has(code));
}

/** Whether an answer holds a text that it should not. What looks like a name may be shown as one. */
export function isRepeated(answer: string, text: string): boolean {
  if (answer.includes(naughtyMark)) return true;
  const mayBeShown = text.length < 4 || /^[A-Za-z0-9._-]{1,253}$/.test(text);
  return !mayBeShown && [text, JSON.stringify(text).slice(1, -1)].some((echo) => answer.includes(echo));
}
