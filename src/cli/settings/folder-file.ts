import { closeSync, fstatSync, openSync, readFileSync, renameSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { CliError, usageError } from '../cli-error.ts';

/** `.keyframe.json` of a folder: the default environment of a folder. It contains no secret and belongs in version control. */
export interface FolderFile {
  readonly path: string;
  readonly url?: string;
  readonly organization?: string;
  readonly project?: string;
  readonly environment?: string;
}

/** A folder file with what decides whether it is trusted. */
export interface FoundFolderFile {
  readonly file: FolderFile;
  /** The exact text on disk. */
  readonly text: string;
  /** It, or its folder, belongs to neither this user nor root. */
  readonly isForeign: boolean;
}

export const folderFileName = '.keyframe.json';
// Four short texts.
const maxBytes = 16 * 1024;
const fields = ['url', 'organization', 'project', 'environment'] as const;

/** The file of the folder, or of the nearest one above that has it. Throws CliError usage if it is malformed. */
export function findFolderFile(directory: string): FoundFolderFile | undefined {
  for (let folder = directory; ; folder = dirname(folder)) {
    const path = join(folder, folderFileName);
    const found = readIfThere(path);
    if (found !== undefined) return { ...found, file: parse(path, found.text) };
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

function readIfThere(path: string): Omit<FoundFolderFile, 'file'> | undefined {
  let file: number;
  try {
    file = openSync(path, 'r');
  } catch (error) {
    return nothingOrFault(path, error);
  }
  try {
    // Of the open file, so that it is the file that is read.
    const { size, uid } = fstatSync(file);
    if (size > maxBytes) throw usageError(`${path} is longer than ${maxBytes} bytes`);
    const isForeign = isOfAnotherUser(uid) || isOfAnotherUser(statSync(dirname(path)).uid);
    return { text: readFileSync(file, 'utf8'), isForeign };
  } catch (error) {
    if (error instanceof CliError) throw error;
    return nothingOrFault(path, error);
  } finally {
    closeSync(file);
  }
}

function nothingOrFault(path: string, error: unknown): undefined {
  const { code } = error as NodeJS.ErrnoException;
  if (code === 'ENOENT' || code === 'ENOTDIR') return undefined;
  throw usageError(`${path} cannot be read (${String(code)})`);
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
    if (typeof value !== 'string' || value === '') throw usageError(`${path}: ${name} must be a text`);
  }
  // JSON.parse takes the last one, and a reader of the file may see only the first.
  const repeated = repeatedName(text);
  if (repeated !== undefined) throw usageError(`${path}: ${repeated} occurs twice; keep one of them`);
  return { ...content, path };
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
