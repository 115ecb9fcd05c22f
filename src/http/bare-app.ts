import type { RequestListener } from 'node:http';
import express, { type Express } from 'express';

/** Express without its default extras. */
export function bareApp(): Express {
  const app = express();
  app.disable('x-powered-by');
  // An ETag would be a digest of secrets, and Express would send 304 without an audit entry.
  app.disable('etag');
  // Routes parse the query strictly themselves (query.ts).
  app.disable('query parser');
  return app;
}

// Matches no route and does not decode, so it is refused, logged and counted like any invalid path.
const undecodable = '/%';

/**
 * The request listener of an app. A target that is a whole URL (RFC 9112 section 3.2.2) is reduced to its path. Without
 * that, Express would send its own error page for a URL that it cannot parse, past all middleware.
 */
export function listenerOf(app: Express): RequestListener {
  return (request, response) => {
    request.url = originForm(request.url ?? '');
    app(request, response);
  };
}

function originForm(target: string): string {
  if (target.startsWith('/') || target === '*') return target;
  const url = URL.parse(target);
  // The fragment stays, so that `requestTarget` refuses it.
  return url?.pathname.startsWith('/') === true ? url.pathname + url.search + url.hash : undecodable;
}
