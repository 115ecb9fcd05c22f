import type { FoundFolderFile } from './folder-file.ts';
import { OwnMap } from './own-map.ts';

/**
 * The folder files that the user trusts: the path of each with its text at that time. The whole text is
 * stored instead of a digest: it contains no secret, and loading a hash function takes longer than comparing.
 */
export class TrustedFolders {
  readonly #texts: OwnMap<string>;

  constructor(path: string) {
    this.#texts = new OwnMap({
      path,
      isValue: (value) => typeof value === 'string',
      maxEntries: 500,
      name: 'a list of trusted files',
      repair: 'Remove it, and trust your folders again',
    });
  }

  /** Whether the file has the text that was trusted; `changed` if it had another one then. Throws CliError usage. */
  stateOf({ file, text }: FoundFolderFile): 'trusted' | 'changed' | 'unknown' {
    const trusted = this.#texts.read().get(file.path);
    if (trusted === undefined) return 'unknown';
    return trusted === text ? 'trusted' : 'changed';
  }

  /** Trusts a file with this text. Throws CliError usage if that cannot be stored. */
  trust(path: string, text: string): void {
    this.#texts.set(path, () => text);
  }

  /** Withdraws the trust in a file; false if it was not trusted. */
  forget(path: string): boolean {
    return this.#texts.delete(path);
  }
}
