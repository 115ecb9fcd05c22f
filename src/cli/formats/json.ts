import type { Node, ParsedNode, YAMLMap } from 'yaml';
import { validateSecretKey, validateSecretValue } from '../../wire/secret-rules.ts';
import { shownName } from '../../wire/shown-name.ts';
import { FormatError } from '../../wire/formats/format-error.ts';
import { LineCounter } from '../../wire/formats/line-counter.ts';
import { type SecretTable, SecretTableBuilder } from '../../wire/formats/secret-table.ts';

/**
 * Reads a JSON file: one object of strings. No other value is converted to a string, because the text would be ambiguous
 * (is 1.0 «1» or «1.0»?).
 *
 * @throws FormatError with the number of the faulty line, also for a key that occurs twice.
 */
export async function parseJson(file: string): Promise<SecretTable> {
  const text = file.replace(/^\uFEFF/, '');
  const content = parsed(text);
  if (typeof content !== 'object' || content === null || Array.isArray(content)) {
    throw FormatError.atLine(lineAt(text, text.search(/[^\t\n\r ]/)), 'must be a JSON object of keys and values');
  }
  return tableOf(text, content) ?? (await tableWithLines(text));
}

/**
 * The secrets of an object of valid keys and values, in their order; undefined for any other object, and for one that
 * JSON.parse may have reordered or merged.
 */
function tableOf(text: string, content: object): SecretTable | undefined {
  const entries = Object.entries(content) as [string, unknown][];
  const areValid = entries.every(([key, value]) => {
    const isText = typeof value === 'string' && validateSecretValue(value) === undefined;
    return isText && validateSecretKey(key) === undefined && !/^\d+$/.test(key);
  });
  // Each key and each value is a string. If there are more strings, a key occurs twice.
  const isWhole = areValid && stringsIn(text) === 2 * entries.length;
  return isWhole ? new Map(entries as [string, string][]) : undefined;
}

/** How many strings a JSON text has. */
function stringsIn(json: string): number {
  return (json.replaceAll(/\\./g, '').split('"').length - 1) / 2;
}

/**
 * Reads valid JSON with the package `yaml`, which reports the line of each key and keys that occur twice. It takes some
 * twenty times as long as JSON.parse.
 */
async function tableWithLines(json: string): Promise<SecretTable> {
  const { yaml } = await import('./yaml-library.ts');
  const lines = new yaml.LineCounter();
  const options = { uniqueKeys: false, prettyErrors: false, logLevel: 'silent', lineCounter: lines } as const;
  // A carriage return is white space in JSON, but `yaml` knows it only before a line feed. No string contains one.
  const { contents } = yaml.parseDocument(json.replaceAll('\r', ' '), options);
  const lineOf = (node: Node): number => lines.linePos(node.range?.[0] ?? 0).line;
  const secrets = new SecretTableBuilder();
  for (const { key, value } of (contents as YAMLMap<ParsedNode, ParsedNode>).items) {
    const line = lineOf(key);
    const name = yaml.isScalar(key) ? String(key.value) : '';
    if (yaml.isMap(value)) throw FormatError.atLine(line, notAString(name, 'an object'));
    if (yaml.isSeq(value)) throw FormatError.atLine(line, notAString(name, 'a list'));
    if (!yaml.isScalar(value) || value.type !== 'QUOTE_DOUBLE') throw FormatError.atLine(line, notAString(name));
    secrets.add(name, String(value.value), line);
  }
  return secrets.build();
}

/** Writes a JSON object of strings, a key on each line. `parseJson` reads any table of valid keys and values back exactly. */
export function writeJson(secrets: SecretTable): string {
  if (secrets.size === 0) return '{}\n';
  const lines = [...secrets].map(([key, value]) => `  ${JSON.stringify(key)}: ${JSON.stringify(value)}`);
  return `{\n${lines.join(',\n')}\n}\n`;
}

/** What the text holds. Only the position in the message of JSON.parse is used: the rest quotes the text. */
function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    const position = /at position (\d+)/.exec(messageOf(error))?.[1];
    const index = position === undefined ? unexpectedAt(text) : Number(position);
    throw FormatError.atLine(lineAt(text, index), 'is not valid JSON');
  }
}

function faultOf(text: string): string | undefined {
  try {
    JSON.parse(text);
    return undefined;
  } catch (error) {
    return messageOf(error);
  }
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : '';
}

function lineAt(text: string, index: number): number {
  return new LineCounter(text).lineAt(index);
}

/** The index of an unexpected token, which JSON.parse does not report: every prefix that contains the token fails at it. */
function unexpectedAt(text: string): number {
  let [before, from] = [0, text.length];
  while (before < from) {
    const middle = Math.floor((before + from) / 2);
    if (faultOf(text.slice(0, middle + 1))?.startsWith('Unexpected token') === true) from = middle;
    else before = middle + 1;
  }
  return from;
}

function notAString(key: string, kind?: 'an object' | 'a list'): string {
  const name = shownName(key);
  if (kind !== undefined) return `the value of ${name} is ${kind}; only strings can be secrets`;
  return `the value of ${name} is not a string; put it in quotes`;
}
