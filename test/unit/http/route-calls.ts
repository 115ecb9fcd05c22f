import { randomUUID } from 'node:crypto';
import { publicRouteTable, routeTable } from '../../../src/http/routes/table.ts';
import type { Call, PublicRoute, Route } from '../../../src/http/route.ts';

export type AnyRoute = Route | PublicRoute;
export type Services = Parameters<Route['run']>[1];

export const allRoutes: readonly AnyRoute[] = [...routeTable, ...publicRouteTable];

/** Names that stand for something wherever a path takes them. */
const names: Readonly<Record<string, string>> = {
  org: 'acme',
  project: 'web',
  env: 'prod',
  key: 'KEY',
  version: '1',
  revision: '1',
  user: 'ada@example.test',
  subject: 'ada@example.test',
};

/** The names in the braces of a path. */
export function paramsOf({ path }: AnyRoute): string[] {
  return [...path.matchAll(/\{([a-z]+)\}/g)].map(([, name = '']) => name);
}

/** A call of a route: valid names in its path, what a test gives it, and nothing else. */
export function callOf(route: AnyRoute, given: Partial<Call> = {}): Call {
  return {
    params: Object.fromEntries(paramsOf(route).map((name) => [name, names[name] ?? randomUUID()])),
    caller: { principal: {} },
    query: () => ({}),
    header: () => undefined,
    entered: () => {},
    refuseBody: () => {},
    body: () => Promise.resolve(undefined),
    ...given,
  } as unknown as Call;
}

/** Services of which access lets every caller in, and each other method does nothing. */
export const openServices = new Proxy(
  {},
  { get: () => new Proxy({}, { get: () => () => Promise.resolve({}) }) },
) as Services;
