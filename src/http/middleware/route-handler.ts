import type { Request, RequestHandler, Response } from 'express';
import { DomainError } from '../../domain/errors/domain-error.ts';
import { validateSecretKey, validateSlug } from '../../domain/names.ts';
import type { AuditLog } from '../../services/audit/audit-log.ts';
import { inviteBody, readJson, readOptionalJson, refuseBody } from '../request/body.ts';
import type { HttpServices } from '../http-services.ts';
import { type IdentifyDeps, identify } from '../admission/identify.ts';
import { readQuery } from '../request/query.ts';
import { contextOf } from '../request-context.ts';
import { refuseCrossSite } from '../admission/session-cookie.ts';
import { sourceAddress } from '../admission/source-address.ts';
import type { Call, PublicCall, PublicRoute, Route } from '../route.ts';
import { prepareResponse, sendResponse } from '../response/send-response.ts';
import { readRoomOf, type Work, type WorkLimit } from '../admission/work-limit.ts';

export interface RouteHandlerDeps extends IdentifyDeps {
  readonly auditLog: Pick<AuditLog, 'recordDenial' | 'recordFailure'>;
  readonly services: HttpServices;
  readonly workLimit: WorkLimit;
}

/** Serves one route: identifies the caller, runs the route and sends its response. Errors go to `errorHandler`. */
export function routeHandler(route: Route, deps: RouteHandlerDeps): RequestHandler {
  const { auditLog, services, workLimit, rateLimits } = deps;
  const serve = async (request: Request, response: Response, work: Work): Promise<void> => {
    const caller = await identify(request, response, deps);
    const { principal } = caller;
    work.isOf(principal.id, (bytes) => void rateLimits.countTraffic(principal, bytes));
    const target = auditTarget(request);
    const call = callOf(request, {
      caller,
      work,
      // Other requests of the caller were served while this one waited.
      room: readRoomOf(work, async () => await rateLimits.admitTraffic(principal)),
      entered: (organizationId) => void (target['organizationId'] = organizationId),
    });
    try {
      // Not a variable, which would keep the values for as long as a slow reader takes.
      const prepared = await prepareResponse(await route.run(call, services), work);
      work.computed();
      // A stream may stay open for hours, and streams have their own limit.
      if (typeof prepared.content === 'function') work.leave();
      await sendResponse(response, prepared, { work });
    } catch (error) {
      // If the audit entry cannot be written, the caller gets that error instead.
      if (caller.principal.type === 'service_token' || isAlwaysAudited(route.action)) {
        await auditLog.recordFailure(caller, route.action, target, error);
      }
      throw error;
    }
  };
  return (request, response) => workLimit.during(response, (work) => serve(request, response, work));
}

/**
 * Serves one public route. Each address has a limit of such requests. A refusal of what a client presents counts as a
 * guess: it can be audited, and a client without a token must not be able to fill the audit. Above the limit of guesses
 * the address is refused before the route runs.
 */
export function publicRouteHandler(
  route: PublicRoute,
  { services, workLimit, rateLimits }: Pick<RouteHandlerDeps, 'services' | 'workLimit' | 'rateLimits'>,
): RequestHandler {
  const serve = async (request: Request, response: Response, work: Work): Promise<void> => {
    const address = sourceAddress(request) ?? '';
    work.isFrom(address);
    await rateLimits.admitPublic(address);
    // Not a guess: the browser of a user sent it.
    if (route.ownPagesOnly === true) refuseCrossSite(request);
    try {
      const prepared = await prepareResponse(await route.run(publicCallOf(request, work), services), work);
      await sendResponse(response, prepared, { work });
    } catch (error) {
      if (error instanceof DomainError && guessStatuses.has(error.description.status)) {
        await rateLimits.guessed(address);
      }
      throw error;
    }
  };
  return (request, response) => workLimit.during(response, (work) => serve(request, response, work));
}

/** The statuses with which a public route refuses what a client presents, and not the form of the request. */
const guessStatuses: ReadonlySet<number | undefined> = new Set([401, 403, 409]);

/** Whether every failure of the action is audited, for users too (docs/interface.md section 6). */
function isAlwaysAudited(action: Route['action']): boolean {
  return action.startsWith('version.') || action === 'secret.list' || action === 'secret.read';
}

interface Served extends Pick<Call, 'caller' | 'entered' | 'room'> {
  readonly work: Work;
}

function callOf(request: Request, { work, ...served }: Served): Call {
  return { ...publicCallOf(request, work), ...served };
}

function publicCallOf(request: Request, work: Work): PublicCall {
  return {
    requestId: contextOf(request).id,
    sourceAddress: sourceAddress(request),
    origin: `${request.protocol}://${request.host}`,
    params: pathParams(request),
    header: (name) => headerOf(request, name),
    query: () => readQuery(request.originalUrl),
    body: ({ isOptional, limits }) => {
      const source = { request, limits, work, invite: () => inviteBody(request) };
      return isOptional ? readOptionalJson(source) : readJson(source);
    },
    refuseBody: () => refuseBody(request),
  };
}

function headerOf(request: Request, name: string): string | undefined {
  const value = request.headers[name];
  return typeof value === 'string' ? value : undefined;
}

function pathParams(request: Request): Record<string, string> {
  const params = Object.entries(request.params).filter(
    (entry): entry is [string, string] => typeof entry[1] === 'string',
  );
  return Object.fromEntries(params);
}

const targetNames: Readonly<Record<string, string>> = { org: 'organization', project: 'project', env: 'environment' };

/** The valid names in the path. An invalid name is left out, because it may be a misplaced value. */
function auditTarget(request: Request): Record<string, string> {
  const target: Record<string, string> = {};
  for (const [name, text] of Object.entries(pathParams(request))) {
    const fault = name === 'key' ? validateSecretKey(text) : validateSlug(text);
    if (fault === undefined) target[targetNames[name] ?? name] = text;
  }
  return target;
}
