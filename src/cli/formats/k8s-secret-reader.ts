import type * as Yaml from 'yaml';
import type { LineCounter, ParsedNode, YAMLMap } from 'yaml';
import { shownName } from '../../wire/shown-name.ts';
import { FormatError } from '../../wire/formats/format-error.ts';
import { filledDocuments } from './yaml-documents.ts';
import { type SecretTable, SecretTableBuilder } from '../../wire/formats/secret-table.ts';

export interface K8sSecret {
  readonly secrets: SecretTable;
  /** Keys whose bytes are not text: their values are base64. */
  readonly base64Keys: readonly string[];
}

/**
 * Reads the manifest of one Kubernetes Secret, in YAML or JSON, as `kubectl get secret NAME -o yaml` prints it. Bytes that
 * are UTF-8 become text. Other bytes stay base64, so that they are not corrupted. `stringData` takes precedence over `data`.
 *
 * @throws FormatError with the number of the faulty line, and never with a value.
 */
export async function parseK8sSecret(file: string): Promise<K8sSecret> {
  const { yaml } = await import('./yaml-library.ts');
  return new ManifestReader(yaml, file.replace(/^\uFEFF/, '')).read();
}

type Mapping = YAMLMap<ParsedNode, ParsedNode | null>;

interface Entry {
  readonly key: string;
  readonly text: string;
  readonly line: number;
}

class ManifestReader {
  readonly #yaml: typeof Yaml;
  readonly #lines: LineCounter;
  readonly #root: Mapping;

  constructor(yaml: typeof Yaml, text: string) {
    this.#yaml = yaml;
    this.#lines = new yaml.LineCounter();
    const options = { uniqueKeys: false, prettyErrors: false, logLevel: 'error', lineCounter: this.#lines } as const;
    const [document, second] = filledDocuments(yaml, text, options);
    const [fault] = document.errors;
    if (fault !== undefined) {
      throw FormatError.atLine(this.#lines.linePos(fault.pos[0]).line, 'is not valid YAML or JSON');
    }
    if (second !== undefined) {
      const { line } = this.#lines.linePos(second.range[0]);
      throw FormatError.atLine(line, 'a second document begins; give the manifest of one Secret alone');
    }
    const { contents } = document;
    if (!yaml.isMap(contents)) throw new FormatError(notASecret);
    this.#root = contents;
  }

  read(): K8sSecret {
    const kind = this.#text('kind');
    if (kind === 'List' || kind === 'SecretList') {
      throw new FormatError('holds a list; export one Secret, by its name');
    }
    if (kind !== 'Secret' || this.#text('apiVersion') !== 'v1') throw new FormatError(notASecret);
    const plain = this.#entries('stringData');
    const replaced = new Set(plain.map(({ key }) => key));
    const secrets = new SecretTableBuilder();
    const base64Keys: string[] = [];
    for (const { key, text, line } of this.#entries('data')) {
      if (replaced.has(key)) continue;
      const { value, isText } = valueOf(text, `the value of ${shownName(key)}`, line);
      secrets.add(key, value, line);
      if (!isText) base64Keys.push(key);
    }
    for (const { key, text, line } of plain) secrets.add(key, text, line);
    return { secrets: secrets.build(), base64Keys };
  }

  #text(name: string): string | undefined {
    const node = this.#root.get(name, true);
    return this.#yaml.isScalar(node) ? String(node.value) : undefined;
  }

  #entries(name: 'data' | 'stringData'): Entry[] {
    const node = this.#root.get(name, true);
    if (node === undefined || (this.#yaml.isScalar(node) && node.value === null)) return [];
    if (!this.#yaml.isMap(node)) throw new FormatError(`${name} must be a mapping`);
    return (node as Mapping).items.map(({ key, value }) => {
      const line = this.#lines.linePos(key.range[0]).line;
      const written = this.#yaml.isScalar(key) ? key.source : '';
      if (!this.#yaml.isScalar(value) || typeof value.value !== 'string') {
        throw FormatError.atLine(line, `the value of ${shownName(written)} is not a string`);
      }
      return { key: written, text: value.value, line };
    });
  }
}

const notASecret = 'must be the manifest of a Kubernetes Secret (apiVersion v1)';
const base64 = /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/;

function valueOf(text: string, shown: string, line: number): { value: string; isText: boolean } {
  const compact = text.replaceAll(/[\r\n]/g, '');
  if (!base64.test(compact)) throw FormatError.atLine(line, `${shown} is not base64`);
  try {
    const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });
    return { value: decoder.decode(Buffer.from(compact, 'base64')), isText: true };
  } catch {
    return { value: compact, isText: false };
  }
}
