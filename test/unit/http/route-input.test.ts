import { describe, expect, test } from '@jest/globals';
import { DomainError } from '../../../src/domain/errors/domain-error.ts';
import { openApiDocument } from '../../../src/http/openapi/document.ts';
import type { Call } from '../../../src/http/route.ts';
import { isRepeated, naughtyStrings } from '../../support/api/naughty-strings.ts';
import { type Kind, kinds } from '../wire/field-kinds.ts';
import { allRoutes, type AnyRoute, callOf, openServices, paramsOf } from './route-calls.ts';

/**
 * Every route uses the schemas of its input: each field that the OpenAPI document lists is refused by its name when it is
 * wrong for its kind, and so is what the document does not list. What each kind takes is in test/unit/wire/field-kinds.ts.
 */

interface FieldSchema {
  readonly type?: string;
  readonly properties?: Readonly<Record<string, FieldSchema>>;
  readonly required?: readonly string[];
  readonly items?: FieldSchema;
}

interface Operation {
  readonly parameters?: readonly { readonly name: string; readonly in: string }[];
  readonly requestBody?: {
    readonly content: Record<string, { readonly schema: { readonly $ref: string }; readonly example: unknown }>;
  };
}

const { paths, components } = openApiDocument() as unknown as {
  readonly paths: Record<string, Record<string, Operation>>;
  readonly components: { readonly schemas: Record<string, FieldSchema> };
};

function operationOf({ method, path }: AnyRoute): Operation {
  return paths[`/api/v1${path}`]?.[method.toLowerCase()] ?? {};
}

type Json = Record<string, unknown>;

/** A field of a body, and where it is. */
interface Field {
  readonly path: readonly string[];
  readonly schema: FieldSchema;
  readonly isRequired: boolean;
}

function fieldsOf({ properties = {}, required = [] }: FieldSchema, above: readonly string[] = []): Field[] {
  return Object.entries(properties).flatMap(([name, schema]) => {
    const path = [...above, name];
    return [{ path, schema, isRequired: required.includes(name) }, ...fieldsOf(schema, path)];
  });
}

const bodies = allRoutes.flatMap((route) => {
  const content = operationOf(route).requestBody?.content['application/json'];
  if (content === undefined) return [];
  const schema = components.schemas[content.schema.$ref.replace('#/components/schemas/', '')] ?? {};
  return [{ operation: route.operation, route, schema, example: content.example }];
});
const fields = bodies.flatMap(({ route, schema, example }) =>
  fieldsOf(schema).map((field) => ({ name: `${route.operation}, ${field.path.join('.')}`, route, example, ...field })),
);

/** Optional objects that the first example of a route lacks. */
const optionalObjects: Json = { federation: { issuer: 'github', claims: { sub: ['ci'] } } };

/** The example of a body with one field changed. */
function bodyWith(example: unknown, path: readonly string[], value: unknown): Json {
  const body = structuredClone(example ?? {}) as Json;
  let place = body;
  for (const step of path.slice(0, -1)) place = (place[step] ??= structuredClone(optionalObjects[step] ?? {})) as Json;
  // As JSON.parse does it, also for __proto__.
  const name = path.at(-1) ?? '';
  if (value === undefined) delete place[name];
  else Object.defineProperty(place, name, { value, enumerable: true, configurable: true, writable: true });
  return body;
}

/** How a route refuses its input; undefined if it takes it. */
async function refusalOf(route: AnyRoute, given: Partial<Call>): Promise<DomainError | undefined> {
  try {
    await route.run(callOf(route, given), openServices);
  } catch (error) {
    // Services that do nothing return nothing that could be shown.
    if (error instanceof DomainError) return error;
  }
  return undefined;
}

/** The fields for which a route refuses its input, or the code of another refusal; undefined if it takes it. */
async function faultsOf(route: AnyRoute, given: Partial<Call>): Promise<string[] | undefined> {
  const refusal = await refusalOf(route, given);
  return refusal?.code === 'invalid_input' ? refusal.fields.map(({ field }) => field) : refusal && [refusal.code];
}

