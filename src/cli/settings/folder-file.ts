import { lstatSync, renameSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { CliError, usageError } from '../core/cli-error.ts';
import { UnusableFile, readRegularFile } from './regular-file.ts';
import { faultOfVariableList } from './variable-list.ts';

/** `.keyframe.json` of a folder: the default environment of a folder. It contains no secret and belongs in version control. */
export interface FolderFile {
  readonly path: string;
  readonly url?: string;
  readonly organization?: string;
  readonly project?: string;
  readonly environment?: string;
  /** The variables that a program gets: names, or patterns with `*`. */
  readonly variables?: string[];
}

/** A folder file with what decides whether it is trusted. */
export interface FoundFolderFile {
  readonly file: FolderFile;
  /** The exact text on disk. */
  readonly text: string;
}

export const folderFileName = '.keyframe.json';
// Four short texts and a list of names.
const maxBytes = 16 * 1024;
const textFields = ['url', 'organization', 'project', 'environment'] as const;
const fields = [...textFields, 'variables'] as const;

/**
 * The file of the folder, or of the nearest one above that has it. A file of another user is left out, whatever it is:
 * otherwise that user could stop each command below its folder.
 *
 * @param warn gets a line for each file that is left out
 * @throws CliError usage if it is malformed
 */
export function findFolderFile(
  directory: string,
  warn: (line: string) => void = () => undefined,
): FoundFolderFile | undefined {
  for (let folder = directory; ; folder = dirname(folder)) {
    const path = join(folder, folderFileName);
    const text = readIfOwn(path, warn);
    if (text !== undefined) return { text, file: parse(path, text) };
    if (dirname(folder) === folder) return undefined;
  }
}

/**
 * Writes the file of a folder whole: a reader never sees half of it.
 *
 * @throws CliError usage if the folder does not permit it, or belongs to another user: then the file would not be trusted.
 */
export function writeFolderFile(
  directory: string,
  content: Omit<FolderFile, 'path'>,
): { readonly path: string; readonly text: string } {
  const path = join(directory, folderFileName);
  const text = `${JSON.stringify(content, undefined, 2)}\n`;
  const fresh = `${path}.${process.pid}`;
  try {
    if (isOfAnotherUser(statSync(directory).uid)) throw usageError(`${directory} belongs to another user`, elsewhere);
    // Nothing is overwritten (wx), in particular no target of a link that another user made in a shared folder.
    writeFileSync(fresh, text, { flag: 'wx' });
    renameSync(fresh, path);
  } catch (error) {
    if (error instanceof CliError) throw error;
    throw usageError(`${path} cannot be written (${String((error as NodeJS.ErrnoException).code)})`);
  }
  return { path, text };
}

const elsewhere = 'A folder file counts only in your own folders: name the environment with -o, -p and -e instead';

/** The text of a file of this user or of root; undefined if there is none. Throws CliError usage if it cannot be read. */
function readIfOwn(path: string, warn: (line: string) => void): string | undefined {
  try {
    // Before it is opened, and so before a link of another user is followed or a device of theirs notices.
    const isOfOthers = [lstatSync(path), statSync(dirname(path))].some(({ uid }) => isOfAnotherUser(uid));
    const read = isOfOthers ? undefined : readRegularFile(path, { maxBytes, followsLinks: false });
    // The path may name another file since.
    if (read !== undefined && !isOfAnotherUser(read.status.uid)) return read.text;
    warn(`${path} belongs to another user, or its folder does, and is not used`);
    return undefined;
  } catch (error) {
    if (error instanceof UnusableFile) throw usageError(`${path} ${error.message}`);
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'ENOENT' || code === 'ENOTDIR') return undefined;
    if (code === 'ELOOP') throw usageError(`${path} is a symbolic link`, 'Replace it by the file itself');
    throw usageError(`${path} cannot be read (${String(code)})`);
  }
}

/** Root is no other user: it can replace this command itself. Windows has no such numbers. */
function isOfAnotherUser(uid: number): boolean {
  const own = process.getuid?.();
  return own !== undefined && uid !== own && uid !== 0;
}

function parse(path: string, text: string): FolderFile {
  const content = parseObject(text);
  if (content === undefined)
    throw usageError(
      `${path} is not a JSON object`,
      'Write it again: keyframe init -o <organization> -p <project> -e <environment> --url <address>',
    );
  for (const [name, value] of Object.entries(content)) {
    if (!(fields as readonly string[]).includes(name)) {
      throw usageError(`${path}: ${name} is not one of its fields, which are ${fields.join(', ')}`);
    }
    if (name === 'variables') requireVariableList(path, value);
    else if (typeof value !== 'string' || value === '') throw usageError(`${path}: ${name} must be a text`);
  }
  // JSON.parse takes the last one, and a reader of the file may see only the first.
  const repeated = repeatedName(text);
  if (repeated !== undefined) throw usageError(`${path}: ${repeated} occurs twice; keep one of them`);
  return { ...content, path };
}

function requireVariableList(path: string, value: unknown): void {
  const isList = Array.isArray(value) && value.length > 0 && value.every((name) => typeof name === 'string');
  if (!isList) throw usageError(`${path}: variables must be a list of names`, 'Without a list, leave the field out');
  const fault = faultOfVariableList(value);
  if (fault !== undefined) throw usageError(`${path}: variables ${fault}`);
}

/** A name that occurs twice in the text of a JSON object, whose names are the strings before a colon. */
function repeatedName(text: string): string | undefined {
  const strings = Array.from(text.matchAll(/("(?:[^"\\]|\\.)*")(\s*:)?/g));
  const names = strings.flatMap(([, name = '', colon]) => (colon === undefined ? [] : [String(JSON.parse(name))]));
  return names.find((name, index) => names.indexOf(name) !== index);
}

function parseObject(text: string): Record<string, unknown> | undefined {
  try {
    const content = JSON.parse(text) as unknown;
    return typeof content === 'object' && content !== null && !Array.isArray(content) ? { ...content } : undefined;
  } catch {
    return undefined;
  }
}
