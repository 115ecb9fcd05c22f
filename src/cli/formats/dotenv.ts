import { FormatError } from './format-error.ts';
import { LineCounter } from './line-counter.ts';
import { type SecretTable, SecretTableBuilder } from './secret-table.ts';

/**
 * The dotenv format as the `dotenv` package reads it, and one addition of ours: a value that the package has no way to write
 * stands as a JSON string before the comment `# keyframe:json`. The rules are in docs/cli-files.md.
 */

const marker = '# keyframe:json';

// The name and the sign behind it. The package also finds the sign, and after a colon the value, on a later line; here
// they must be on the name's own, else a forgotten value would quietly be the next line.
const header = /(?:export[^\S\n]+)?([\w.-]+)(?:[^\S\n]*=|:[^\S\n])/y;
const space = /\s*/y;
const spaceOnLine = /[^\S\n]*/y;
const comment = /#.*/y;
const markedValue = new RegExp(String.raw`"([^"\n]*)" ${marker}[^\S\n]*(?=\n|$)`, 'y');
const marking = new RegExp(String.raw`[^\S\n]*${marker}(?!\S)`, 'y');
const notJson = `what stands before "${marker}" is not a JSON string with its quotes and backslashes as \\u0022 and \\u005c`;
const unquoted = /[^#\n]*/y;
const outerQuotes = /^(['"`])([\s\S]*)\1$/gm;
const lineTerminator = /[\n\u2028\u2029]/;

/**
 * Reads a dotenv file. What the `dotenv` package reads differently from what stands there, or leaves out, is an error here.
 *
 * @throws FormatError with the number of the faulty line.
 */
export function parseDotenv(file: string): SecretTable {
  const text = file.replaceAll(/\r\n?/g, '\n');
  const lines = new LineCounter(text);
  const secrets = new SecretTableBuilder();
  let at = skip(text, 0);
  while (at < text.length) {
    const line = lines.lineAt(at);
    const key = matchAt(header, text, at);
    if (key?.[1] === undefined) {
      throw FormatError.atLine(line, 'is neither KEY=value nor a comment (a value of several lines must be in quotes)');
    }
    const found = valueAt(text, at + key[0].length, line);
    if (matchAt(marking, text, found.end) !== null) throw FormatError.atLine(line, notJson);
    secrets.add(key[1], found.value, line);
    at = skip(text, found.end);
  }
  return secrets.build();
}

/** A value and the index behind it. */
interface FoundValue {
  readonly value: string;
  readonly end: number;
}

function valueAt(text: string, start: number, line: number): FoundValue {
  const first = start + matchedLength(spaceOnLine, text, start);
  const quote = text[first];
  if (quote !== '"' && quote !== "'" && quote !== '`') return unquotedAt(text, start, line);
  if (quote === '"') {
    const marked = matchAt(markedValue, text, first);
    if (marked?.[1] !== undefined) return { value: fromJson(marked[1], line), end: first + marked[0].length };
  }
  const end = closingQuote(text, first, quote);
  if (end === undefined) return unquotedAt(text, start, line);
  return { value: unescaped(text.slice(first + 1, end), quote), end: end + 1 };
}

/** Up to a `#` or the line's end. The package takes quotes away even where more of the same kind are within them. */
function unquotedAt(text: string, start: number, line: number): FoundValue {
  const end = start + matchedLength(unquoted, text, start);
  const trimmed = text.slice(start, end).trim();
  const quote = trimmed[0];
  const isOpened = quote === '"' || quote === "'" || quote === '`';
  if (isOpened && (trimmed.length === 1 || trimmed.at(-1) !== quote)) {
    throw FormatError.atLine(line, 'a value begins with a quote that is not closed, or more follows behind it');
  }
  return { value: unescaped(trimmed.replaceAll(outerQuotes, '$2'), quote), end };
}

/**
 * The index of the quote that closes the one at `open`: the first without a backslash before it or, where something other than
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

/** The index behind all white space and comments from here. */
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

const plain = /^[\w./:@%+,=-]*$/;
// Without quotes nothing marks the ends, and a reader of lines ends them at U+2028 and U+2029 too.
const loose = /^(?!['"`\s])[^#\r\n\u2028\u2029]*(?<!\s)$/;

const escapes: ReadonlyMap<string, string> = new Map([
  [String.raw`\"`, String.raw`\u0022`],
  [String.raw`\\`, String.raw`\u005c`],
  ['\u2028', String.raw`\u2028`],
  ['\u2029', String.raw`\u2029`],
]);

/**
 * The first way that gives the value back. Single quotes come before the others because nobody expands anything in them. A
 * backslash at the end would hide the closing quote.
 */
function written(value: string): string {
  if (plain.test(value)) return value;
  if (!value.endsWith('\\')) {
    if (!/['\r]/.test(value)) return `'${value}'`;
    if (!/"|\\[nr]/.test(value)) return `"${value.replaceAll('\n', String.raw`\n`).replaceAll('\r', String.raw`\r`)}"`;
    if (!/[`\r]/.test(value)) return `\`${value}\``;
  }
  if (loose.test(value)) return value;
  return `${markedJson(value)} ${marker}`;
}

/** A JSON string in which the package, too, finds the right end: its text holds no quote, and no backslash before one. */
function markedJson(value: string): string {
  const literal = JSON.stringify(value).slice(1, -1);
  const safe = literal.replaceAll(/\\[\\"]|[\u2028\u2029]/g, (match) => escapes.get(match) ?? match);
  return `"${safe}"`;
}
