import type { ServerResponse } from 'node:http';
import { DomainError } from '../../domain/errors/domain-error.ts';
import type { ErrorCode, HttpErrorCode } from '../../domain/errors/catalogue.ts';
import { httpErrors } from '../../domain/errors/http-errors.ts';
import type { Problem } from '../../wire/problem.ts';

/** The only writer of error responses (RFC 9457), so that each of them comes from the catalogue. */

const mediaType = 'application/problem+json';
const internalDetail = 'unexpected error in the server; search its log for the request id in "instance"';

/** The problem document for a thrown value. The caller sees the text of a DomainError only; any other error is `internal`. */
export function problemOf(thrown: unknown, requestId: string): Problem & { code: HttpErrorCode } {
  const error = shownError(thrown);
  const code = httpCode(error.code);
  const { status, title } = httpErrors[code];
  return {
    type: `urn:keyframe:error:${code}`,
    title,
    status,
    detail: error.detail,
    instance: `urn:uuid:${requestId}`,
    code,
    ...(error.fields.length === 0 ? {} : { errors: error.fields.map(({ field, message }) => ({ field, message })) }),
  };
}

/** Sends an error response. Headers that are already set stay. */
export function sendProblem(response: ServerResponse, problem: Problem): void {
  const body = Buffer.from(JSON.stringify(problem));
  response.statusCode = problem.status;
  response.setHeader('Content-Type', mediaType);
  response.setHeader('Content-Length', body.length);
  const waits = problem.status === 503 || problem.status === 429;
  if (waits && !response.hasHeader('Retry-After')) response.setHeader('Retry-After', '1');
  response.end(body);
}

/** A whole error response as text. If Node's parser rejects a request, no response object exists. */
export function rawProblem(problem: Problem): string {
  const body = JSON.stringify(problem);
  return [
    `HTTP/1.1 ${problem.status} ${problem.title}`,
    `Content-Type: ${mediaType}`,
    `Content-Length: ${Buffer.byteLength(body)}`,
    'Cache-Control: no-store',
    'X-Content-Type-Options: nosniff',
    'Connection: close',
    '',
    body,
  ].join('\r\n');
}

function shownError(thrown: unknown): DomainError {
  const isShown = thrown instanceof DomainError && httpCode(thrown.code) !== 'internal';
  return isShown ? thrown : new DomainError('internal', internalDetail);
}

function httpCode(code: ErrorCode): HttpErrorCode {
  return isHttpCode(code) ? code : 'internal';
}

function isHttpCode(code: ErrorCode): code is HttpErrorCode {
  return Object.hasOwn(httpErrors, code);
}
