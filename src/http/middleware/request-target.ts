import type { RequestHandler } from 'express';
import { DomainError } from '../../domain/errors/domain-error.ts';

/** Node uses the first of these headers and ignores the others. A proxy before this server may use another one. */
const singleHeaders = ['host', 'authorization'] as const;

/**
 * Refuses ambiguous requests before the router sees them: a path whose percent-encoding is not UTF-8, a fragment (which
 * RFC 9112 section 3.2 does not allow in a request target), and a request with no host or two hosts.
 */
export const requestTarget: RequestHandler = (request, _response, next) => {
  // A request line without a version is HTTP/0.9, which has no headers.
  if (request.httpVersion === '0.9') throw new DomainError('malformed_request', 'the request line must name HTTP/1.1');
  // The router would ignore it: `DELETE …/KEY#x` would delete KEY.
  if (request.url.includes('#')) {
    throw new DomainError('malformed_request', 'the path must not contain a fragment; write "#" as %23');
  }
  for (const name of singleHeaders) {
    if ((request.headersDistinct[name]?.length ?? 0) < 2) continue;
    throw new DomainError('malformed_request', `the header ${name} must be given once`);
  }
  if (request.httpVersion === '1.1' && request.headers.host === undefined) {
    throw new DomainError('malformed_request', 'an HTTP/1.1 request requires the header Host');
  }
  try {
    decodeURIComponent(request.path);
  } catch {
    throw new DomainError('malformed_request', 'the path is not valid percent-encoded UTF-8');
  }
  next();
};
