import { chmodSync } from 'node:fs';
import { usageError } from '../core/cli-error.ts';
import { changeOwnFile, maxOwnFileBytes } from './private-file.ts';
import { type RegularFile, UnusableFile, readRegularFile } from './regular-file.ts';

/** A named sign-in. */
export interface Profile {
  readonly url: string;
  readonly token: string;
}

/** The user's own file: the servers, and the tokens for them. */
export interface UserFile {
  /** The server of the last sign-in. */
  readonly url?: string;
  /** The token for it; without an address, for the server that the user names. */
  readonly token?: string;
  /** The tokens for other servers, by address. */
  readonly tokens?: Readonly<Record<string, string>>;
  readonly profiles?: Readonly<Record<string, Profile>>;
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
  const field = (name: 'url' | 'token'): UserFile => {
    const value = content[name];
    return value === undefined ? {} : { [name]: textOf(value, `${path}: ${name}`) };
  };
  const tokens = entriesOf(content['tokens'], `${path}: tokens`).map(
    ([url, token]) => [url, textOf(token, `${path}: the token for ${url}`)] as const,
  );
  const profiles = entriesOf(content['profiles'], `${path}: profiles`).map(([name, value]) => {
    const profile = Object.fromEntries(entriesOf(value, `${path}: profile ${name}`));
    const part = (of: keyof Profile): string => textOf(profile[of], `${path}: ${of} of profile ${name}`);
    return [name, { url: part('url'), token: part('token') }] as const;
  });
  return {
    ...field('url'),
    ...field('token'),
    ...(tokens.length === 0 ? {} : { tokens: Object.fromEntries(tokens) }),
    ...(profiles.length === 0 ? {} : { profiles: Object.fromEntries(profiles) }),
  };
}

function textOf(value: unknown, what: string): string {
  if (typeof value === 'string') return value;
  throw usageError(`${what} must be a text`, renewal);
}

function entriesOf(value: unknown, what: string): [string, unknown][] {
  if (value === undefined) return [];
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) return Object.entries(value);
  throw usageError(`${what} must be an object`, renewal);
}

/**
 * Changes the file as it is now, while no other process changes it: another command may have signed in since this one read it.
 * The file and its folder are made if they do not exist, readable only by their owner.
 */
export function changeUserFile(path: string, change: (present: UserFile) => UserFile): void {
  changeOwnFile(path, () => `${JSON.stringify(change(readUserFile(path, undefined)), undefined, 2)}\n`);
}

const renewal = 'Remove the file and sign in again: keyframe login';

function readGuarded(path: string, warn: ((line: string) => void) | undefined): string | undefined {
  const read = readIfThere(path);
  if (read === undefined) return undefined;
  const mode = read.status.mode & 0o777;
  if (process.platform !== 'win32' && (mode & 0o077) !== 0) repair(path, mode, warn);
  return read.text;
}

function readIfThere(path: string): RegularFile | undefined {
  try {
    return readRegularFile(path, { maxBytes: maxOwnFileBytes, followsLinks: true });
  } catch (error) {
    if (error instanceof UnusableFile) throw usageError(`${path} ${error.message}`, renewal);
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'ENOENT' || code === 'ENOTDIR') return undefined;
    throw usageError(`${path} cannot be read (${String(code)})`);
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
