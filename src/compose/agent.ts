import { setTimeout as pause } from 'node:timers/promises';
import { connectOverHttps } from '../agent/backend.ts';
import type { AgentConfig } from '../config/agent-config.ts';
import { Readiness } from '../http/health/readiness.ts';
import { systemClock } from '../lib/clock.ts';
import type { Logger } from '../observability/logger.ts';
import { Metrics } from '../observability/metrics.ts';
import { composeController } from './controller.ts';
import { openMetrics } from './edge.ts';
import { addressOf } from './listen.ts';

interface RunningAgent {
  readonly metricsPort: number;
  /** See `RunningServer.stop`. */
  stop(): Promise<void>;
}

/**
 * Starts a controller that works through a server in another process: it opens no database, and knows no root key. Throws
 * ExitError.
 */
export async function startAgent(config: AgentConfig, logger: Logger): Promise<RunningAgent> {
  const open = new AsyncDisposableStack();
  try {
    const metrics = new Metrics();
    const server = connectOverHttps({ ...config.server, clock: systemClock, logger });
    const controller = await composeController(config.controller, {
      ...server,
      mayLead: () => server.fault() === undefined,
      logger,
      metrics,
      open,
    });
    const readiness = new Readiness({ clock: systemClock, checks: [() => Promise.resolve(controller.ready())] });
    const address = addressOf(config, config.metricsPort);
    const warnings = (): readonly string[] => controller.warnings();
    const metricsServer = await openMetrics({ logger, metrics, readiness }, { address, warnings }, open);
    controller.start();
    logger.info({ role: config.role, server: config.server.url, metricsPort: metricsServer.port }, 'started');
    return {
      metricsPort: metricsServer.port,
      async stop() {
        readiness.shutDown();
        await Promise.allSettled([controller.stop(), pause(config.shutdownDelayMs)]);
        await open.disposeAsync();
      },
    };
  } catch (error) {
    await open.disposeAsync();
    throw error;
  }
}
