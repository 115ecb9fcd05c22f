import { randomUUID } from 'node:crypto';
import type { ServerResponse } from 'node:http';
import type { RequestHandler } from 'express';
import { errorCatalogue } from '../../domain/errors/catalogue.ts';
import { type Logger, errorFields } from '../../observability/logger.ts';
import type { Metrics } from '../../observability/metrics.ts';
import { LimitExceeded } from '../admission/rate-limits.ts';
import { type RequestContext, openContext } from '../request-context.ts';

export interface RequestLogDeps {
  readonly logger: Logger;
  readonly metrics: Pick<Metrics, 'httpRequest' | 'authenticationFailed' | 'rateLimited'>;
}

/**
 * Gives each request its id. When its response is sent or its connection is gone, writes one log line and one observation.
 * Neither contains the path, the query, a header or a body. Must come first.
 */
export function requestLog({ logger, metrics }: RequestLogDeps): RequestHandler {
  return (request, response, next) => {
    const startedAt = performance.now();
    const context: RequestContext = { id: randomUUID(), route: 'unmatched' };
    openContext(request, context);
    response.setHeader('X-Request-Id', context.id);
    response.once('close', () => {
      const durationMs = performance.now() - startedAt;
      const { method } = request;
      const status = response.headersSent ? response.statusCode : clientGoneStatus;
      const { route } = context;
      observe(metrics, context, { response, method, status, durationMs });
      logger[levelOf(context)](
        {
          method,
          route,
          status,
          durationMs: Math.round(durationMs * 100) / 100,
          requestId: context.id,
          ...(context.principal === undefined ? {} : { principalId: context.principal.id }),
          ...(context.cluster === undefined ? {} : { cluster: context.cluster }),
          ...(context.code === undefined ? {} : { code: context.code }),
          ...(context.fault === undefined ? {} : { fault: context.fault }),
          ...(response.writableFinished ? {} : { aborted: true }),
          ...(status < 500 || context.error === undefined ? {} : { failure: errorFields(context.error) }),
        },
        'request',
      );
    });
    next();
  };
}

interface Ended {
  readonly response: ServerResponse;
  readonly method: string;
  readonly status: number;
  readonly durationMs: number;
}

function observe(
  metrics: RequestLogDeps['metrics'],
  { route, fault, error }: RequestContext,
  { response, method, status, durationMs }: Ended,
): void {
  // The duration of an event stream says nothing about the speed of the server.
  if (!isEventStream(response)) metrics.httpRequest({ method: methodLabel(method), route, status, durationMs });
  if (fault !== undefined) metrics.authenticationFailed(fault);
  if (error instanceof LimitExceeded) metrics.rateLimited(error.limit);
}

// As in nginx: the client disconnected before there was a response.
const clientGoneStatus = 499;
// Node accepts about thirty more, and each would be a series for every route.
const usedMethods: ReadonlySet<string> = new Set(['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS']);

function methodLabel(method: string): string {
  return usedMethods.has(method) ? method : 'other';
}

function isEventStream(response: ServerResponse): boolean {
  return String(response.getHeader('content-type')).startsWith('text/event-stream');
}

const probeRoutes: ReadonlySet<string> = new Set(['/healthz', '/readyz', '/metrics']);

/** error: an operator must act; warn: it recovers without an operator; debug: probes, which come every few seconds. */
function levelOf({ code, route }: RequestContext): 'error' | 'warn' | 'info' | 'debug' {
  const logLevel = code === undefined ? undefined : errorCatalogue[code].logLevel;
  return logLevel ?? (probeRoutes.has(route) ? 'debug' : 'info');
}
