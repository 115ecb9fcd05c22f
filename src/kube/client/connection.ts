import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import type { RequestOptions } from 'node:https';
import { KubeConfig } from '@kubernetes/client-node';
import { Agent, type Dispatcher, ProxyAgent, type buildConnector } from 'undici';
import type { Clock } from '../../lib/clock.ts';

/** Credentials that cannot be used; the message says what to do about it. */
export class KubeConfigError extends Error {
  override readonly name = 'KubeConfigError';
}

/** How to reach the API server just now. */
export interface Connection {
  /** Base address without a trailing slash. */
  readonly server: string;
  readonly headers: Readonly<Record<string, string>>;
  /** For calls that end. */
  readonly requests: Dispatcher;
  /** For watches, each of which holds a connection for minutes; so they never stand in a call's way. */
  readonly watches: Dispatcher;
}

// Reading credentials costs a few file reads; they are read again this often. client-node itself reads the
// service account's token again every 60 s, well within the hour or so that a replaced token goes on being valid.
const freshMs = 5000;

// The API server closes idle connections after 90 s; ours must go first. A kept one saves the first change after a
// quiet minute a TLS handshake.
const keepAliveMs = 60_000;

const connectTimeoutMs = 10_000;

const serviceAccountToken = '/var/run/secrets/kubernetes.io/serviceaccount/token';

/**
 * The credentials of a kubeconfig file, or of the pod's service account where none is given.
 * Throws KubeConfigError where the file cannot be read or used.
 */
export function loadKubeConfig(file: string | undefined): KubeConfig {
  const config = new KubeConfig();
  if (file === undefined) {
    config.loadFromCluster();
    // Without the two variables that Kubernetes gives each pod, client-node makes an address of the word «undefined».
    if (!existsSync(serviceAccountToken) || /undefined/.test(config.getCurrentCluster()?.server ?? 'undefined')) {
      throw new KubeConfigError(
        'this is no pod with a Kubernetes service account: set KEYFRAME_KUBECONFIG_FILE to a kubeconfig file',
      );
    }
    return config;
  }
  try {
    config.loadFromFile(file);
  } catch (error) {
    throw new KubeConfigError(`the kubeconfig file ${file} cannot be read as one`, { cause: error });
  }
  if (config.getCurrentCluster() === null || config.getCurrentUser() === null) {
    throw new KubeConfigError(`the kubeconfig file ${file} has no current context with a cluster and a user`);
  }
  return config;
}

/** Keeps one pair of dispatchers for as long as the TLS credentials stay the same; client-node makes one for each call. */
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

  /** Throws KubeConfigError where a credential file vanished or a helper program failed. */
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

  /** Ends all connections, those of watches at once. */
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
    // Calls under way end as they would; watches are cut, and begin again with the new credentials.
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
    // HTTP/1.1: a watch then has a connection of its own, which a fault of another one cannot stall.
    const common = { allowH2: false, keepAliveTimeout: keepAliveMs, keepAliveMaxTimeout: keepAliveMs, connect };
    const proxyUrl = this.#config.getCurrentCluster()?.proxyUrl;
    if (proxyUrl === undefined || proxyUrl === '') return new Agent(common);
    if (!proxyUrl.startsWith('http')) throw new KubeConfigError('proxy-url must be an http or https proxy');
    return new ProxyAgent({ ...common, uri: proxyUrl, requestTls: connect });
  }
}

/** The TLS part of what client-node made of the credentials, without what is not set. */
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
  const headers: Record<string, string> = { 'user-agent': 'keyframe-server' };
  for (const [name, value] of Object.entries(options.headers ?? {})) headers[name.toLowerCase()] = String(value).trim();
  if (typeof options.auth === 'string')
    headers['authorization'] = `Basic ${Buffer.from(options.auth).toString('base64')}`;
  return headers;
}

/** Tells one set of TLS credentials from another; the contents of their files, not the names, which stay when they are renewed. */
function tlsFingerprint({ ca, cert, key, servername, rejectUnauthorized }: RequestOptions): string {
  // client-node reads files into buffers, whose JSON holds all their bytes.
  const parts = JSON.stringify([ca, cert, key, servername, rejectUnauthorized]);
  return createHash('sha256').update(parts).digest('base64');
}
