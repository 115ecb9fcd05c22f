import type { RequestListener } from 'node:http';
import type { UntrustedProxyWatch } from '../http/admission/untrusted-proxy.ts';
import { type AppOptions, createApps } from '../http/app.ts';
import { createMetricsApp } from '../http/metrics-app.ts';
import type { Readiness } from '../http/health/readiness.ts';
import { lookIntoFiles, watchCertificate } from '../http/certificate-watch.ts';
import { type CertificateFiles, type CertificatePair, readCertificate } from '../lib/certificate.ts';
import type { HttpServer } from '../http/server.ts';
import type { Logger } from '../observability/logger.ts';
import { Metrics } from '../observability/metrics.ts';
import { readDatabaseSize } from '../store/database-size.ts';
import { type ClusterListenerOptions, openClusterListener } from './cluster-listener.ts';
import { type Address, listen } from './listen.ts';
import type { Services } from './services.ts';

/** What the API and the server of metrics share. */
export interface Edge {
  readonly services: Services;
  readonly logger: Logger;
  readonly metrics: Metrics;
  readonly readiness: Readiness;
  readonly untrustedProxies: UntrustedProxyWatch;
}

export interface ApiOptions {
  readonly address: Address;
  readonly options: AppOptions;
  /** Undefined for http. */
  readonly tls?: CertificateFiles | undefined;
  /** Undefined for no port for controllers alone. */
  readonly cluster?: Omit<ClusterListenerOptions, 'logger'> | undefined;
  /** How long the requests in progress may take when the server closes. */
  readonly graceMs?: number | undefined;
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

/** What serves clients. */
export interface ApiServers {
  readonly api: HttpServer;
  /** The port of controllers; undefined without one. */
  readonly cluster: HttpServer | undefined;
}

/** The API, listening. `open` ends the streams of changes and closes the servers. Throws ExitError. */
export async function openApi(
  edge: Edge,
  { address, options, tls, cluster: clusterOptions, graceMs }: ApiOptions,
  open: AsyncDisposableStack,
): Promise<ApiServers> {
  const { services, ...parts } = edge;
  const { authentication, clusterAuthentication, audit, changeStreams, clusterStreams } = services;
  const apps = createApps({ ...parts, services, authentication, clusterAuthentication, auditLog: audit, options });
  const cluster =
    clusterOptions && (await openClusterListener(apps.cluster, { ...clusterOptions, logger: edge.logger }, open));
  const api = await openPublicListener(apps.api, { address, tls, graceMs, logger: edge.logger }, open);
  // Before the servers close, which wait for the requests in progress.
  open.defer(() => {
    changeStreams.close();
    clusterStreams.close();
  });
  return { api, cluster };
}

type PublicListenerOptions = Pick<ApiOptions, 'address' | 'tls' | 'graceMs'> & Pick<Edge, 'logger'>;

async function openPublicListener(
  app: RequestListener,
  { address, tls: files, graceMs, logger }: PublicListenerOptions,
  open: AsyncDisposableStack,
): Promise<HttpServer> {
  const tls = files && readCertificate(files);
  const server = await listen(app, { ...address, tls, graceMs, portVariable: 'KEYFRAME_PORT' }, open);
  if (files === undefined || tls === undefined) return server;
  const renew = (pair: CertificatePair): void => server.renew(pair);
  const watch = watchCertificate({ look: lookIntoFiles(files, tls), renew, logger, user: 'the API' });
  open.defer(() => watch.end());
  return server;
}

/** /metrics, /healthz and /readyz, listening. `open` closes the server. */
export async function openMetrics(
  edge: Pick<Edge, 'logger' | 'metrics' | 'readiness'>,
  { address, warnings }: { readonly address: Address; readonly warnings: () => readonly string[] },
  open: AsyncDisposableStack,
): Promise<HttpServer> {
  return listen(createMetricsApp({ ...edge, warnings }), { ...address, portVariable: 'KEYFRAME_METRICS_PORT' }, open);
}
