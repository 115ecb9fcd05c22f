import type { Node, ParsedNode, YAMLMap } from 'yaml';
import { shownName } from '../../wire/shown-name.ts';
import { FormatError } from './format-error.ts';
import { type SecretTable, SecretTableBuilder } from './secret-table.ts';

/**
 * Reads a JSON file: one object of strings. No other value is converted to a string, because the text would be ambiguous
 * (is 1.0 «1» or «1.0»?). The package `yaml` reads it, for the line of each key and for keys that occur twice.
 *
 * @throws FormatError with the number of the faulty line, also for a key that occurs twice.
 */
export async function parseJson(file: string): Promise<SecretTable> {
  const text = file.replace(/^\uFEFF/, '');
  const { yaml } = await import('./yaml-library.ts');
  const lines = new yaml.LineCounter();
  const options = { uniqueKeys: false, prettyErrors: false, logLevel: 'silent', lineCounter: lines } as const;
  const { contents } = yaml.parseDocument(text, options);
  const lineAt = (index: number): number => lines.linePos(index).line;
  const lineOf = (node: Node | null): number => lineAt(node?.range?.[0] ?? 0);
  requireJson(text, lineAt);
  if (!yaml.isMap(contents)) throw FormatError.atLine(lineOf(contents), 'must be a JSON object of keys and values');
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

/** `yaml` accepts more than JSON, so JSON.parse decides. Only the position in its message is used: the rest quotes the text. */
function requireJson(text: string, lineAt: (index: number) => number): void {
  const message = faultOf(text);
  if (message === undefined) return;
  const position = /at position (\d+)/.exec(message)?.[1];
  const index = position === undefined ? unexpectedAt(text) : Number(position);
  throw FormatError.atLine(lineAt(index), 'is not valid JSON');
}

function faultOf(text: string): string | undefined {
  try {
    JSON.parse(text);
    return undefined;
  } catch (error) {
    return error instanceof Error ? error.message : '';
  }
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
