import type { ClientRequest, IncomingHttpHeaders, IncomingMessage } from 'node:http';
import { answerError, foreignAnswer, networkError, refusedByProxy } from './answer-error.ts';
import {
  type Params,
  type PlainRequest,
  type StreamRequest,
  type StreamTransport,
  type Transport,
  filledPath,
  queryText,
} from './call.ts';
import { ClientError } from './client-error.ts';
import { Connections } from './connections.ts';
import type { Method } from '../wire/contract/endpoint.ts';
import { EventParser, type SentEvent } from '../wire/event-parser.ts';
import { lookup } from './lookup.ts';
import { parsedObject } from './parsed-object.ts';
import type { Proxy } from './proxy.ts';
import type { Route } from './route.ts';
import { type TokenSource, fixedToken } from './token-source.ts';

export interface ApiAnswer {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  /** Undefined if the answer has none (204). */
  readonly body: unknown;
}

export interface ApiClientOptions {
  /** The server's address without a slash at its end. */
  readonly url: string;
  /** Absent for requests that need none. */
  readonly token?: string | TokenSource | undefined;
  /** Called when a request was sent: prepares what is needed after the answer while the server works. */
  readonly whileWaiting?: () => void;
  /** Called once for a request that has no answer after 3 seconds. */
  readonly onSlow?: () => void;
  /** How long the server may be silent; by default 10 seconds for a read, and 60 for a write, which may be long. */
  readonly timeoutMs?: number | undefined;
  /** What clients share. */
  readonly connections?: Connections;
  /** The proxy before the server. */
  readonly proxy?: Proxy | undefined;
  /** Makes all requests fail as an outage. */
  readonly signal?: AbortSignal | undefined;
}

const apiRoot = '/api/v1';
const readTimeoutMs = 10_000;
const writeTimeoutMs = 60_000;
const slowMs = 3_000;
// The server writes a comment to a stream every 15 seconds.
const streamTimeoutMs = 45_000;
// All values of an environment are at most 16 MiB, and JSON can need six times their length.
const maxAnswerBytes = 128 * 1024 * 1024;
// A server that is being replaced returns these statuses, or drops the connection, for a moment.
const retryPausesMs = [200, 600];
const transientStatuses: ReadonlySet<number> = new Set([502, 503, 504]);

/**
 * Calls /api/v1 with one token. Throws ClientError for every answer other than 2xx. Only GET is retried, and only if the
 * server was reached and went away. A request that is refused with 401, which changes nothing, is sent once more if there
 * is another token then. The token appears in no error.
 *
 * It uses node:http because fetch takes longer to load than the rest of a command.
 */
export class ApiClient implements Transport<IncomingHttpHeaders>, StreamTransport {
  readonly url: string;
  /** The proxy before the server. */
  readonly proxy: Proxy | undefined;
  readonly #token: TokenSource | undefined;
  readonly #whileWaiting: () => void;
  readonly #onSlow: () => void;
  readonly #timeoutMs: number | undefined;
  readonly #signal: AbortSignal | undefined;
  readonly #connections: Connections;

  constructor({
    url,
    token,
    whileWaiting = () => undefined,
    onSlow = () => undefined,
    timeoutMs,
    signal,
    connections = new Connections(),
    proxy,
  }: ApiClientOptions) {
    this.#connections = connections;
    this.proxy = proxy;
    this.#onSlow = onSlow;
    this.#timeoutMs = timeoutMs;
    this.url = url;
    this.#token = typeof token === 'string' ? fixedToken(token) : token;
    this.#whileWaiting = whileWaiting;
    this.#signal = signal;
  }

