import { z } from 'zod';
import { slug } from '../wire/fields.ts';
import type { Route } from './route.ts';

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

const idempotencyKey = z
  .string()
  .regex(/^[!-~]{1,255}$/)
  .exactOptional()
  .meta({
    description: 'The request does what it asks for once, however often it is sent with this key within a day.',
  });

/** What stands in braces in a path, the query and the headers that the route looks at. */
export function parametersOf({ path, takes }: Pick<Route, 'path' | 'takes'>): Parameters {
  const below = objectShape(takes.params);
  const names = [...path.matchAll(/\{([a-z]+)\}/gi)].map(([, name = '']) => name);
  const shape = Object.fromEntries(names.map((name) => [name, below[name] ?? targets[name] ?? z.string()]));
  const query = objectShape(takes.query);
  // OpenAPI tells of Accept by the media types of the answers.
  const { accept: _accept, ...taken } = objectShape(takes.headers);
  const headers = {
    ...Object.fromEntries(Object.entries(taken).map(([name, schema]) => [capitalized(name), schema])),
    ...(takes.idempotencyKey === true ? { 'Idempotency-Key': idempotencyKey } : {}),
  };
  return {
    ...(names.length === 0 ? {} : { path: z.object(shape) }),
    ...(Object.keys(query).length === 0 ? {} : { query: z.object(query) }),
    ...(Object.keys(headers).length === 0 ? {} : { header: z.object(headers) }),
  };
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
