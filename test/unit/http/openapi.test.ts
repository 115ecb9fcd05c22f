import { readFileSync } from 'node:fs';
import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { z } from 'zod';
import { validateComment, validateName, validateSecretKey, validateSlug } from '../../../src/domain/names.ts';
import { openApiDocument } from '../../../src/http/openapi/document.ts';
import { publicRouteTable, routeTable } from '../../../src/http/routes/table.ts';
import { comment, name, secretKey, slug } from '../../../src/wire/fields.ts';
import { problem } from '../../../src/wire/problem.ts';
import { nonEmpty } from '../../support/fixtures/non-empty.ts';

interface MediaType {
  readonly example?: unknown;
  readonly schema?: { readonly $ref?: string };
}

interface Operation {
  readonly operationId: string;
  readonly summary?: string;
  readonly tags?: readonly string[];
  readonly security?: readonly unknown[];
  readonly parameters?: readonly {
    readonly name: string;
    readonly in: string;
    readonly description?: string;
    readonly example?: unknown;
    readonly schema: Parameters<typeof z.fromJSONSchema>[0];
  }[];
  readonly requestBody?: { readonly content: Record<string, MediaType> };
  readonly responses: Record<string, { readonly $ref?: string; readonly content?: Record<string, MediaType> }>;
}

const document = openApiDocument() as unknown as {
  readonly paths: Record<string, Record<string, Operation>>;
  readonly components: Record<string, Record<string, unknown>>;
};
const operations = Object.entries(document.paths).flatMap(([path, item]) =>
  Object.entries(item).map(([method, operation]) => ({ path, method: method.toUpperCase(), operation })),
);
const guarded = operations.filter(({ path }) => path.startsWith('/api/v1/'));

/** What an answer holds: a reference to the problems of its status, JSON, or nothing. */
function kindOf({ $ref, content }: Operation['responses'][string]): string {
  return $ref ?? (content === undefined ? 'nothing' : (Object.keys(content).sort()[0] ?? 'no media type'));
}

function kindWanted(status: number): string {
  if (status >= 400) return `#/components/responses/Problem${status}`;
  return [200, 201, 202].includes(status) ? 'application/json' : 'nothing';
}

const allRoutes = [...routeTable, ...publicRouteTable];

