import type { RequestHandler } from 'express';
import { DomainError } from '../../domain/errors/domain-error.ts';

/** Headers of which the first would be taken and the others be lost; a proxy before this server may take another. */
const singleHeaders = ['host', 'authorization'] as const;

/**
 * Refuses what could be read in two ways, before the router meets it: a path whose percent-encoding does not decode to
 * UTF-8, a fragment (RFC 9112 section 3.2 knows none in a request target), and a request that names no host or two.
 */
export const requestTarget: RequestHandler = (request, _response, next) => {
  // A request line without a version is HTTP/0.9, which has no headers.
  if (request.httpVersion === '0.9') throw new DomainError('malformed_request', 'a request must name HTTP/1.1');
  // The router would cut it off: `DELETE …/KEY#x` would delete KEY.
  if (request.url.includes('#')) {
    throw new DomainError('malformed_request', 'the path must not have a fragment; write "#" as %23');
  }
  for (const name of singleHeaders) {
    if ((request.headersDistinct[name]?.length ?? 0) < 2) continue;
    throw new DomainError('malformed_request', `the header ${name} is given twice`);
  }
  if (request.httpVersion === '1.1' && request.headers.host === undefined) {
    throw new DomainError('malformed_request', 'a request of HTTP/1.1 needs the header Host');
  }
  try {
    decodeURIComponent(request.path);
  } catch {
    throw new DomainError('malformed_request', 'the path is not valid percent-encoded UTF-8');
  }
  next();
};
