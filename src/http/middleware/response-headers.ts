import { TLSSocket } from 'node:tls';
import type { RequestHandler } from 'express';
import helmet from 'helmet';

/** The policy of responses that are not for browsers. The pages below /docs set their own. */
const closedPolicy = "default-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

const browserHeaders = helmet({
  // A constant, because helmet would build its policy for each response.
  contentSecurityPolicy: false,
  xFrameOptions: { action: 'deny' },
  // Only over TLS, and without a word about subdomains, which belong to other servers.
  strictTransportSecurity: false,
});

/** One year, in seconds. */
const strictTransport = 'max-age=31536000';

/**
 * Headers of every response: proxies must not cache it, and browsers must not run or embed it. Over TLS, browsers must not come
 * back over plain HTTP. Without TLS, RFC 6797 section 7.2 forbids that header: the proxy that terminates TLS sends it.
 */
export const responseHeaders: RequestHandler = (request, response, next) => {
  response.setHeader('Cache-Control', 'no-store');
  response.setHeader('Content-Security-Policy', closedPolicy);
  if (request.socket instanceof TLSSocket) response.setHeader('Strict-Transport-Security', strictTransport);
  browserHeaders(request, response, next);
};