const withBody = (body: unknown): Partial<Call> => ({ body: () => Promise.resolve(body) });
const withQuery = (query: Record<string, string>): Partial<Call> => ({ query: () => query });
const withParam = (route: AnyRoute, name: string, text: string): Partial<Call> => ({
  params: { ...callOf(route).params, [name]: text },
});

/** The names in a path that are input. Those of the target are judged by access. */
function inputParams(route: AnyRoute): string[] {
  const shape = route.input.params === undefined ? {} : (route.input.params as unknown as { shape: object }).shape;
  return paramsOf(route).filter((name) => name in shape);
}

const params = allRoutes.flatMap((route) =>
  inputParams(route).map((param) => ({ name: `${route.operation}, ${param}`, route, param })),
);
const parameters = allRoutes.flatMap((route) =>
  (operationOf(route).parameters ?? [])
    .filter((parameter) => parameter.in === 'query')
    .map((parameter) => ({ name: `${route.operation}, ${parameter.name}`, route, parameter: parameter.name })),
);

test('the lists that follow are those of the document', () => {
  expect(bodies.length).toBe(allRoutes.filter(({ input }) => input.body !== undefined).length);
  expect([fields.length, params.length, parameters.length].every((count) => count > 40)).toBe(true);
});

type KindName = keyof typeof kinds;

/** The kinds of texts by the names of their fields and, where a name has several kinds, of their operation. */
const kindsOfBodies: Readonly<Record<string, KindName>> = {
  comment: 'comment',
  description: 'comment',
  displayName: 'name',
  email: 'e-mail address',
  environment: 'slug',
  environmentId: 'id',
  expectedRevision: 'id',
  expectedVersion: 'expected version',
  expiresAt: 'time',
  issuer: 'name of a cluster',
  name: 'name',
  namePrefix: 'name',
  planHash: 'hash of a plan',
  project: 'slug',
  projectId: 'id',
  revision: 'revision in a body',
  slug: 'slug',
  snapshotId: 'id',
  targetVersion: 'version',
  user: 'user',
  value: 'secret value',
};
const kindsOfPaths: Readonly<Record<string, KindName>> = {
  env: 'slug',
  id: 'id',
  identity: 'id',
  key: 'secret key',
  name: 'name of a cluster',
  org: 'slug',
  passkey: 'id',
  project: 'slug',
  revision: 'revision in a query',
  subject: 'subject of a role',
  user: 'user',
  version: 'version in a path',
};
const kindsOfQueries: Readonly<Record<string, KindName>> = {
  actor: 'id',
  all: 'yes or no in a query',
  deleted: 'yes or no in a query',
  environments: 'yes or no in a query',
  force: 'yes or no in a query',
  limit: 'limit of a page',
  plan: 'yes or no in a query',
  prefix: 'prefix of keys',
  revision: 'revision in a query',
  'listChanges, since': 'revision in a query',
  'listAuditEntries, since': 'time',
  'listInstanceAuditEntries, since': 'time',
  skipDestroyed: 'yes or no in a query',
  values: 'yes or no in a query',
};

/** What a field of this kind takes. */
function takenBy(kind: KindName | undefined): unknown[] {
  return kind === undefined ? [] : (kinds[kind] as Kind).takes.map(([input]) => input);
}

/** What a field of this kind refuses. */
function refusedBy(kind: KindName | undefined): unknown[] {
  return kind === undefined ? [] : (kinds[kind] as Kind).refuses.map(([input]) => input);
}

/** Enumerations, flags and what one route alone has: test/unit/wire/wire.test.ts and the tests of sign-ins and issuers have those. */
const ofOneRoute: readonly string[] = [
  'actorType',
  'action',
  'against',
  'attestationObject',
  'authenticatorData',
  'ca',
  'clientDataJSON',
  'cluster',
  'code',
  'codeChallenge',
  'codeVerifier',
  'cursor',
  'expectedVersion',
  'health',
  'id',
  'jwt',
  'iss',
  'jwksUrl',
  'link',
  'mode',
  'permission',
  'preset',
  'reason',
  'role',
  'scope',
  'signature',
  'subject',
  'timeZone',
  'uid',
  'userCode',
  'userHandle',
];

