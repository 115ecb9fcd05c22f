import type { IncomingHttpHeaders } from 'node:http';
import type { Problem } from '../wire/problem.ts';
import { ClientError } from './client-error.ts';
import { refusedJwt } from './jwt.ts';
import { type Proxy, shownProxy } from './proxy.ts';

export interface RefusedAnswer {
  readonly url: string;
  /** The path below /api/v1 that was requested, with its query. */
  readonly path?: string;
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  /** Parsed JSON; undefined if the answer is not JSON. */
  readonly body: unknown;
  /** What the request presented; absent if it presented nothing. */
  readonly token?: string | undefined;
}

/** The error for an answer other than a success. */
export function answerError({ url, path = '', status, headers, body, token = '' }: RefusedAnswer): ClientError {
  if (status >= 300 && status < 400 && status !== 304) {
    const message = `${url} redirects to another address, and the token is not sent there`;
    return new ClientError(message, { fault: 'redirected', url, status });
  }
  const problem = problemOf(body);
  if (problem === undefined) return foreignAnswer(url, status);
  const jwt = status === 401 ? refusedJwt(token) : undefined;
  return new ClientError(problemText(problem), { fault: 'refused', url, path, status, problem, headers, jwt });
}

/** The error for an answer that does not come from Keyframe. */
export function foreignAnswer(url: string, status: number): ClientError {
  return new ClientError(`${url} answered ${status}, but not as Keyframe does`, { fault: 'not_keyframe', url, status });
}

export interface SentRequest {
  readonly isWrite?: boolean;
  /** The proxy that it passed. */
  readonly proxy?: Proxy | undefined;
}

/** The error if no answer came. A request that writes may have arrived although its answer was lost. */
export function networkError(url: string, error: unknown, { isWrite = false, proxy }: SentRequest = {}): ClientError {
  const { code, reason } = networkFault(error);
  const options = { url, networkCode: code, cause: error };
  const server = proxy === undefined ? url : `${url} (through ${shownProxy(proxy)})`;
  if (isWrite && lostAnswers.has(code)) {
    return new ClientError(`${server} has not answered: ${reason}`, { ...options, fault: 'answer_lost' });
  }
  return new ClientError(`${server} cannot be reached: ${reason}`, { ...options, fault: 'unreachable' });
}

/** The error if the connection to a proxy failed. */
export function proxyError(url: string, proxy: Proxy, error: unknown): ClientError {
  if (error instanceof ClientError) return error;
  const { code, reason } = networkFault(error);
  const message = `${shownProxy(proxy)} cannot be reached: ${reason}`;
  return new ClientError(message, { fault: 'proxy_failed', url, networkCode: code, cause: error });
}

/** The error if a proxy does not pass a request on. */
export function refusedByProxy(url: string, proxy: Proxy, status: number): ClientError {
  const refusal = status === 407 ? proxyDemand(proxy) : `does not connect to ${url}: it answered ${status}`;
  return new ClientError(`${shownProxy(proxy)} ${refusal}`, { fault: 'proxy_failed', url, status });
}

function proxyDemand({ url }: Proxy): string {
  const hasCredentials = url.username !== '' || url.password !== '';
  return hasCredentials ? 'does not accept the user and password of the variable' : 'demands a user and a password';
}

/** Faults that can occur after the request arrived. */
const lostAnswers: ReadonlySet<string> = new Set(['ECONNRESET', 'EPIPE']);

const networkFaults: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'nothing listens there',
  ECONNRESET: 'the connection broke',
  EPIPE: 'the connection broke',
  EPROTO: 'it does not use https',
  ENOTFOUND: 'the host does not exist',
  EAI_AGAIN: 'the name of the host cannot be resolved at the moment',
  ETIMEDOUT: 'it does not answer',
  EHOSTUNREACH: 'there is no route to the host',
  ENETUNREACH: 'there is no route to the network',
};

/** The code and the reason, in words, of a fault of the network. */
export function networkFault(error: unknown): { code: string; reason: string } {
  // Several addresses were tried: the error of the last one is reported.
  const single = error instanceof AggregateError ? (error.errors as unknown[]).at(-1) : error;
  const { code = '', message } = single as NodeJS.ErrnoException;
  if (code.startsWith('HPE_')) return { code, reason: 'it does not speak HTTP' };
  return { code, reason: networkFaults[code] ?? (code === '' ? message : code) };
}

function problemText({ detail, errors = [] }: Problem): string {
  // The detail names the first of them.
  const others = errors.slice(1).map(({ field, message }) => `${field}: ${message}`);
  return others.length === 0 ? detail : [detail, ...others].join('; ');
}

function problemOf(body: unknown): Problem | undefined {
  const candidate = body as Partial<Problem> | undefined;
  const { code, detail, status, instance = '', errors = [] } = candidate ?? {};
  const isProblem =
    typeof code === 'string' &&
    typeof detail === 'string' &&
    typeof status === 'number' &&
    typeof instance === 'string' &&
    Array.isArray(errors);
  return isProblem ? ({ ...candidate, instance } as Problem) : undefined;
}
