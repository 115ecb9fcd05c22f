import type { Problem } from '../../wire/problem.ts';
import { isUserActive } from './activity.ts';

/** The API of this server, called with the cookie of the session. */

export class ApiError extends Error {
  /** HTTP status; 0 if the server could not be reached. */
  readonly status: number;
  /** A code of docs/errors.md, or `unreachable`. */
  readonly code: string;
  readonly retryAfterSeconds: number | undefined;

  constructor(detail: string, { status, code, retryAfterSeconds }: Omit<ApiError, keyof Error>) {
    super(detail);
    this.status = status;
    this.code = code;
    this.retryAfterSeconds = retryAfterSeconds;
  }
}

export interface ApiRequest {
  readonly method?: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  /** Sent as JSON. */
  readonly body?: unknown;
  /** Sent as `Authorization` in place of the session's cookie. */
  readonly token?: string;
  /** Of a request that creates: a repetition under the same key creates nothing more. */
  readonly idempotencyKey?: string;
}

/**
 * How long a change may take. Nothing else ends a request on a connection that is dead, and until then no panel can be
 * closed. The server reads a request for at most a minute.
 */
const changeLimitMs = 120_000;

/**
 * Requests a path below /api/v1. Returns the parsed body; undefined if it is empty.
 *
 * @throws ApiError if the server refuses, or cannot be reached
 */
export async function callApi<Body>(path: string, request: ApiRequest = {}): Promise<Body> {
  const { method = 'GET', body } = request;
  const response = await reach(`/api/v1${path}`, {
    method,
    headers: headersOf(request),
    cache: 'no-store',
    redirect: 'error',
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    ...(method === 'GET' ? {} : { signal: AbortSignal.timeout(changeLimitMs) }),
  });
  const text = await response.text().catch(unreachable);
  if (!response.ok) throw refusal(response, text);
  return (text === '' ? undefined : JSON.parse(text)) as Body;
}

function headersOf({ method = 'GET', body, token, idempotencyKey }: ApiRequest): Headers {
  const headers = new Headers({ Accept: 'application/json' });
  if (token !== undefined) headers.set('Authorization', `Bearer ${token}`);
  if (method !== 'GET') headers.set('X-Keyframe-CSRF', '1');
  else if (!isUserActive()) headers.set('X-Keyframe-Background', '1');
  if (body !== undefined) headers.set('Content-Type', 'application/json');
  if (idempotencyKey !== undefined) headers.set('Idempotency-Key', idempotencyKey);
  return headers;
}

/**
 * Opens a stream of events of a path below /api/v1. It is never use of the session.
 *
 * @throws ApiError if the server refuses, or cannot be reached
 */
export async function openStream(path: string, { lastEventId, signal }: StreamRequest): Promise<Response> {
  const headers = new Headers({ Accept: 'text/event-stream', 'X-Keyframe-Background': '1' });
  if (lastEventId !== undefined) headers.set('Last-Event-ID', lastEventId);
  const response = await reach(`/api/v1${path}`, { headers, cache: 'no-store', redirect: 'error', signal });
  if (!response.ok) throw refusal(response, await response.text().catch(unreachable));
  return response;
}

export interface StreamRequest {
  /** Of the last event that was read. */
  readonly lastEventId: string | undefined;
  /** Ends it. */
  readonly signal: AbortSignal;
}

function reach(url: string, init: RequestInit): Promise<Response> {
  return fetch(url, init).catch(unreachable);
}

function unreachable(error: unknown): never {
  const isLate = error instanceof DOMException && error.name === 'TimeoutError';
  const detail = isLate
    ? 'The server did not respond in time. The change may have been made: look before you repeat it.'
    : 'The server could not be reached. Check your network, then try again.';
  throw new ApiError(detail, { status: 0, code: 'unreachable', retryAfterSeconds: undefined });
}

function refusal(response: Response, text: string): ApiError {
  const { status } = response;
  const problem = problemOf(text);
  const seconds = Number(response.headers.get('Retry-After') ?? Number.NaN);
  return new ApiError(problem === undefined ? `The server answered with status ${status}.` : sentence(problem.detail), {
    status,
    code: problem?.code ?? 'internal',
    retryAfterSeconds: Number.isFinite(seconds) ? seconds : undefined,
  });
}

/** A proxy before the server may answer with something else. */
function problemOf(text: string): Problem | undefined {
  try {
    const body = JSON.parse(text) as Partial<Problem> | null;
    return typeof body?.detail === 'string' && typeof body.code === 'string' ? (body as Problem) : undefined;
  } catch {
    return undefined;
  }
}

function sentence(detail: string): string {
  const text = detail.charAt(0).toUpperCase() + detail.slice(1);
  return /[.!?]$/.test(text) ? text : `${text}.`;
}
