import { once } from 'node:events';
import type { IncomingMessage, OutgoingHttpHeaders } from 'node:http';
import https from 'node:https';
import { text } from 'node:stream/consumers';
import { type KubeContext, optionsFor, readContext } from './kube-access.ts';

export interface KubeRequest {
  readonly method?: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  readonly path: string;
  readonly body?: unknown;
  /** Of the body; JSON if absent. */
  readonly contentType?: string;
  readonly accept?: string;
  /** How long the whole may take; 30 s if absent. A watch has no such limit. */
  readonly timeoutMs?: number;
}

export interface KubeAnswer {
  readonly status: number;
  /** Parsed if it is JSON, else the text. */
  readonly body: unknown;
}

/** The part of any object that tests and the launcher look at. */
export interface KubeObject {
  readonly apiVersion?: string;
  readonly kind?: string;
  readonly metadata: {
    readonly name: string;
    readonly namespace?: string;
    readonly uid: string;
    readonly resourceVersion: string;
    readonly labels?: Readonly<Record<string, string>>;
    readonly annotations?: Readonly<Record<string, string>>;
  };
}

/** The API server refused; `status` is the HTTP status, the message what the server said. */
class KubeHttpError extends Error {
  override readonly name = 'KubeHttpError';
  readonly status: number;

  constructor(status: number, message: string) {
    super(message);
    this.status = status;
  }
}

const defaultTimeoutMs = 30_000;

/** Raw JSON requests to the cluster that a kubeconfig names, over kept connections. For tests and scripts. */
export class KubeHttp {
  readonly #context: KubeContext;
  readonly #server: URL;
  #agent: https.Agent | undefined;

  /** Reads the file's current context. Throws if it is unreadable or names no cluster. */
  constructor(kubeconfigFile: string) {
    this.#context = readContext(kubeconfigFile);
    this.#server = new URL(this.#context.cluster.server);
  }

  get server(): string {
    return this.#server.href.replace(/\/$/, '');
  }

  /** Sends a request and answers whatever came back, also a refusal. Throws if there was no answer in time. */
  async send(request: KubeRequest): Promise<KubeAnswer> {
    const response = await this.#open(request, AbortSignal.timeout(request.timeoutMs ?? defaultTimeoutMs));
    const content = await text(response);
    const isJson = /^application\/(?:[\w-]+\+)?json\b/.test(response.headers['content-type'] ?? '');
    return { status: response.statusCode ?? 0, body: isJson ? (JSON.parse(content) as unknown) : content };
  }

  /** Sends a request and answers its body. Throws KubeHttpError on a status of 400 and above. */
  async json<T = KubeObject>(request: KubeRequest): Promise<T> {
    const { status, body } = await this.send(request);
    if (status >= 400) throw new KubeHttpError(status, refusal(request, status, body));
    return body as T;
  }

  /** Like `json`, but undefined where the answer is 404. */
  async find<T = KubeObject>(request: KubeRequest): Promise<T | undefined> {
    const { status, body } = await this.send(request);
    if (status === 404) return undefined;
    if (status >= 400) throw new KubeHttpError(status, refusal(request, status, body));
    return body as T;
  }

  /** Opens a stream, such as a watch, and answers it once its head has come. Throws KubeHttpError if it was refused. */
  async stream(path: string, signal: AbortSignal): Promise<IncomingMessage> {
    const response = await this.#open({ path }, signal);
    const status = response.statusCode ?? 0;
    if (status >= 400) throw new KubeHttpError(status, refusal({ path }, status, await text(response)));
    return response;
  }

  /** Closes the kept connections. */
  close(): void {
    this.#agent?.destroy();
    this.#agent = undefined;
  }

  async #open(
    { method = 'GET', path, body, contentType, accept }: KubeRequest,
    signal: AbortSignal,
  ): Promise<IncomingMessage> {
    const common = await optionsFor(this.#context);
    const headers = {
      ...(common.headers as OutgoingHttpHeaders),
      accept: accept ?? 'application/json',
      ...(body === undefined ? {} : { 'content-type': contentType ?? 'application/json' }),
    };
    const options = { ...common, method, signal, headers, agent: this.#agentFor(common) };
    const request = https.request(new URL(this.server + path), options);
    // An abort after the head reaches the reader of the body.
    request.on('error', () => undefined);
    request.end(body === undefined ? undefined : JSON.stringify(body));
    const [response] = (await once(request, 'response')) as [IncomingMessage];
    return response;
  }

  // The library's own agent does not keep connections; it is needed where a proxy stands between.
  #agentFor(options: https.RequestOptions): https.Agent {
    if (this.#context.cluster['proxy-url'] !== undefined) return options.agent as https.Agent;
    const { ca, cert, key, servername, rejectUnauthorized } = options;
    const secure = {
      ...(ca === undefined ? {} : { ca }),
      ...(cert === undefined ? {} : { cert }),
      ...(key === undefined ? {} : { key }),
      ...(servername === undefined ? {} : { servername }),
      ...(rejectUnauthorized === undefined ? {} : { rejectUnauthorized }),
    };
    this.#agent ??= new https.Agent({ keepAlive: true, ...secure });
    return this.#agent;
  }
}

function refusal({ method = 'GET', path }: KubeRequest, status: number, body: unknown): string {
  const said = typeof body === 'object' && body !== null ? (body as { message?: unknown }).message : body;
  return `${method} ${path}: ${status} ${String(said)}`;
}
