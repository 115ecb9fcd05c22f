import type { ClientRequest, IncomingHttpHeaders, IncomingMessage } from 'node:http';
import { answerError, networkError } from './api-error.ts';
import { CliError, usageError } from './cli-error.ts';
import { exitCodes } from './exit-codes.ts';

export type HttpMethod = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';

export interface ApiRequest {
  /** Entries that are undefined are left out. */
  readonly query?: Readonly<Record<string, string | number | boolean | undefined>>;
  /** Sent as JSON. */
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
}

export interface ApiAnswer<Body> {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  /** Undefined where the answer has none (204). */
  readonly body: Body;
}

export interface ApiClientOptions {
  /** The server's address without a slash at its end. */
  readonly url: string;
  readonly token: string;
  /** Called when a request is on its way: what will be needed after its answer can be made ready while the server works. */
  readonly whileWaiting?: () => void;
}

const silenceMs = 60_000;
// An environment whole is at most 16 MiB of values, which JSON can write at six times their length.
const maxAnswerBytes = 128 * 1024 * 1024;
// A server that is being replaced answers so, or drops the connection, for a moment.
const retryPausesMs = [200, 600];
const passingStatuses: ReadonlySet<number> = new Set([502, 503, 504]);

/**
 * Speaks /api/v1 as the holder of one token. Every answer but 2xx is thrown as a CliError with its exit code and what
 * to do next. Only GET is tried again, and only where the server was there and went away. The token is shown nowhere.
 *
 * node:http and not fetch: fetch takes longer to load than everything else of a command together.
 */
export class ApiClient {
  readonly url: string;
  readonly #token: string;
  readonly #whileWaiting: () => void;

  constructor({ url, token, whileWaiting = () => undefined }: ApiClientOptions) {
    this.url = url;
    this.#token = token;
    this.#whileWaiting = whileWaiting;
  }

  async get<Body>(path: string, request: ApiRequest = {}): Promise<Body> {
    return (await this.send<Body>('GET', path, request)).body;
  }

  async post<Body>(path: string, body?: unknown, request: ApiRequest = {}): Promise<Body> {
    return (await this.send<Body>('POST', path, { ...request, ...(body === undefined ? {} : { body }) })).body;
  }

  async put<Body>(path: string, body: unknown, request: ApiRequest = {}): Promise<Body> {
    return (await this.send<Body>('PUT', path, { ...request, body })).body;
  }

  async patch<Body>(path: string, body: unknown, request: ApiRequest = {}): Promise<Body> {
    return (await this.send<Body>('PATCH', path, { ...request, body })).body;
  }

  async delete(path: string, request: ApiRequest = {}): Promise<void> {
    await this.send<undefined>('DELETE', path, request);
  }

  /** One request below /api/v1; `path` comes from `apiPath`. For status and headers; else the shorter methods serve. */
  async send<Body>(method: HttpMethod, path: string, request: ApiRequest = {}): Promise<ApiAnswer<Body>> {
    for (const pauseMs of method === 'GET' ? retryPausesMs : []) {
      const answer = await this.#attempt(method, path, request).catch((error) => this.#droppedOr(method, error));
      if (answer !== undefined && !passingStatuses.has(answer.status)) return this.#judged<Body>(answer);
      await new Promise((resolve) => void setTimeout(resolve, pauseMs));
    }
    return this.#judged<Body>(await this.#attempt(method, path, request).catch((error) => this.#fail(method, error)));
  }

