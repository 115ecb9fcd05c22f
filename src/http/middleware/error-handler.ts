import type { ErrorRequestHandler } from 'express';
import { DomainError } from '../../domain/errors/domain-error.ts';
import { problemOf, sendProblem } from '../response/problem.ts';
import { contextOf } from '../request-context.ts';

/** Must come last: answers whatever was thrown as a problem document. */
export const errorHandler: ErrorRequestHandler = (error: unknown, request, response, _next) => {
  const context = contextOf(request);
  const problem = problemOf(error, context.id);
  context.error = error;
  context.code = problem.code;
  if (response.headersSent) {
    // Half an answer cannot become an error; a cut connection at least does not pass for a whole one.
    response.destroy();
    return;
  }
  if (problem.code === 'unauthenticated') {
    const presented = request.headers.authorization !== undefined;
    response.setHeader('WWW-Authenticate', `Bearer realm="keyframe"${presented ? ', error="invalid_token"' : ''}`);
  }
  if (error instanceof DomainError && error.retryAfterSeconds !== undefined) {
    response.setHeader('Retry-After', String(error.retryAfterSeconds));
  }
  sendProblem(response, problem);
};
