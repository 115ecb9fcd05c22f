import type { Request, RequestHandler, Response } from 'express';
import type { Caller, Principal } from '../../domain/principal.ts';
import { secretKeyFault, slugFault } from '../../domain/names.ts';
import type { AuditLog } from '../../services/audit-log.ts';
import { type Authentication, AuthenticationRefusal } from '../../services/authentication.ts';
import { bearerToken } from '../bearer.ts';
import { readJson, refuseBody } from '../body.ts';
import type { HttpServices } from '../http-services.ts';
import { readQuery } from '../query.ts';
import { type RequestContext, contextOf } from '../request-context.ts';
import type { Answer, Call, Route } from '../route.ts';

export interface RouteHandlerDeps {
  readonly authentication: Pick<Authentication, 'authenticate'>;
  readonly auditLog: Pick<AuditLog, 'recordDenial' | 'recordFailure'>;
  readonly services: HttpServices;
}

/** Serves one route: who calls, what the route makes of it, the answer. What is thrown goes to `errorAnswer`. */
export function routeHandler(route: Route, { authentication, auditLog, services }: RouteHandlerDeps): RequestHandler {
  return async (request, response) => {
    const context = contextOf(request);
    const callerOf = (principal: Principal): Caller => {
      context.principal = principal;
      return { principal, requestId: context.id, sourceAddress: sourceAddress(request) };
    };
    const principal = await authentication
      .authenticate(bearerToken(request.headers.authorization))
      .catch(async (error: unknown) => {
        await noteRefusal(error, { auditLog, context, callerOf });
        throw error;
      });
    const caller = callerOf(principal);
    const target = auditTarget(request);
    const call = callOf(request, caller, (organizationId) => void (target['organizationId'] = organizationId));
    try {
      sendAnswer(response, await route.run(call, services));
    } catch (error) {
      // If the audit entry cannot be written, that is the answer.
      if (principal.type === 'service_token' || isAlwaysAudited(route.action)) {
        await auditLog.recordFailure(caller, route.action, target, error);
      }
      throw error;
    }
  };
}

/** Whether a request leaves an audit entry whoever makes it and however it is refused (docs/interface.md section 6). */
function isAlwaysAudited(action: Route['action']): boolean {
  return action.startsWith('version.') || action === 'secret.list' || action === 'secret.read';
}

interface RefusalDeps extends Pick<RouteHandlerDeps, 'auditLog'> {
  readonly context: RequestContext;
  readonly callerOf: (principal: Principal) => Caller;
}

/**
 * Logs why a token was refused, and audits it where its secret part was right. What nobody vouches for leaves no audit
 * entry: whoever has no token must not be able to fill the audit.
 */
async function noteRefusal(error: unknown, { auditLog, context, callerOf }: RefusalDeps): Promise<void> {
  if (!(error instanceof AuthenticationRefusal)) return;
  const { fault, principal } = error;
  context.fault = fault;
  if (principal === undefined) return;
  await auditLog.recordDenial(callerOf(principal), 'authenticate', { fault }, error);
}

function callOf(request: Request, caller: Caller, entered: Call['entered']): Call {
  return {
    caller,
    entered,
    params: pathParams(request),
    query: () => readQuery(request.originalUrl),
    body: () => readJson(request),
    refuseBody: () => refuseBody(request),
  };
}

function sendAnswer(response: Response, answer: Answer): void {
  response.statusCode = answer.status;
  if (answer.status === 204) {
    response.end();
    return;
  }
  if (answer.status === 201) response.setHeader('Location', answer.location);
  const body = Buffer.from(JSON.stringify(answer.body));
  response.setHeader('Content-Type', 'application/json; charset=utf-8');
  response.setHeader('Content-Length', body.length);
  response.end(body);
}

function pathParams(request: Request): Record<string, string> {
  const params = Object.entries(request.params).filter(
    (entry): entry is [string, string] => typeof entry[1] === 'string',
  );
  return Object.fromEntries(params);
}

const targetNames: Readonly<Record<string, string>> = { org: 'organization', project: 'project', env: 'environment' };

/** What the path names, as far as it can be a name: anything else may be a value in the wrong place. */
function auditTarget(request: Request): Record<string, string> {
  const target: Record<string, string> = {};
  for (const [name, text] of Object.entries(pathParams(request))) {
    const fault = name === 'key' ? secretKeyFault(text) : slugFault(text);
    if (fault === undefined) target[targetNames[name] ?? name] = text;
  }
  return target;
}

/** The peer's address; one of IPv4 in its own form. */
function sourceAddress(request: Request): string | null {
  return request.socket.remoteAddress?.replace(/^::ffff:/, '') ?? null;
}
