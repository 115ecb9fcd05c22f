import { type RequestHandler, Router } from 'express';
import { DomainError } from '../domain/errors/domain-error.ts';
import { contextOf } from './request-context.ts';
import { publicRouteHandler, type RouteHandlerDeps, routeHandler } from './middleware/route-handler.ts';
import type { Method } from '../wire/contract/endpoint.ts';
import type { PublicRoute, Route } from './route.ts';

/** An Express router for a table of routes. Other methods on a path of the table get 405 and Allow. */
export function createRouter(prefix: string, table: readonly (Route | PublicRoute)[], deps: RouteHandlerDeps): Router {
  const router = Router({ caseSensitive: true, strict: true });
  for (const [path, routes] of Map.groupBy(table, (route) => route.path)) {
    const entry = router.route(prefix + path.replaceAll(/\{([a-z]+)\}/g, ':$1'));
    entry.all(noteRoute(prefix + path));
    for (const route of routes) register(entry, route.method, handlerOf(route, deps));
    entry.all(methodNotAllowed(routes.map((route) => route.method)));
  }
  return router;
}

function handlerOf(route: Route | PublicRoute, deps: RouteHandlerDeps): RequestHandler {
  return route.action === 'public' ? publicRouteHandler(route, deps) : routeHandler(route, deps);
}

/** Returns 404 for every path that no route has. */
export const unknownPath: RequestHandler = () => {
  throw new DomainError('not_found', 'no route has this path; docs/interface.md lists the routes');
};

/** Returns 405 and names the methods of the path. */
function methodNotAllowed(methods: readonly Method[]): RequestHandler {
  const allowed = methods.flatMap((method) => (method === 'GET' ? ['GET', 'HEAD'] : [method])).join(', ');
  return (_request, response) => {
    response.setHeader('Allow', allowed);
    throw new DomainError('method_not_allowed', `this path allows ${allowed}`);
  };
}

/** Stores the template for log and metrics, which must not contain the path. */
function noteRoute(template: string): RequestHandler {
  return (request, _response, next) => {
    contextOf(request).route = template;
    next();
  };
}

/** Serves a path that only takes POST. Other methods get 405. */
export function servePost(router: Pick<Router, 'route'>, path: string, handler: RequestHandler): void {
  router
    .route(path)
    .all(noteRoute(path))
    .post(handler)
    .all(methodNotAllowed(['POST']));
}

/** Serves a path that is no route of the API. Other methods get 405. */
export function serveGet(router: Pick<Router, 'route'>, path: string, handler: RequestHandler): void {
  router
    .route(path)
    .all(noteRoute(path))
    .get(handler)
    .all(methodNotAllowed(['GET']));
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
