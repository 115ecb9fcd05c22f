import { describe, expect, test } from '@jest/globals';
import { publicRouteTable, routeTable } from '../../../src/http/routes/table.ts';
import * as contract from '../../../src/wire/contract/index.ts';
import type { Endpoint } from '../../../src/wire/contract/endpoint.ts';

const endpoints: readonly Endpoint[] = Object.values(contract);
const routes = [...routeTable, ...publicRouteTable];

const nameOf = ({ method, path }: Endpoint): string => `${method} ${path}`;

describe('the contract', () => {
  test('has exactly one route for each endpoint', () => {
    expect(routes.map(nameOf).sort()).toEqual(endpoints.map(nameOf).sort());
    expect(new Set(endpoints.map(nameOf)).size).toBe(endpoints.length);
  });

  test.each(Object.entries(contract))('exports %s under the name of its operation', (name, { operation }) => {
    expect(operation).toBe(name);
  });

  test.each(routes.map((route) => [nameOf(route), route] as const))('is what %s serves', (name, route) => {
    const endpoint = endpoints.find((candidate) => nameOf(candidate) === name);
    const { operation, summary, input, responses } = route;
    expect(endpoint).toEqual({ method: route.method, path: route.path, operation, summary, input, responses });
    expect(input).toBe(endpoint?.input);
    expect(responses).toBe(endpoint?.responses);
  });
});