  #judged<Body>({ status, headers, text }: RawAnswer): ApiAnswer<Body> {
    // No request of ours is conditional, so that 304 is no answer to it.
    if (status === 204) return { status, headers, body: undefined as Body };
    const body = parsedObject(headers['content-type'], text);
    if (status >= 200 && status < 300 && body !== undefined) return { status, headers, body: body as Body };
    throw answerError({ url: this.url, status, headers, body });
  }

  /** Nothing for a connection that was there and broke; any other fault is thrown. */
  #droppedOr(method: HttpMethod, error: unknown): undefined {
    const code = (error as NodeJS.ErrnoException | undefined)?.code;
    if (code !== 'ECONNRESET' && code !== 'EPIPE') this.#fail(method, error);
  }

  #fail(method: HttpMethod, error: unknown): never {
    if (error instanceof CliError) throw error;
    throw networkError(this.url, error, { isWrite: method !== 'GET' });
  }

  #attempt(method: HttpMethod, path: string, { query = {}, body, headers }: ApiRequest): Promise<RawAnswer> {
    const payload = body === undefined ? undefined : Buffer.from(JSON.stringify(body));
    const url = `${this.url}/api/v1${path}${queryText(query)}`;
    const options = {
      method,
      headers: {
        accept: 'application/json, application/problem+json',
        'user-agent': 'keyframe-cli',
        ...(payload === undefined
          ? {}
          : { 'content-type': 'application/json', 'content-length': String(payload.length) }),
        ...headers,
        authorization: `Bearer ${this.#token}`,
      },
      timeout: silenceMs,
    };
    return new Promise((resolve, reject) => {
      // Loaded on use: help and completion need neither of them.
      const request = url.startsWith('https:')
        ? process.getBuiltinModule('node:https').request(url, options)
        : process.getBuiltinModule('node:http').request(url, options);
      // Handed to the system in the same turn, which the next one comes after.
      request.once('finish', () => void setImmediate(this.#whileWaiting));
      request.once('response', (response) => void readAnswer(request, response).then(resolve, reject));
      request.once('timeout', () => void request.destroy(silence()));
      request.once('error', reject);
      request.end(payload);
    });
  }
}

interface RawAnswer {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly text: string;
}

/**
 * A path below /api/v1: what is filled in stays one step of it, whatever it holds.
 *
 * @throws CliError usage for what cannot be a step: nothing, and the dots that lead elsewhere, which no coding hides.
 */
export function apiPath(steps: TemplateStringsArray, ...names: readonly (string | number)[]): string {
  if (names.some((name) => /^\.{0,2}$/.test(String(name)))) {
    throw usageError('a name, key or id is empty, or a dot or two; none is called so');
  }
  return String.raw({ raw: steps }, ...names.map((name) => encodeURIComponent(name)));
}

/** Listens instead of iterating, which takes longer to begin than an answer takes to come. */
function readAnswer(request: ClientRequest, response: IncomingMessage): Promise<RawAnswer> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    let length = 0;
    response.on('data', (chunk: Buffer) => {
      length += chunk.length;
      chunks.push(chunk);
      if (length <= maxAnswerBytes) return;
      reject(new CliError(exitCodes.failure, `the server's answer is longer than ${maxAnswerBytes} bytes`));
      request.destroy();
    });
    response.once('error', reject);
    response.once('end', () => {
      const { statusCode: status = 0, headers } = response;
      resolve({ status, headers, text: Buffer.concat(chunks).toString('utf8') });
    });
  });
}

function silence(): CliError {
  const message = `the server has said nothing for ${silenceMs / 1000} seconds; what was asked may still have been done`;
  return new CliError(exitCodes.failure, message);
}

/** What Keyframe answers is always an object; nothing for anything else. */
function parsedObject(contentType: string | undefined, text: string): object | undefined {
  if (!/[/+]json\b/.test(contentType ?? '')) return undefined;
  try {
    const body = JSON.parse(text) as unknown;
    return typeof body === 'object' && body !== null && !Array.isArray(body) ? body : undefined;
  } catch {
    return undefined;
  }
}

function queryText(query: NonNullable<ApiRequest['query']>): string {
  const given = new URLSearchParams();
  for (const [name, value] of Object.entries(query)) if (value !== undefined) given.set(name, String(value));
  return given.size === 0 ? '' : `?${given.toString()}`;
}
