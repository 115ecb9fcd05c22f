import { FormatError } from './format-error.ts';
import { LineCounter } from './line-counter.ts';
import { type SecretTable, SecretTableBuilder } from './secret-table.ts';
import { runsInShell } from './shell-effect.ts';

/**
 * The dotenv format as most of its readers understand it, and one addition: a value that no form fits stands as a
 * JSON string before the comment `# keyframe:json`. Where the `dotenv` package, python-dotenv and Compose differ, the author's
 * likely meaning counts, and a warning names the line. The rules are in docs/cli-files.md.
 */

const marker = '# keyframe:json';

// The name and the sign behind it. The package also finds the sign, and after a colon the value, on a later line; here
// they must be on the name's own, else a forgotten value would quietly be the next line.
const header = /(?:export[^\S\n]+)?([\w.-]+)(?:[^\S\n]*=|:[^\S\n])/y;
// It may be a line of a value without quotes, so it is not repeated.
const bareName = /(?:export[^\S\n]+)?[\w.-]+[^\S\n]*(?=\n|$)/y;
const neither = 'is neither KEY=value nor a comment (a value of several lines must be in quotes)';
const noValue = 'has a name and no =; KEY= is the empty value (a value of several lines must be in quotes)';
const space = /\s*/y;
const spaceOnLine = /[^\S\n]*/y;
const comment = /#.*/y;
const markedValue = new RegExp(String.raw`"([^"\n]*)" ${marker}[^\S\n]*(?=\n|$)`, 'y');
const marking = new RegExp(String.raw`[^\S\n]*${marker}(?!\S)`, 'y');
const notJson = `what stands before "${marker}" is not a JSON string with its quotes and backslashes as \\u0022 and \\u005c`;
// A # begins a comment only after white space.
const unquoted = /(?:[^#\n]|(?<!\s)#)*/y;
const outerQuotes = /^(['"`])([\s\S]*)\1$/gm;
const lineTerminator = /[\n\u2028\u2029]/;

/** A line that readers of dotenv files read differently. It holds nothing of the value. */
export interface DotenvWarning {
  /** Counted from 1. */
  readonly line: number;
  readonly key: string;
  readonly message: string;
}

export interface DotenvFile {
  readonly secrets: SecretTable;
  readonly warnings: readonly DotenvWarning[];
}

/**
 * Reads a dotenv file. What a reader would pass over or guess at is an error here. What readers understand differently is
 * read as its author most likely meant it, with a warning.
 *
 * @throws FormatError with the number of the faulty line.
 */
export function parseDotenv(file: string): DotenvFile {
  const text = file.replaceAll(/\r\n?/g, '\n');
  const lines = new LineCounter(text);
  const secrets = new SecretTableBuilder();
  const warnings: DotenvWarning[] = [];
  let at = skip(text, 0);
  while (at < text.length) {
    const line = lines.lineAt(at);
    const key = matchAt(header, text, at);
    if (key?.[1] === undefined) {
      throw FormatError.atLine(line, matchAt(bareName, text, at) === null ? neither : noValue);
    }
    const found = valueAt(text, at + key[0].length, line);
    if (matchAt(marking, text, found.end) !== null) throw FormatError.atLine(line, notJson);
    secrets.add(key[1], found.value, line);
    const { differences } = found;
    const messages = key[0].includes('=') ? differences : [differs.colon, ...differences];
    for (const message of messages) warnings.push({ line, key: key[1], message });
    at = skip(text, found.end);
  }
  return { secrets: secrets.build(), warnings };
}

/** A value, the index after it, and what others read differently in it. */
interface FoundValue {
  readonly value: string;
  readonly end: number;
  readonly differences: readonly string[];
}

// Each says what is read here, and what others make of it.
const differs = {
  colon: 'a colon in place of = is read here, and refused by others',
  hash: 'a # without a space before it belongs to the value here, and begins a comment to others',
  comment: 'the # behind the = begins a comment here, and the value to others',
  tabComment: 'the # behind a tab begins a comment here, and belongs to the value to others',
  dollar: '$ stands for itself here; others replace $NAME and ${NAME} (most keep it in single quotes)',
  innerQuote: 'only the outer quotes are taken off here; others refuse the line or end the value earlier',
  escapedQuote: 'a backslash before a quote is left out here, and kept by others',
  doubleBackslash: 'two backslashes are one here, and two to others',
  keptBackslashes: 'two backslashes are two here, and one to others',
  escape: 'a backslash that is not before n, r, " or \\ stands for itself here, and is an escape to others',
  backtick: 'backticks are quotes here, and belong to the value to others',
};

function valueAt(text: string, start: number, line: number): FoundValue {
  const first = start + matchedLength(spaceOnLine, text, start);
  const quote = text[first];
  if (quote !== '"' && quote !== "'" && quote !== '`') return unquotedAt(text, start, line);
  if (quote === '"') {
    const marked = matchAt(markedValue, text, first);
    if (marked?.[1] !== undefined) {
      return { value: fromJson(marked[1], line), end: first + marked[0].length, differences: [] };
    }
  }
  const end = quote === '`' ? closingQuote(text, first, quote) : unescapedQuote(text, first, quote);
  if (end !== undefined) return quotedAs(text.slice(first + 1, end), quote, end + 1);
  // A backslash before the last quote, as at the end of a path of Windows, escapes nothing to the package.
  const last = closingQuote(text, first, quote);
  if (last === undefined) return unquotedAt(text, start, line);
  const found = quotedAs(text.slice(first + 1, last), quote, last + 1);
  return { ...found, differences: [...new Set([...found.differences, differs.innerQuote])] };
}

/** What stands between quotes. */
function quotedAs(inner: string, quote: string, end: number): FoundValue {
  if (quote === '`') return { value: inner, end, differences: [differs.backtick] };
  const pairs: readonly string[] = inner.match(/\\[^]/g) ?? [];
  const isDouble = quote === '"';
  const differences = [
    ...(isDouble && inner.includes('$') ? [differs.dollar] : []),
    ...(pairs.includes(`\\${quote}`) ? [differs.escapedQuote] : []),
    ...(pairs.includes('\\\\') ? [isDouble ? differs.doubleBackslash : differs.keptBackslashes] : []),
    ...(isDouble && pairs.some((pair) => !/["\\nr]/.test(pair.charAt(1))) ? [differs.escape] : []),
  ];
  return { value: withoutEscapes(inner, quote), end, differences };
}

const doubleEscapes: ReadonlyMap<string, string> = new Map([
  ['"', '"'],
  ['\\', '\\'],
  ['n', '\n'],
  ['r', '\r'],
]);
const singleEscapes: ReadonlyMap<string, string> = new Map([["'", "'"]]);

function withoutEscapes(inner: string, quote: string): string {
  const escapes = quote === '"' ? doubleEscapes : singleEscapes;
  return inner.replaceAll(/\\([^])/g, (pair, character: string) => escapes.get(character) ?? pair);
}

/** The index of the first quote that no backslash escapes, if nothing but a comment follows it. */
function unescapedQuote(text: string, open: number, quote: string): number | undefined {
  for (let at = open + 1; at < text.length; at += text[at] === '\\' ? 2 : 1) {
    if (text[at] === quote) return mayEndAt(text, at + 1) ? at : undefined;
  }
  return undefined;
}

/** Up to a comment or the line's end. Quotes at both ends are taken off even if more of the same kind are within them. */
function unquotedAt(text: string, start: number, line: number): FoundValue {
  const end = start + matchedLength(unquoted, text, start);
  const trimmed = text.slice(start, end).trim();
  const quote = trimmed[0];
  const isOpened = quote === '"' || quote === "'" || quote === '`';
  if (isOpened && (trimmed.length === 1 || trimmed.at(-1) !== quote)) {
    throw FormatError.atLine(line, 'a value begins with a quote that is not closed, or more follows behind it');
  }
  const differences = [
    ...(isOpened ? [differs.innerQuote] : []),
    ...(trimmed.includes('#') ? [differs.hash] : []),
    ...(text[end] === '#' ? commentDifferences(trimmed, text[end - 1]) : []),
    ...(trimmed.includes('$') ? [differs.dollar] : []),
  ];
  return { value: unescaped(trimmed.replaceAll(outerQuotes, '$2'), quote), end, differences };
}

/** How others read a comment after this value, by the character before its `#`. */
function commentDifferences(value: string, before: string | undefined): string[] {
  if (value === '') return [differs.comment];
  return before === ' ' ? [] : [differs.tabComment];
}

/**
 * The index of the quote that closes the one at `open`: the first without a backslash before it or, if something other than
 * a comment follows that, the last before it at which the value may end.
 */
function closingQuote(text: string, open: number, quote: string): number | undefined {
  let last: number | undefined;
  for (let at = text.indexOf(quote, open + 1); at !== -1; at = text.indexOf(quote, at + 1)) {
    if (mayEndAt(text, at + 1)) last = at;
    if (text[at - 1] !== '\\') break;
  }
  return last;
}

/** Whether nothing but a comment follows on the line. */
function mayEndAt(text: string, at: number): boolean {
  const length = matchedLength(space, text, at);
  const end = at + length;
  return end === text.length || text[end] === '#' || lineTerminator.test(text.slice(at, end));
}

function unescaped(text: string, quote: string | undefined): string {
  return quote === '"' ? text.replaceAll(String.raw`\n`, '\n').replaceAll(String.raw`\r`, '\r') : text;
}

function fromJson(literal: string, line: number): string {
  try {
    return String(JSON.parse(`"${literal}"`));
  } catch {
    throw FormatError.atLine(line, notJson);
  }
}

/** The index after all white space and comments from here. */
function skip(text: string, start: number): number {
  let at = start + matchedLength(space, text, start);
  while (text[at] === '#') {
    at += matchedLength(comment, text, at);
    at += matchedLength(space, text, at);
  }
  return at;
}

function matchAt(pattern: RegExp, text: string, at: number): RegExpExecArray | null {
  pattern.lastIndex = at;
  return pattern.exec(text);
}

function matchedLength(pattern: RegExp, text: string, at: number): number {
  return matchAt(pattern, text, at)?.[0].length ?? 0;
}

/** Writes a dotenv file, keys in the table's order. Any table of valid keys and values is read back exactly by `parseDotenv`. */
export function writeDotenv(secrets: SecretTable): string {
  return [...secrets].map(([key, value]) => `${key}=${written(value)}\n`).join('');
}

/** The keys whose lines a shell would not only read, if it loaded the text of `writeDotenv`. */
export function keysRunInShell(secrets: SecretTable): string[] {
  return [...secrets].filter(([, value]) => runsInShell(written(value))).map(([key]) => key);
}

const plain = /^[\w./:@%+,=-]*$/;
// Without quotes nothing marks the ends, and a reader of lines ends them at U+2028 and U+2029 too.
const loose = /^(?!['"`\s])[^#\r\n\u2028\u2029]*(?<!\s)$/;

const escapes: ReadonlyMap<string, string> = new Map([
  [String.raw`\"`, String.raw`\u0022`],
  [String.raw`\\`, String.raw`\u005c`],
  ['\u2028', String.raw`\u2028`],
  ['\u2029', String.raw`\u2029`],
]);

/** A way to write a value, and the values that `parseDotenv` and the package read back from it. */
interface WrittenForm {
  readonly fits: (value: string) => boolean;
  readonly write: (value: string) => string;
}

const bare = (value: string): string => value;
const singleQuoted = (value: string): string => `'${value}'`;
const doubleQuoted = (value: string): string =>
  `"${value.replaceAll('\n', String.raw`\n`).replaceAll('\r', String.raw`\r`)}"`;

/**
 * The first that fits is taken. First come the forms that all readers understand alike, single quotes before double ones
 * because no reader expands anything in them. A backslash at the end would hide the closing quote.
 */
const forms: readonly WrittenForm[] = [
  { fits: (value) => plain.test(value), write: bare },
  { fits: (value) => !/['\r]|\\\\|\\$/.test(value), write: singleQuoted },
  { fits: (value) => !/["$\\]/.test(value), write: doubleQuoted },
  { fits: (value) => loose.test(value) && !value.includes('$'), write: bare },
  { fits: (value) => !/['\r]/.test(value) && !value.endsWith('\\'), write: singleQuoted },
  { fits: (value) => loose.test(value), write: bare },
  { fits: (value) => !/"|\\[nr\\\n\r]/.test(value) && !value.endsWith('\\'), write: doubleQuoted },
  { fits: (value) => !/[`\r]/.test(value) && !value.endsWith('\\'), write: (value) => `\`${value}\`` },
  { fits: () => true, write: (value) => `${markedJson(value)} ${marker}` },
];

function written(value: string): string {
  return forms.find(({ fits }) => fits(value))?.write(value) ?? '';
}

/** A JSON string in which the package, too, finds the right end: its text holds no quote, and no backslash before one. */
function markedJson(value: string): string {
  const literal = JSON.stringify(value).slice(1, -1);
  const safe = literal.replaceAll(/\\[\\"]|[\u2028\u2029]/g, (match) => escapes.get(match) ?? match);
  return `"${safe}"`;
}
