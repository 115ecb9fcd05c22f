import type { RequestHandler } from 'express';
import { DomainError } from '../../domain/domain-error.ts';

/**
 * Refuses a path whose percent-encoding does not decode to UTF-8, before the router meets it, and a request that names
 * no host (RFC 9112 section 3.2).
 */
export const requestTarget: RequestHandler = (request, _response, next) => {
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
