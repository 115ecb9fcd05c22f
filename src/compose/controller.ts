import type { ControllerConfig } from '../config/server-config.ts';
import type { ConnectBackend } from '../controller/backend/backend.ts';
import type { Controller } from '../controller/index.ts';
import { steadyNow, systemClock } from '../lib/clock.ts';
import type { Logger } from '../observability/logger.ts';
import type { Metrics } from '../observability/metrics.ts';
import type { ChangeFeed } from '../services/changes/change-feed.ts';
import { defaultNamespace, loadKubeClient } from './kube-client.ts';

interface ControllerDeps {
  readonly connect: ConnectBackend;
  /** Why the controller cannot work yet, on the side of Keyframe; undefined if it can. */
  readonly fault: () => string | undefined;
  /** See `ManagerDeps`. */
  readonly mayLead?: () => boolean;
  readonly logger: Logger;
  readonly metrics: Metrics;
  readonly open: AsyncDisposableStack;
}

/** The controller. It begins with `start`. */
export async function composeController(
  config: ControllerConfig,
  { connect, fault, mayLead, logger, metrics, open }: ControllerDeps,
): Promise<Controller> {
  // Loaded only by the roles that run it: the Kubernetes client takes longer to load than the rest, and as much memory.
  const [{ createController }, { controllerLease }] = await Promise.all([
    import('../controller/index.ts'),
    import('../controller/frame/leadership.ts'),
  ]);
  const { resyncIntervalMs, watchNamespaces, clusterName, rollouts, rolloutNamespaces, targetMetadataPrefixes } =
    config;
  const kube = await loadKubeClient(config.kubeconfigFile);
  const namespace = config.namespace ?? kube.namespace ?? defaultNamespace;
  const controller = createController({
    kube,
    lease: controllerLease(kube, namespace),
    connect,
    ...(mayLead === undefined ? {} : { mayLead }),
    logger,
    clock: systemClock,
    steadyNow,
    metrics,
    options: {
      resyncIntervalMs,
      watchNamespaces,
      namespace,
      clusterName,
      rollouts,
      rolloutNamespaces,
      targetMetadataPrefixes,
    },
  });
  let stopped: Promise<void> | undefined;
  const stop = (): Promise<void> => (stopped ??= controller.stop());
  return {
    start() {
      open.defer(stop);
      controller.start();
    },
    stop,
    ready: () => controller.ready() ?? fault(),
    warnings: () => controller.warnings(),
  };
}

/** A fault until the feed was ready once. Later, it reconnects by itself, and a resync finds what was missed. */
export function listenerFaultOf(feed: Pick<ChangeFeed, 'ready'>): () => string | undefined {
  let wasReady = false;
  return () => {
    wasReady ||= feed.ready;
    return wasReady
      ? undefined
      : 'no connection receives commits: KEYFRAME_DATABASE_DIRECT_URL must lead to PostgreSQL itself, past any pooler in transaction mode';
  };
}
