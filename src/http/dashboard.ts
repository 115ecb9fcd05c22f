import { readdir, readFile } from 'node:fs/promises';
import { extname, join } from 'node:path';
import { type Request, type RequestHandler, type Response, Router } from 'express';
import { dashboardPaths } from '../wire/dashboard-paths.ts';
import type { SendPublic } from './response/public-content.ts';
import { serveGet } from './router.ts';

/** The dashboard: one page for all its paths, and the files in /assets that the page loads. All are public, as the sources are. */

// No inline script or style, no other host, and no text that the DOM would parse as HTML (Trusted Types).
const pagePolicy = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "font-src 'self'",
  "img-src 'self'",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
  "require-trusted-types-for 'script'",
  "trusted-types 'none'",
].join('; ');

const mediaTypes: Readonly<Record<string, string>> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
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
type BuiltFiles = ReadonlyMap<string, BuiltFile>;

interface PlacedFile {
  readonly path: string;
  readonly file: BuiltFile;
}

export interface Dashboard {
  /** Serves the pages and their files. If the dashboard is not built, it serves nothing. */
  readonly router: Router;
  /** Returns the page with status 404 to browsers that open a path which nothing serves. The page says that it does not exist. */
  readonly unknownPage: RequestHandler;
}

/** @param folder the built dashboard. If it is undefined or does not exist, both handlers leave each request to the next one. */
export function createDashboard(folder: string | undefined, sendPublic: SendPublic): Dashboard {
  const files = loaderOf(folder);
  const send = (request: Request, response: Response, placed: PlacedFile): Promise<void> =>
    sendPublic(request, response, contentOf(request, response, placed));
  const sendPage = (request: Request, response: Response, page: PlacedFile): Promise<void> => {
    response.setHeader('Content-Security-Policy', pagePolicy);
    return send(request, response, page);
  };
  const router = Router({ caseSensitive: true, strict: true });
  for (const path of Object.values(dashboardPaths)) {
    serveGet(router, path, async (request, response, next) => {
      const page = pageOf(await files());
      if (page === undefined) next('router');
      else await sendPage(request, response, page);
    });
  }
  serveGet(router, '/assets/:name', async (request, response, next) => {
    const path = `assets/${String(request.params['name'])}`;
    const file = (await files()).get(path);
    if (file === undefined) return next('router');
    // Its name has a hash of its content.
    response.setHeader('Cache-Control', 'public, max-age=31536000, immutable');
    await send(request, response, { path, file });
  });
  const unknownPage: RequestHandler = async (request, response, next) => {
    if (!opensPage(request)) return next();
    const page = pageOf(await files());
    if (page === undefined) return next();
    response.statusCode = 404;
    await sendPage(request, response, page);
  };
  return { router, unknownPage };
}

/** Whether a browser navigates to a path outside of the API. */
function opensPage({ method, path, headers }: Request): boolean {
  return method === 'GET' && !path.startsWith('/api/') && headers.accept?.includes('text/html') === true;
}

function pageOf(files: BuiltFiles): PlacedFile | undefined {
  const file = files.get('index.html');
  return file === undefined ? undefined : { path: 'index.html', file };
}

/** Chooses the content that the browser takes, and sets its headers. */
function contentOf(request: Request, response: Response, { path, file }: PlacedFile): Buffer {
  const encoding = encodings.map(([name]) => name).find((name) => file.has(name) && request.acceptsEncodings(name));
  const content = file.get(encoding ?? 'identity') ?? Buffer.alloc(0);
  response.setHeader('Content-Type', mediaTypes[extname(path)] ?? 'application/octet-stream');
  response.setHeader('Vary', 'Accept-Encoding');
  if (encoding !== undefined) response.setHeader('Content-Encoding', encoding);
  return content;
}

/** Reads the files once. A failure is not cached: the fault may pass, or the dashboard may be built later. */
function loaderOf(folder: string | undefined): () => Promise<BuiltFiles> {
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
