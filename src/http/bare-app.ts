import type { RequestListener } from 'node:http';
import express, { type Express } from 'express';

/** Express without what it adds of its own accord. */
export function bareApp(): Express {
  const app = express();
  app.disable('x-powered-by');
  // An ETag would be a digest of secrets, and Express would answer 304 without an audit entry to it.
  app.disable('etag');
  // Routes read the query strictly themselves (query.ts).
  app.disable('query parser');
  return app;
}

// No route has it and it does not decode, so that it is refused, logged and counted like any such path.
const undecodable = '/%';

/**
 * The app for a server. A target that is a whole URL (RFC 9112 section 3.2.2) is taken for its path: what of such the
 * router cannot read, it would answer past all of the app, with a page of its own.
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
  // With the fragment, which is refused: no request target has one.
  return url?.pathname.startsWith('/') === true ? url.pathname + url.search + url.hash : undecodable;
}
