import { randomUUID } from 'node:crypto';
import { expect, test } from '@jest/globals';
import { openApiDocument } from '../../../src/http/openapi/document.ts';
import { type BodyLimits, bodyLimits } from '../../../src/http/request/body-limits.ts';
import type { Call, PublicRoute, Route } from '../../../src/http/route.ts';
import { publicRouteTable, routeTable } from '../../../src/http/routes/table.ts';

const routes = [...routeTable, ...publicRouteTable];
const withBody = routes.filter(({ input }) => input.body !== undefined);

/** Lets every caller in. */
const services = new Proxy({}, { get: () => new Proxy({}, { get: () => () => Promise.resolve({}) }) }) as Parameters<
  Route['run']
>[1];

/** The limits with which a route reads its body. */
async function readLimits(route: Route | PublicRoute): Promise<BodyLimits | undefined> {
  let read: BodyLimits | undefined;
  const values: Readonly<Record<string, string>> = {
    key: 'KEY',
    version: '1',
    revision: '1',
    user: 'ada@example.test',
  };
  const names = [...route.path.matchAll(/\{([a-z]+)\}/g)].map(([, name = '']) => name);
  const call = {
    params: Object.fromEntries(names.map((name) => [name, values[name] ?? randomUUID()])),
    caller: { principal: {} },
    query: () => ({}),
    header: () => undefined,
    entered: () => {},
    body: ({ limits }: { limits: BodyLimits }) => {
      read = limits;
      return Promise.reject(new Error('read'));
    },
  } as unknown as Call;
  await expect(route.run(call, services)).rejects.toThrow('read');
  return read;
}

test('only routes that write values or select keys take large bodies', () => {
  const larger = withBody.filter(({ input }) => input.bodyLimits !== undefined);
  expect(Object.fromEntries(larger.map(({ operation, input }) => [operation, input.bodyLimits]))).toEqual({
    patchSecrets: bodyLimits.values,
    putSecret: bodyLimits.value,
    copyEnvironment: bodyLimits.keySelection,
    restoreSnapshot: bodyLimits.keySelection,
  });
  expect([bodyLimits.usual.maxBytes, bodyLimits.usual.maxEntries]).toEqual([65_536, 1_000]);
  expect([bodyLimits.values.maxBytes, bodyLimits.values.maxEntries]).toEqual([8_388_608, 60_100]);
});

test.each(withBody.map((route) => [route.operation, route] as const))(
  '%s reads no more than it declares',
  async (_operation, route) => {
    expect(await readLimits(route)).toEqual(route.input.bodyLimits ?? bodyLimits.usual);
  },
);

test('the OpenAPI document says how large each body may be', () => {
  const { paths } = openApiDocument() as unknown as {
    readonly paths: Record<string, Record<string, { readonly requestBody?: { readonly description?: string } }>>;
  };
  for (const { method, path, input } of withBody) {
    const { maxBytes } = input.bodyLimits ?? bodyLimits.usual;
    const size = maxBytes < 1024 * 1024 ? `${maxBytes / 1024} KiB` : `${maxBytes / 1024 / 1024} MiB`;
    const description = paths[`/api/v1${path}`]?.[method.toLowerCase()]?.requestBody?.description;
    expect(description).toContain(`At most ${size}, and `);
  }
});
