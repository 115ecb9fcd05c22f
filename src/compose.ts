import { fileURLToPath } from 'node:url';
import type { RequestListener } from 'node:http';
import { setTimeout as pause } from 'node:timers/promises';
import type { ServerConfig } from './config.ts';
import type { Controller } from './controller/index.ts';
import type { ResourceServices } from './controller/kinds/resource-services.ts';
import { Keyring } from './crypto/keyring.ts';
import { createApp } from './http/app.ts';
import type { HttpServices } from './http/http-services.ts';
import { createMetricsApp } from './http/metrics-app.ts';
import { Readiness } from './http/health/readiness.ts';
import { HttpServer } from './http/server.ts';
import { UntrustedProxyWatch } from './http/admission/untrusted-proxy.ts';
import { defaultNamespace, loadKubeClient } from './load-kube-client.ts';
import { steadyNow, systemClock } from './lib/clock.ts';
import type { Logger } from './observability/logger.ts';
import { Metrics } from './observability/metrics.ts';
import { Access } from './services/access/access.ts';
import { KeylessAccess } from './services/access/keyless.ts';
import { AuditEntries } from './services/audit/audit-entries.ts';
import { AuditLog } from './services/audit/audit-log.ts';
import { Authentication } from './services/access/authentication.ts';
import { bootstrapAdmin } from './services/people/bootstrap-admin.ts';
import { ChangeFeed } from './services/changes/change-feed.ts';
import { ChangeStreams } from './services/changes/change-streams.ts';
import { Changes } from './services/changes/changes.ts';
import { CredentialUsage } from './services/access/credential-usage.ts';
import { Destructions } from './services/secrets/destructions.ts';
import { EnvironmentQueue } from './services/kernel/environment-queue.ts';
import { GrowthBudget, type GrowthLimits } from './services/kernel/growth-budget.ts';
import { Environments } from './services/tenancy/environments.ts';
import { ClusterRegistry } from './services/managed/cluster-registry.ts';
import { Me } from './services/people/me.ts';
import { Members } from './services/people/members.ts';
import { Organizations } from './services/tenancy/organizations.ts';
import { PersonalTokens } from './services/tokens/personal-tokens.ts';
import { Projects } from './services/tenancy/projects.ts';
import { ResourceAccess } from './services/managed/access.ts';
import { ResourceEnvironments } from './services/managed/environments.ts';
import { ResourceRestores } from './services/managed/restores.ts';
import { ResourceSchedules } from './services/managed/schedules.ts';
import { ResourceSnapshots } from './services/managed/snapshots.ts';
import { ResourceTokens } from './services/managed/tokens.ts';
import { Restores } from './services/snapshots/restore/restores.ts';
import { SecretWriter } from './services/secrets/secret-writer.ts';
import { SecretReader } from './services/secrets/secret-reader.ts';
import { Secrets } from './services/secrets/secrets.ts';
import { ServiceTokens } from './services/tokens/service-tokens.ts';
import { Snapshots } from './services/snapshots/snapshots.ts';
import { StateCache, dropDestroyed } from './services/secrets/state-cache.ts';
import { Users } from './services/people/users.ts';
import { Versions } from './services/secrets/versions.ts';
import { StartError, exitCodes } from './start-error.ts';
import { type Database, openDatabase } from './store/database.ts';
import { readDatabaseSize } from './store/database-size.ts';
import { PostgresKeyStore } from './store/keys.ts';
import { Listener } from './store/listener.ts';
import { schemaFault } from './store/migrate.ts';

/** The one place where the parts of the server are made and put together. */

// The build puts it beside the server's folder.
const commandFile = fileURLToPath(new URL('../keyframe.cjs', import.meta.url));

/** What the edges stand on. */
interface Core extends HttpServices {
  readonly database: Database;
  readonly keyring: Keyring;
  readonly authentication: Authentication;
  readonly auditLog: AuditLog;
  /** For what the controller does, so that its many reads delay no request. */
  readonly controllerAudit: AuditLog;
  readonly usage: CredentialUsage;
  readonly resources: ResourceServices;
  /** One for the process: the controller and the streams of the API hear of commits by it. */
  readonly feed: ChangeFeed;
  readonly states: StateCache;
  /** For the controller. */
  readonly readers: ReaderServices;
  /** For the controller. */
  readonly clusters: ClusterRegistry;
}

/** What the controller reads secrets by. */
interface ReaderServices {
  readonly secretReader: SecretReader;
  readonly keyless: KeylessAccess;
}

interface CoreDeps {
  readonly database: Database;
  readonly keyring: Keyring;
  readonly listener: Listener;
  readonly logger: Logger;
  readonly growthLimits: GrowthLimits;
}

