import type { RequestHandler } from 'express';
import helmet from 'helmet';

/** The policy of answers that no browser should make anything of; docs and dashboard set their own. */
const closedPolicy = "default-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

const browserHeaders = helmet({
  // A fixed text instead of helmet's, which puts it together for each answer.
  contentSecurityPolicy: false,
  xFrameOptions: { action: 'deny' },
  // This server speaks HTTP; RFC 6797 section 7.2 leaves the header to what speaks TLS before it.
  strictTransportSecurity: false,
});

/** What every answer carries: nobody on the way may keep it, and a browser may do nothing with it. */
export const responseHeaders: RequestHandler = (request, response, next) => {
  response.setHeader('Cache-Control', 'no-store');
  response.setHeader('Content-Security-Policy', closedPolicy);
  browserHeaders(request, response, next);
};
