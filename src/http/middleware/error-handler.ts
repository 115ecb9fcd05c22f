import type { ErrorRequestHandler } from 'express';
import { DomainError } from '../../domain/errors/domain-error.ts';
import { BodyInbox } from '../request/body-inbox.ts';
import { problemOf, sendProblem } from '../response/problem.ts';
import { contextOf } from '../request-context.ts';

/** Sends every thrown value as a problem document. Must come last. */
export const errorHandler: ErrorRequestHandler = (error: unknown, request, response, _next) => {
  const context = contextOf(request);
  const problem = problemOf(error, context.id);
  context.error = error;
  context.code = problem.code;
  if (response.headersSent) {
    // A started response cannot become an error. A closed connection shows the client that it is incomplete.
    response.destroy();
    return;
  }
  if (problem.status === 401) {
    const presented = request.headers.authorization !== undefined;
    response.setHeader('WWW-Authenticate', `Bearer realm="keyframe"${presented ? ', error="invalid_token"' : ''}`);
  }
  BodyInbox.abandon(request, response);
  // The client may still send the rest, a byte at a time.
  if (problem.code === 'request_timeout') response.setHeader('Connection', 'close');
  if (error instanceof DomainError && error.retryAfterSeconds !== undefined) {
    response.setHeader('Retry-After', String(error.retryAfterSeconds));
  }
  sendProblem(response, problem);
};
