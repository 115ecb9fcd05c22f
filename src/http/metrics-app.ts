import type { RequestListener } from 'node:http';
import type { Logger } from '../observability/logger.ts';
import type { Metrics } from '../observability/metrics.ts';
import { bareApp, listenerOf } from './bare-app.ts';
import { healthRouter } from './health/health-router.ts';
import { errorHandler } from './middleware/error-handler.ts';
import { requestTarget } from './middleware/request-target.ts';
import { requestLog } from './middleware/request-log.ts';
import { responseHeaders } from './middleware/response-headers.ts';
import type { Readiness } from './health/readiness.ts';
import { serveGet, unknownPath } from './router.ts';

export interface MetricsAppDeps {
  readonly logger: Logger;
  readonly metrics: Pick<Metrics, 'render' | 'contentType'>;
  readonly readiness: Pick<Readiness, 'blocker'>;
  /** Further sentences for /readyz, without data. */
  readonly warnings?: () => readonly string[];
}

/** The internal port of every role, for operators and probes: /metrics, /healthz and /readyz. */
export function createMetricsApp({ logger, metrics, readiness, warnings }: MetricsAppDeps): RequestListener {
  const app = bareApp();
  // Scrapes must not count as requests of users.
  const uncounted = { httpRequest: () => {}, authenticationFailed: () => {}, rateLimited: () => {} };
  app.use(requestLog({ logger, metrics: uncounted }), responseHeaders, requestTarget);
  app.use(healthRouter(readiness, warnings));
  serveGet(app, '/metrics', async (_request, response) => {
    const text = await metrics.render();
    response.setHeader('Content-Type', metrics.contentType);
    response.end(text);
  });
  app.use(unknownPath, errorHandler);
  return listenerOf(app);
}
