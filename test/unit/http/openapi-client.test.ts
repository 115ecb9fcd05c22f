import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { type JSONSchema, compile } from 'json-schema-to-typescript';
import { openApiDocument } from '../../../src/http/openapi/document.ts';
import { checkoutDirectory } from '../../../tools/checkout.ts';

/** What a client that is generated from the OpenAPI document knows: the compiler checks code that uses its types. */

interface Parameter {
  readonly name: string;
  readonly in: string;
  readonly required?: boolean;
  readonly schema: object;
}

interface Operation {
  readonly operationId: string;
  readonly parameters?: readonly Parameter[];
  readonly responses: Record<string, { readonly content?: Record<string, { readonly schema?: object }> }>;
}

const folder = mkdtempSync(join(tmpdir(), 'keyframe-client-'));
const document = openApiDocument() as unknown as {
  readonly paths: Record<string, Record<string, Operation>>;
  readonly components: { readonly schemas: Record<string, object> };
};
const operations = Object.values(document.paths).flatMap((item) => Object.values(item));

const objectOf = (properties: Record<string, object>, required: readonly string[]): object => ({
  type: 'object',
  properties,
  required,
  additionalProperties: false,
});

function queryOf({ parameters = [] }: Operation): object {
  const query = parameters.filter((parameter) => parameter.in === 'query');
  const required = query.filter((parameter) => parameter.required === true).map(({ name }) => name);
  return objectOf(Object.fromEntries(query.map(({ name, schema }) => [name, schema])), required);
}

/** The types of all named schemas, of each operation's response (`Responses`) and of its query (`Queries`). */
async function clientTypes(): Promise<string> {
  const responses = operations.flatMap(({ operationId, responses: { 200: ok, 201: created } }) => {
    const schema = (ok ?? created)?.content?.['application/json']?.schema;
    return schema === undefined ? [] : [[operationId, schema] as const];
  });
  const queries = operations.map((operation) => [operation.operationId, queryOf(operation)] as const);
  const parts = {
    Responses: objectOf(
      Object.fromEntries(responses),
      responses.map(([name]) => name),
    ),
    Queries: objectOf(
      Object.fromEntries(queries),
      queries.map(([name]) => name),
    ),
  };
  const root = { ...objectOf({}, []), $defs: { ...document.components.schemas, ...parts } };
  const text = JSON.stringify(root).replaceAll('#/components/schemas/', '#/$defs/');
  return await compile(JSON.parse(text) as JSONSchema, 'Client', {
    additionalProperties: false,
    unreachableDefinitions: true,
    strictIndexSignatures: true,
    format: false,
  });
}

/** Code that uses the types, and the compiler's error; undefined if there must be none. */
const uses: readonly (readonly [name: string, source: string, error: string | undefined])[] = [
  [
    'the list of secrets is one type',
    `export function values({ secrets, revisionId }: api.Responses['listSecrets']): [string, string][] {
      const list: api.SecretList = { secrets, revision: 1, revisionId };
      return list.secrets.map(({ key, value = '' }) => [key, value]);
    }`,
    undefined,
  ],
  [
    'a secret in the list may have no value',
    `export const value = (list: api.SecretList): string => list.secrets[0]!.value;`,
    `Type 'string | undefined' is not assignable to type 'string'.`,
  ],
  [
    'a query takes booleans and numbers',
    `export const query: api.Queries['listSecrets'] = { values: false, revision: 7 };`,
    undefined,
  ],
  [
    'a query takes no text for a boolean',
    `export const query: api.Queries['listSecrets'] = { values: 'false' };`,
    `Type 'string' is not assignable to type 'boolean'.`,
  ],
  [
    'the name of a streamed event decides its fields',
    `export function place(event: api.ChangeStreamEvent): string | undefined {
      if (event.event === 'ready') return event.id;
      const id: string = event.id;
      return event.event === 'change' ? event.data.keys.map(({ key }) => key).join() : id;
    }`,
    undefined,
  ],
  [
    'only a change has keys',
    `export const keys = ({ data }: api.ReadyEvent) => data.keys;`,
    `Property 'keys' does not exist on type '{ revision: number; revisionId: string; }'.`,
  ],
  [
    'the type of the caller decides its fields',
    `export const scope = (me: api.Responses['getMe']): string =>
      me.type === 'user' ? me.organizations.map(({ role }) => role).join() : me.scope;`,
    undefined,
  ],
];
let output: string;

beforeAll(async () => {
  writeFileSync(join(folder, 'client.ts'), await clientTypes());
  for (const [index, [, source]] of uses.entries()) {
    writeFileSync(join(folder, `use${index}.ts`), `import type * as api from './client.ts';\n${source}`);
  }
  const tsc = join(checkoutDirectory, 'node_modules', 'typescript', 'bin', 'tsc');
  const options = [
    '--noEmit',
    '--strict',
    '--exactOptionalPropertyTypes',
    '--allowImportingTsExtensions',
    '--pretty',
    'false',
  ];
  const files = uses.map((_, index) => `use${index}.ts`);
  output = spawnSync(process.execPath, [tsc, ...options, '--types', '', ...files], {
    cwd: folder,
    encoding: 'utf8',
  }).stdout;
});

afterAll(() => rmSync(folder, { recursive: true }));

test.each(uses.map(([name, , error], index) => ({ name, error, file: `use${index}.ts` })))(
  '$name',
  ({ error, file }) => {
    const errors = output.split('\n').filter((line) => line.startsWith(file));
    expect(errors.map((line) => line.replace(/^.*?: error TS\d+: /, ''))).toEqual(error === undefined ? [] : [error]);
  },
);

test('every response is a named type', () => {
  const inline = operations.flatMap(({ operationId, responses }) =>
    ['200', '201']
      .map((status) => responses[status]?.content?.['application/json']?.schema)
      .filter((schema) => schema !== undefined && !('$ref' in schema))
      .map(() => operationId),
  );
  expect(inline).toEqual(['checkHealth', 'checkReadiness']);
});