describe('the body of a route', () => {
  test.each(bodies)('$operation: takes its example', async ({ route, example }) => {
    expect(await faultsOf(route, withBody(example))).toBeUndefined();
  });

  test.each(bodies)('$operation: must be an object', async ({ route }) => {
    for (const body of [[], 'text', 1, true]) expect(await faultsOf(route, withBody(body))).toEqual(['body']);
  });

  test.each(bodies)('$operation: has no other fields', async ({ route, schema, example }) => {
    const objects = fieldsOf(schema).filter((field) => field.schema.properties !== undefined);
    for (const path of [[], ...objects.map((field) => field.path)]) {
      const faults = await faultsOf(route, withBody(bodyWith(example, [...path, 'unexpected'], 1)));
      expect(faults).toContain([...path, 'unexpected'].join('.'));
    }
  });

  test.each(fields)('$name: is refused if of another type', async ({ route, example, path, schema }) => {
    const wrong = schema.type === 'object' ? [] : {};
    expect(await faultsOf(route, withBody(bodyWith(example, path, wrong)))).toEqual([path.join('.')]);
  });

  test.each(fields.filter(({ isRequired }) => isRequired))('$name: is required', async ({ route, example, path }) => {
    expect(await faultsOf(route, withBody(bodyWith(example, path, undefined)))).toContain(path.join('.'));
  });

  const kindOf = (path: readonly string[]): KindName | undefined => kindsOfBodies[path.at(-1) ?? ''];
  test.each(fields.filter(({ path }) => kindOf(path) !== undefined))(
    '$name: takes no more than its kind',
    async ({ route, example, path }) => {
      for (const wrong of refusedBy(kindOf(path))) {
        // Null removes a display name.
        if (wrong === null) continue;
        const faults = await faultsOf(route, withBody(bodyWith(example, path, wrong)));
        expect([wrong, faults]).toEqual([wrong, [path.join('.')]]);
      }
    },
  );

  test.each(fields.filter(({ path }) => kindOf(path) !== undefined))(
    '$name: takes all that its kind takes',
    async ({ route, example, path }) => {
      for (const right of takenBy(kindOf(path))) {
        const faults = await faultsOf(route, withBody(bodyWith(example, path, right)));
        expect([right, faults]).not.toEqual([right, expect.arrayContaining([path.join('.')])]);
      }
    },
  );

  test('has fields of known kinds only', () => {
    const texts = fields.filter(({ path, schema }) => schema.type === 'string' && kindOf(path) === undefined);
    expect(texts.map(({ path }) => path.at(-1)).filter((name = '') => !ofOneRoute.includes(name))).toEqual([]);
  });

  const bodyless = allRoutes.filter(({ input }) => input.body === undefined);
  test.each(bodyless)('$operation: is refused', async (route) => {
    const refused = new Error('refused');
    const refuseBody = (): never => {
      throw refused;
    };
    await expect(route.run(callOf(route, { refuseBody }), openServices)).rejects.toBe(refused);
  });
});

describe('the query of a route', () => {
  test.each(allRoutes)('$operation: has no other parameters', async (route) => {
    expect(await faultsOf(route, withQuery({ unexpected: '1' }))).toEqual(['unexpected']);
  });

  const kindOf = (name: string, parameter: string): KindName | undefined =>
    kindsOfQueries[name] ?? kindsOfQueries[parameter];
  test.each(parameters.filter(({ name, parameter }) => kindOf(name, parameter) !== undefined))(
    '$name: takes no more than its kind',
    async ({ name, route, parameter }) => {
      for (const wrong of refusedBy(kindOf(name, parameter))) {
        const faults = await faultsOf(route, withQuery({ [parameter]: wrong as string }));
        expect([wrong, faults]).toEqual([wrong, [parameter]]);
      }
    },
  );

  test.each(parameters.filter(({ name, parameter }) => kindOf(name, parameter) !== undefined))(
    '$name: takes all that its kind takes',
    async ({ name, route, parameter }) => {
      for (const right of takenBy(kindOf(name, parameter))) {
        const faults = await faultsOf(route, withQuery({ [parameter]: right as string }));
        expect([right, faults]).not.toEqual([right, expect.arrayContaining([parameter])]);
      }
    },
  );

  test('has parameters of known kinds only', () => {
    const others = parameters.filter(({ name, parameter }) => kindOf(name, parameter) === undefined);
    expect(others.map(({ parameter }) => parameter).filter((name) => !ofOneRoute.includes(name))).toEqual([]);
  });
});

