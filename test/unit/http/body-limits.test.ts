import { expect, test } from '@jest/globals';
import { openApiDocument } from '../../../src/http/openapi/document.ts';
import { type BodyLimits, bodyLimits } from '../../../src/wire/contract/body-limits.ts';
import { allRoutes, type AnyRoute, callOf, openServices } from './route-calls.ts';

const withBody = allRoutes.filter(({ input }) => input.body !== undefined);

/** The limits with which a route reads its body. */
async function readLimits(route: AnyRoute): Promise<BodyLimits | undefined> {
  let read: BodyLimits | undefined;
  const call = callOf(route, {
    body: ({ limits }) => {
      read = limits;
      return Promise.reject(new Error('read'));
    },
  });
  await expect(route.run(call, openServices)).rejects.toThrow('read');
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
