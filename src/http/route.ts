import { z } from 'zod';
import type {
  EnvironmentAction,
  InstanceAction,
  OrganizationAction,
  PersonAction,
  ProjectAction,
} from '../domain/policy.ts';
import type { Caller } from '../domain/principal.ts';
import type {
  EnvironmentAccess,
  InstanceAccess,
  OrganizationAccess,
  PersonAccess,
  ProjectAccess,
} from '../services/access/access.ts';
import type { IdempotencyRequest } from '../services/change/once.ts';
import type { ReadRoom } from '../services/secrets/read-sizes.ts';
import type { Endpoint, InputSchemas, ResponseSchemas } from '../wire/contract/endpoint.ts';
import { parseInput } from '../wire/parse-input.ts';
import type { HttpServices } from './http-services.ts';
import { type BodyLimits, bodyLimits } from '../wire/contract/body-limits.ts';
import {
  checkIdempotencyKey,
  idempotencyHeader,
  idempotencyRequest,
  unsupportedIdempotencyKey,
} from './request/idempotency.ts';
import { refuseConditionalChange } from './request/preconditions.ts';

/**
 * Routes are data: an endpoint of the contract, its action, and the handler. The builders below fix the order in which a
 * request is checked, so that no route can get it wrong: the target first (404, 403), then path, query and body (400, 413,
 * 415, 422), then the service.
 */

/** Actions that every caller may do, because they return only data about the caller. */
type SelfAction = 'me.read' | 'organization.list';
type RouteAction = SelfAction | PersonAction | InstanceAction | OrganizationAction | ProjectAction | EnvironmentAction;

/** Further headers of a response, such as ETag. */
interface WithHeaders {
  readonly headers?: Readonly<Record<string, string>>;
}

/** Text of server-sent events. The signal aborts when the caller disconnects or the server stops. */
export type EventStream = (signal: AbortSignal) => AsyncIterable<string>;

/** What a handler returns. `location` is the path of the created resource, if it can be read. */
export type RouteResponse = WithHeaders &
  (
    | { readonly status: 200; readonly body: object }
    | { readonly status: 200; readonly stream: EventStream }
    | { readonly status: 201; readonly body: object; readonly location?: string }
    | { readonly status: 202; readonly body: object }
    | { readonly status: 204 }
    | { readonly status: 304 }
  );

/** The results that fit the `responses` of a route: each body must match the schema of its status. */
type ResponseFor<A extends ResponseSchemas> = WithHeaders &
  (
    | (A[200] extends z.ZodType ? { readonly status: 200; readonly body: z.output<A[200]> } : never)
    | (A['events'] extends z.ZodType ? { readonly status: 200; readonly stream: EventStream } : never)
    | (A[201] extends z.ZodType
        ? { readonly status: 201; readonly body: z.output<A[201]>; readonly location?: string }
        : never)
    | (A[202] extends z.ZodType ? { readonly status: 202; readonly body: z.output<A[202]> } : never)
    | (A[204] extends null ? { readonly status: 204 } : never)
    | (A[304] extends null ? { readonly status: 304 } : never)
  );

/** A request of any client, as a route sees it. */
export interface PublicCall {
  readonly requestId: string;
  readonly sourceAddress: string | null;
  /** Where the client reached this server, such as `https://keyframe.example.com`. */
  readonly origin: string;
  /** The decoded path parameters. */
  readonly params: Readonly<Record<string, string>>;
  /** The names and values of the query. Throws DomainError invalid_input if a name is repeated. */
  query(): Record<string, string>;
  /** The value of a request header, by its lower-case name. */
  header(name: string): string | undefined;
  /** The JSON body; undefined if an optional body is absent or empty. */
  body(options: { readonly isOptional: boolean; readonly limits: BodyLimits }): Promise<unknown>;
  /** Throws DomainError malformed_request if the request has a body. */
  refuseBody(): void;
}

/** A request of a caller, as a route sees it. */
export interface Call extends PublicCall {
  readonly caller: Caller;
  /** InputSchemas note that the caller was let into this organization: what fails from then on is audited in its chain. */
  entered(organizationId: string): void;
  /** Reserves memory for a large response before it is made. */
  readonly room: ReadRoom;
}

