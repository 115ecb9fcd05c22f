import type { KubeConfig } from '@kubernetes/client-node';
import { type Dispatcher, request } from 'undici';
import type { Clock } from '../../lib/clock.ts';
import { ApiError, retryAfterMs, statusCauses, statusReason, statusRefuser } from './api-error.ts';
import { Connector, KubeConfigError, loadKubeConfig } from './connection.ts';

export type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';

export interface ApiCall {
  readonly method: Method;
  /** The absolute path. Names in it are DNS names and need no escaping. */
  readonly path: string;
  readonly query?: Readonly<Record<string, string>>;
  /** Sent as JSON. */
  readonly body?: unknown;
  readonly contentType?: string;
  readonly accept?: string;
  /** The limit for the whole call. Default: 30 s, the maximum for admission webhooks in the API server. */
  readonly timeoutMs?: number;
  /** A longer response is an ApiError with the reason `TooLarge`. Default: no limit. */
  readonly maxBytes?: number;
  readonly signal?: AbortSignal;
}

export interface KubeClientDeps {
  readonly config: KubeConfig;
  readonly clock: Clock;
}

/** Accept header for the metadata-only form of an object. */
export const metadataOnly = 'application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1';
/** Accept header for the metadata-only form of a list. */
export const metadataOnlyList = 'application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1';

const defaultTimeoutMs = 30_000;
// Only the reason and the fields of a Status object are read. A conflict about a thousand keys has a few hundred kilobytes.
const errorBodyBytes = 1024 * 1024;

/**
 * Raw JSON calls to the API server over persistent connections. Every failure is an ApiError without data of the request or
 * the response.
 */
export class KubeClient {
  /** The namespace of the credentials: the pod's namespace, or that of the kubeconfig's context, if it has one. */
  readonly namespace: string | undefined;
  readonly #connector: Connector;

  constructor(deps: KubeClientDeps) {
    const { config } = deps;
    this.namespace = config.getContextObject(config.getCurrentContext())?.namespace;
    this.#connector = new Connector(deps);
  }

  /**
   * Creates a client with the credentials of a kubeconfig file, or of the pod's service account if `kubeconfigFile` is
   * undefined. Throws KubeConfigError.
   */
  static load({
    kubeconfigFile,
    ...deps
  }: Omit<KubeClientDeps, 'config'> & { kubeconfigFile?: string | undefined }): KubeClient {
    return new KubeClient({ ...deps, config: loadKubeConfig(kubeconfigFile) });
  }

  /** Returns the parsed JSON of a 2xx response. Throws ApiError for any other response, and without one. */
  async request<T>(call: ApiCall): Promise<T> {
    return await withApiErrors(call, async () => {
      const timeoutMs = call.timeoutMs ?? defaultTimeoutMs;
      const deadline = AbortSignal.timeout(timeoutMs);
      const signal = call.signal === undefined ? deadline : AbortSignal.any([deadline, call.signal]);
      const response = await this.#send(call, signal, timeoutMs);
      if (response.statusCode < 200 || response.statusCode > 299) throw await errorOf(call, response);
      const { maxBytes } = call;
      return (await (maxBytes === undefined ? response.body.json() : limitedJson(call, response, maxBytes))) as T;
    });
  }

  /**
   * Starts a watch and returns its body: one JSON object on each line, until the server ends it or `signal` aborts it.
   * Throws ApiError if it did not start.
   */
  async watch(
    call: Omit<ApiCall, 'method' | 'body'> & { readonly signal: AbortSignal },
  ): Promise<AsyncIterable<Uint8Array>> {
    const get: ApiCall = { ...call, method: 'GET' };
    return await withApiErrors(get, async () => {
      const response = await this.#send(get, call.signal, call.timeoutMs ?? defaultTimeoutMs, { isWatch: true });
      if (response.statusCode !== 200) throw await errorOf(get, response);
      return response.body;
    });
  }

  /** Closes all connections. Calls in progress fail. */
  async close(): Promise<void> {
    await this.#connector.close();
  }

  async #send(
    call: ApiCall,
    signal: AbortSignal,
    headersTimeout: number,
    { isWatch = false } = {},
  ): Promise<Dispatcher.ResponseData> {
    const { server, headers, requests, watches } = await this.#connector.connection();
    const search = new URLSearchParams(call.query).toString();
    const query = search === '' ? '' : `?${search}`;
    return await request(`${server}${call.path}${query}`, {
      dispatcher: isWatch ? watches : requests,
      method: call.method,
      headers: {
        ...headers,
        accept: call.accept ?? 'application/json',
        ...(call.body === undefined ? {} : { 'content-type': call.contentType ?? 'application/json' }),
      },
      body: call.body === undefined ? null : JSON.stringify(call.body),
      signal,
      headersTimeout,
      // A watch can be silent for a long time. The reflector has a limit for that.
      bodyTimeout: isWatch ? 0 : headersTimeout,
    });
  }
}

// Compared by name, because the error of AbortSignal.timeout is not an instance of Error in every realm.
const timeoutNames: ReadonlySet<string> = new Set([
  'TimeoutError',
  'HeadersTimeoutError',
  'BodyTimeoutError',
  'ConnectTimeoutError',
]);

/** Converts errors without a response to ApiError. */
async function withApiErrors<T>(call: ApiCall, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof ApiError || error instanceof KubeConfigError) throw error;
    const timedOut = timeoutNames.has(String((error as { name?: unknown } | null)?.name));
    throw new ApiError(`${call.method} ${call.path}`, 0, timedOut ? 'Timeout' : 'Unreachable', { cause: error });
  }
}

async function limitedJson(call: ApiCall, { body }: Dispatcher.ResponseData, maxBytes: number): Promise<unknown> {
  const chunks: Uint8Array[] = [];
  let length = 0;
  // Leaving the loop closes the connection.
  for await (const chunk of body as AsyncIterable<Uint8Array>) {
    length += chunk.length;
    if (length > maxBytes) throw new ApiError(`${call.method} ${call.path}`, 0, 'TooLarge');
    chunks.push(chunk);
  }
  return JSON.parse(Buffer.concat(chunks).toString());
}

async function errorOf(call: ApiCall, response: Dispatcher.ResponseData): Promise<ApiError> {
  const body = await shortBody(response);
  const reason = statusReason(body) ?? 'Unknown';
  return new ApiError(`${call.method} ${call.path}`, response.statusCode, reason, {
    retryAfterMs: retryAfterMs(response.headers['retry-after']),
    causes: statusCauses(body),
    refuser: statusRefuser(body),
  });
}

/** The JSON of a short body; undefined if it is long, truncated or not JSON. Reads the whole body, so that the connection can be reused. */
async function shortBody(response: Dispatcher.ResponseData): Promise<unknown> {
  try {
    if (Number(response.headers['content-length'] ?? 0) > errorBodyBytes) {
      await response.body.dump();
      return undefined;
    }
    return await response.body.json();
  } catch {
    return undefined;
  }
}
