import { hashesEqual, type ParsedToken, parseToken, type TokenKind } from '../../crypto/token.ts';
import type { CredentialFault, RefusalFault } from '../../domain/credential-faults.ts';
import { DomainError } from '../../domain/errors/domain-error.ts';
import { namesToken } from '../../domain/jwt-faults.ts';
import type { BearerPrincipal } from '../../domain/principal.ts';
import { isJwt } from '../../identity/jwt.ts';
import { type CredentialKind, findCredentials, type FoundCredential } from '../../store/credentials.ts';
import type { Database } from '../../store/database.ts';
import type { CredentialUsage } from './credential-usage.ts';
import type { FederatedTokens } from './federated-tokens.ts';
import { GroupedLookup } from '../kernel/grouped-lookup.ts';

export interface AuthenticationDeps {
  readonly database: Pick<Database, 'pool'>;
  readonly usage: Pick<CredentialUsage, 'note'>;
  readonly federated: Pick<FederatedTokens, 'judge'>;
}

/** What a suspended token is, for a sentence about it. */
export const suspended =
  'suspended: the AccessGrant that carried it was withdrawn, or its cluster may not use it; its ServiceToken says which';

const faultDetails: Readonly<Record<CredentialFault, string>> = {
  pending: 'the token is not active yet',
  revoked: 'the token was revoked; use another',
  suspended: `the token is ${suspended}`,
  expired: 'the token has expired; use another',
  disabled: 'the user of this token is disabled',
  scope_deleted: 'the organization, project or environment of this token was deleted',
};

/** In a session, for every fault but `disabled`. */
const endedSession = 'the session has ended; sign in again';

const malformedToken = 'the token is malformed: it must be a whole kf_svc_… or kf_pat_… token with nothing around it';
const clusterToken =
  'this is the token of a cluster (kf_cls_…), which only its controllers use, for the paths below /api/v1/cluster/; send a kf_svc_… or kf_pat_… token';
// Each refused JWT gets this text: anyone can write one, and an issuer signs those of others too.
const refusedJwt =
  'the JWT was refused; an admin of the organization finds out why with `keyframe token explain`, and the log of the server names the fault';
const changedIssuer =
  'the trusted issuer of this token was changed; an admin of the organization must accept it with `keyframe token accept-issuer`';

/** An `unauthenticated` that knows its reason. A JWT that would work if its issuer was accepted gets `issuer_changed`. */
export class AuthenticationRefusal extends DomainError {
  readonly fault: RefusalFault;
  /** The token's principal; set only if its secret part, or signature and claims of its JWT, were right. */
  readonly principal: BearerPrincipal | undefined;
  /** Whether what was presented names no token that there is. */
  readonly isGuess: boolean;

  constructor(fault: RefusalFault, detail: string, principal?: BearerPrincipal) {
    super(fault === 'issuer_changed' ? fault : 'unauthenticated', detail);
    this.fault = fault;
    this.principal = principal;
    this.isGuess = principal === undefined && !namesToken(fault);
  }
}

/** A session works only as a cookie, whose requests are checked for their origin. A sign-in link begins one. */
function isBearerKind(kind: TokenKind): kind is 'service_token' | 'personal_token' {
  return kind === 'service_token' || kind === 'personal_token';
}

/** Finds the principal of a token (docs/interface.md section 5). */
export class Authentication {
  readonly #usage: AuthenticationDeps['usage'];
  readonly #federated: AuthenticationDeps['federated'];
  readonly #credentials: Readonly<Record<CredentialKind, GroupedLookup<string, FoundCredential>>>;

  constructor({ database: { pool }, usage, federated }: AuthenticationDeps) {
    this.#usage = usage;
    this.#federated = federated;
    const lookup = (kind: CredentialKind): GroupedLookup<string, FoundCredential> =>
      new GroupedLookup({ look: (ids) => findCredentials(pool, kind, ids), keyOf: (id) => id });
    this.#credentials = {
      service_token: lookup('service_token'),
      personal_token: lookup('personal_token'),
      session: lookup('session'),
    };
  }

  /**
   * Returns the principal of a token (without the word `Bearer`). Nothing is cached: a revocation, an expiry by the
   * database's clock, a disabling or a deletion applies from the next call on. Throws AuthenticationRefusal; its detail
   * distinguishes a missing, a malformed and an unknown token. Why a known token does not work is said only to a caller
   * that has its secret part. Throws DomainError store_unavailable without the database.
   */
  async authenticate(bearer: string | undefined): Promise<BearerPrincipal> {
    if (bearer === undefined || bearer === '') {
      throw new AuthenticationRefusal('missing', 'a token is needed; send it as "Authorization: Bearer <token>"');
    }
    const token = parseToken(bearer);
    if (token === undefined || !isBearerKind(token.kind)) {
      throw new AuthenticationRefusal('malformed', token?.kind === 'cluster' ? clusterToken : malformedToken);
    }
    const found = await this.#find(token, token.kind);
    if (found === undefined) throw new AuthenticationRefusal('unknown', 'the token is unknown');
    const { fault, principal } = found;
    if (fault !== null) throw new AuthenticationRefusal(fault, faultDetails[fault], principal);
    if (found.useDue) this.#usage.note(token.kind, token.credentialId);
    return principal;
  }

  /**
   * Returns the principal of what a header Authorization has: a token, or a JWT that proves a federated service token.
   * Throws like `authenticate`, and DomainError issuer_unavailable.
   */
  async authenticateBearer(bearer: string | undefined): Promise<BearerPrincipal> {
    if (bearer === undefined || !isJwt(bearer)) return await this.authenticate(bearer);
    const judged = await this.#federated.judge(bearer);
    if (!judged.isProven) throw new AuthenticationRefusal(judged.fault, refusedJwt);
    const { principal, fault } = judged;
    if (fault !== null) {
      throw new AuthenticationRefusal(fault, fault === 'issuer_changed' ? changedIssuer : refusedJwt, principal);
    }
    if (judged.useDue) this.#usage.note('service_token', principal.credentialId);
    return principal;
  }

  /**
   * Returns the principal of the session whose token a cookie holds. `isActivity`: the session ends later for it. Throws
   * like `authenticate`.
   */
  async authenticateSession(
    cookie: string,
    { isActivity }: { readonly isActivity: boolean },
  ): Promise<BearerPrincipal> {
    const token = parseToken(cookie);
    if (token?.kind !== 'session')
      throw new AuthenticationRefusal('malformed', 'the session cookie is malformed; sign in again');
    const found = await this.#find(token, 'session');
    if (found === undefined) throw new AuthenticationRefusal('unknown', endedSession);
    const { fault, principal } = found;
    if (fault !== null) {
      const detail = fault === 'disabled' ? 'the user of this session is disabled' : endedSession;
      throw new AuthenticationRefusal(fault, detail, principal);
    }
    if (isActivity && found.useDue) this.#usage.note('session', token.credentialId);
    return principal;
  }

  /** Returns the credential of a token; undefined unless the whole token is right. */
  async #find(token: ParsedToken, kind: CredentialKind): Promise<FoundCredential | undefined> {
    const found = await this.#credentials[kind].find(token.credentialId);
    return found === undefined || !hashesEqual(found.tokenHash, token.hash) ? undefined : found;
  }
}