export interface Route extends Endpoint {
  readonly action: RouteAction;
  run(call: Call, services: HttpServices): Promise<RouteResponse>;
}

/** A route for clients that present no token or session, such as at a sign-in. */
export interface PublicRoute extends Endpoint {
  readonly action: 'public';
  /** Whether only pages of this server may send it, because its response signs the browser in. */
  readonly ownPagesOnly?: true;
  run(call: PublicCall, services: HttpServices): Promise<RouteResponse>;
}

type Inputs<S extends InputSchemas> = {
  readonly [Part in keyof S]: Part extends 'idempotencyKey'
    ? IdempotencyRequest | undefined
    : S[Part] extends z.ZodType
      ? z.output<S[Part]>
      : undefined;
};
type Handler<Access, S extends InputSchemas, Result> = (
  services: HttpServices,
  access: Access,
  inputs: Inputs<S> & Pick<Call, 'room' | 'header' | 'origin'>,
) => Promise<Result>;
type PathThrough<Target extends string> = `/${string}/${Target}` | `/${string}/${Target}/${string}`;

interface RouteSpec<
  Path extends `/${string}`,
  Action extends RouteAction,
  Access,
  S extends InputSchemas,
  A extends ResponseSchemas,
> extends Endpoint {
  readonly path: Path;
  readonly action: Action;
  readonly input: S;
  readonly responses: A;
  readonly handle: Handler<Access, S, ResponseFor<A>>;
}

/** Every client may send it, so that its body must be small. */
type PublicInput = InputSchemas & { readonly bodyLimits?: never };

/** A route for every client. Its handler gets the facts of the request that the audit records. */
export function publicRoute<S extends PublicInput, R extends ResponseSchemas>(
  spec: Omit<
    RouteSpec<`/${string}`, RouteAction, Pick<PublicCall, 'requestId' | 'sourceAddress'>, S, R>,
    'action' | 'handle'
  > & {
    readonly ownPagesOnly?: true;
    readonly handle: (
      services: HttpServices,
      request: Pick<PublicCall, 'requestId' | 'sourceAddress'>,
      inputs: Inputs<S> & Pick<PublicCall, 'header'>,
    ) => Promise<ResponseFor<R>>;
  },
): PublicRoute {
  const { handle, ...described } = spec;
  return {
    ...described,
    action: 'public',
    async run(call, services) {
      const inputs = await parseInputs(call, described, new Set());
      const { requestId, sourceAddress } = call;
      return handle(services, { requestId, sourceAddress }, { ...inputs, header: (name) => call.header(name) });
    },
  };
}

/** A route about the caller. Its handler gets the caller. */
export function selfRoute<S extends InputSchemas, R extends ResponseSchemas>(
  spec: RouteSpec<`/${string}`, SelfAction, Caller, S, R>,
): Route {
  return route(spec, (_services, { caller }) => Promise.resolve(caller));
}

/** A route about resources that the calling user owns. Service tokens cannot use it. */
export function personRoute<A extends PersonAction, S extends InputSchemas, R extends ResponseSchemas>(
  spec: RouteSpec<`/${string}`, A, PersonAccess<A>, S, R>,
): Route {
  return route(spec, ({ access }, { caller }) => access.person(caller, spec.action));
}

/** A route about the instance. Slugs in its path belong to its input (`params`) and are not the target of its access. */
export function instanceRoute<A extends InstanceAction, S extends InputSchemas, R extends ResponseSchemas>(
  spec: RouteSpec<`/${string}`, A, InstanceAccess<A>, S, R>,
): Route {
  return route(spec, ({ access }, { caller }) => access.instance(caller, spec.action), new Set());
}

export function organizationRoute<A extends OrganizationAction, S extends InputSchemas, R extends ResponseSchemas>(
  spec: RouteSpec<PathThrough<'{org}'>, A, OrganizationAccess<A>, S, R>,
): Route {
  return route(spec, ({ access }, { caller, params: { org = '' } }) =>
    access.organization(caller, spec.action, { organization: org }),
  );
}

