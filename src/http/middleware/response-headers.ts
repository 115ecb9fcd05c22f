import type { RequestHandler } from 'express';

/** What every answer carries: nobody on the way may keep it, and nobody may guess another type for it. */
export const responseHeaders: RequestHandler = (_request, response, next) => {
  response.setHeader('Cache-Control', 'no-store');
  response.setHeader('X-Content-Type-Options', 'nosniff');
  next();
};
