import type { Request, RequestHandler, Response } from 'express';
import type { Caller } from '../../domain/principal.ts';
import { secretKeyFault, slugFault } from '../../domain/names.ts';
import type { AuditLog, AuditTarget } from '../../services/audit-log.ts';
import type { Authentication } from '../../services/authentication.ts';
import { bearerToken } from '../bearer.ts';
import { readJson, refuseBody } from '../body.ts';
import type { HttpServices } from '../http-services.ts';
import { readQuery } from '../query.ts';
import { contextOf } from '../request-context.ts';
import type { Answer, Call, Route } from '../route.ts';

export interface RouteHandlerDeps {
  readonly authentication: Pick<Authentication, 'authenticate'>;
  readonly auditLog: Pick<AuditLog, 'recordFailure'>;
  readonly services: HttpServices;
}

/** Serves one route: who calls, what the route makes of it, the answer. What is thrown goes to `errorAnswer`. */
export function routeHandler(route: Route, { authentication, auditLog, services }: RouteHandlerDeps): RequestHandler {
  return async (request, response) => {
    const context = contextOf(request);
    const principal = await authentication.authenticate(bearerToken(request.headers.authorization));
    context.principal = principal;
    const caller: Caller = { principal, requestId: context.id, sourceAddress: sourceAddress(request) };
    try {
      sendAnswer(response, await route.run(callOf(request, caller), services));
    } catch (error) {
      // Each request of a service token leaves an audit entry; if that cannot be written, that is the answer.
      if (principal.type === 'service_token') {
        await auditLog.recordFailure(caller, route.action, auditTarget(request), error);
      }
      throw error;
    }
  };
}

function callOf(request: Request, caller: Caller): Call {
  return {
    caller,
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
function auditTarget(request: Request): AuditTarget {
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