/** The services over an open database and keyring. Nothing here does anything until it is called. */
function composeCore({ database, keyring, listener, logger, growthLimits }: CoreDeps): Core {
  const audit = new AuditLog({ database });
  const controllerAudit = new AuditLog({ database });
  const usage = new CredentialUsage({ database, clock: systemClock, logger });
  const feed = new ChangeFeed({ database, listener, logger });
  const queue = new EnvironmentQueue();
  const states = new StateCache();
  const budget = new GrowthBudget(growthLimits);
  const writer = new SecretWriter({ database, keyring, queue, budget });
  return {
    database,
    keyring,
    auditLog: audit,
    controllerAudit,
    usage,
    feed,
    states,
    readers: {
      secretReader: new SecretReader({ database, keyring, states, audit: controllerAudit }),
      keyless: new KeylessAccess({ database, audit: controllerAudit, usage }),
    },
    clusters: new ClusterRegistry({ database }),
    resources: {
      resourceAccess: new ResourceAccess({ database, audit: controllerAudit }),
      resourceTokens: new ResourceTokens({ database, audit: controllerAudit }),
      resourceSnapshots: new ResourceSnapshots({ database, queue, budget, audit: controllerAudit }),
      resourceRestores: new ResourceRestores({ database, queue, budget, audit: controllerAudit }),
      resourceSchedules: new ResourceSchedules({ database, audit: controllerAudit }),
      resourceEnvironments: new ResourceEnvironments({ database, audit: controllerAudit }),
    },
    authentication: new Authentication({ database, usage }),
    access: new Access({ database, audit }),
    me: new Me({ database, audit }),
    users: new Users({ database, audit }),
    personalTokens: new PersonalTokens({ database, audit }),
    organizations: new Organizations({ database, audit }),
    members: new Members({ database, audit }),
    projects: new Projects({ database, audit }),
    environments: new Environments({ database, audit }),
    secrets: new Secrets({ database, keyring, writer, states, audit }),
    versions: new Versions({ database, keyring, writer, audit }),
    destructions: new Destructions({ database, queue, audit }),
    snapshots: new Snapshots({ database, queue, budget, audit }),
    restores: new Restores({ database, queue, budget, audit }),
    serviceTokens: new ServiceTokens({ database, audit }),
    changes: new Changes({ database, audit }),
    changeStreams: new ChangeStreams({ database, changes: feed, audit, clock: systemClock }),
    auditEntries: new AuditEntries({ database, audit }),
  };
}

/** A server that serves. */
export interface RunningServer {
  /** Of the API; undefined in the role controller. */
  readonly port: number | undefined;
  readonly metricsPort: number;
  /**
   * Says that it is not ready, hands the controller's work over, and serves on for the configured delay, ending each
   * connection with its next answer; then takes no new one, ends the streams, lets requests under way finish, for 10 s at
   * most, and closes everything.
   */
  stop(): Promise<void>;
}

const graceMs = 10_000;
const hearingLimitMs = 5_000;

/**
 * Starts everything that the role needs; what was begun is closed again if something fails. Throws StartError, ListenError
 * and DomainError, whose texts are for the operator.
 */
export async function startServer(config: ServerConfig, logger: Logger): Promise<RunningServer> {
  // Closes in the reverse order of opening.
  const open = new AsyncDisposableStack();
  try {
    const core = await openCore(config, logger, open);
    return await openEdges(config, { core, logger, open });
  } catch (error) {
    await open.disposeAsync();
    throw error;
  }
}

async function openCore(config: ServerConfig, logger: Logger, open: AsyncDisposableStack): Promise<Core> {
  const database = openDatabase({ url: config.databaseUrl.reveal(), caFile: config.databaseCaFile });
  open.defer(() => database.close());
  const fault = await schemaFault(database);
  if (fault !== undefined) throw new StartError(exitCodes.configuration, fault);
  const keyring = new Keyring({ rootKeys: config.rootKeys, store: new PostgresKeyStore({ database }) });
  await keyring.open();
  const listener = new Listener({ url: config.databaseDirectUrl.reveal(), caFile: config.databaseCaFile, logger });
  const core = composeCore({ database, keyring, listener, logger, growthLimits: config.growthLimits });
  open.defer(async () => {
    await core.auditLog.drain();
    await core.controllerAudit.drain();
    await core.usage.drain();
  });
  if (config.bootstrapAdmin !== undefined && config.role !== 'controller') {
    await bootstrapAdmin({ database, logger }, config.bootstrapAdmin);
  }
  return core;
}

interface EdgeDeps {
  readonly core: Core;
  readonly logger: Logger;
  readonly open: AsyncDisposableStack;
}

