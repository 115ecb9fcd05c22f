import type { z } from 'zod';
import { type ZodOpenApiOperationObject, type ZodOpenApiPathsObject, createDocument, type oas31 } from 'zod-openapi';
import { eventSchema, responseHeaders, errorStatuses, problemResponses, responsesOf } from './responses.ts';
import { parametersOf } from './parameters.ts';
import { withoutNoise } from './schemas.ts';
import { needsRecentSignIn } from '../../domain/recent-sign-in.ts';
import type { PublicRoute, Route } from '../route.ts';
import { type BodyLimits, bodyLimits, sizeText } from '../../wire/contract/body-limits.ts';
import { exampleOf, withExample } from './examples.ts';
import { describedTag, tagOf } from './tags.ts';
import { problem } from '../../wire/problem.ts';
import { publicRouteTable, routeTable } from '../routes/table.ts';

/**
 * The OpenAPI 3.1 document of the interface, made from the route table and the zod schemas of requests and responses.
 * docs/openapi.json is this document; a test compares the two.
 */

export type OpenApiDocument = ReturnType<typeof createDocument>;

const description = `Secrets with versions, snapshots and scoped service tokens.

Every path below \`/api/v1\` but \`/sign-in\` requires \`Authorization: Bearer <token>\` with a personal token (\`kf_pat_…\`) or a service token
(\`kf_svc_…\`). A resource that the caller may not see returns 404 before the rest of the request is checked. An action that
the caller may not do on a visible resource returns 403. Names in bodies and queries that are not described here are
refused. Every error is a problem document (RFC 9457, \`application/problem+json\`) whose \`code\` is for programs. The header
\`X-Request-Id\` of every response has the id of the request.`;

/** The document for these routes; the whole interface by default. */
export function openApiDocument(
  table: readonly (Route | PublicRoute)[] = [...routeTable, ...publicRouteTable],
): OpenApiDocument {
  const paths: ZodOpenApiPathsObject = {};
  for (const [path, routes] of Map.groupBy(table, (route) => route.path)) {
    paths[`/api/v1${path}`] = Object.fromEntries(
      routes.map((route) => [route.method.toLowerCase(), operationOf(route)]),
    );
  }
  const tags = [...new Set([...table.map(tagOf), 'Health', 'Command'])].map(describedTag);
  const content: Parameters<typeof createDocument>[0] = {
    openapi: '3.1.0',
    info: {
      title: 'Keyframe',
      version: 'v1',
      description,
      license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
    },
    servers: [{ url: '/' }],
    security: [{ bearer: [] }],
    tags,
    paths: { ...paths, ...probePaths, ...downloadPaths },
    components: {
      securitySchemes: { bearer: { type: 'http', scheme: 'bearer', description: 'A personal or a service token.' } },
      schemas: { Problem: problem, ...eventSchemas(table) },
      responses: problemResponses(),
      headers: responseHeaders,
    },
  };
  return createDocument(content, { override: withoutNoise });
}

/** The schemas of server-sent events, to which responses refer by name. */
function eventSchemas(table: readonly (Route | PublicRoute)[]): ReturnType<typeof eventSchema>['components'] {
  const events = table.flatMap(({ responses }) => responses.events ?? []);
  return Object.fromEntries(events.flatMap((schema) => Object.entries(eventSchema(schema).components)));
}

function operationOf(route: Route | PublicRoute): ZodOpenApiOperationObject {
  const { body } = route.input;
  return {
    operationId: route.operation,
    summary: route.summary,
    ...signInNote(route),
    tags: [tagOf(route)],
    ...(route.action === 'public' ? { security: [] } : {}),
    requestParams: parametersOf(route),
    ...(body === undefined
      ? {}
      : {
          requestBody: {
            description: limitsText(route.input.bodyLimits),
            required: !body.safeParse(undefined).success,
            content: { 'application/json': withExample(namedBody(body, route), exampleOf(route.operation).body) },
          },
        }),
    responses: responsesOf(route, errorStatuses(route)),
  };
}

/** Code generators name a type after it: `PatchSecretsRequest`. */
function namedBody(body: z.ZodType, { operation }: Pick<Route, 'operation'>): z.ZodType {
  return body.meta({ ...body.meta(), id: `${operation.charAt(0).toUpperCase()}${operation.slice(1)}Request` });
}

function limitsText({ maxBytes, maxEntries }: BodyLimits = bodyLimits.usual): string {
  return `At most ${sizeText(maxBytes)}, and ${maxEntries} fields and list entries.`;
}

const signInNotes = {
  always: { description: 'In a session it needs a recent sign-in.' },
  by_input: {
    description: 'In a session it may need a recent sign-in: section 5 of docs/interface.md names the requests.',
  },
  never: {},
} as const;

function signInNote({ action }: Pick<Route, 'action'> | Pick<PublicRoute, 'action'>): {
  readonly description?: string;
} {
  return action in needsRecentSignIn ? signInNotes[needsRecentSignIn[action as keyof typeof needsRecentSignIn]] : {};
}

const probeBody = (status: string): oas31.SchemaObject => ({
  type: 'object',
  properties: { status: { const: status }, ...(status === 'ok' ? {} : { reason: { type: 'string' } }) },
  required: ['status'],
});
const probeExample = (status: string): object =>
  status === 'ok' ? { status } : { status, reason: 'the database cannot be reached' };
const probeResponse = (text: string, status = 'ok'): oas31.ResponseObject => ({
  description: text,
  content: { 'application/json': { schema: probeBody(status), example: probeExample(status) } },
});
const probePaths: ZodOpenApiPathsObject = {
  '/healthz': {
    get: {
      operationId: 'checkHealth',
      summary: 'Check that the process runs',
      tags: ['Health'],
      security: [],
      responses: { 200: probeResponse('The process runs.') },
    },
  },
  '/readyz': {
    get: {
      operationId: 'checkReadiness',
      summary: 'Check that the server can serve requests',
      tags: ['Health'],
      security: [],
      responses: {
        200: probeResponse('The server can serve requests.'),
        503: probeResponse('The server cannot serve requests at present.', 'unavailable'),
      },
    },
  },
};

const unchanged = 'Not modified: If-None-Match matches.';
const withoutCommand = { $ref: '#/components/responses/Problem404' };
const downloadPaths: ZodOpenApiPathsObject = {
  '/cli': {
    get: {
      operationId: 'downloadCommand',
      summary: 'Download the keyframe command, one file for Node.js 20.16 or newer',
      tags: ['Command'],
      security: [],
      responses: {
        200: { description: 'The program.', content: { 'application/octet-stream': {} } },
        304: { description: unchanged },
        404: withoutCommand,
      },
    },
  },
  '/cli.sha256': {
    get: {
      operationId: 'downloadCommandChecksum',
      summary: 'Download the checksum of the keyframe command',
      tags: ['Command'],
      security: [],
      responses: {
        200: {
          description: 'A line for `sha256sum --check`.',
          content: {
            'text/plain': {
              schema: { type: 'string', pattern: '^[0-9a-f]{64}  keyframe\n$' },
              example: `${'5c0f6a5e'.repeat(8)}  keyframe\n`,
            },
          },
        },
        304: { description: unchanged },
        404: withoutCommand,
      },
    },
  },
};
