import type { Request } from 'express';
import { DomainError } from '../../domain/errors/domain-error.ts';
import { uuidPattern } from '../../domain/names.ts';

/** The process of a controller that sends a request: a random id, by which its requests and streams are counted. */
export function processOf({ headers }: Pick<Request, 'headers'>): string {
  const process = headers['keyframe-process'];
  if (typeof process === 'string' && uuidPattern.test(process)) return process;
  throw new DomainError('malformed_request', 'the header Keyframe-Process must be a UUID, the same for each request');
}
