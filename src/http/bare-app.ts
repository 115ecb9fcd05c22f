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
