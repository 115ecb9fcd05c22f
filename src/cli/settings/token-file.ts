import type { TokenSource } from '../../client/token-source.ts';
import { CliError, usageError } from '../core/cli-error.ts';
import { fileFault } from './file-fault.ts';
import { UnusableFile, readNamedFile } from './regular-file.ts';
import { tokenOf } from './token-form.ts';

// A token with its line end, and far more.
const maxBytes = 64 * 1024;

/**
 * The token in a file. It is read again for each request: a kubelet replaces the JWT in a file long before it ends. A file
 * that is being written may be empty or absent for a moment; the token of before then stays.
 */
export class TokenFile implements TokenSource {
  readonly #path: string;
  readonly #source: string;
  #token: string;
  #isReadAgain = true;

  /**
   * @param source the setting that names the file, as users write it
   * @throws CliError usage if the file cannot be read, or holds no token
   */
  constructor(path: string, source: string) {
    this.#path = path;
    this.#source = source;
    this.#token = this.#read();
  }

  current(): string {
    if (!this.#isReadAgain) return this.#token;
    try {
      this.#token = this.#read();
    } catch (error) {
      if (!(error instanceof CliError)) throw error;
    }
    return this.#token;
  }

  /** Throws CliError usage if the file now holds no token. */
  after(refused: string): string | undefined {
    if (this.#isReadAgain) this.#token = this.#read();
    return this.#token === refused ? undefined : this.#token;
  }

  #read(): string {
    const { text, status } = readFile(this.#path, this.#source);
    // What a pipe held is gone after it was read.
    this.#isReadAgain = status.isFile();
    return tokenOf(text, this.#source);
  }
}

function readFile(path: string, source: string): ReturnType<typeof readNamedFile> {
  try {
    return readNamedFile(path, maxBytes);
  } catch (error) {
    if (error instanceof UnusableFile) throw usageError(`${source} names a file that ${error.message}`);
    throw usageError(`${source} names a file that cannot be read: ${fileFault(error)}`);
  }
}
