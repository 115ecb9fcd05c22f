import { type RequestHandler, Router } from 'express';
import { DomainError } from '../domain/errors/domain-error.ts';
import { contextOf } from './request-context.ts';
import { type RouteHandlerDeps, routeHandler } from './middleware/route-handler.ts';
import type { Method, Route } from './route.ts';

/** An Express router over a table of routes. A path that is in the table refuses other methods with 405 and Allow. */
export function createRouter(prefix: string, table: readonly Route[], deps: RouteHandlerDeps): Router {
  const router = Router({ caseSensitive: true, strict: true });
  for (const [path, routes] of Map.groupBy(table, (route) => route.path)) {
    const entry = router.route(prefix + path.replaceAll(/\{([a-z]+)\}/g, ':$1'));
    entry.all(noteRoute(prefix + path));
    for (const route of routes) register(entry, route.method, routeHandler(route, deps));
    entry.all(methodNotAllowed(routes.map((route) => route.method)));
  }
  return router;
}

/** The answer to every path that no route has. */
export const unknownPath: RequestHandler = () => {
  throw new DomainError('not_found', 'there is nothing at this path; see docs/interface.md for those there are');
};

/** Answers 405 and says which methods the path has. */
export function methodNotAllowed(methods: readonly Method[]): RequestHandler {
  const allowed = methods.flatMap((method) => (method === 'GET' ? ['GET', 'HEAD'] : [method])).join(', ');
  return (_request, response) => {
    response.setHeader('Allow', allowed);
    throw new DomainError('method_not_allowed', `this path takes ${allowed}`);
  };
}

/** Notes the template for log and metrics, so that they need no path. */
export function noteRoute(template: string): RequestHandler {
  return (request, _response, next) => {
    contextOf(request).route = template;
    next();
  };
}

function register(entry: ReturnType<Router['route']>, method: Method, handler: RequestHandler): void {
  switch (method) {
    case 'GET':
      entry.get(handler);
      break;
    case 'POST':
      entry.post(handler);
      break;
    case 'PUT':
      entry.put(handler);
      break;
    case 'PATCH':
      entry.patch(handler);
      break;
    case 'DELETE':
      entry.delete(handler);
  }
}
