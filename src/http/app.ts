import type { Express } from 'express';
import { bareApp } from './bare-app.ts';
import { healthRouter } from './health.ts';
import { errorAnswer } from './middleware/error-answer.ts';
import { pathEncoding } from './middleware/path-encoding.ts';
import { type RequestLogDeps, requestLog } from './middleware/request-log.ts';
import { responseHeaders } from './middleware/response-headers.ts';
import type { RouteHandlerDeps } from './middleware/route-handler.ts';
import type { Readiness } from './readiness.ts';
import { createRouter, unknownPath } from './router.ts';
import { routeTable } from './routes/table.ts';

export interface AppDeps extends RouteHandlerDeps, RequestLogDeps {
  readonly readiness: Pick<Readiness, 'fault'>;
}

/** The API: /api/v1, /healthz and /readyz. */
export function createApp(deps: AppDeps): Express {
  const app = bareApp();
  app.use(requestLog(deps), responseHeaders, pathEncoding);
  app.use(healthRouter(deps.readiness));
  app.use(createRouter('/api/v1', routeTable, deps));
  app.use(unknownPath, errorAnswer);
  return app;
}
