import { readFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type RequestHandler, type Response, Router } from 'express';
import { openApiDocument } from './document.ts';
import type { SendPublic } from '../response/public-content.ts';
import { serveGet } from '../router.ts';

/**
 * The description of the interface: /openapi.json, and a page at /docs/api that renders it. Both are public, as the sources
 * are. The page loads nothing from another host and has no inline script.
 */

// Swagger UI sets styles through the DOM, which this policy allows. Its icons are data: URLs. The sandbox gives the page an
// origin of its own, so that no fault of this large library can use the session of the browser. So it cannot fetch, either.
const contentSecurityPolicy = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self' data:",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
  'sandbox allow-scripts',
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
    <noscript>This page requires JavaScript. The same content is in <a href="/openapi.json">openapi.json</a>.</noscript>
    <script src="/docs/swagger-ui-bundle.js"></script>
    <script src="/docs/reference.js"></script>
  </body>
</html>
`;

// No validator: it is another host, which would learn the address of this server. No requests: the sandbox refuses them.
const script = (): string => `window.SwaggerUIBundle({
  spec: ${JSON.stringify(openApiDocument())},
  dom_id: '#reference',
  deepLinking: true,
  validatorUrl: null,
  supportedSubmitMethods: [],
  defaultModelsExpandDepth: 0,
  docExpansion: 'list',
});

// The style sheet has dark colours under this class.
const dark = window.matchMedia('(prefers-color-scheme: dark)');
const update = () => document.documentElement.classList.toggle('dark-mode', dark.matches);
dark.addEventListener('change', update);
update();
`;

// The column of links is always empty and wastes space on a narrow screen. Long lines scroll within their box, so that the
// page does not. The style sheet of the package has no dark colour for header names.
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

/** GET /openapi.json, /docs/api and what that page loads. */
export function referenceRouter(sendPublic: SendPublic): Router {
  const router = Router({ caseSensitive: true, strict: true });
  const text = (mediaType: string, content: () => string): RequestHandler =>
    textHandler(mediaType, content, sendPublic);
  serveGet(
    router,
    '/openapi.json',
    text('application/json; charset=utf-8', () => JSON.stringify(openApiDocument())),
  );
  serveGet(
    router,
    '/docs/api',
    text('text/html; charset=utf-8', () => page),
  );
  serveGet(router, '/docs/reference.js', text('text/javascript; charset=utf-8', script));
  serveGet(
    router,
    '/docs/reference.css',
    text('text/css; charset=utf-8', () => styles),
  );
  for (const [name, mediaType] of Object.entries(assets))
    serveGet(router, `/docs/${name}`, fileHandler(name, mediaType, sendPublic));
  return router;
}

function textHandler(mediaType: string, content: () => string, sendPublic: SendPublic): RequestHandler {
  let bytes: Buffer | undefined;
  return async (request, response) => {
    bytes ??= Buffer.from(content());
    response.setHeader('Content-Security-Policy', contentSecurityPolicy);
    setHeaders(response, mediaType);
    await sendPublic(request, response, bytes);
  };
}

function fileHandler(name: string, mediaType: string, sendPublic: SendPublic): RequestHandler {
  let reading: Promise<Buffer> | undefined;
  return async (request, response) => {
    reading ??= readFile(join(assetFolder, name)).catch((error: unknown) => {
      // The next request reads again: the fault may pass, such as too many open files.
      reading = undefined;
      throw error;
    });
    setHeaders(response, mediaType);
    await sendPublic(request, response, await reading);
  };
}

function setHeaders(response: Response, mediaType: string): void {
  // The page in the sandbox is another origin. All of this is public.
  response.setHeader('Cross-Origin-Resource-Policy', 'cross-origin');
  response.setHeader('Content-Type', mediaType);
}
