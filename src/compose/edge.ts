import type { RequestListener } from 'node:http';
import type { ServerConfig } from '../config/server-config.ts';
import { ExitError, exitCodes } from '../config/exit-error.ts';
import type { UntrustedProxyWatch } from '../http/admission/untrusted-proxy.ts';
import { type AppOptions, createApp } from '../http/app.ts';
import { createMetricsApp } from '../http/metrics-app.ts';
import type { Readiness } from '../http/health/readiness.ts';
import { watchCertificate } from '../http/certificate-watch.ts';
import { type CertificateFiles, readCertificate } from '../lib/certificate.ts';
import { HttpServer, ListenError, type ListenOptions } from '../http/server.ts';
import type { Logger } from '../observability/logger.ts';
import { Metrics } from '../observability/metrics.ts';
import { readDatabaseSize } from '../store/database-size.ts';
import type { Services } from './services.ts';

/** What the API and the server of metrics share. */
export interface Edge {
  readonly services: Services;
  readonly logger: Logger;
  readonly metrics: Metrics;
  readonly readiness: Readiness;
  readonly untrustedProxies: UntrustedProxyWatch;
}

/** Where a server listens, and the limits of its connections. */
export type Address = Omit<ListenOptions, 'hostVariable' | 'portVariable'>;

/** The address of a port of this configuration. */
export function addressOf(
  {
    host,
    trustedProxies,
    maxConnectionsPerAddress,
  }: Pick<ServerConfig, 'host' | 'trustedProxies' | 'maxConnectionsPerAddress'>,
  port: number,
): Address {
  return { host, port, trustedProxies, maxConnectionsPerPeer: maxConnectionsPerAddress };
}

const defaultGraceMs = 10_000;

export interface ApiOptions {
  readonly address: Address;
  readonly options: AppOptions;
  /** Undefined for http. */
  readonly tls?: CertificateFiles | undefined;
  /** How long the requests in progress may take when the server closes. */
  readonly graceMs?: number;
}

/** The metrics of the process, with those that are read from the services at each scrape. */
export function composeMetrics({
  database,
  audit,
  controllerAudit,
  changeStreams,
  clusterStreams,
  refusedClusters,
}: Services): Metrics {
  const metrics = new Metrics();
  metrics.observePools({ reads: database.pool, transactions: database.transactionPool });
  metrics.observeDatabaseSize(() => readDatabaseSize(database.pool));
  metrics.observeAuditQueue(() => audit.queueLength + controllerAudit.queueLength);
  metrics.observeChangeStreams(() => changeStreams.open + clusterStreams.open);
  metrics.observeRefusedClusters(() => refusedClusters.recent());
  return metrics;
}

/** The API, listening. `open` ends the streams of changes and closes the server. */
export async function openApi(
  edge: Edge,
  { address, options, tls: files, graceMs = defaultGraceMs }: ApiOptions,
  open: AsyncDisposableStack,
): Promise<HttpServer> {
  const { services, ...parts } = edge;
  const { authentication, clusterAuthentication, audit } = services;
  const app = createApp({ ...parts, services, authentication, clusterAuthentication, auditLog: audit, options });
  const tls = files === undefined ? undefined : readCertificate(files);
  const server = await listen(app, { ...address, tls, portVariable: 'KEYFRAME_PORT' });
  open.defer(() => server.close(graceMs));
  if (files !== undefined && tls !== undefined) {
    open.defer(watchCertificate({ files, current: tls, logger: edge.logger, renew: (pair) => server.renew(pair) }));
  }
  // Before the server closes, which waits for the requests in progress.
  open.defer(() => {
    services.changeStreams.close();
    services.clusterStreams.close();
  });
  return server;
}

/** /metrics, /healthz and /readyz, listening. `open` closes the server. */
export async function openMetrics(
  edge: Pick<Edge, 'logger' | 'metrics' | 'readiness'>,
  { address, warnings }: { readonly address: Address; readonly warnings: () => readonly string[] },
  open: AsyncDisposableStack,
): Promise<HttpServer> {
  const app = createMetricsApp({ ...edge, warnings });
  const server = await listen(app, { ...address, portVariable: 'KEYFRAME_METRICS_PORT' });
  open.defer(() => server.close(defaultGraceMs));
  return server;
}

async function listen(handler: RequestListener, options: Omit<ListenOptions, 'hostVariable'>): Promise<HttpServer> {
  try {
    return await HttpServer.listen(handler, { ...options, hostVariable: 'KEYFRAME_HOST' });
  } catch (error) {
    if (error instanceof ListenError) throw new ExitError(exitCodes.unavailable, error.message, error);
    throw error;
  }
}