async function openEdges(config: ServerConfig, deps: EdgeDeps): Promise<RunningServer> {
  const { core, logger, open } = deps;
  const metrics = new Metrics();
  metrics.observePools({ reads: core.database.pool, transactions: core.database.transactionPool });
  metrics.observeDatabaseSize(() => readDatabaseSize(core.database.pool));
  metrics.observeAuditQueue(() => core.auditLog.queueLength + core.controllerAudit.queueLength);
  metrics.observeChangeStreams(() => core.changeStreams.open);
  // For every role: the API serves without it, but for its streams.
  open.defer(() => core.feed.close());
  dropDestroyed(core.feed, core.states);
  core.feed.start();
  const controller = config.role === 'api' ? undefined : await composeController(config, { ...deps, metrics });
  const readiness = new Readiness({
    clock: systemClock,
    checks: [() => schemaFault(core.database), untilHearing(core.feed), () => Promise.resolve(controller?.ready())],
  });
  const untrustedProxies = new UntrustedProxyWatch({ clock: systemClock, logger });
  const warnings = (): string[] =>
    [untrustedProxies.warning(), ...(controller?.warnings() ?? [])].filter((text) => text !== undefined);
  const metricsApp = createMetricsApp({ logger, metrics, readiness, warnings });
  const metricsServer = await listen(metricsApp, config, 'METRICS_PORT', open);
  const { authentication, auditLog } = core;
  const options = { trustedProxies: config.trustedProxies, rateLimits: config.rateLimits, commandFile };
  const app = createApp({
    authentication,
    auditLog,
    services: core,
    logger,
    metrics,
    readiness,
    untrustedProxies,
    options,
  });
  // Before the controller: the API serves however long the cluster takes.
  const api = config.role === 'controller' ? undefined : await listen(app, config, 'PORT', open);
  // Before the server closes, which waits for the requests under way.
  open.defer(() => core.changeStreams.close());
  controller?.start();
  logger.info({ role: config.role, port: api?.port, metricsPort: metricsServer.port }, 'started');
  return {
    port: api?.port,
    metricsPort: metricsServer.port,
    async stop() {
      readiness.shutDown();
      api?.drain();
      // Nobody has to notice before another controller can begin; whoever sends requests here has to.
      await Promise.allSettled([controller?.stop(), pause(config.shutdownDelayMs)]);
      await open.disposeAsync();
    },
  };
}

/**
 * Whoever is led to a server that has just become ready may ask for a stream of changes first: so it waits until commits
 * are heard, but not for ever, for all the rest works without.
 */
function untilHearing(feed: Pick<ChangeFeed, 'ready'>): () => Promise<string | undefined> {
  const untilMs = steadyNow() + hearingLimitMs;
  let isWaiting = true;
  return () => {
    isWaiting &&= !feed.ready && steadyNow() < untilMs;
    return Promise.resolve(isWaiting ? 'no connection hears of commits yet' : undefined);
  };
}

/** The controller, which hears of commits by the core's feed. */
async function composeController(
  config: ServerConfig,
  { core, logger, open, metrics }: EdgeDeps & { readonly metrics: Metrics },
): Promise<Controller> {
  // Loaded only where it runs: the Kubernetes client takes longer to load than all the rest, and as much memory.
  const [{ createController }, { controllerLease }] = await Promise.all([
    import('./controller/index.ts'),
    import('./controller/frame/leadership.ts'),
  ]);
  const { resyncIntervalMs, watchNamespaces, clusterName, rollouts } = config.controller;
  const { keyring, authentication, access, readers, resources, clusters, feed: changes } = core;
  const kube = await loadKubeClient(config.controller.kubeconfigFile);
  const namespace = config.controller.namespace ?? kube.namespace ?? defaultNamespace;
  const controller = createController({
    kube,
    lease: controllerLease(kube, namespace),
    clusters,
    services: { authentication, access, changes, ...readers, ...resources },
    fingerprint: (context, entries) => keyring.fingerprint(context, entries),
    logger,
    clock: systemClock,
    steadyNow,
    metrics,
    options: { resyncIntervalMs, watchNamespaces, namespace, clusterName, rollouts },
  });
  // Until it was heard once: later, a reconnect heals by itself and the comparison after it finds what was missed.
  let wasHeard = false;
  const deafness = (): string | undefined => {
    wasHeard ||= changes.ready;
    return wasHeard
      ? undefined
      : 'no connection hears of commits: KEYFRAME_DATABASE_DIRECT_URL must lead to PostgreSQL itself, past any pooler in transaction mode';
  };
  let stopped: Promise<void> | undefined;
  const stop = (): Promise<void> => (stopped ??= controller.stop());
  return {
    start() {
      open.defer(stop);
      controller.start();
    },
    stop,
    ready: () => controller.ready() ?? deafness(),
    warnings: () => controller.warnings(),
  };
}

async function listen(
  handler: RequestListener,
  { host, port, metricsPort, trustedProxies, maxConnectionsPerAddress }: ServerConfig,
  variable: 'PORT' | 'METRICS_PORT',
  open: AsyncDisposableStack,
): Promise<HttpServer> {
  const server = await HttpServer.listen(handler, {
    host,
    port: variable === 'PORT' ? port : metricsPort,
    portVariable: `KEYFRAME_${variable}`,
    hostVariable: 'KEYFRAME_HOST',
    trustedProxies,
    maxConnectionsPerPeer: maxConnectionsPerAddress,
  });
  open.defer(() => server.close(graceMs));
  return server;
}
