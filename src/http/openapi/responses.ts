import type { z } from 'zod';
import { type oas31, type ZodOpenApiResponsesObject, createSchema } from 'zod-openapi';
import { httpErrors } from '../../domain/errors/http-errors.ts';
import type { PublicRoute, Route } from '../route.ts';
import { exampleOf, withExample } from './examples.ts';
import { withoutNoise } from './schemas.ts';

/** The responses of each route in the OpenAPI document. */

const problemDescriptions: Readonly<Record<number, string>> = {
  400: 'The request is malformed: its path, a body that is not JSON, or a body on a route that has none.',
  401: 'The token is missing, unknown, expired or revoked, or its scope or user was deleted.',
  403: 'The caller may see the resource, but not do this.',
  404: 'The resource does not exist, or the caller may not see it.',
  408: 'The body arrived too slowly.',
  409: 'The request conflicts with the present state; `code` and `detail` say why.',
  410: 'The requested value was destroyed.',
  412: 'The state that the request expects has changed.',
  413: 'The body is larger than the route takes.',
  415: 'The body is not `application/json` in UTF-8.',
  422: 'A field or parameter is invalid; `errors` names each.',
  429: 'Too many requests.',
  500: 'Unexpected error in the server; its log has details under the request id.',
  503: 'The server cannot serve the request at present.',
};

/** Headers that several responses share. */
export const responseHeaders = {
  'X-Request-Id': {
    description: 'Id of the request, as in the log and the audit.',
    schema: { type: 'string', format: 'uuid' },
  },
  Location: { description: 'Path of the created resource, if it can be read.', schema: { type: 'string' } },
  ETag: { description: 'For If-None-Match; changes when the response does.', schema: { type: 'string' } },
  'Idempotent-Replayed': {
    description: '`true` if an earlier request with the same Idempotency-Key made the change.',
    schema: { type: 'string', const: 'true' },
  },
  'Retry-After': { description: 'Seconds to wait.', schema: { type: 'integer', minimum: 0 } },
  'WWW-Authenticate': { description: 'The scheme to authenticate with (RFC 6750).', schema: { type: 'string' } },
} satisfies Record<string, oas31.HeaderObject>;

/** Actions that read an earlier value, which may have been destroyed. */
const destroyable: ReadonlySet<(Route | PublicRoute)['action']> = new Set([
  'secret.list',
  'secret.read',
  'version.read',
  'version.rollback',
]);

/** Actions that need no right. */
const openToAll: ReadonlySet<(Route | PublicRoute)['action']> = new Set(['me.read', 'organization.list', 'public']);

/** The statuses of the errors that a route can return. */
export function errorStatuses({ method, path, input, action }: Route | PublicRoute): readonly number[] {
  const hasTarget = path.includes('{');
  const [body, query] = [input.body, input.query].map((schema) =>
    schema === undefined ? undefined : JSON.stringify(createSchema(schema, { io: 'input' }).schema),
  );
  const expects = /"(?:expected[A-Z][A-Za-z]*|planHash)"/.test(`${body}${query}`);
  return [
    400,
    401,
    ...(openToAll.has(action) ? [] : [403]),
    ...(hasTarget ? [404] : []),
    ...(body === undefined ? [] : [408]),
    ...(method === 'GET' ? [] : [409]),
    ...(destroyable.has(action) ? [410] : []),
    ...(expects ? [412] : []),
    ...(body === undefined ? [] : [413, 415]),
    422,
    429,
    500,
    503,
  ];
}

