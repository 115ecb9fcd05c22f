import { type Response, Router } from 'express';
import type { Readiness } from './readiness.ts';
import { methodNotAllowed, noteRoute } from '../router.ts';

/**
 * /healthz: the process answers. /readyz: it can serve; 503 and the reason while it cannot. No credentials needed.
 * `warnings` returns what an operator should look at although the process can serve. Only /readyz of an internal port
 * may report it.
 */
export function healthRouter(
  readiness: Pick<Readiness, 'fault'>,
  warnings: () => readonly string[] = () => [],
): Router {
  const router = Router({ caseSensitive: true, strict: true });
  router
    .route('/healthz')
    .all(noteRoute('/healthz'))
    .get((_request, response) => send(response, 200, { status: 'ok' }))
    .all(methodNotAllowed(['GET']));
  router
    .route('/readyz')
    .all(noteRoute('/readyz'))
    .get(async (_request, response) => {
      const reason = await readiness.fault();
      const found = warnings();
      const details = found.length === 0 ? {} : { warnings: found };
      if (reason === undefined) send(response, 200, { status: 'ok', ...details });
      else send(response, 503, { status: 'unavailable', reason, ...details });
    })
    .all(methodNotAllowed(['GET']));
  return router;
}

function send(response: Response, status: number, body: object): void {
  response.statusCode = status;
  response.setHeader('Content-Type', 'application/json; charset=utf-8');
  response.end(JSON.stringify(body));
}
