import { FormatError } from '../../wire/formats/format-error.ts';
import { LineCounter } from '../../wire/formats/line-counter.ts';
import { type SecretTable, SecretTableBuilder } from '../../wire/formats/secret-table.ts';
import { shownName } from '../../wire/shown-name.ts';
import { JsonFault, JsonObject, type JsonValue, readJson } from '../../lib/strict-json.ts';

/**
 * Reads a JSON file: one object of strings. No other value is converted to a string, because the text would be ambiguous
 * (is 1.0 «1» or «1.0»?).
 *
 * @throws FormatError with the number of the faulty line, also for a key that occurs twice.
 */
export function parseJson(file: string): SecretTable {
  const text = file.replace(/^\uFEFF/, '');
  const lines = new LineCounter(text);
  const content = contentOf(text, lines);
  if (!(content instanceof JsonObject)) {
    throw FormatError.atLine(lines.lineAt(text.search(/[^\t\n\r ]/)), 'must be a JSON object of keys and values');
  }
  const secrets = new SecretTableBuilder();
  for (const { name, index, value } of content.members) {
    const line = lines.lineAt(index);
    if (typeof value !== 'string') throw FormatError.atLine(line, notAString(name, value));
    secrets.add(name, value, line);
  }
  return secrets.build();
}

/** Writes a JSON object of strings, a key on each line. `parseJson` reads any table of valid keys and values back exactly. */
export function writeJson(secrets: SecretTable): string {
  if (secrets.size === 0) return '{}\n';
  const lines = [...secrets].map(([key, value]) => `  ${JSON.stringify(key)}: ${JSON.stringify(value)}`);
  return `{\n${lines.join(',\n')}\n}\n`;
}

function contentOf(text: string, lines: LineCounter): JsonValue {
  try {
    return readJson(text);
  } catch (error) {
    if (error instanceof JsonFault) throw FormatError.atLine(lines.lineAt(error.index), error.message);
    throw error;
  }
}

function notAString(key: string, value: JsonValue): string {
  const name = shownName(key);
  if (value instanceof JsonObject) return `the value of ${name} is an object; only strings can be secrets`;
  if (Array.isArray(value)) return `the value of ${name} is a list; only strings can be secrets`;
  return `the value of ${name} is not a string; put it in quotes`;
}
