import { existsSync, readFileSync } from 'node:fs';
import { usageError } from '../cli-error.ts';
import type { FoundFolderFile } from './folder-file.ts';
import { writeOwnFile } from './private-file.ts';

// Beyond it the entries that were trusted first are dropped.
const maxEntries = 500;

/**
 * The folder files that the user trusts: the path of each with its text at that time. The whole text is
 * stored instead of a digest: it contains no secret, and loading a hash function takes longer than comparing.
 */
export class TrustedFolders {
  readonly #path: string;

  constructor(path: string) {
    this.#path = path;
  }

  /** Whether the file has the text that was trusted; `changed` if it had another one then. Throws CliError usage. */
  stateOf({ file, text }: FoundFolderFile): 'trusted' | 'changed' | 'unknown' {
    const trusted = this.#read().get(file.path);
    if (trusted === undefined) return 'unknown';
    return trusted === text ? 'trusted' : 'changed';
  }

  /** Trusts a file with this text. Throws CliError usage if that cannot be stored. */
  trust(path: string, text: string): void {
    const entries = this.#read();
    entries.delete(path);
    this.#write(new Map([...entries, [path, text] as const].slice(-maxEntries)));
  }

  /** Withdraws the trust in a file; false if it was not trusted. */
  forget(path: string): boolean {
    const entries = this.#read();
    const wasTrusted = entries.delete(path);
    if (wasTrusted) this.#write(entries);
    return wasTrusted;
  }

  #read(): Map<string, string> {
    if (!existsSync(this.#path)) return new Map();
    const content = parsed(this.#path);
    const entries = content === undefined ? [] : Object.entries(content);
    if (content === undefined || !entries.every(isEntry)) {
      throw usageError(`${this.#path} is not a list of trusted files`, 'Remove it, and trust your folders again');
    }
    return new Map(entries.filter(isEntry));
  }

  #write(entries: ReadonlyMap<string, string>): void {
    writeOwnFile(this.#path, `${JSON.stringify(Object.fromEntries(entries), undefined, 2)}\n`);
  }
}

function parsed(path: string): object | undefined {
  try {
    const content = JSON.parse(readFileSync(path, 'utf8')) as unknown;
    return typeof content === 'object' && content !== null && !Array.isArray(content) ? content : undefined;
  } catch {
    return undefined;
  }
}

function isEntry(entry: [string, unknown]): entry is [string, string] {
  return typeof entry[1] === 'string';
}