describe('the OpenAPI document', () => {
  test('has exactly the routes of the tables, the probes and downloads aside', () => {
    const listed = guarded.map(({ path, method }) => `${method} ${path}`).sort();
    expect(listed).toEqual(allRoutes.map(({ path, method }) => `${method} /api/v1${path}`).sort());
    expect(new Set(listed).size).toBe(listed.length);
  });

  test('names each operation differently, with a summary and a tag', () => {
    const ids = operations.map(({ operation }) => operation.operationId);
    expect(new Set(ids).size).toBe(ids.length);
    expect(ids.filter((id) => !/^[a-z][A-Za-z]*$/.test(id))).toEqual([]);
    for (const { operation } of nonEmpty(operations)) {
      expect(operation.summary).toMatch(/^[A-Z][^\n]*[^.]$/);
      expect(operation.tags).toHaveLength(1);
    }
  });

  test('says of every parameter what it is', () => {
    const described = guarded.flatMap(({ path, operation }) =>
      (operation.parameters ?? []).map(({ name: parameter, description }) => ({ path, parameter, description })),
    );
    expect(described.length).toBeGreaterThan(100);
    expect(described.filter(({ description }) => description === undefined)).toEqual([]);
  });

  test('gives each parameter an example that fits its schema, or none', () => {
    const shown = guarded.flatMap(({ operation }) =>
      (operation.parameters ?? []).filter(({ example }) => example !== undefined),
    );
    expect(shown.length).toBeGreaterThan(100);
    const misfits = shown.filter(({ schema, example }) => !z.fromJSONSchema(schema).safeParse(example).success);
    expect(misfits.map(({ name: parameter, example }) => `${parameter}: ${String(example)}`)).toEqual([]);
  });

  test('names the schema of each body after its operation', () => {
    const bodies = guarded.flatMap(({ operation: { operationId, requestBody } }) =>
      requestBody === undefined ? [] : [{ operationId, schema: requestBody.content['application/json']?.schema }],
    );
    expect(bodies.length).toBeGreaterThan(30);
    const wanted = bodies.map(({ operationId: id }) => `${id.charAt(0).toUpperCase()}${id.slice(1)}Request`);
    expect(bodies.map(({ schema }) => schema?.$ref)).toEqual(
      wanted.map((schemaName) => `#/components/schemas/${schemaName}`),
    );
  });

  test('has an example of every problem that fits its schema', () => {
    const { responses = {} } = document.components;
    const problems = Object.values(responses) as { content: Record<string, { example?: unknown }> }[];
    expect(problems).toHaveLength(14);
    for (const { content } of problems) {
      expect(problem.safeParse(content['application/problem+json']?.example).success).toBe(true);
    }
  });

  test.each(guarded)('has an example of $method $path', ({ path, method, operation }) => {
    const route = allRoutes.find((candidate) => candidate.method === method && `/api/v1${candidate.path}` === path);
    const inPath = (operation.parameters ?? []).filter((parameter) => parameter.in === 'path');
    expect(inPath.filter(({ example }) => example === undefined)).toEqual([]);
    const body = operation.requestBody?.content['application/json'];
    expect(route?.input.body === undefined || route.input.body.safeParse(body?.example).success).toBe(true);
    const schemas = [200, 201, 202] as const;
    const found = schemas.filter((status) => {
      const example = operation.responses[status]?.content?.['application/json']?.example;
      if (example === undefined) return false;
      expect(route?.responses[status]?.safeParse(example).error).toBeUndefined();
      return true;
    });
    const hasBody = schemas.some((status) => route?.responses[status] !== undefined);
    expect(found.length > 0).toBe(hasBody);
  });

  test.each(guarded)('describes every answer of $method $path', ({ path, method, operation }) => {
    const route = allRoutes.find((candidate) => candidate.method === method && `/api/v1${candidate.path}` === path);
    const statuses = Object.keys(operation.responses).map(Number);
    const own = Object.keys(route?.responses ?? {}).filter((status) => status !== 'events');
    expect(own.length).toBeGreaterThan(0);
    expect(statuses.filter((status) => status < 400)).toEqual(own.map(Number));
    expect(statuses).toEqual(expect.arrayContaining([400, 401, 422, 429, 500, 503]));
    expect(statuses.includes(404)).toBe(path.includes('{'));
    expect(statuses.includes(415)).toBe(operation.requestBody !== undefined);
    const kinds = Object.entries(operation.responses).map(([status, answer]) => [status, kindOf(answer)]);
    expect(kinds).toEqual(statuses.map((status) => [String(status), kindWanted(status)]));
    const inPath = (operation.parameters ?? []).filter((parameter) => parameter.in === 'path');
    expect(inPath.map((parameter) => `{${parameter.name}}`)).toEqual(path.match(/\{[a-z]+\}/gi) ?? []);
  });

  test('asks for a bearer token everywhere but at public routes, the probes and the downloads', () => {
    expect(document).toMatchObject({ security: [{ bearer: [] }] });
    const isOpen = guarded.filter(({ operation }) => operation.security !== undefined);
    expect(isOpen.map(({ path }) => path)).toEqual(publicRouteTable.map(({ path }) => `/api/v1${path}`));
    expect(isOpen.map(({ operation }) => operation.security)).toEqual(isOpen.map(() => []));
    const probes = operations.filter(({ path }) => !path.startsWith('/api/v1/'));
    expect(probes.map(({ operation }) => operation.security)).toEqual(probes.map(() => []));
  });

  test('refers to nothing that it does not have', () => {
    const references = JSON.stringify(document).matchAll(/"\$ref":"#\/components\/(\w+)\/([\w-]+)"/g);
    for (const [, kind = '', component = ''] of nonEmpty(references))
      expect(document.components[kind]).toHaveProperty(component);
    expect(JSON.stringify(document).match(/"\$ref":"(?!#\/components\/)/)).toBeNull();
  });

  test('is the committed docs/openapi.json', () => {
    const committed: unknown = JSON.parse(readFileSync(new URL('../../../docs/openapi.json', import.meta.url), 'utf8'));
    // A difference: run `npm run generate` and commit what it writes.
    expect(JSON.parse(JSON.stringify(document))).toEqual(committed);
  });
});

describe('the schema of a text says what its rule says:', () => {
  const names = fc.oneof(
    fc.string({ maxLength: 260 }),
    fc.string({ unit: 'binary', maxLength: 210 }),
    fc.stringMatching(/^[a-z0-9.-]{0,70}$/),
    fc.constantFrom(
      '',
      '.',
      '..',
      '..a',
      '...',
      '.a',
      '__proto__',
      '__proto__x',
      ' ',
      ' a ',
      '-a',
      'a-',
      '\u0085',
      '\n',
      'ü',
    ),
    fc.integer({ min: 0, max: 1100 }).map((length) => 'x'.repeat(length)),
    fc.integer({ min: 90, max: 1010 }).map((length) => '\u{1f511}'.repeat(length)),
  );
  test.each([
    ['slug', slug, validateSlug],
    ['name', name, validateName],
    ['comment', comment, validateComment],
    ['secret key', secretKey, validateSecretKey],
  ])('%s', (_name, field, fault) => {
    const { pattern = '', maxLength = Infinity } = z.toJSONSchema(field, { io: 'input' });
    const allowed = new RegExp(pattern, 'u');
    fc.assert(
      fc.property(names, (text) => {
        fc.pre(text.isWellFormed());
        expect(allowed.test(text) && Array.from(text).length <= maxLength).toBe(fault(text) === undefined);
      }),
      { numRuns: 2000 },
    );
  });
});
