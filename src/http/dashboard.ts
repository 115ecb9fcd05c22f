import { type Request, type RequestHandler, type Response, Router } from 'express';
import { dashboardPaths } from '../wire/dashboard-paths.ts';
import { builtFiles, type BuiltFiles, contentOf, type PlacedFile } from './response/built-files.ts';
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

export interface Dashboard {
  /** Serves the pages and their files. If the dashboard is not built, it serves nothing. */
  readonly router: Router;
  /** Returns the page with status 404 to browsers that open a path which nothing serves. The page says that it does not exist. */
  readonly unknownPage: RequestHandler;
}

/** @param folder the built dashboard. If it is undefined or does not exist, both handlers leave each request to the next one. */
export function createDashboard(folder: string | undefined, sendPublic: SendPublic): Dashboard {
  const files = builtFiles(folder);
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
