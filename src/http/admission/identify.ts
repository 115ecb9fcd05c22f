import type { Request, Response } from 'express';
import { DomainError } from '../../domain/errors/domain-error.ts';
import type { Caller, BearerPrincipal } from '../../domain/principal.ts';
import type { AuditLog } from '../../services/audit/audit-log.ts';
import { type Authentication, AuthenticationRefusal } from '../../services/access/authentication.ts';
import { bearerToken, tokenOf } from './bearer.ts';
import { type RateState, windowSeconds } from './rate-counter.ts';
import { namesOf, type RateLimits, type TokenNames } from './rate-limits.ts';
import { contextOf } from '../request-context.ts';
import { isActivity, refuseCrossSite, sessionTokenOf } from './session-cookie.ts';
import { sourceAddress } from './source-address.ts';

export interface IdentifyDeps {
  readonly authentication: Pick<Authentication, 'authenticateBearer' | 'authenticateSession'>;
  readonly auditLog: Pick<AuditLog, 'recordDenial'>;
  readonly rateLimits: RateLimits;
}

/**
 * Identifies the caller of a request (docs/interface.md section 5), within the rate limits of section 8. Throws
 * AuthenticationRefusal, LimitExceeded, and store_unavailable without the database.
 */
export async function identify(request: Request, response: Response, deps: IdentifyDeps): Promise<Caller> {
  const { authentication, rateLimits } = deps;
  const context = contextOf(request);
  const address = sourceAddress(request);
  const callerOf = (principal: BearerPrincipal): Caller => {
    context.principal = principal;
    return { principal, requestId: context.id, sourceAddress: address };
  };
  const presented = presentedBy(request);
  const { token, names, isSession } = presented;
  const source = address ?? '';
  try {
    if (presented.isPresented) await rateLimits.admit(source, names);
    const principal = isSession
      ? await authentication.authenticateSession(token ?? '', { isActivity: isActivity(request) })
      : await authentication.authenticateBearer(bearerToken(request.headers.authorization));
    // Before the rate limit, so that the log names the caller.
    const caller = callerOf(principal);
    setRateHeaders(response, await rateLimits.accepted(names, principal));
    // Within the rate limit, so that another site cannot fill the audit.
    if (isSession) refuseCrossSite(request, principal);
    return caller;
  } catch (error) {
    if (error instanceof AuthenticationRefusal) context.fault = error.fault;
    await countRefusal(error, { rateLimits, source, presented });
    if (error instanceof AuthenticationRefusal) await auditRefusal(error, deps, callerOf);
    throw error;
  }
}

interface Presented {
  readonly isPresented: boolean;
  readonly isSession: boolean;
  /** Undefined for a header without a token. */
  readonly token: string | undefined;
  readonly names: TokenNames;
}

/** What a request presents: the header Authorization or, without one of any kind, the cookie of a session. */
function presentedBy({ headers: { authorization, cookie } }: Request): Presented {
  if (authorization !== undefined) {
    const token = tokenOf(authorization);
    return { isPresented: true, isSession: false, token, names: namesOf(token) };
  }
  const token = sessionTokenOf(cookie);
  return { isPresented: token !== undefined, isSession: token !== undefined, token, names: namesOf(token) };
}

interface Refused {
  readonly rateLimits: RateLimits;
  readonly source: string;
  readonly presented: Presented;
}

/** Throws LimitExceeded if the address or the credential was refused too often. */
async function countRefusal(error: unknown, { rateLimits, source, presented }: Refused): Promise<void> {
  const { isPresented, names } = presented;
  if (error instanceof AuthenticationRefusal && isPresented && error.fault !== 'cross_site') {
    if (error.isGuess) await rateLimits.guessed(source, names);
    else await rateLimits.refused(names, error.principal);
  }
  // Without the keys of its issuer, it is not known whose a JWT is.
  if (error instanceof DomainError && error.code === 'issuer_unavailable') await rateLimits.countPublic(source);
}

/**
 * Audits a refused token whose secret part, or whose JWT, was right. Other refusals leave no audit entry: a client without
 * a token must not be able to fill the audit.
 */
async function auditRefusal(
  error: AuthenticationRefusal,
  { auditLog }: IdentifyDeps,
  callerOf: (principal: BearerPrincipal) => Caller,
): Promise<void> {
  const { fault, principal } = error;
  if (principal === undefined) return;
  await auditLog.recordDenial(callerOf(principal), 'authenticate', { fault }, error);
}

/** RateLimit-Policy and RateLimit (draft-ietf-httpapi-ratelimit-headers): how many requests the token has left in this minute. */
function setRateHeaders(response: Response, state: RateState | undefined): void {
  if (state === undefined) return;
  const { limit, used, resetSeconds } = state;
  response.setHeader('RateLimit-Policy', `"requests";q=${limit};w=${windowSeconds}`);
  response.setHeader('RateLimit', `"requests";r=${Math.max(0, limit - used)};t=${resetSeconds}`);
}
