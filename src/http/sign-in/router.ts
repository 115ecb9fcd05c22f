import { type Request, type RequestHandler, type Response, Router } from 'express';
import { httpErrors } from '../../domain/errors/http-errors.ts';
import type { OidcSignIn } from '../../services/sign-in/oidc.ts';
import { oidcCallbackPath } from '../../services/sign-in/oidc.ts';
import { type SignInFault, SignInRefusal } from '../../services/sign-in/sign-in-refusal.ts';
import type { PersonAccess } from '../../services/access/access.ts';
import { parseInput } from '../../wire/parse-input.ts';
import { oidcStartQuery } from '../../wire/sign-in.ts';
import { endedFlowCookie, flowCookie, flowSecretOf } from '../admission/flow-cookie.ts';
import { identify } from '../admission/identify.ts';
import { sessionCookie, sessionTokenOf } from '../admission/session-cookie.ts';
import type { Work } from '../admission/work-limit.ts';
import { sourceAddress } from '../admission/source-address.ts';
import type { RouteHandlerDeps } from '../middleware/route-handler.ts';
import { readQuery } from '../request/query.ts';
import { contextOf } from '../request-context.ts';
import { serveGet } from '../router.ts';
import { onwardPage, refusalPage, signInPagePolicy } from './pages.ts';

/**
 * GET /sign-in/oidc and /sign-in/oidc/callback: what a browser opens to sign in with OpenID Connect. Without an issuer
 * neither exists.
 */
export function oidcRouter(deps: RouteHandlerDeps): Router {
  const router = Router({ caseSensitive: true, strict: true });
  const { oidc } = deps.services.signIn;
  if (oidc === undefined) return router;
  const serve = (path: string, handler: Served): void => serveGet(router, path, servedAsPage(handler, deps));
  serve('/sign-in/oidc', (request, response) => start(request, response, { oidc, deps }));
  serve(oidcCallbackPath, (request, response) => finish(request, response, oidc));
  return router;
}

type Served = (request: Request, response: Response) => Promise<void>;

interface StartDeps {
  readonly oidc: OidcSignIn;
  readonly deps: RouteHandlerDeps;
}

async function start(request: Request, response: Response, { oidc, deps }: StartDeps): Promise<void> {
  const { returnTo, fresh, link } = parseInput('query', oidcStartQuery, readQuery(request.originalUrl));
  const { url, secret } = await oidc.start({
    returnTo,
    fresh: fresh !== undefined,
    link: link === undefined ? undefined : await linkAccess(request, response, deps),
    formerSession: sessionTokenOf(request.headers.cookie),
  });
  response.statusCode = 303;
  response.setHeader('Set-Cookie', flowCookie(secret));
  response.setHeader('Location', url.href);
  response.end();
}

/**
 * The right of the session to link an identity. `identify` refuses a request that another site caused, so a link begins
 * only on a page of this server, and only in a session that has just begun.
 */
async function linkAccess(
  request: Request,
  response: Response,
  deps: RouteHandlerDeps,
): Promise<PersonAccess<'identity.link'>> {
  const caller = await identify(request, response, deps);
  const access = await deps.services.access.person(caller, 'identity.link');
  // The callback has no header Authorization, so a token could not finish what it starts.
  if (access.caller.principal.session === undefined) throw new SignInRefusal('session_ended');
  return access;
}

async function finish(request: Request, response: Response, oidc: OidcSignIn): Promise<void> {
  const { originalUrl, headers } = request;
  const query = originalUrl.includes('?') ? originalUrl.slice(originalUrl.indexOf('?')) : '';
  response.setHeader('Set-Cookie', endedFlowCookie);
  const { returnTo, sessionToken } = await oidc.finish(flowSecretOf(headers.cookie), query, {
    requestId: contextOf(request).id,
    sourceAddress: sourceAddress(request),
    userAgent: headers['user-agent'],
  });
  if (sessionToken !== undefined) response.appendHeader('Set-Cookie', sessionCookie(sessionToken));
  sendPage(response, 200, onwardPage(returnTo));
}

/** Serves a request within the limits of public routes, and shows a refused sign-in as a page. */
function servedAsPage(handler: Served, { rateLimits, workLimit }: RouteHandlerDeps): RequestHandler {
  const serve = async (request: Request, response: Response, work: Work): Promise<void> => {
    const address = sourceAddress(request) ?? '';
    work.isFrom(address);
    await rateLimits.admitPublic(address);
    try {
      await handler(request, response);
    } catch (error) {
      if (!(error instanceof SignInRefusal)) throw error;
      // Each refusal of a flow is audited: a client without a token must not be able to fill the audit.
      if (!blameless.has(error.fault)) await rateLimits.guessed(address);
      const context = contextOf(request);
      context.error = error;
      const code = error.code as keyof typeof httpErrors;
      context.code = code;
      sendPage(response, httpErrors[code].status, refusalPage(error));
    }
  };
  return (request, response) => workLimit.during(response, (work) => serve(request, response, work));
}

/** What users cannot help. */
const blameless: ReadonlySet<SignInFault> = new Set<SignInFault>(['issuer_unavailable']);

function sendPage(response: Response, status: number, page: string): void {
  response.statusCode = status;
  response.setHeader('Content-Security-Policy', signInPagePolicy);
  response.setHeader('Content-Type', 'text/html; charset=utf-8');
  response.end(page);
}
