import { type Response, Router } from 'express';
import type { Readiness } from './readiness.ts';
import { serveGet } from '../router.ts';

/**
 * /healthz returns 200 while the process runs. /readyz returns 200 while it can serve, else 503 and the reason. Neither
 * requires credentials. `warnings` returns problems that an operator should check although the process can serve. Only
 * /readyz of an internal port may report them.
 */
export function healthRouter(
  readiness: Pick<Readiness, 'blocker'>,
  warnings: () => readonly string[] = () => [],
): Router {
  const router = Router({ caseSensitive: true, strict: true });
  serveGet(router, '/healthz', (_request, response) => send(response, 200, { status: 'ok' }));
  serveGet(router, '/readyz', async (_request, response) => {
    const reason = await readiness.blocker();
    const found = warnings();
    const details = found.length === 0 ? {} : { warnings: found };
    if (reason === undefined) send(response, 200, { status: 'ok', ...details });
    else send(response, 503, { status: 'unavailable', reason, ...details });
  });
  return router;
}

function send(response: Response, status: number, body: object): void {
  response.statusCode = status;
  response.setHeader('Content-Type', 'application/json; charset=utf-8');
  response.end(JSON.stringify(body));
}
