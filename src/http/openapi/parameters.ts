import { z } from 'zod';
import { slug } from '../../wire/fields.ts';
import type { Route } from '../route.ts';
import { exampleOf } from './examples.ts';

/** The parameters of a route as the OpenAPI document lists them. */
export interface Parameters {
  readonly path?: z.ZodObject;
  readonly query?: z.ZodObject;
  readonly header?: z.ZodObject;
}

const targets: Readonly<Record<string, z.ZodType>> = {
  org: slug.meta({ description: "The organization's slug." }),
  project: slug.meta({ description: "The project's slug." }),
  env: slug.meta({ description: "The environment's slug." }),
};

/** Descriptions of parameters by name, if the schema has none. */
const descriptions: Readonly<Record<string, string>> = {
  id: 'Id of the resource.',
  org: "The organization's slug.",
  project: "The project's slug.",
  env: "The environment's slug.",
  identity: 'Id of the identity.',
  passkey: 'Id of the passkey.',
  user: "The user's id or e-mail address.",
  subject: "A user's id or e-mail address, or `group:` and the name of a group of the identity provider.",
  version: 'Version number.',
  values: '`false` omits the values; then only keys and versions are read and audited.',
  prefix: 'Only keys with this prefix.',
  deleted: '`true` lists what is deleted, and not purged, instead of the rest.',
  environments: '`true` adds the environments of each project.',
  all: '`true` lists all organizations with their owners, for instance admins.',
  health:
    'Only consumers of this health: the worse of the states of the SecretSync and of its workloads (section 4.15 of docs/interface.md).',
  skipDestroyed: '`true` leaves out secrets whose value at the revision was destroyed; by default they are an error.',
  revision: 'Read the state at this revision (number or id).',
  against: '`current`, or the id of another snapshot.',
  since: 'Only later changes: after this revision (number or id), or for audit entries from this time on.',
  limit: 'Maximum number of entries.',
  cursor: '`nextCursor` of the previous page.',
  action: 'Only this action, such as `secret.list`, or all actions with a prefix, such as `secret.`.',
  actor: 'Only entries of this actor, by id.',
  actorType: 'Only entries of actors of this type.',
  'If-None-Match': '`ETag` of an earlier response; if it still matches, the response is 304.',
  'Last-Event-Id': 'Id of the last received event; takes precedence over `since`.',
};

const idempotencyKey = z
  .string()
  .regex(/^[!-~]{1,255}$/)
  .exactOptional()
  .meta({
    description: 'Within a day, repeated requests with this key make the change only once.',
  });

/** The path parameters, query parameters and headers of a route. */
export function parametersOf({ path, operation, input }: Pick<Route, 'path' | 'operation' | 'input'>): Parameters {
  const example = exampleOf(operation);
  const below = objectShape(input.params);
  const names = [...path.matchAll(/\{([a-z]+)\}/gi)].map(([, name = '']) => name);
  const shape = Object.fromEntries(names.map((name) => [name, below[name] ?? targets[name] ?? z.string()]));
  const query = objectShape(input.query);
  // OpenAPI describes Accept by the media types of the responses.
  const { accept: _accept, ...taken } = objectShape(input.headers);
  const headers = {
    ...Object.fromEntries(Object.entries(taken).map(([name, schema]) => [capitalized(name), schema])),
    ...(input.idempotencyKey === true ? { 'Idempotency-Key': idempotencyKey } : {}),
  };
  return {
    ...(names.length === 0 ? {} : { path: described(shape, example.path) }),
    ...(Object.keys(query).length === 0 ? {} : { query: described(query, example.query) }),
    ...(Object.keys(headers).length === 0 ? {} : { header: described(headers) }),
  };
}

function described(
  shape: Readonly<Record<string, z.ZodType>>,
  examples: Readonly<Record<string, unknown>> = {},
): z.ZodObject {
  const entries = Object.entries(shape).map(([name, schema]) => {
    const description = schema.description ?? descriptions[name];
    const example = examples[name];
    const param = example === undefined ? {} : { param: { example } };
    return [name, schema.meta({ ...(description === undefined ? {} : { description }), ...param })];
  });
  return z.object(Object.fromEntries(entries));
}

/** `if-none-match` → `If-None-Match`. */
function capitalized(name: string): string {
  return name.replaceAll(/\b[a-z]/g, (letter) => letter.toUpperCase());
}

function objectShape(schema: z.ZodType | undefined): Record<string, z.ZodType> {
  if (schema === undefined) return {};
  if (schema instanceof z.ZodObject) return schema.shape;
  throw new Error('the path and query of a route must have an object schema');
}
