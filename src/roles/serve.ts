import { type RunningServer, startServer } from '../compose.ts';
import { type AgentConfig, loadControllerConfig } from '../config/agent-config.ts';
import { exitCodes } from '../config/exit-error.ts';
import { type ServerConfig, loadServerConfig } from '../config/server-config.ts';
import { type Logger, errorFields } from '../observability/logger.ts';
import type { Role } from './role.ts';

export const serveAll = serving('all', 'Serves the API and runs the controller.');
export const serveApi = serving('api', 'Serves the API: /api/v1, /healthz, /readyz.');
export const serveController: Role<ServerConfig | AgentConfig> = {
  name: 'controller',
  summary: ['Runs the controller, which syncs environments to Kubernetes.'],
  load: (_args, source) => loadControllerConfig(source),
  run: serve,
};

// After the delay. Longer than the time for requests in progress; with a delay of 5 s, no longer than the 30 s after which
// Kubernetes kills.
const stopTimeoutMs = 25_000;

function serving(name: 'all' | 'api', summary: string): Role<ServerConfig> {
  return { name, summary: [summary], load: (_args, source) => loadServerConfig(name, source), run: serve };
}

/** Starts the server. A first signal stops it in order, a second one at once. */
async function serve(config: ServerConfig | AgentConfig, logger: Logger): Promise<void> {
  let running: RunningServer | undefined;
  let stopping = false;
  const onSignal = (signal: 'SIGTERM' | 'SIGINT', exitCode: number): void => {
    if (stopping || running === undefined) process.exit(exitCode);
    stopping = true;
    logger.info({ signal }, 'stopping');
    void stop(running, { logger, timeoutMs: config.shutdownDelayMs + stopTimeoutMs });
  };
  process.on('SIGTERM', () => onSignal('SIGTERM', 128 + 15));
  process.on('SIGINT', () => onSignal('SIGINT', 128 + 2));
  running = await startServer(config, logger);
}

/** Ends the process: with 0 if everything was closed in order. */
async function stop(
  running: RunningServer,
  { logger, timeoutMs }: { readonly logger: Logger; readonly timeoutMs: number },
): Promise<never> {
  setTimeout(() => {
    logger.error('something did not end in time');
    process.exit(exitCodes.failure);
  }, timeoutMs);
  try {
    await running.stop();
    logger.info('stopped');
    process.exit(0);
  } catch (error) {
    logger.error(errorFields(error), 'stopping failed');
    process.exit(exitCodes.failure);
  }
}
