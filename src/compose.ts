import { setTimeout as pause } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { startAgent } from './compose/agent.ts';
import { composeController, listenerFaultOf } from './compose/controller.ts';
import { type ApiOptions, type ApiServers, type Edge, composeMetrics, openApi, openMetrics } from './compose/edge.ts';
import { watchHomeToken } from './compose/home-token.ts';
import { type Address, addressOf } from './compose/listen.ts';
import { connectLocally } from './compose/local-backend.ts';
import { type Services, openServices } from './compose/services.ts';
import type { AgentConfig } from './config/agent-config.ts';
import type { ServerConfig } from './config/server-config.ts';
import type { Controller } from './controller/index.ts';
import { UntrustedProxyWatch } from './http/admission/untrusted-proxy.ts';
import { Readiness } from './http/health/readiness.ts';
import { steadyNow, systemClock } from './lib/clock.ts';
import { divideMemory } from './lib/process-memory.ts';
import type { Logger } from './observability/logger.ts';
import type { ClusterStreams } from './services/cluster/cluster-streams.ts';
import type { ChangeFeed } from './services/changes/change-feed.ts';
import { bootstrapAdmin } from './services/people/bootstrap-admin.ts';
import { reportStrandedSignIns } from './services/sign-in/stranded-sign-ins.ts';
import { writeFault } from './store/database.ts';
import { schemaFault } from './store/migrate.ts';

/** Creates the parts of the server, with src/compose/, and starts them. The tests' own servers use src/compose/ too. */

/** A server that serves. */
export interface RunningServer {
  /** Of the API; undefined in the role controller. */
  readonly port: number | undefined;
  /** Of controllers alone; undefined without such a port. */
  readonly clusterPort: number | undefined;
  readonly metricsPort: number;
  /**
   * Reports that it is not ready, gives up the controller's Lease, and keeps serving for the configured delay, closing each
   * connection after its next response. Then takes no new connection, ends the streams, lets requests in progress finish,
   * for 10 s at most, and closes everything.
   */
  stop(): Promise<void>;
}

// The build puts them beside the server's folder.
const commandFile = fileURLToPath(new URL('../keyframe.cjs', import.meta.url));
const dashboardFolder = fileURLToPath(new URL('../dashboard', import.meta.url));
const documentationFolder = fileURLToPath(new URL('../documentation', import.meta.url));

const listenerTimeoutMs = 5_000;

/**
 * Starts everything that the role needs; if something fails, what was opened is closed again. Throws ExitError and
 * DomainError, whose messages are for the operator.
 */
export async function startServer(config: ServerConfig | AgentConfig, logger: Logger): Promise<RunningServer> {
  if ('server' in config) return { port: undefined, clusterPort: undefined, ...(await startAgent(config, logger)) };
  // Closes in the reverse order of opening.
  const open = new AsyncDisposableStack();
  try {
    const services = await openServices(
      {
        ...config,
        databaseUrl: config.databaseUrl.reveal(),
        databaseDirectUrl: config.databaseDirectUrl.reveal(),
        logger,
      },
      open,
    );
    if (config.bootstrapAdmin !== undefined && config.role !== 'controller') {
      await bootstrapAdmin({ database: services.database, logger }, config.bootstrapAdmin);
    }
    if (config.homeTokenFile !== undefined && config.role !== 'controller') {
      const { database } = services;
      open.defer(await watchHomeToken({ path: config.homeTokenFile, database, logger }));
    }
    if (config.role !== 'controller') {
      await services.signIn.oidc?.shortenGroups();
      await reportStrandedSignIns({ ...services, logger, issuer: config.oidc?.issuer });
    }
    return await serve(config, { services, logger, open });
  } catch (error) {
    await open.disposeAsync();
    throw error;
  }
}

interface ServeDeps {
  readonly services: Services;
  readonly logger: Logger;
  readonly open: AsyncDisposableStack;
}

