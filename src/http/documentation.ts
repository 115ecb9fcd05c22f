import { createHash } from 'node:crypto';
import { Router } from 'express';
import { builtFiles, contentOf } from './response/built-files.ts';
import { entityTag, isKnownTag } from './response/entity-tag.ts';
import type { SendPublic } from './response/public-content.ts';
import { serveGet } from './router.ts';

/**
 * The pages of the documentation, as this release has them: /docs/alerts.md is docs/alerts.md as HTML. So the names of pages in
 * messages are paths of the server too. All are public, as the sources are. /docs leads to the list of the pages.
 */

// The pages have no script and no form.
const pagePolicy =
  "default-src 'none'; style-src 'self'; img-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

const firstPage = '/docs/README.md';

/** @param folder the built pages. If it is undefined or does not exist, no page exists, and /docs leads to the interface. */
export function documentationRouter(folder: string | undefined, sendPublic: SendPublic): Router {
  const files = builtFiles(folder);
  const router = Router({ caseSensitive: true, strict: true });
  serveGet(router, '/docs', async (_request, response) => {
    response.redirect(302, (await files()).size > 0 ? firstPage : '/docs/api');
  });
  serveGet(router, '/docs/*page', async (request, response, next) => {
    const page = ([] as string[]).concat(request.params['page'] ?? []).join('/');
    const known = await files();
    const path = page.endsWith('.md') ? `${page}.html` : page;
    const file = page.endsWith('.html') ? undefined : known.get(path);
    if (file === undefined) return next('router');
    response.setHeader('Content-Security-Policy', pagePolicy);
    const content = contentOf(request, response, { path, file });
    const tag = entityTag(createHash('sha256').update(content).digest('base64url'));
    // Each release has other pages.
    response.setHeader('Cache-Control', 'no-cache');
    response.setHeader('ETag', tag);
    if (!isKnownTag(request.get('If-None-Match'), tag)) return await sendPublic(request, response, content);
    response.statusCode = 304;
    response.end();
  });
  return router;
}