  /** One request below /api/v1, of an endpoint of the contract: `call` gives it its types. */
  async send(
    method: Method,
    template: string,
    { params, query, body, idempotencyKey }: PlainRequest,
  ): Promise<ApiAnswer> {
    const path = pathOf(template, params) + queryText(query);
    const headers = idempotencyKey === undefined ? {} : { 'idempotency-key': idempotencyKey };
    const { answer, token } = await this.#withToken(async (bearer) => {
      return await this.#attempts(method, path, { body, headers, token: bearer });
    });
    return this.#read(answer, path, token);
  }

  /** Sends a request with the token, and again with another one if the server refuses the first. */
  async #withToken<Answer extends { readonly status: number }>(
    send: (token: string | undefined) => Promise<Answer>,
  ): Promise<{ readonly answer: Answer; readonly token: string | undefined }> {
    const token = await this.#token?.current();
    const answer = await send(token);
    if (answer.status !== 401 || token === undefined) return { answer, token };
    const other = await this.#token?.after(token);
    return other === undefined ? { answer, token } : { answer: await send(other), token: other };
  }

  async #attempts(method: Method, path: string, request: SentParts): Promise<RawAnswer> {
    for (const pauseMs of method === 'GET' ? retryPausesMs : []) {
      const answer = await this.#attempt(method, path, request).catch((error) => this.#droppedOr(method, error));
      if (answer !== undefined && !transientStatuses.has(answer.status)) return answer;
      await this.#pause(pauseMs);
    }
    return await this.#attempt(method, path, request).catch((error) => this.#fail(method, error));
  }

  /**
   * The events of a stream, until the server or the signal ends it. It is not retried: only the caller knows where to
   * resume. A reader that is slow to take an event holds back the next ones at the server.
   */
  async *events(
    template: string,
    { params, query, lastEventId, signal }: StreamRequest,
  ): AsyncGenerator<SentEvent, void> {
    const path = pathOf(template, params) + queryText(query);
    const headers = {
      ...(lastEventId === undefined ? {} : { 'last-event-id': lastEventId }),
      accept: 'text/event-stream, application/problem+json',
    };
    const slow = setTimeout(this.#onSlow, slowMs);
    let request: ClientRequest | undefined;
    const end = (): void => void request?.destroy();
    signal.addEventListener('abort', end, { once: true });
    const open = async (token: string | undefined): Promise<OpenedStream> => {
      request?.destroy();
      const address = this.#addressOf(path, {});
      const route = await this.#routeTo(address, 'GET', signal);
      signal.throwIfAborted();
      request = this.#open('GET', address, { headers, token }, route);
      const response = await responseOf(request);
      return { status: response.statusCode ?? 0, request, response };
    };
    try {
      const { answer, token } = await this.#withToken((bearer) =>
        open(bearer).catch((error) => this.#fail('GET', error)),
      );
      clearTimeout(slow);
      const { status, response } = answer;
      if (status !== 200) {
        const refusal = await readAnswer(answer.request, response).catch((error) => this.#fail('GET', error));
        this.#read(refusal, path, token);
      }
      const contentType = response.headers['content-type'];
      if (contentType?.startsWith('text/event-stream') !== true) throw foreignAnswer(this.url, status);
      answer.request.setTimeout(streamTimeoutMs);
      yield* this.#eventsOf(response);
    } catch (error) {
      if (!signal.aborted) throw error;
    } finally {
      clearTimeout(slow);
      signal.removeEventListener('abort', end);
      request?.destroy();
    }
  }

  async *#eventsOf(response: IncomingMessage): AsyncGenerator<SentEvent, void> {
    const parser = new EventParser();
    response.setEncoding('utf8');
    try {
      for await (const part of response) yield* parser.read(part as string);
    } catch (error) {
      if (error instanceof SyntaxError) throw foreignAnswer(this.url, 200);
      this.#fail('GET', error);
    }
  }

  /**
   * What the server's /readyz answers, which needs no token: undefined if something in front of the server does not pass
   * that path on. Throws ClientError for an answer that is not Keyframe's.
   */
  async readiness(): Promise<{ readonly isReady: boolean; readonly reason: string | undefined } | undefined> {
    const { status, headers, text } = await this.#attempt('GET', '/readyz', { root: '' }).catch((error) =>
      this.#fail('GET', error),
    );
    if (status === 404) return undefined;
    const body: { readonly status?: unknown; readonly reason?: unknown } | undefined = parsedObject(
      headers['content-type'],
      text,
    );
    if (status === 200 && body?.status === 'ok') return { isReady: true, reason: undefined };
    const isKnown = status === 503 && body?.status === 'unavailable' && typeof body.reason === 'string';
    if (!isKnown) throw answerError({ url: this.url, path: '/readyz', status, headers, body: undefined });
    return { isReady: false, reason: body.reason };
  }

  #read({ status, headers, text }: RawAnswer, path: string, token: string | undefined): ApiAnswer {
    if (status === 407 && this.proxy !== undefined) throw refusedByProxy(this.url, this.proxy, status);
    // No request is conditional, so 304 is an error.
    if (status === 204) return { status, headers, body: undefined };
    const body = parsedObject(headers['content-type'], text);
    if (status >= 200 && status < 300 && body !== undefined) return { status, headers, body };
    throw answerError({ url: this.url, path, status, headers, body, token });
  }

  /** Ignores a connection that broke; throws every other fault. */
  #droppedOr(method: Method, error: unknown): undefined {
    const code = (error as NodeJS.ErrnoException | undefined)?.code;
    if (code !== 'ECONNRESET' && code !== 'EPIPE') this.#fail(method, error);
  }

  #fail(method: Method, error: unknown): never {
    if (error instanceof ClientError) throw error;
    throw networkError(this.url, error, { isWrite: method !== 'GET', proxy: this.proxy });
  }

  #timeoutOf(method: Method): number {
    return this.#timeoutMs ?? (method === 'GET' ? readTimeoutMs : writeTimeoutMs);
  }

  #silence(method: Method): ClientError {
    const seconds = this.#timeoutOf(method) / 1000;
    const message = `${this.url} has not answered for ${seconds} second${seconds === 1 ? '' : 's'}`;
    const fault = method === 'GET' ? 'unreachable' : 'answer_lost';
    return new ClientError(message, { fault, url: this.url, networkCode: 'TIMEOUT' });
  }

  /** Ends early by the signal. */
  async #pause(pauseMs: number): Promise<void> {
    const options = this.#signal === undefined ? {} : { signal: this.#signal };
    await process
      .getBuiltinModule('node:timers/promises')
      .setTimeout(pauseMs, undefined, options)
      .catch(() => undefined);
  }

  async #attempt(method: Method, path: string, sent: SentParts): Promise<RawAnswer> {
    const slow = setTimeout(this.#onSlow, slowMs);
    try {
      const address = this.#addressOf(path, sent);
      const route = await this.#routeTo(address, method, this.#signal);
      return await new Promise((resolve, reject) => {
        const request = this.#open(method, address, sent, route);
        request.once('response', (response) => {
          clearTimeout(slow);
          void readAnswer(request, response).then(resolve, reject);
        });
        request.once('error', reject);
      });
    } finally {
      clearTimeout(slow);
    }
  }

  #addressOf(path: string, { root = apiRoot }: SentParts): string {
    return `${this.url}${root}${path}`;
  }

  #routeTo(address: string, method: Method, signal: AbortSignal | undefined): Promise<Route> {
    return this.#connections.routeTo(address, this.proxy, { timeoutMs: this.#timeoutOf(method), signal });
  }

  #open(method: Method, address: string, { body, headers, token }: SentParts, route: Route): ClientRequest {
    const payload = body === undefined ? undefined : Buffer.from(JSON.stringify(body));
    const options = {
      ...route,
      method,
      headers: {
        accept: 'application/json, application/problem+json',
        'user-agent': 'keyframe-cli',
        ...(payload === undefined
          ? {}
          : { 'content-type': 'application/json', 'content-length': String(payload.length) }),
        ...headers,
        ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
        ...route.headers,
      },
      timeout: this.#timeoutOf(method),
      lookup,
      ...(this.#signal === undefined ? {} : { signal: this.#signal }),
    };
    // Loaded on use: help needs neither of them.
    const request = address.startsWith('https:')
      ? process.getBuiltinModule('node:https').request(address, options)
      : process.getBuiltinModule('node:http').request(address, options);
    // The request is handed to the system in this turn, before setImmediate.
    request.once('finish', () => void setImmediate(this.#whileWaiting));
    request.once('timeout', () => void request.destroy(this.#silence(method)));
    request.end(payload);
    return request;
  }
}

interface SentParts extends Pick<PlainRequest, 'body'> {
  readonly headers?: Readonly<Record<string, string>>;
  readonly token?: string | undefined;
  /** What stands before the path: by default that of the API. */
  readonly root?: string;
}

interface RawAnswer {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly text: string;
}

interface OpenedStream {
  readonly status: number;
  readonly request: ClientRequest;
  readonly response: IncomingMessage;
}

/** Throws ClientError invalid_path for a name that cannot be part of a path. */
function pathOf(template: string, params: Params | undefined): string {
  const path = filledPath(template, params);
  if (path !== undefined) return path;
  throw new ClientError('a name, key or id cannot be empty, "." or ".."', { fault: 'invalid_path' });
}

function responseOf(request: ClientRequest): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    request.once('response', resolve);
    // A later error of the request is one of the response too.
    request.once('error', reject);
  });
}

/** Uses events because starting an async iteration takes longer than the answer. */
function readAnswer(request: ClientRequest, response: IncomingMessage): Promise<RawAnswer> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    let length = 0;
    response.on('data', (chunk: Buffer) => {
      length += chunk.length;
      chunks.push(chunk);
      if (length <= maxAnswerBytes) return;
      const message = `the server's answer is longer than ${maxAnswerBytes} bytes`;
      reject(new ClientError(message, { fault: 'answer_too_long' }));
      request.destroy();
    });
    response.once('error', reject);
    response.once('end', () => {
      const { statusCode: status = 0, headers } = response;
      resolve({ status, headers, text: Buffer.concat(chunks).toString('utf8') });
    });
  });
}
