import { createReadStream } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { pipeline } from 'node:stream/promises';
import { type RequestHandler, Router } from 'express';
import { openApiDocument } from './document.ts';
import { methodNotAllowed, noteRoute } from '../router.ts';

/**
 * What tells about the interface: /openapi.json, and at /docs a page that shows it. Both are open to everyone: they say
 * nothing that the sources do not. The page loads nothing from another host and has no inline script.
 */

// Swagger UI sets styles through the DOM's objects, which the policy lets pass; its icons are data: URLs.
const contentSecurityPolicy = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self' data:",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ');

const page = `<!doctype html>
<html lang="en">
  <head>
    <meta charset="utf-8" />
    <meta name="viewport" content="width=device-width, initial-scale=1" />
    <title>Keyframe: the HTTP interface</title>
    <link rel="icon" type="image/png" href="/docs/favicon-32x32.png" />
    <meta name="color-scheme" content="light dark" />
    <link rel="stylesheet" href="/docs/swagger-ui.css" />
    <link rel="stylesheet" href="/docs/reference.css" />
  </head>
  <body>
    <div id="reference"></div>
    <noscript>This page needs JavaScript. The same is in <a href="/openapi.json">openapi.json</a>.</noscript>
    <script src="/docs/swagger-ui-bundle.js"></script>
    <script src="/docs/reference.js"></script>
  </body>
</html>
`;

// No validator: it is another host, and would be told where this server is. The token is asked for, and forgotten.
const script = `window.SwaggerUIBundle({
  url: '/openapi.json',
  dom_id: '#reference',
  deepLinking: true,
  validatorUrl: null,
  persistAuthorization: false,
  defaultModelsExpandDepth: 0,
  docExpansion: 'list',
});

// Its style sheet has dark colours, for whoever sets this class.
const dark = window.matchMedia('(prefers-color-scheme: dark)');
const follow = () => document.documentElement.classList.toggle('dark-mode', dark.matches);
dark.addEventListener('change', follow);
follow();
`;

// No answer has links, whose column takes the room on a narrow screen. What cannot be broken scrolls within its box, and the
// page itself does not. The names of headers have no dark colour in the package's own style sheet.
const styles = `body { margin: 0; }
.swagger-ui .wrapper { box-sizing: border-box; max-width: 1460px; }
.swagger-ui .response-col_links { display: none; }
html.dark-mode .swagger-ui .headers td { color: #d0d6dc; }
.swagger-ui .opblock-body { overflow-x: auto; }
.swagger-ui .highlight-code pre, .swagger-ui .curl-command pre, .swagger-ui .request-url pre { max-width: calc(100vw - 6rem); }
`;

/** The files of swagger-ui-dist that the page needs, with their media types. */
const assets: Readonly<Record<string, string>> = {
  'swagger-ui.css': 'text/css; charset=utf-8',
  'swagger-ui-bundle.js': 'text/javascript; charset=utf-8',
  'favicon-32x32.png': 'image/png',
};

const assetFolder = dirname(fileURLToPath(import.meta.resolve('swagger-ui-dist/package.json')));

/** GET /openapi.json, /docs and what the page at /docs loads. */
export function referenceRouter(): Router {
  const router = Router({ caseSensitive: true, strict: true });
  const serve = (path: string, handler: RequestHandler): void => {
    const only = methodNotAllowed(['GET']);
    router.route(path).all(noteRoute(path)).get(handler).all(only);
  };
  let document: string | undefined;
  serve(
    '/openapi.json',
    text('application/json; charset=utf-8', () => (document ??= JSON.stringify(openApiDocument()))),
  );
  serve(
    '/docs',
    text('text/html; charset=utf-8', () => page),
  );
  serve(
    '/docs/reference.js',
    text('text/javascript; charset=utf-8', () => script),
  );
  serve(
    '/docs/reference.css',
    text('text/css; charset=utf-8', () => styles),
  );
  for (const [name, mediaType] of Object.entries(assets)) serve(`/docs/${name}`, file(name, mediaType));
  return router;
}

function text(mediaType: string, content: () => string): RequestHandler {
  return (_request, response) => {
    response.setHeader('Content-Security-Policy', contentSecurityPolicy);
    response.setHeader('Content-Type', mediaType);
    response.end(content());
  };
}

function file(name: string, mediaType: string): RequestHandler {
  return async (_request, response) => {
    response.setHeader('Content-Type', mediaType);
    await pipeline(createReadStream(join(assetFolder, name)), response);
  };
}
