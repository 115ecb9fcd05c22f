import type * as Yaml from 'yaml';
import type { Document, LineCounter, Node, Pair, ParsedNode, YAMLMap } from 'yaml';
import { shownName } from '../../wire/shown-name.ts';
import { FormatError } from '../../wire/formats/format-error.ts';
import { filledDocuments } from './yaml-documents.ts';
import { type SecretTable, SecretTableBuilder } from '../../wire/formats/secret-table.ts';

/**
 * Reads a YAML file: one mapping of strings. A value without quotes is taken only where YAML 1.2 and YAML 1.1 both make the
 * same string of it: `yes`, `0123`, `1.10` or a date must stand in quotes.
 *
 * @throws FormatError with the number of the faulty line, also for a key that occurs twice.
 */
export async function parseYaml(file: string): Promise<SecretTable> {
  const { yaml } = await import('./yaml-library.ts');
  const reader = new YamlReader(yaml, file.replace(/^\uFEFF/, ''));
  return reader.read();
}

type YamlPackage = typeof Yaml;

class YamlReader {
  readonly #yaml: YamlPackage;
  readonly #lines: LineCounter;
  readonly #document: Document<ParsedNode>;
  readonly #second: Document.Parsed | undefined;
  /** The same text to those who read YAML 1.1. */
  readonly #older: Document<ParsedNode>;

  constructor(yaml: YamlPackage, text: string) {
    this.#yaml = yaml;
    this.#lines = new yaml.LineCounter();
    // Keys that occur twice are reported here with both lines; the messages of the package quote the text.
    const options = { uniqueKeys: false, prettyErrors: false, logLevel: 'error', merge: false } as const;
    const [document, second] = filledDocuments(yaml, text, { ...options, version: '1.2', lineCounter: this.#lines });
    this.#document = document;
    this.#second = second;
    [this.#older] = filledDocuments(yaml, text, { ...options, version: '1.1' });
  }

  read(): SecretTable {
    const secrets = new SecretTableBuilder();
    this.#requireSound();
    const { contents } = this.#document;
    if (contents === null || (this.#yaml.isScalar(contents) && contents.source === '')) return secrets.build();
    if (!this.#yaml.isMap(contents)) {
      throw FormatError.atLine(this.#lineOf(contents), 'must be a YAML mapping of keys and values');
    }
    const older = this.#older.contents;
    const olderItems = this.#yaml.isMap(older) ? older.items : [];
    for (const [index, pair] of (contents as YAMLMap<ParsedNode, ParsedNode | null>).items.entries()) {
      const line = this.#lineOf(pair.key);
      const key = this.#key(pair.key, line);
      secrets.add(key, this.#value(pair, olderItems[index], { key, line }), line);
    }
    return secrets.build();
  }

  #requireSound(): void {
    const [fault] = [...this.#document.errors, ...this.#document.warnings, ...this.#older.errors];
    if (fault !== undefined) {
      throw FormatError.atLine(this.#lines.linePos(fault.pos[0]).line, `is not valid YAML (${fault.code})`);
    }
    if (this.#second === undefined) return;
    const { line } = this.#lines.linePos(this.#second.range[0]);
    throw FormatError.atLine(line, 'a second YAML document begins; give one alone');
  }

  /** A key is its text: what a reader would make of an unquoted `NO` or `123` does not matter to a name. */
  #key(node: ParsedNode, line: number): string {
    if (this.#yaml.isScalar(node)) {
      if (typeof node.value === 'string') return node.value;
      if (node.type === 'PLAIN' && node.source !== undefined && node.source !== '') return node.source;
    }
    throw FormatError.atLine(line, 'a key must be a plain text');
  }

  #value(
    pair: Pair<ParsedNode, ParsedNode | null>,
    older: Pair | undefined,
    at: { key: string; line: number },
  ): string {
    const value = this.#scalar(pair.value, this.#document);
    if (typeof value === 'string' && value === this.#scalar(older?.value, this.#older)) return value;
    const name = shownName(at.key);
    if (this.#yaml.isCollection(pair.value)) {
      throw FormatError.atLine(at.line, `the value of ${name} is a list or mapping; only strings can be secrets`);
    }
    throw FormatError.atLine(
      at.line,
      `YAML does not take the value of ${name} for a string, or not everywhere; put it in quotes`,
    );
  }

  /** The value of a scalar, also of one that an alias stands for. */
  #scalar(node: unknown, document: Document<ParsedNode>): unknown {
    const resolved = this.#yaml.isAlias(node) ? node.resolve(document) : node;
    return this.#yaml.isScalar(resolved) ? resolved.value : undefined;
  }

  #lineOf(node: Node | null): number {
    return this.#lines.linePos(node?.range?.[0] ?? 0).line;
  }
}

// What YAML calls printable (1.2, 5.1) may stand as it is, save what a reader of YAML 1.1 takes for a line's end.
const unprintable = /[\u007F-\u009F\u2028\u2029\uFEFF\uFFFE\uFFFF]/g;

/** A string that every reader of YAML takes for this string: JSON's form, in double quotes and on one line. */
export function yamlString(text: string): string {
  const escaped = JSON.stringify(text).replaceAll(unprintable, (character) => {
    return `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`;
  });
  return escaped;
}

/** Writes a YAML mapping, keys and values in double quotes. `parseYaml` reads any table of valid keys and values back exactly. */
export function writeYaml(secrets: SecretTable): string {
  if (secrets.size === 0) return '{}\n';
  return [...secrets].map(([key, value]) => `${yamlKey(key)}: ${yamlString(value)}\n`).join('');
}

// Letters, digits and `_`: such a key needs quotes only if it is a word with a meaning in YAML, or like the number `E0`.
const plainKey = /^(?!(?:y|yes|n|no|true|false|on|off|null|e[0-9_]+)$)[A-Za-z_][A-Za-z0-9_]*$/i;

/** A key as YAML writes it, in quotes if it could be read as anything else. */
export function yamlKey(key: string): string {
  return plainKey.test(key) ? key : yamlString(key);
}
