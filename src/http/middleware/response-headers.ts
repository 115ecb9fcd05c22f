import type { RequestHandler } from 'express';
import helmet from 'helmet';

/** The policy of responses that are not for browsers. The pages at /docs set their own. */
const closedPolicy = "default-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

const browserHeaders = helmet({
  // A constant, because helmet would build its policy for each response.
  contentSecurityPolicy: false,
  xFrameOptions: { action: 'deny' },
  // This server speaks plain HTTP, where RFC 6797 section 7.2 forbids the header. The TLS proxy may set it.
  strictTransportSecurity: false,
});

/** Headers of every response: proxies must not cache it, and browsers must not run or embed it. */
export const responseHeaders: RequestHandler = (request, response, next) => {
  response.setHeader('Cache-Control', 'no-store');
  response.setHeader('Content-Security-Policy', closedPolicy);
  browserHeaders(request, response, next);
};