async function serve(config: ServerConfig, { services, logger, open }: ServeDeps): Promise<RunningServer> {
  const metrics = composeMetrics(services);
  // For every role. If it fails, the API serves everything but its streams.
  services.feed.start();
  const controller =
    config.role === 'api'
      ? undefined
      : await composeController(config.controller, {
          connect: connectLocally(services),
          fault: listenerFaultOf(services.feed),
          logger,
          metrics,
          open,
        });
  const readiness = new Readiness({
    clock: systemClock,
    checks: [
      () => writeFault(services.database),
      () => schemaFault(services.database),
      waitForListener(services.feed),
      () => Promise.resolve(controller?.ready()),
    ],
  });
  const untrustedProxies = new UntrustedProxyWatch({ clock: systemClock, logger });
  const edge: Edge = { services, logger, metrics, readiness, untrustedProxies };
  const warnings = (): string[] =>
    [untrustedProxies.warning(), ...(controller?.warnings() ?? [])].filter((text) => text !== undefined);
  const metricsServer = await openMetrics(edge, { address: addressOf(config, config.metricsPort), warnings }, open);
  // Before the controller: the API serves however long the cluster takes.
  const servers = config.role === 'controller' ? undefined : await openApi(edge, apiOptionsOf(config), open);
  controller?.start();
  const ports = { port: servers?.api.port, clusterPort: servers?.cluster?.port, metricsPort: metricsServer.port };
  logger.info({ role: config.role, ...ports }, 'started');
  return {
    ...ports,
    stop: () => stop({ config, readiness, servers, streams: services.clusterStreams, controller, open }),
  };
}

function apiOptionsOf(config: ServerConfig): ApiOptions {
  const { role, trustedProxies, rateLimits, tls, clusterListener } = config;
  const { tlsConnections, clusterConnections, ...workLimits } = divideMemory(role === 'all');
  const options = { trustedProxies, rateLimits, workLimits, commandFile, dashboardFolder, documentationFolder };
  const address = addressOf(config, config.port);
  const ofClusters = clusterListener === undefined ? 0 : clusterConnections;
  return {
    options,
    address: tls === undefined ? address : fewerConnections(address, tlsConnections - ofClusters),
    tls,
    cluster: clusterListener && {
      config: clusterListener,
      // Controllers reach it without a proxy.
      address: { ...fewerConnections(address, ofClusters), trustedProxies: [] },
    },
  };
}

/** One address may have half of them; 0 means that it has no limit. */
function fewerConnections(address: Address, maxConnections: number): Address & { readonly maxConnections: number } {
  const { maxConnectionsPerPeer: configured = maxConnections } = address;
  const maxConnectionsPerPeer = Math.min(configured, Math.floor(maxConnections / 2));
  return { ...address, maxConnections, maxConnectionsPerPeer };
}

interface StopDeps {
  readonly config: ServerConfig;
  readonly readiness: Readiness;
  readonly servers: ApiServers | undefined;
  readonly streams: ClusterStreams;
  readonly controller: Controller | undefined;
  readonly open: AsyncDisposableStack;
}

async function stop({ config, readiness, servers, streams, controller, open }: StopDeps): Promise<void> {
  readiness.shutDown();
  servers?.api.drain();
  servers?.cluster?.drain();
  streams.drain();
  // Another controller can start at once; only clients of the API need the delay to notice.
  await Promise.allSettled([controller?.stop(), pause(config.shutdownDelayMs)]);
  await open.disposeAsync();
}

/**
 * A client of a server that has just become ready may first ask for a stream of changes. So the server waits until it
 * receives commits, but not forever, because everything else works without them.
 */
function waitForListener(feed: Pick<ChangeFeed, 'ready'>): () => Promise<string | undefined> {
  const deadlineMs = steadyNow() + listenerTimeoutMs;
  let isWaiting = true;
  return () => {
    isWaiting &&= !feed.ready && steadyNow() < deadlineMs;
    return Promise.resolve(isWaiting ? 'no connection receives commits yet' : undefined);
  };
}
