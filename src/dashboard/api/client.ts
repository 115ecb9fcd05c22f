import {
  type Params,
  type PlainRequest,
  type Query,
  type StreamTransport,
  type Transport,
  filledPath,
  queryText,
} from '../../client/call.ts';
import type { Method } from '../../wire/contract/endpoint.ts';
import { EventParser } from '../../wire/event-parser.ts';
import type { Problem } from '../../wire/problem.ts';
import type { InvalidField } from '../text/invalid-fields.ts';
import { sentence } from '../text/sentence.ts';
import { isUserActive } from './activity.ts';

/** The API of this server, called with the cookie of the session. */

interface ErrorFacts extends Omit<ApiError, keyof Error | 'fields'> {
  readonly fields?: readonly InvalidField[];
}

export class ApiError extends Error {
  /** HTTP status; 0 if the server could not be reached. */
  readonly status: number;
  /** A code of docs/errors.md, or `unreachable`. */
  readonly code: string;
  readonly retryAfterSeconds: number | undefined;
  readonly fields: readonly InvalidField[];

  constructor(detail: string, { status, code, retryAfterSeconds, fields = [] }: ErrorFacts) {
    super(detail);
    this.status = status;
    this.code = code;
    this.retryAfterSeconds = retryAfterSeconds;
    this.fields = fields;
  }
}

/** The API, for `call`. It throws ApiError if the server refuses, or cannot be reached. */
export const api: Transport<Headers> & StreamTransport = { send, events };

/** The API with a token, which is sent as `Authorization` in place of the session's cookie. */
export function apiWithToken(token: string): Transport<Headers> {
  return { send: (method, path, request) => send(method, path, request, token) };
}

/**
 * How long a change may take. Nothing else ends a request on a connection that is dead, and until then no panel can be
 * closed. The server reads a request for at most a minute.
 */
const changeLimitMs = 120_000;

async function send(
  method: Method,
  path: string,
  request: PlainRequest,
  token?: string,
): Promise<{ readonly status: number; readonly headers: Headers; readonly body: unknown }> {
  const { params, query, body } = request;
  const response = await reach(addressOf(path, params, query), {
    method,
    headers: headersOf(method, request, token),
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    ...(method === 'GET' ? {} : { signal: AbortSignal.timeout(changeLimitMs) }),
  });
  const text = await response.text().catch(unreachable);
  if (!response.ok) throw refusal(response, text);
  const { status, headers } = response;
  return { status, headers, body: text === '' ? undefined : (JSON.parse(text) as unknown) };
}

function headersOf(method: Method, { body, idempotencyKey }: PlainRequest, token: string | undefined): Headers {
  const headers = new Headers({ Accept: 'application/json' });
  if (token !== undefined) headers.set('Authorization', `Bearer ${token}`);
  if (method !== 'GET') headers.set('X-Keyframe-CSRF', '1');
  else if (!isUserActive()) headers.set('X-Keyframe-Background', '1');
  if (body !== undefined) headers.set('Content-Type', 'application/json');
  if (idempotencyKey !== undefined) headers.set('Idempotency-Key', idempotencyKey);
  return headers;
}

/** A stream is never use of the session. */
async function* events(path: string, { params, query, lastEventId, signal }: Parameters<StreamTransport['events']>[1]) {
  const headers = new Headers({ Accept: 'text/event-stream', 'X-Keyframe-Background': '1' });
  if (lastEventId !== undefined) headers.set('Last-Event-ID', lastEventId);
  const response = await reach(addressOf(path, params, query), { headers, signal });
  if (!response.ok) throw refusal(response, await response.text().catch(unreachable));
  if (response.body === null) return;
  const parser = new EventParser();
  const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
  for (let part = await reader.read(); !part.done; part = await reader.read()) yield* parser.read(part.value);
}

function addressOf(path: string, params: Params | undefined, query: Query | undefined): string {
  const filled = filledPath(path, params);
  if (filled !== undefined) return `/api/v1${filled}${queryText(query)}`;
  const detail = 'A name, key or id cannot be empty, "." or "..".';
  throw new ApiError(detail, { status: 404, code: 'not_found', retryAfterSeconds: undefined });
}

function reach(url: string, init: RequestInit): Promise<Response> {
  return fetch(url, { ...init, cache: 'no-store', redirect: 'error' }).catch(unreachable);
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
    fields: (problem?.errors ?? []).map(({ field, message }) => ({ field, message: sentence(message) })),
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
