import { ownManager } from './managed-fields.ts';
import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import type { RequestOptions } from 'node:https';
import { KubeConfig } from '@kubernetes/client-node';
import { Agent, type Dispatcher, ProxyAgent, type buildConnector } from 'undici';
import type { Clock } from '../../lib/clock.ts';

/** The credentials cannot be used. The message says what to do. */
export class KubeConfigError extends Error {
  override readonly name = 'KubeConfigError';
}

/** The current connection to the API server. */
export interface Connection {
  /** The base URL without a trailing slash. */
  readonly server: string;
  readonly headers: Readonly<Record<string, string>>;
  /** For all calls except watches. */
  readonly requests: Dispatcher;
  /** For watches. Each one holds a connection for minutes, so they must not delay other calls. */
  readonly watches: Dispatcher;
}

// How long credentials are cached, because reading them takes a few file reads. client-node reads the service account's token
// again every 60 s. A replaced token stays valid for about an hour.
const freshMs = 5000;

// The API server closes idle connections after 90 s, so the client must close them earlier. A kept connection saves a TLS
// handshake.
const keepAliveMs = 60_000;

const connectTimeoutMs = 10_000;

const serviceAccountToken = '/var/run/secrets/kubernetes.io/serviceaccount/token';

/**
 * Loads the credentials of a kubeconfig file, or of the pod's service account if `file` is undefined. Throws KubeConfigError
 * if the file cannot be read or used.
 */
export function loadKubeConfig(file: string | undefined): KubeConfig {
  const config = new KubeConfig();
  if (file === undefined) {
    config.loadFromCluster();
    // Without the two variables that Kubernetes sets in each pod, client-node uses «undefined» as the address.
    if (!existsSync(serviceAccountToken) || /undefined/.test(config.getCurrentCluster()?.server ?? 'undefined')) {
      throw new KubeConfigError(
        'this process is not in a pod with a Kubernetes service account: set KEYFRAME_KUBECONFIG_FILE to a kubeconfig file',
      );
    }
    return config;
  }
  try {
    config.loadFromFile(file);
  } catch (error) {
    throw new KubeConfigError(`the kubeconfig file ${file} cannot be read or is invalid`, { cause: error });
  }
  if (config.getCurrentCluster() === null || config.getCurrentUser() === null) {
    throw new KubeConfigError(`the kubeconfig file ${file} has no current context with a cluster and a user`);
  }
  return config;
}

/** Reuses one pair of dispatchers while the TLS credentials stay the same. client-node creates one for each call. */
export class Connector {
  readonly #config: KubeConfig;
  readonly #clock: Clock;
  #current: Connection | undefined;
  #dispatchers: { fingerprint: string; requests: Dispatcher; watches: Dispatcher } | undefined;
  #readAt = -Infinity;

  constructor(deps: { config: KubeConfig; clock: Clock }) {
    this.#config = deps.config;
    this.#clock = deps.clock;
  }

  /** Throws KubeConfigError if a credential file is missing or a helper program failed. */
  async connection(): Promise<Connection> {
    const now = this.#clock.now();
    if (this.#current !== undefined && now - this.#readAt < freshMs) return this.#current;
    const options: RequestOptions = {};
    try {
      await this.#config.applyToHTTPSOptions(options);
    } catch (error) {
      throw new KubeConfigError('the credentials for the API server cannot be read', { cause: error });
    }
    this.#readAt = now;
    const server = this.#config.getCurrentCluster()?.server ?? '';
    this.#current = {
      server: server.replace(/\/$/, ''),
      headers: headersOf(options),
      ...this.#dispatchersFor(options),
    };
    return this.#current;
  }

  /** Closes all connections. Calls in progress fail. */
  async close(): Promise<void> {
    const dispatchers = this.#dispatchers;
    this.#dispatchers = undefined;
    this.#current = undefined;
    await Promise.all([dispatchers?.requests.destroy(), dispatchers?.watches.destroy()]);
  }

  #dispatchersFor(options: RequestOptions): { requests: Dispatcher; watches: Dispatcher } {
    const fingerprint = tlsFingerprint(options);
    const known = this.#dispatchers;
    if (known?.fingerprint === fingerprint) return known;
    const fresh = {
      fingerprint,
      requests: this.#createDispatcher(options),
      watches: this.#createDispatcher(options),
    };
    this.#dispatchers = fresh;
    // Calls in progress continue. Watches are aborted and start again with the new credentials.
    void known?.requests.close();
    void known?.watches.destroy();
    return fresh;
  }

  #createDispatcher(options: RequestOptions): Dispatcher {
    const connect = {
      ...tlsOptions(options),
      keepAlive: true,
      keepAliveInitialDelay: 30_000,
      timeout: connectTimeoutMs,
    };
    // HTTP/1.1, so that each watch has a separate connection that other watches cannot block.
    const common = { allowH2: false, keepAliveTimeout: keepAliveMs, keepAliveMaxTimeout: keepAliveMs, connect };
    const proxyUrl = this.#config.getCurrentCluster()?.proxyUrl;
    if (proxyUrl === undefined || proxyUrl === '') return new Agent(common);
    if (!proxyUrl.startsWith('http')) throw new KubeConfigError('proxy-url must be an http or https proxy');
    return new ProxyAgent({ ...common, uri: proxyUrl, requestTls: connect });
  }
}

/** The TLS options from the credentials, without options that are not set. */
function tlsOptions({
  ca,
  cert,
  key,
  passphrase,
  rejectUnauthorized,
  servername,
}: RequestOptions): buildConnector.BuildOptions {
  const all = { ca, cert, key, passphrase, rejectUnauthorized, servername };
  return Object.fromEntries(Object.entries(all).filter(([, value]) => value !== undefined));
}

function headersOf(options: RequestOptions): Record<string, string> {
  const headers: Record<string, string> = { 'user-agent': ownManager };
  for (const [name, value] of Object.entries(options.headers ?? {})) headers[name.toLowerCase()] = String(value).trim();
  if (typeof options.auth === 'string')
    headers['authorization'] = `Basic ${Buffer.from(options.auth).toString('base64')}`;
  return headers;
}

/** Identifies TLS credentials by their contents, because file names stay the same after a renewal. */
function tlsFingerprint({ ca, cert, key, servername, rejectUnauthorized }: RequestOptions): string {
  // client-node reads files into buffers, and the JSON of a buffer contains all its bytes.
  const parts = JSON.stringify([ca, cert, key, servername, rejectUnauthorized]);
  return createHash('sha256').update(parts).digest('base64');
}
