import type { RequestHandler } from 'express';
import { DomainError } from '../../domain/domain-error.ts';

/** Refuses a path whose percent-encoding does not decode to UTF-8, before the router meets it. */
export const pathEncoding: RequestHandler = (request, _response, next) => {
  try {
    decodeURIComponent(request.path);
  } catch {
    throw new DomainError('malformed_request', 'the path is not valid percent-encoded UTF-8');
  }
  next();
};
