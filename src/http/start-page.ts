import { createHash } from 'node:crypto';
import { Router } from 'express';
import { serveGet } from './router.ts';

/** What a browser requests first: a page at / that names the parts of this server, and its icon. Both are public. */

const style = `body { font: 1rem/1.5 system-ui, sans-serif; max-width: 42rem; margin: 4rem auto; padding: 0 1rem; }
code { font-size: 0.9em; }
dt { margin-top: 1rem; }
dd { margin: 0; }`;

const page = `<!doctype html>
<html lang="en">
  <head>
    <meta charset="utf-8" />
    <meta name="viewport" content="width=device-width, initial-scale=1" />
    <title>Keyframe</title>
    <link rel="icon" type="image/png" href="/favicon.ico" />
    <meta name="color-scheme" content="light dark" />
    <style>${style}</style>
  </head>
  <body>
    <h1>Keyframe</h1>
    <p>This server stores secrets and keeps every version of them. Use it with the command or the HTTP interface.</p>
    <dl>
      <dt><a href="/cli">The keyframe command</a></dt>
      <dd>One file for Linux and macOS with Node.js 20.16 or newer; <a href="/cli.sha256">its checksum</a>.
        Make the file executable: <code>chmod +x keyframe</code>. Then run <code>./keyframe login --help</code>.</dd>
      <dt><a href="/docs">The documentation</a></dt>
      <dd>The pages of this release: installation, resources, alerts, recovery.</dd>
      <dt><a href="/docs/api">The HTTP interface</a></dt>
      <dd>Every operation with an example; the same as <a href="/openapi.json">OpenAPI document</a>.</dd>
    </dl>
  </body>
</html>
`;

const digest = createHash('sha256').update(style).digest('base64');
const pagePolicy = `default-src 'none'; style-src 'sha256-${digest}'; img-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'`;

/** A blue diamond, the symbol of a key frame: a PNG of 32 by 32 pixels. */
const icon = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAACAAAAAgCAYAAABzenr0AAAAjElEQVR42t2XSw6AIAwFexlP5sE4IIfQkLAwwQ9gP6OLrmeSQvsqy5olsuTrAqlWiEABb7WSt8AR/kpCCz4toQmfktCGD0tYwIckrODdEpbwLglr+KOEB/xWwgt+KeEJP5XwhjcSKIHwFiAeIeIbIgYRYhQjlhFiHSMCCSKSIUIpIpYjDhPEafaP63gHeKVZxn4uid4AAAAASUVORK5CYII=',
  'base64',
);

/** GET / and /favicon.ico. */
export function startPageRouter(): Router {
  const router = Router({ caseSensitive: true, strict: true });
  serveGet(router, '/', (_request, response) => {
    response.setHeader('Content-Security-Policy', pagePolicy);
    response.setHeader('Content-Type', 'text/html; charset=utf-8');
    response.end(page);
  });
  serveGet(router, '/favicon.ico', (_request, response) => {
    response.setHeader('Content-Type', 'image/png');
    response.end(icon);
  });
  return router;
}
