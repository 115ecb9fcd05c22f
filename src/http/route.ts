import { z } from 'zod';
import type { EnvironmentAction, InstanceAction, OrganizationAction, ProjectAction } from '../domain/policy.ts';
import type { Caller } from '../domain/principal.ts';
import type { EnvironmentAccess, InstanceAccess, OrganizationAccess, ProjectAccess } from '../services/access.ts';
import { parseInput } from '../wire/parse-input.ts';
import type { HttpServices } from './http-services.ts';

/**
 * Routes are data: method, path, action and the schemas of what they take. The builders below fix the order in which
 * a request is judged, so that no route can get it wrong: the target first (404, 403), then path, query and body
 * (400, 413, 415, 422), then the service.
 */

export type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';

/** What every caller may ask, and gets told of themselves alone. */
type SelfAction = 'me.read' | 'organization.list';
type RouteAction = SelfAction | InstanceAction | OrganizationAction | ProjectAction | EnvironmentAction;

/** What a handler answers. 201 tells where the new thing is. */
export type Answer =
  | { readonly status: 200; readonly body: object }
  | { readonly status: 201; readonly body: object; readonly location: string }
  | { readonly status: 204 };

/** A request as a route sees it. */
export interface Call {
  readonly caller: Caller;
  /** The parts of the path that the route's braces name, decoded. */
  readonly params: Readonly<Record<string, string>>;
  /** Takes note that the caller was let into this organization: what fails from then on is audited in its chain. */
  entered(organizationId: string): void;
  /** The query's names and values; throws DomainError invalid_input where a name stands twice. */
  query(): Record<string, string>;
  /** The JSON body. */
  body(): Promise<unknown>;
  /** Throws DomainError malformed_request if the request has a body. */
  refuseBody(): void;
}

export interface Route {
  readonly method: Method;
  /** Such as `/projects/{org}/{project}`, below /api/v1. */
  readonly path: string;
  readonly action: RouteAction;
  run(call: Call, services: HttpServices): Promise<Answer>;
}

/** What a route takes beside its target. A part that is not named here must be empty. */
interface Schemas {
  /** The path below the target, such as a key. */
  readonly params?: z.ZodType;
  readonly query?: z.ZodType;
  readonly body?: z.ZodType;
}

type Inputs<S extends Schemas> = {
  readonly [Part in keyof S]: S[Part] extends z.ZodType ? z.output<S[Part]> : undefined;
};
type Handler<Access, S extends Schemas> = (
  services: HttpServices,
  access: Access,
  inputs: Inputs<S>,
) => Promise<Answer>;
type PathThrough<Target extends string> = `/${string}/${Target}` | `/${string}/${Target}/${string}`;

interface RouteSpec<Path extends string, Action extends RouteAction, Access, S extends Schemas> {
  readonly method: Method;
  readonly path: Path;
  readonly action: Action;
  readonly takes: S;
  readonly handle: Handler<Access, S>;
}

/** A route about the caller: its handler gets the caller. */
export function selfRoute<S extends Schemas>(spec: RouteSpec<string, SelfAction, Caller, S>): Route {
  return route(spec, (_services, { caller }) => Promise.resolve(caller));
}

/** A route about the instance itself. */
export function instanceRoute<A extends InstanceAction, S extends Schemas>(
  spec: RouteSpec<string, A, InstanceAccess<A>, S>,
): Route {
  return route(spec, ({ access }, { caller }) => access.instance(caller, spec.action));
}

export function organizationRoute<A extends OrganizationAction, S extends Schemas>(
  spec: RouteSpec<PathThrough<'{org}'>, A, OrganizationAccess<A>, S>,
): Route {
  return route(spec, ({ access }, { caller, params: { org = '' } }) =>
    access.organization(caller, spec.action, { organization: org }),
  );
}

export function projectRoute<A extends ProjectAction, S extends Schemas>(
  spec: RouteSpec<PathThrough<'{org}/{project}'>, A, ProjectAccess<A>, S>,
): Route {
  return route(spec, ({ access }, { caller, params: { org = '', project = '' } }) =>
    access.project(caller, spec.action, { organization: org, project }),
  );
}

export function environmentRoute<A extends EnvironmentAction, S extends Schemas>(
  spec: RouteSpec<PathThrough<'{org}/{project}/{env}'>, A, EnvironmentAccess<A>, S>,
): Route {
  return route(spec, ({ access }, { caller, params: { org = '', project = '', env = '' } }) =>
    access.environment(caller, spec.action, { organization: org, project, environment: env }),
  );
}

function route<Access extends object, S extends Schemas>(
  { method, path, action, takes, handle }: RouteSpec<string, RouteAction, Access, S>,
  authorize: (services: HttpServices, call: Call) => Promise<Access>,
): Route {
  return {
    method,
    path,
    action,
    async run(call, services) {
      const access = await authorize(services, call);
      if ('organizationId' in access && typeof access.organizationId === 'string') call.entered(access.organizationId);
      return handle(services, access, await parseInputs(call, takes));
    },
  };
}

const nothing = z.strictObject({});
const targetParams: ReadonlySet<string> = new Set(['org', 'project', 'env']);

async function parseInputs<S extends Schemas>(call: Call, takes: S): Promise<Inputs<S>> {
  const below = Object.entries(call.params).filter(([name]) => !targetParams.has(name));
  const params = parseInput('path', takes.params ?? nothing, Object.fromEntries(below));
  const query = parseInput('query', takes.query ?? nothing, call.query());
  if (takes.body === undefined) call.refuseBody();
  const body = takes.body === undefined ? undefined : parseInput('body', takes.body, await call.body());
  // Each part was parsed by the schema of its name: what TypeScript cannot follow through the optional names.
  return { params, query, body } as Inputs<S>;
}
