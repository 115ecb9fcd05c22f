import { readdir, readFile } from 'node:fs/promises';
import { extname, join } from 'node:path';
import type { Request, Response } from 'express';

/** Files that a build has made, each with its compressed forms: those of the dashboard and of the documentation. */

const mediaTypes: Readonly<Record<string, string>> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.json': 'application/json; charset=utf-8',
  '.svg': 'image/svg+xml',
  '.woff2': 'font/woff2',
};

/** The encodings that the build compresses to, the smallest first, with the endings of their files. */
const encodings = [
  ['br', '.br'],
  ['gzip', '.gz'],
] as const;

/** A file in each encoding that it has. Each content is one buffer, which all responses share. */
type BuiltFile = ReadonlyMap<(typeof encodings)[number][0] | 'identity', Buffer>;

/** The built files by their paths, such as `index.html` and `assets/index-BrdqayUt.js`. */
export type BuiltFiles = ReadonlyMap<string, BuiltFile>;

export interface PlacedFile {
  readonly path: string;
  readonly file: BuiltFile;
}

/** Chooses the content that the browser takes, and sets its headers. */
export function contentOf(request: Request, response: Response, { path, file }: PlacedFile): Buffer {
  const encoding = encodings.map(([name]) => name).find((name) => file.has(name) && request.acceptsEncodings(name));
  const content = file.get(encoding ?? 'identity') ?? Buffer.alloc(0);
  response.setHeader('Content-Type', mediaTypes[extname(path)] ?? 'application/octet-stream');
  response.setHeader('Vary', 'Accept-Encoding');
  if (encoding !== undefined) response.setHeader('Content-Encoding', encoding);
  return content;
}

/**
 * Returns a function that reads the files of a folder, once. It has none if the folder is undefined or does not exist. A failure
 * is not cached: the fault may pass, or the files may be built later.
 */
export function builtFiles(folder: string | undefined): () => Promise<BuiltFiles> {
  let reading: Promise<BuiltFiles> | undefined;
  return async () => {
    if (folder === undefined) return new Map();
    reading ??= readFiles(folder);
    try {
      const files = await reading;
      if (files.size === 0) reading = undefined;
      return files;
    } catch (error) {
      reading = undefined;
      throw error;
    }
  };
}

async function readFiles(folder: string): Promise<BuiltFiles> {
  const names = await readdir(folder, { recursive: true, withFileTypes: true }).catch(
    (error: NodeJS.ErrnoException) => {
      if (error.code === 'ENOENT') return [];
      throw error;
    },
  );
  const paths = names
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name).slice(folder.length).replace(/^\//, ''));
  const originals = paths.filter((path) => !encodings.some(([, ending]) => path.endsWith(ending)));
  const files = originals.map(async (path) => [path, await readEncodings(folder, path, paths)] as const);
  return new Map(await Promise.all(files));
}

async function readEncodings(folder: string, path: string, paths: readonly string[]): Promise<BuiltFile> {
  const stored = [['identity', ''] as const, ...encodings].filter(([, ending]) => paths.includes(path + ending));
  const contents = stored.map(async ([name, ending]) => [name, await readFile(join(folder, path + ending))] as const);
  return new Map(await Promise.all(contents));
}
