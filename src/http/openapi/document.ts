import { type ZodOpenApiOperationObject, type ZodOpenApiPathsObject, createDocument, type oas31 } from 'zod-openapi';
import { responseHeaders, errorStatuses, problemResponses, responsesOf } from './responses.ts';
import { parametersOf } from './parameters.ts';
import { namedSchemas, withoutNoise } from './schemas.ts';
import type { Route } from '../route.ts';
import { routeTable } from '../routes/table.ts';

/**
 * The OpenAPI 3.1 document of the interface, made from the route table and the zod schemas that judge requests and
 * answers. docs/openapi.json is this document; a test compares the two.
 */

export type OpenApiDocument = ReturnType<typeof createDocument>;

const description = `Secrets with a memory: versions, snapshots and scoped service tokens.

Every path below \`/api/v1\` needs \`Authorization: Bearer <token>\` with a personal token (\`kf_pat_…\`) or a service token
(\`kf_svc_…\`). What the caller may not see is answered 404 before anything else of the request is judged; what they see but
may not do, 403. Bodies and queries are refused where they hold a name that is not described here. Every error is a
problem document (RFC 9457, \`application/problem+json\`) whose \`code\` is for programs. The request's id is in the header
\`X-Request-Id\` of every answer.`;

/** The document for these routes; the whole interface unless told. */
export function openApiDocument(table: readonly Route[] = routeTable): OpenApiDocument {
  const paths: ZodOpenApiPathsObject = {};
  for (const [path, routes] of Map.groupBy(table, (route) => route.path)) {
    paths[`/api/v1${path}`] = Object.fromEntries(
      routes.map((route) => [route.method.toLowerCase(), operationOf(route)]),
    );
  }
  const tags = [...new Set(table.map(tagOf))].map((name) => ({ name }));
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
    tags: [...tags, { name: 'Health' }, { name: 'Command' }],
    paths: { ...paths, ...probePaths, ...downloadPaths },
    components: {
      securitySchemes: { bearer: { type: 'http', scheme: 'bearer', description: 'A personal or a service token.' } },
      schemas: namedSchemas,
      responses: problemResponses(),
      headers: responseHeaders,
    },
  };
  return createDocument(content, { override: withoutNoise });
}

function operationOf(route: Route): ZodOpenApiOperationObject {
  const { body } = route.input;
  return {
    operationId: route.operation,
    summary: route.summary,
    tags: [tagOf(route)],
    requestParams: parametersOf(route),
    ...(body === undefined
      ? {}
      : {
          requestBody: {
            required: !body.safeParse(undefined).success,
            content: { 'application/json': { schema: body } },
          },
        }),
    responses: responsesOf(route, errorStatuses(route)),
  };
}

/** `service-tokens` → `Service tokens`: the resource that the path begins with. */
function tagOf({ path }: Route): string {
  const [, resource = ''] = path.split('/');
  const words = resource.replaceAll('-', ' ');
  return words.charAt(0).toUpperCase() + words.slice(1);
}

const probeBody = (status: string): oas31.SchemaObject => ({
  type: 'object',
  properties: { status: { const: status }, ...(status === 'ok' ? {} : { reason: { type: 'string' } }) },
  required: ['status'],
});
const probeAnswer = (text: string, status = 'ok'): oas31.ResponseObject => ({
  description: text,
  content: { 'application/json': { schema: probeBody(status) } },
});
const probePaths: ZodOpenApiPathsObject = {
  '/healthz': {
    get: {
      operationId: 'checkHealth',
      summary: 'Tell that the process answers',
      tags: ['Health'],
      security: [],
      responses: { 200: probeAnswer('It answers.') },
    },
  },
  '/readyz': {
    get: {
      operationId: 'checkReadiness',
      summary: 'Tell whether the server can serve',
      tags: ['Health'],
      security: [],
      responses: { 200: probeAnswer('It can.'), 503: probeAnswer('It cannot at present.', 'unavailable') },
    },
  },
};

const unchanged = 'It is what the caller has already, by If-None-Match.';
const withoutCommand = { $ref: '#/components/responses/Problem404' };
const downloadPaths: ZodOpenApiPathsObject = {
  '/cli': {
    get: {
      operationId: 'downloadCommand',
      summary: 'Download the keyframe command, one file for Node.js 24 or newer',
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
          content: { 'text/plain': { schema: { type: 'string', pattern: '^[0-9a-f]{64}  keyframe\n$' } } },
        },
        304: { description: unchanged },
        404: withoutCommand,
      },
    },
  },
};
