import { z } from 'zod';
import { slug } from '../../wire/fields.ts';
import type { Route } from '../route.ts';

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

/** What the parameters are, by their names, where their schemas do not say so. */
const descriptions: Readonly<Record<string, string>> = {
  id: 'Its id.',
  org: "The organization's slug.",
  project: "The project's slug.",
  env: "The environment's slug.",
  user: "The person's id or e-mail address.",
  version: 'Number of the version.',
  values: '`false` leaves out the values; keys and versions alone are then read and audited.',
  prefix: 'Only keys that begin so.',
  revision: 'The state at this revision: its number or id.',
  against: '`current`, or the id of another snapshot.',
  since: 'Only what came after: a revision (number or id); in the audit, from this time on.',
  limit: 'How many to answer at most.',
  cursor: 'Where to go on: `nextCursor` of the page before.',
  action: 'Only this action, such as `secret.list`, or with a dot at its end all of a kind, such as `secret.`.',
  actor: 'Only what this person or token did, by its id.',
  actorType: 'Only what these did.',
  'If-None-Match': 'The `ETag` of what is known already; where it still holds the answer is 304.',
  'Last-Event-Id': 'Id of the last event that was received; it wins over `since`.',
};

const idempotencyKey = z
  .string()
  .regex(/^[!-~]{1,255}$/)
  .exactOptional()
  .meta({
    description: 'The request does what it asks for once, however often it is sent with this key within a day.',
  });

/** What stands in braces in a path, the query and the headers that the route looks at. */
export function parametersOf({ path, input }: Pick<Route, 'path' | 'input'>): Parameters {
  const below = objectShape(input.params);
  const names = [...path.matchAll(/\{([a-z]+)\}/gi)].map(([, name = '']) => name);
  const shape = Object.fromEntries(names.map((name) => [name, below[name] ?? targets[name] ?? z.string()]));
  const query = objectShape(input.query);
  // OpenAPI tells of Accept by the media types of the answers.
  const { accept: _accept, ...taken } = objectShape(input.headers);
  const headers = {
    ...Object.fromEntries(Object.entries(taken).map(([name, schema]) => [capitalized(name), schema])),
    ...(input.idempotencyKey === true ? { 'Idempotency-Key': idempotencyKey } : {}),
  };
  return {
    ...(names.length === 0 ? {} : { path: described(shape) }),
    ...(Object.keys(query).length === 0 ? {} : { query: described(query) }),
    ...(Object.keys(headers).length === 0 ? {} : { header: described(headers) }),
  };
}

function described(shape: Readonly<Record<string, z.ZodType>>): z.ZodObject {
  const entries = Object.entries(shape).map(([name, schema]) => {
    const description = schema.description ?? descriptions[name];
    return [name, description === undefined ? schema : schema.meta({ description })];
  });
  return z.object(Object.fromEntries(entries));
}

/** A header's name as documents write it: `If-None-Match`. */
function capitalized(name: string): string {
  return name.replaceAll(/\b[a-z]/g, (letter) => letter.toUpperCase());
}

function objectShape(schema: z.ZodType | undefined): Record<string, z.ZodType> {
  if (schema === undefined) return {};
  if (schema instanceof z.ZodObject) return schema.shape;
  throw new Error('the path and query of a route are described by an object schema');
}
