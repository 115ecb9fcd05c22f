import { link, lstat, open, readFile, rm } from 'node:fs/promises';
import { dirname } from 'node:path';
import { type ParsedToken, parseToken } from '../../crypto/token.ts';
import { DomainError } from '../../domain/errors/domain-error.ts';
import type { Plaintext } from '../../domain/plaintext.ts';

/**
 * The file that a personal token goes to which is shown nowhere else (mode 0600). The token is written and flushed to
 * `<path>.pending` before it is committed, and gets its name after that: a crash in between loses neither, whichever
 * comes next finds out by the database which it was.
 */
export class TokenFile {
  readonly path: string;
  readonly pendingPath: string;

  constructor(path: string) {
    this.path = path;
    this.pendingPath = `${path}.pending`;
  }

  /** Whether anything exists at the path. */
  async exists(): Promise<boolean> {
    return (await lstat(this.path).catch(() => undefined)) !== undefined;
  }

  /**
   * The personal token that the file holds already; undefined if there is no such file. Throws DomainError
   * invalid_input for a file that cannot be read or holds anything else.
   */
  async given(): Promise<ParsedToken | undefined> {
    const text = await readFile(this.path, 'utf8').catch((error: unknown) => {
      if (codeOf(error) === 'ENOENT') return undefined;
      throw new DomainError('invalid_input', `${this.path} cannot be read (${codeOf(error)})`, { cause: error });
    });
    if (text === undefined) return undefined;
    const token = parseToken(text.trim());
    if (token?.kind === 'personal_token') return token;
    throw new DomainError(
      'invalid_input',
      `${this.path} holds no personal token (kf_pat_…) and is not overwritten: the database has no user yet, so put the token of its first one there whole, or move that file away and it will be made`,
    );
  }

  /** The personal token that the file holds; undefined for anything else. */
  read(): Promise<ParsedToken | undefined> {
    return readToken(this.path);
  }

  /** The personal token that waits for its commit or its name; undefined for anything else. */
  readPending(): Promise<ParsedToken | undefined> {
    return readToken(this.pendingPath);
  }

  /**
   * Writes a token so that it survives a crash of the machine, readable only by its owner, in place of a pending one
   * that does not work. Throws DomainError invalid_input if that is not possible.
   */
  async writePending(token: Plaintext): Promise<void> {
    try {
      await this.discardPending();
      const file = await open(this.pendingPath, 'wx', 0o600);
      try {
        await file.writeFile(`${token.reveal()}\n`);
        await file.sync();
      } finally {
        await file.close();
      }
      await syncFolder(this.pendingPath);
    } catch (error) {
      throw new DomainError(
        'invalid_input',
        `the admin's token cannot be written to ${this.pendingPath} (${codeOf(error)}): its folder must exist and be writable`,
        { cause: error },
      );
    }
  }

  /**
   * Gives the pending file its name, never over another file; two processes on one folder may both try. Throws
   * DomainError conflict if something else has the name.
   */
  async publish(): Promise<void> {
    try {
      await link(this.pendingPath, this.path);
    } catch (error) {
      if (!(await this.#isPublished())) {
        throw new DomainError(
          'conflict',
          `the admin's token is in ${this.pendingPath} and could not be moved to ${this.path} (${codeOf(error)}): move it by hand`,
          { cause: error },
        );
      }
    }
    await this.discardPending();
    await syncFolder(this.path);
  }

  /** Removes a pending token. */
  async discardPending(): Promise<void> {
    await rm(this.pendingPath, { force: true });
  }

  async #isPublished(): Promise<boolean> {
    const [pending, token] = await Promise.all(
      [this.pendingPath, this.path].map((path) => lstat(path).catch(() => undefined)),
    );
    // Another process is done when the pending file is gone, and nearly so when both names are one file.
    return token !== undefined && (pending === undefined || pending.ino === token.ino);
  }
}

async function readToken(path: string): Promise<ParsedToken | undefined> {
  const text = await readFile(path, 'utf8').catch(() => '');
  const token = parseToken(text.trim());
  return token?.kind === 'personal_token' ? token : undefined;
}

async function syncFolder(path: string): Promise<void> {
  const folder = await open(dirname(path), 'r');
  try {
    await folder.sync();
  } finally {
    await folder.close();
  }
}

function codeOf(error: unknown): string {
  const { code } = error as { code?: unknown };
  return typeof code === 'string' ? code : 'unknown error';
}
