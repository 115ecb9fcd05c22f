import { shownName } from '../../wire/shown-name.ts';
import { FormatError } from './format-error.ts';
import { LineCounter } from './line-counter.ts';
import { type SecretTable, SecretTableBuilder } from './secret-table.ts';

/**
 * Reads a JSON file: one object of strings. Nothing else is turned into a string, for there is more than one way to do it
 * (is 1.0 «1» or «1.0»?).
 *
 * @throws FormatError with the number of the faulty line, also for a name that stands twice.
 */
export function parseJson(file: string): SecretTable {
  const text = file.replace(/^\uFEFF/, '');
  requireJson(text);
  const lines = new LineCounter(text);
  const secrets = new SecretTableBuilder();
  // The text is JSON, so that looking at its outermost object alone suffices.
  let at = skipSpace(text, 0);
  if (text[at] !== '{') throw FormatError.atLine(lines.lineAt(at), 'must be a JSON object of keys and values');
  at = skipSpace(text, at + 1);
  while (text[at] !== '}') {
    const line = lines.lineAt(at);
    const key = stringAt(text, at);
    at = skipSpace(text, skipSpace(text, key.end) + 1);
    if (text[at] !== '"') throw FormatError.atLine(line, notAString(key.text, text[at]));
    const value = stringAt(text, at);
    secrets.add(key.text, value.text, line);
    at = skipSpace(text, value.end);
    if (text[at] === ',') at = skipSpace(text, at + 1);
  }
  return secrets.build();
}

/** Writes a JSON object of strings, a key on each line. `parseJson` reads any table of valid keys and values back exactly. */
export function writeJson(secrets: SecretTable): string {
  if (secrets.size === 0) return '{}\n';
  const lines = [...secrets].map(([key, value]) => `  ${JSON.stringify(key)}: ${JSON.stringify(value)}`);
  return `{\n${lines.join(',\n')}\n}\n`;
}

/** JSON.parse alone judges what is JSON; of its message only the place may be told, for the rest quotes the text. */
function requireJson(text: string): void {
  const message = faultOf(text);
  if (message === undefined) return;
  const position = /at position (\d+)/.exec(message)?.[1];
  const index = position === undefined ? unexpectedAt(text) : Number(position);
  throw FormatError.atLine(new LineCounter(text).lineAt(index), 'is not valid JSON');
}

function faultOf(text: string): string | undefined {
  try {
    JSON.parse(text);
    return undefined;
  } catch (error) {
    return error instanceof Error ? error.message : '';
  }
}

/** The index of an unexpected token, whose place JSON.parse keeps to itself: from there on it is what every beginning ends at. */
function unexpectedAt(text: string): number {
  let [before, from] = [0, text.length];
  while (before < from) {
    const middle = Math.floor((before + from) / 2);
    if (faultOf(text.slice(0, middle + 1))?.startsWith('Unexpected token') === true) from = middle;
    else before = middle + 1;
  }
  return from;
}

function stringAt(text: string, start: number): { readonly text: string; readonly end: number } {
  let quote = text.indexOf('"', start + 1);
  while (isEscaped(text, quote)) quote = text.indexOf('"', quote + 1);
  return { text: String(JSON.parse(text.slice(start, quote + 1))), end: quote + 1 };
}

/** Whether an odd number of backslashes stands before this character. */
function isEscaped(text: string, at: number): boolean {
  let first = at;
  while (text[first - 1] === '\\') first -= 1;
  return (at - first) % 2 === 1;
}

const jsonSpace = /[\t\n\r ]*/y;

function skipSpace(text: string, start: number): number {
  jsonSpace.lastIndex = start;
  return start + (jsonSpace.exec(text)?.[0].length ?? 0);
}

function notAString(key: string, first: string | undefined): string {
  const kind = first === '{' ? 'an object' : first === '[' ? 'a list' : undefined;
  const name = shownName(key);
  if (kind !== undefined) return `the value of ${name} is ${kind}; only strings can be secrets`;
  return `the value of ${name} is not a string; put it in quotes`;
}
