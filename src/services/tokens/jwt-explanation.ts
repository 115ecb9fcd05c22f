import type { CredentialFault } from '../../domain/credential-faults.ts';
import type { RequiredClaims } from '../../domain/issuer-presets.ts';
import {
  type FederationFault,
  federationFaults,
  type JwtCheck,
  jwtChecks,
  jwtFaults,
} from '../../domain/jwt-faults.ts';
import { JwtError, type UnverifiedJwt } from '../../identity/jwt.ts';
import { keyFetchFaults } from '../../domain/trusted-issuers.ts';
import { suspended } from '../access/authentication.ts';
import { type FederatedTokens, type JudgedJwt, readProof } from '../access/federated-tokens.ts';
import { KeysUnavailable, type LastFetch } from '../access/issuer-keys.ts';

/** One check of a JWT. The detail says what is wrong and what to do; it has no part of the JWT. */
export interface ExplainedCheck {
  readonly check: JwtCheck;
  readonly outcome: 'passed' | 'failed' | 'not_checked';
  readonly detail: string | null;
}

/** The service token that a JWT should prove. */
export interface ExplainedToken {
  readonly audience: string;
  readonly claims: RequiredClaims;
  readonly isIssuerDeleted: boolean;
  readonly isRevoked: boolean;
  readonly isSuspended: boolean;
}

export interface JwtExplanation {
  /** Whether the JWT proves the token, which may have ended. */
  readonly isProven: boolean;
  /** All checks in their order. */
  readonly checks: readonly ExplainedCheck[];
}

/** Why a federated token works with no JWT. */
const tokenFaults: Readonly<Record<CredentialFault | FederationFault, string>> = {
  ...federationFaults,
  pending: 'the service token is not active yet',
  revoked: 'the service token was revoked; create a new one',
  suspended: `the service token is ${suspended}`,
  expired: 'the service token has expired; create a new one',
  disabled: 'the service token is disabled',
  scope_deleted: 'the organization, project or environment of the service token was deleted',
};

const otherAudience =
  'the audience of the JWT is not that of this service token; request one whose audience is the one that the token shows';
const deletedIssuer = 'the trusted issuer of the service token was deleted; create a new token for another issuer';

/** Explains check by check what becomes of a JWT for one service token. Throws DomainError store_unavailable. */
export async function explainJwt(
  federated: Pick<FederatedTokens, 'judgeRead'>,
  text: string,
  token: ExplainedToken,
): Promise<JwtExplanation> {
  let jwt: UnverifiedJwt;
  try {
    jwt = readProof(text);
  } catch (error) {
    if (!(error instanceof JwtError)) throw error;
    const { check, detail } = jwtFaults[error.fault];
    return failedAt(check, detail, token);
  }
  // What another token is, the caller must not learn: its JWTs are as good as those for no token.
  if (jwt.audience !== token.audience) return failedAt('token', otherAudience, token);
  let judged: JudgedJwt;
  try {
    judged = await federated.judgeRead(jwt);
  } catch (error) {
    if (!(error instanceof KeysUnavailable)) throw error;
    return failedAt('key', unavailableDetail(error.lastFetch), token);
  }
  if (!judged.isProven) return refused(judged, jwt, token);
  const { fault } = judged;
  return { isProven: true, checks: checksUntil('credential', fault === null ? null : tokenFaults[fault]) };
}

function refused(
  { fault, lastFetch }: Extract<JudgedJwt, { readonly isProven: false }>,
  jwt: UnverifiedJwt,
  token: ExplainedToken,
): JwtExplanation {
  // Its keys are not fetched.
  if (fault === 'issuer_disabled') return failedAt('key', federationFaults[fault], token);
  if (fault === 'jwt_unknown_audience') {
    return failedAt('token', token.isIssuerDeleted ? deletedIssuer : tokenFaults.revoked, token);
  }
  const { check, detail } = jwtFaults[fault];
  if (fault === 'jwt_claims') return failedAt(check, claimsDetail(jwt, token.claims), token);
  return failedAt(check, `${detail}${lastFailure(lastFetch) ?? ''}`, token);
}

function unavailableDetail(lastFetch: LastFetch | undefined): string {
  const what = 'the keys of the trusted issuer were not fetched within the last hour';
  return `${what}${lastFailure(lastFetch) ?? '; explain the JWT again in a minute'}`;
}

/** Why the keys were not fetched, and what an instance admin does about it, as further sentences; undefined if they were. */
function lastFailure(lastFetch: LastFetch | undefined): string | undefined {
  const { fetchFault: fault = null, fetchFailedAt: time = null } = lastFetch ?? {};
  if (fault === null || time === null) return undefined;
  return `. The last fetch failed at ${time.toISOString()}: ${keyFetchFaults[fault]}. This is for an instance admin`;
}

/** Which claims are wrong, by the names that the token requires. The issuer signed the JWT. */
function claimsDetail({ claims }: UnverifiedJwt, required: RequiredClaims): string {
  const faults = Object.entries(required).flatMap(([name, values]) => {
    const value = claims.get(name);
    if (value === undefined) return [`${name} is missing`];
    if (typeof value !== 'string') return [`${name} is no text`];
    return values.includes(value) ? [] : [`${name} has another value than the token requires`];
  });
  return `of the claims of the JWT, ${faults.join(', ')}; compare them with those of the job`;
}

function failedAt(failed: JwtCheck, detail: string, token: ExplainedToken): JwtExplanation {
  const ended = token.isRevoked ? tokenFaults.revoked : token.isSuspended ? tokenFaults.suspended : null;
  const checks = checksUntil(failed, detail);
  const last = checks.at(-1);
  // Another JWT would not help.
  if (ended === null || last === undefined) return { isProven: false, checks };
  return { isProven: false, checks: [...checks.slice(0, -1), { ...last, outcome: 'failed', detail: ended }] };
}

/** All checks, of which those before one have passed and those after it were not made. Without a detail it has passed. */
function checksUntil(last: JwtCheck, detail: string | null): ExplainedCheck[] {
  const place = jwtChecks.indexOf(last);
  return jwtChecks.map((check, index) => {
    if (index > place) return { check, outcome: 'not_checked', detail: null };
    return index === place && detail !== null
      ? { check, outcome: 'failed', detail }
      : { check, outcome: 'passed', detail: null };
  });
}
