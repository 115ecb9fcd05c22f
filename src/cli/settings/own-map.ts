import { usageError } from '../core/cli-error.ts';
import { changeOwnFile, maxOwnFileBytes } from './private-file.ts';
import { UnusableFile, readRegularFile } from './regular-file.ts';

export interface OwnMapOptions<Value> {
  readonly path: string;
  readonly isValue: (value: unknown) => value is Value;
  /** Beyond it the entries that were set first are dropped. */
  readonly maxEntries: number;
  /** What the file is, and what to do if it is something else. */
  readonly name: string;
  readonly repair: string;
}

/** A JSON object in a file of the user's settings, which need not exist. */
export class OwnMap<Value> {
  readonly #options: OwnMapOptions<Value>;

  constructor(options: OwnMapOptions<Value>) {
    this.#options = options;
  }

  /** All entries, those first that were set first. Throws CliError usage if the file is malformed. */
  read(): Map<string, Value> {
    const { path, isValue, name, repair } = this.#options;
    const text = textOf(path);
    if (text === undefined) return new Map();
    const entries = entriesOf(text);
    const valid = entries.filter((entry): entry is [string, Value] => isValue(entry[1]));
    if (valid.length === entries.length) return new Map(valid);
    throw usageError(`${path} is not ${name}`, repair);
  }

  /** Sets one entry, which becomes the last one. Throws CliError usage. */
  set(key: string, value: (former: Value | undefined) => Value): void {
    changeOwnFile(this.#options.path, () => {
      const entries = this.read();
      const former = entries.get(key);
      entries.delete(key);
      return this.#textOf([...entries, [key, value(former)]]);
    });
  }

  /** Removes an entry; false if there is none. Throws CliError usage. */
  delete(key: string): boolean {
    if (!this.read().has(key)) return false;
    changeOwnFile(this.#options.path, () => this.#textOf([...this.read()].filter(([other]) => other !== key)));
    return true;
  }

  #textOf(all: readonly (readonly [string, Value])[]): string {
    for (let entries = all.slice(-this.#options.maxEntries); ; entries = entries.slice(1)) {
      const text = `${JSON.stringify(Object.fromEntries(entries), undefined, 2)}\n`;
      if (Buffer.byteLength(text) <= maxOwnFileBytes) return text;
    }
  }
}

/** Undefined if there is no file that this user can read, as in a pod whose HOME is that of another user. */
function textOf(path: string): string | undefined {
  try {
    return readRegularFile(path, { maxBytes: maxOwnFileBytes, followsLinks: true }).text;
  } catch (error) {
    if (error instanceof UnusableFile) throw usageError(`${path} ${error.message}`, 'Remove it');
    const { code = '' } = error as NodeJS.ErrnoException;
    if (['ENOENT', 'ENOTDIR', 'EACCES'].includes(code)) return undefined;
    throw usageError(`${path} cannot be read (${code})`);
  }
}

/** A malformed text gives an entry that has no valid value. */
function entriesOf(text: string): [string, unknown][] {
  try {
    const content = JSON.parse(text) as unknown;
    if (typeof content === 'object' && content !== null && !Array.isArray(content)) return Object.entries(content);
  } catch {
    // As below.
  }
  return [['', undefined]];
}