/** The successful responses of a route and, by reference, its errors. */
export function responsesOf(
  { responses: schemas, input, operation }: Route | PublicRoute,
  errors: readonly number[],
): ZodOpenApiResponsesObject {
  const responses: Record<`${1 | 2 | 3 | 4 | 5}${string}`, ZodOpenApiResponsesObject['200']> = {};
  const example = exampleOf(operation).response;
  const etag = schemas[304] === undefined ? {} : headerRefs('ETag');
  const isReplayed = input.idempotencyKey === true ? headerRefs('Idempotent-Replayed') : {};
  const eventStream =
    schemas.events === undefined ? {} : { 'text/event-stream': { schema: eventText(schemas.events) } };
  if (schemas[200] !== undefined) {
    responses['200'] = {
      description: 'Success.',
      headers: { ...headerRefs('X-Request-Id'), ...etag, ...isReplayed },
      content: { 'application/json': withExample(schemas[200], example), ...eventStream },
    };
  }
  if (schemas[201] !== undefined) {
    responses['201'] = {
      description: 'Created.',
      headers: headerRefs('X-Request-Id', 'Location'),
      content: { 'application/json': withExample(schemas[201], example) },
    };
  }
  if (schemas[202] !== undefined) {
    responses['202'] = {
      description: 'Accepted: the user was invited, and has to accept the invitation.',
      headers: headerRefs('X-Request-Id'),
      content: { 'application/json': withExample(schemas[202], example) },
    };
  }
  if (schemas[204] !== undefined) responses['204'] = { description: 'Success.', headers: headerRefs('X-Request-Id') };
  if (schemas[304] !== undefined) {
    responses['304'] = { description: 'Not modified.', headers: { ...headerRefs('X-Request-Id'), ...etag } };
  }
  for (const status of errors) responses[`${status}` as '400'] = { $ref: `#/components/responses/Problem${status}` };
  return responses;
}

/** OpenAPI 3.1 has no schema for the events of a stream. JSON Schema describes what a text contains. */
function eventText(
  events: z.ZodType,
): oas31.SchemaObject & { readonly contentSchema: ReturnType<typeof eventSchema>['schema'] } {
  return {
    type: 'string',
    description: 'Server-sent events, if the request has `Accept: text/event-stream`. `data` is JSON on one line.',
    contentMediaType: 'text/event-stream',
    contentSchema: eventSchema(events).schema,
  };
}

/** The schema of the events of a stream, and the named schemas within it. */
export function eventSchema(events: z.ZodType): ReturnType<typeof createSchema> {
  return createSchema(events, { io: 'output', opts: { override: withoutNoise } });
}

/** The responses that errors of routes refer to: one for each status of the error catalogue. */
export function problemResponses(): Record<string, oas31.ResponseObject> {
  return Object.fromEntries(
    Object.entries(problemDescriptions).map(([status, text]) => [
      `Problem${status}`,
      {
        description: `${text} Codes: ${codesOf(Number(status)).join(', ')}.`,
        headers: headerRefs('X-Request-Id', ...(furtherHeaders[Number(status)] ?? [])),
        content: {
          'application/problem+json': {
            schema: { $ref: '#/components/schemas/Problem' },
            example: exampleProblem(Number(status), text),
          },
        },
      },
    ]),
  );
}

function exampleProblem(status: number, detail: string): object | undefined {
  const found = Object.entries(httpErrors).find(([, error]) => error.status === status);
  if (found === undefined) return undefined;
  const [code, { title }] = found;
  const instance = 'urn:uuid:5c0f6a5e-6f0b-4a0e-9d0e-0b8f7a1c2d3e';
  const errors = status === 422 ? { errors: [{ field: 'name', message: 'is required' }] } : {};
  return { type: `urn:keyframe:error:${code}`, title, status, detail, instance, code, ...errors };
}

const furtherHeaders: Readonly<Record<number, readonly (keyof typeof responseHeaders)[]>> = {
  401: ['WWW-Authenticate'],
  429: ['Retry-After'],
  503: ['Retry-After'],
};

function codesOf(status: number): string[] {
  return Object.entries(httpErrors)
    .filter(([, error]) => error.status === status)
    .map(([code]) => `\`${code}\``);
}

function headerRefs(...names: readonly (keyof typeof responseHeaders)[]): Record<string, oas31.ReferenceObject> {
  return Object.fromEntries(names.map((name) => [name, { $ref: `#/components/headers/${name}` }]));
}
