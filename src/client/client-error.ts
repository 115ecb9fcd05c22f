import type { IncomingHttpHeaders } from 'node:http';
import type { Problem } from '../wire/problem.ts';
import type { RefusedJwt } from './jwt.ts';

/**
 * Why a request has no result:
 * - `invalid_path`: a name cannot be part of a path; nothing was sent
 * - `unreachable`: no connection; nothing was done
 * - `proxy_failed`: the proxy cannot be reached, or does not pass the request on; nothing was done
 * - `answer_lost`: the connection broke, or no answer came in time; a write may have been done
 * - `redirected`: the server sends its clients to another address
 * - `not_keyframe`: the answer does not come from Keyframe
 * - `answer_too_long`: the answer exceeds the limit
 * - `refused`: Keyframe returned a problem
 */
export type ClientFault =
  | 'invalid_path'
  | 'unreachable'
  | 'proxy_failed'
  | 'answer_lost'
  | 'redirected'
  | 'not_keyframe'
  | 'answer_too_long'
  | 'refused';

export interface ClientErrorOptions extends ErrorOptions {
  readonly fault: ClientFault;
  /** The address of the server. */
  readonly url?: string;
  /** The path below /api/v1 that was requested, with its query. */
  readonly path?: string;
  /** The code of a network fault, such as ECONNREFUSED. */
  readonly networkCode?: string;
  /** Of the answer. */
  readonly status?: number;
  readonly problem?: Problem;
  readonly headers?: IncomingHttpHeaders;
  /** The JWT that the server refused. */
  readonly jwt?: RefusedJwt | undefined;
}

/** A request to the API failed. The message holds neither a value nor the token. */
export class ClientError extends Error {
  readonly fault: ClientFault;
  readonly url: string;
  /** The path below /api/v1 that was requested, with its query; empty if the error is not about a request. */
  readonly path: string;
  readonly networkCode: string;
  /** Undefined if no answer came. */
  readonly status: number | undefined;
  /** What Keyframe returned; present if `fault` is `refused`. */
  readonly problem: Problem | undefined;
  readonly headers: IncomingHttpHeaders;
  /** The JWT that the server refused; undefined for a token of another kind, and for other errors. */
  readonly jwt: RefusedJwt | undefined;

  constructor(message: string, options: ClientErrorOptions) {
    const { fault, url = '', path = '', networkCode = '', status, problem, headers = {}, jwt, ...rest } = options;
    super(message, rest);
    this.name = 'ClientError';
    this.fault = fault;
    this.url = url;
    this.path = path;
    this.networkCode = networkCode;
    this.status = status;
    this.problem = problem;
    this.headers = headers;
    this.jwt = jwt;
  }

  /** The same error with another message, and this one as its cause. */
  withMessage(message: string): ClientError {
    const { fault, url, path, networkCode, status, problem, headers, jwt } = this;
    const answer = { ...(status === undefined ? {} : { status }), ...(problem === undefined ? {} : { problem }) };
    return new ClientError(message, { fault, url, path, networkCode, ...answer, headers, jwt, cause: this });
  }

  /** The resource does not exist, or the holder of the token may not see it. */
  get isNotFound(): boolean {
    return this.fault === 'refused' && (this.status === 404 || this.status === 410);
  }

  /** The server does not accept the token. */
  get isUnauthenticated(): boolean {
    return this.fault === 'refused' && this.status === 401;
  }

  /** The network or the server failed, not the request: the same request may succeed later. */
  get isOutage(): boolean {
    if (this.fault === 'invalid_path') return false;
    const { status = 500 } = this;
    return this.fault !== 'refused' || status === 429 || status < 400 || status >= 500;
  }
}