describe('what a path names', () => {
  test.each(params)('$name: is taken if it can be one', async ({ route, param }) => {
    for (const text of takenBy(kindsOfPaths[param]) as string[]) {
      expect([text, await faultsOf(route, withParam(route, param, text))]).not.toEqual([
        text,
        expect.arrayContaining([param]),
      ]);
    }
  });

  test.each(params)('$name: is refused if it can be none', async ({ route, param }) => {
    const wrong = refusedBy(kindsOfPaths[param]) as string[];
    expect(wrong.length).toBeGreaterThan(0);
    for (const text of wrong) {
      expect([text, await faultsOf(route, withParam(route, param, text))]).toEqual([text, [param]]);
    }
  });
});

/** Expects each naughty string to be taken, or to be refused by the name of its field without being repeated. */
async function expectNamed(route: AnyRoute, give: (text: string) => Partial<Call>, field: string): Promise<void> {
  for (const [what, text] of naughtyStrings) {
    const refusal = await refusalOf(route, give(text));
    if (refusal === undefined) continue;
    const { code, detail, fields: named } = refusal;
    const shown = JSON.stringify([detail, named]);
    expect([what, code, named.map((one) => one.field)]).toEqual([what, 'invalid_input', [field]]);
    expect([what, isRepeated(shown, text)]).toEqual([what, false]);
  }
}

describe('a naughty string is refused by its field’s name and never repeated, or taken, in', () => {
  // What the known kinds make of them is in test/unit/wire/fields.test.ts.
  const isOther = (name: string | undefined): boolean => ofOneRoute.includes(name ?? '');

  test.each(fields.filter(({ path, schema }) => isOther(path.at(-1)) && schema.items === undefined))(
    '$name',
    async ({ route, example, path }) => {
      await expectNamed(route, (text) => withBody(bodyWith(example, path, text)), path.join('.'));
    },
  );

  test.each(fields.filter(({ schema }) => schema.items !== undefined))('$name', async ({ route, example, path }) => {
    await expectNamed(route, (text) => withBody(bodyWith(example, path, [text])), [...path, '0'].join('.'));
  });

  test.each(parameters.filter(({ parameter }) => isOther(parameter)))('$name', async ({ route, parameter }) => {
    await expectNamed(route, (text) => withQuery({ [parameter]: text }), parameter);
  });
});

describe('a naughty string as a name is refused as no field, and shown only if it looks like a name:', () => {
  async function expectShownNames(route: AnyRoute, give: (name: string) => Partial<Call>): Promise<void> {
    for (const [what, text] of naughtyStrings) {
      const refusal = await refusalOf(route, give(text));
      const shown = /^[A-Za-z0-9._-]{1,253}$/.test(text) ? text : '(unprintable name)';
      const found = refusal?.fields.map(({ field }) => field);
      expect([route.operation, what, found]).toEqual([route.operation, what, [shown]]);
      expect([what, isRepeated(JSON.stringify([refusal?.detail, refusal?.fields]), text)]).toEqual([what, false]);
    }
  }

  test('in each body', async () => {
    for (const { route, example } of bodies)
      await expectShownNames(route, (name) => withBody(bodyWith(example, [name], 1)));
  });

  test('in each query', async () => {
    for (const route of allRoutes) {
      await expectShownNames(route, (name) => withQuery(Object.fromEntries([[name, '1']])));
    }
  });
});
