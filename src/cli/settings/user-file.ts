import { chmodSync, closeSync, fstatSync, openSync, readFileSync } from 'node:fs';
import { usageError } from '../cli-error.ts';
import { writeOwnFile } from './private-file.ts';

/** The user's own file: which server, and the token for it. */
export interface UserFile {
  /** The server that the token is for. */
  readonly url?: string;
  readonly token?: string;
}

const ownerOnly = 0o600;

/**
 * Reads the user's file; without one, nothing. A file that others may read is repaired to 0600 with a warning.
 *
 * @throws CliError usage if it is invalid; never with its content.
 */
export function readUserFile(path: string, warn: ((line: string) => void) | undefined): UserFile {
  const text = readGuarded(path, warn);
  if (text === undefined) return {};
  const content = parse(path, text);
  const field = (name: keyof UserFile): UserFile => {
    const value = content[name];
    if (value === undefined) return {};
    if (typeof value !== 'string') throw usageError(`${path}: ${name} must be a text`, renewal);
    return { [name]: value };
  };
  return { ...field('url'), ...field('token') };
}

/** Writes the file, and its folder if it does not exist, readable only by their owner. */
export function writeUserFile(path: string, content: UserFile): void {
  writeOwnFile(path, `${JSON.stringify(content, undefined, 2)}\n`);
}

const renewal = 'Remove the file and sign in again: keyframe login';

function readGuarded(path: string, warn: ((line: string) => void) | undefined): string | undefined {
  let file: number;
  try {
    file = openSync(path, 'r');
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'ENOENT' || code === 'ENOTDIR') return undefined;
    throw usageError(`${path} cannot be read (${String(code)})`);
  }
  try {
    // Of the open file, so that it is the file that is read.
    const status = fstatSync(file);
    if (!status.isFile()) throw usageError(`${path} is not a file`, renewal);
    const mode = status.mode & 0o777;
    if (process.platform !== 'win32' && (mode & 0o077) !== 0) repair(path, mode, warn);
    return readFileSync(file, 'utf8');
  } finally {
    closeSync(file);
  }
}

function repair(path: string, mode: number, warn: ((line: string) => void) | undefined): void {
  if (warn === undefined) throw usageError(`other users can read ${path} (mode ${mode.toString(8)})`);
  try {
    chmodSync(path, ownerOnly);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    throw usageError(
      `others may read ${path} (mode ${mode.toString(8)}), and that cannot be changed (${String(code)})`,
      'It holds a token: have its owner run chmod 600 on it, or remove it',
    );
  }
  warn(
    `others could read ${path} (mode ${mode.toString(8)}); it is 600 now. If they did, revoke its token and create a new one`,
  );
}

function parse(path: string, text: string): Record<string, unknown> {
  try {
    const content = JSON.parse(text) as unknown;
    if (typeof content === 'object' && content !== null) return { ...content };
  } catch {
    // Reported below without the parser's message, which quotes the text and so the token.
  }
  throw usageError(`${path} is not a JSON object`, renewal);
}