export function projectRoute<A extends ProjectAction, S extends InputSchemas, R extends ResponseSchemas>(
  spec: RouteSpec<PathThrough<'{org}/{project}'>, A, ProjectAccess<A>, S, R>,
): Route {
  return route(spec, ({ access }, { caller, params: { org = '', project = '' } }) =>
    access.project(caller, spec.action, { organization: org, project }),
  );
}

export function environmentRoute<A extends EnvironmentAction, S extends InputSchemas, R extends ResponseSchemas>(
  spec: RouteSpec<PathThrough<'{org}/{project}/{env}'>, A, EnvironmentAccess<A>, S, R>,
): Route {
  return route(spec, ({ access }, { caller, params: { org = '', project = '', env = '' } }) =>
    access.environment(caller, spec.action, { organization: org, project, environment: env }),
  );
}

/** A route about the environment of a snapshot. The path has only the `{id}` of the snapshot. */
export function snapshotRoute<A extends EnvironmentAction, S extends InputSchemas, R extends ResponseSchemas>(
  spec: RouteSpec<'/snapshots/{id}', A, EnvironmentAccess<A>, S, R>,
): Route {
  return route(spec, ({ access }, { caller, params: { id = '' } }) =>
    access.snapshot(caller, spec.action, id.toLowerCase()),
  );
}

function route<Access extends object, S extends InputSchemas, R extends ResponseSchemas>(
  { handle, ...spec }: RouteSpec<`/${string}`, RouteAction, Access, S, R>,
  authorize: (services: HttpServices, call: Call) => Promise<Access>,
  targetParams = slugParams,
): Route {
  return {
    ...spec,
    async run(call, services) {
      const access = await authorize(services, call);
      if ('organizationId' in access && typeof access.organizationId === 'string') call.entered(access.organizationId);
      const inputs = await parseInputs(call, spec, targetParams);
      const { room, origin } = call;
      return handle(services, access, { ...inputs, room, origin, header: (name) => call.header(name) });
    },
  };
}

const nothing = z.strictObject({});
/** Path parameters that name the target. `authorize` has checked them. */
const slugParams: ReadonlySet<string> = new Set(['org', 'project', 'env']);

async function parseInputs<S extends InputSchemas>(
  call: PublicCall,
  { method, path, input }: Pick<Endpoint, 'method' | 'path'> & { readonly input: S },
  targetParams: ReadonlySet<string>,
): Promise<Inputs<S>> {
  const below = Object.entries(call.params).filter(([name]) => !targetParams.has(name));
  const params = parseInput('path', input.params ?? nothing, Object.fromEntries(below));
  const query = parseInput('query', input.query ?? nothing, call.query());
  const headerNames = Object.keys(input.headers?.shape ?? {});
  const headers = parseInput('header', input.headers ?? nothing, sentHeaders(call, headerNames));
  const key = sentIdempotencyKey(call, input);
  refuseConditionalChange(method, (name) => call.header(name));
  if (input.body === undefined) call.refuseBody();
  const body = input.body === undefined ? undefined : await parseBody(call, input.body, input.bodyLimits);
  const request = { method, path, params: call.params, body };
  const idempotencyKey = key === undefined ? undefined : idempotencyRequest(key, request);
  // Each part was parsed by the schema of the same name, which TypeScript cannot infer.
  return { params, query, headers, body, idempotencyKey } as Inputs<S>;
}

function sentIdempotencyKey(call: PublicCall, input: InputSchemas): string | undefined {
  const key = call.header(idempotencyHeader);
  if (key === undefined) return undefined;
  // Ignoring it would leave the caller with a guarantee that does not hold.
  if (input.idempotencyKey !== true) throw unsupportedIdempotencyKey();
  checkIdempotencyKey(key);
  return key;
}

/** A schema that accepts undefined makes the body optional. */
async function parseBody<Body extends z.ZodType>(
  call: PublicCall,
  schema: Body,
  limits: BodyLimits = bodyLimits.usual,
): Promise<z.output<Body>> {
  const isOptional = schema.safeParse(undefined).success;
  return parseInput('body', schema, await call.body({ isOptional, limits }));
}

function sentHeaders(call: PublicCall, names: readonly string[]): Record<string, string> {
  const sent: Record<string, string> = {};
  for (const name of names) {
    const value = call.header(name);
    if (value !== undefined) sent[name] = value;
  }
  return sent;
}
