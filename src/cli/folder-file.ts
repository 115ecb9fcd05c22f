import { readFileSync, renameSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { usageError } from './cli-error.ts';

/** `.keyframe.json` of a folder: which environment its commands mean. It holds no secret and belongs into version control. */
export interface FolderFile {
  readonly path: string;
  readonly url?: string;
  readonly organization?: string;
  readonly project?: string;
  readonly environment?: string;
}

export const folderFileName = '.keyframe.json';
const fields = ['url', 'organization', 'project', 'environment'] as const;

/** The file of the folder, or of the nearest one above that has it. Throws CliError usage where it is not as it must be. */
export function findFolderFile(directory: string): FolderFile | undefined {
  for (let folder = directory; ; folder = dirname(folder)) {
    const path = join(folder, folderFileName);
    const text = readIfThere(path);
    if (text !== undefined) return parse(path, text);
    if (dirname(folder) === folder) return undefined;
  }
}

/**
 * Writes the file of a folder whole: a reader never sees half of it.
 *
 * @throws CliError usage where the folder does not let it.
 */
export function writeFolderFile(directory: string, content: Omit<FolderFile, 'path'>): string {
  const path = join(directory, folderFileName);
  const fresh = `${path}.${process.pid}`;
  try {
    // Written over is nothing (wx), least of all what a link of somebody else in a common folder leads to.
    writeFileSync(fresh, `${JSON.stringify(content, undefined, 2)}\n`, { flag: 'wx' });
    renameSync(fresh, path);
  } catch (error) {
    throw usageError(`${path} cannot be written (${String((error as NodeJS.ErrnoException).code)})`);
  }
  return path;
}

function readIfThere(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'ENOENT' || code === 'ENOTDIR') return undefined;
    throw usageError(`${path} cannot be read (${String(code)})`);
  }
}

function parse(path: string, text: string): FolderFile {
  const content = parseObject(text);
  if (content === undefined) throw usageError(`${path} is not a JSON object`, 'Write it anew: keyframe init');
  for (const [name, value] of Object.entries(content)) {
    if (!(fields as readonly string[]).includes(name)) {
      throw usageError(`${path}: ${name} is not one of its fields, which are ${fields.join(', ')}`);
    }
    if (typeof value !== 'string' || value === '') throw usageError(`${path}: ${name} must be a text`);
  }
  return { ...content, path };
}

function parseObject(text: string): Record<string, unknown> | undefined {
  try {
    const content = JSON.parse(text) as unknown;
    return typeof content === 'object' && content !== null && !Array.isArray(content) ? { ...content } : undefined;
  } catch {
    return undefined;
  }
}
