import { hashesEqual, parseToken } from '../../crypto/token.ts';
import { DomainError } from '../../domain/errors/domain-error.ts';
import type { BearerPrincipal } from '../../domain/principal.ts';
import {
  type CredentialFault,
  type CredentialKind,
  findCredentials,
  type FoundCredential,
} from '../../store/credentials.ts';
import type { Database } from '../../store/database.ts';
import type { CredentialUsage } from './credential-usage.ts';
import { GroupedLookup } from '../kernel/grouped-lookup.ts';

export interface AuthenticationDeps {
  readonly database: Pick<Database, 'pool'>;
  readonly usage: Pick<CredentialUsage, 'note'>;
}

const faultDetails: Readonly<Record<CredentialFault, string>> = {
  pending: 'the token is not active yet',
  revoked: 'the token was revoked; use another',
  suspended: 'the token is suspended: the AccessGrant that carried it was withdrawn; ask an admin of the cluster',
  expired: 'the token has expired; use another',
  disabled: 'the user of this token is disabled',
  scope_deleted: 'the organization, project or environment of this token was deleted',
};

/** Why a token was refused. `missing`, `malformed` and `unknown`: it is not known whose it is. */
export type RefusalFault = CredentialFault | 'missing' | 'malformed' | 'unknown';

/** An `unauthenticated` that knows its reason. */
export class AuthenticationRefusal extends DomainError {
  readonly fault: RefusalFault;
  /** The token's principal; set only if its secret part was right. */
  readonly principal: BearerPrincipal | undefined;

  constructor(fault: RefusalFault, detail: string, principal?: BearerPrincipal) {
    super('unauthenticated', detail);
    this.fault = fault;
    this.principal = principal;
  }
}

/** Finds the principal of a token (docs/interface.md section 5). */
export class Authentication {
  readonly #usage: AuthenticationDeps['usage'];
  readonly #credentials: Readonly<Record<CredentialKind, GroupedLookup<string, FoundCredential>>>;

  constructor({ database: { pool }, usage }: AuthenticationDeps) {
    this.#usage = usage;
    const lookup = (kind: CredentialKind): GroupedLookup<string, FoundCredential> =>
      new GroupedLookup({ look: (ids) => findCredentials(pool, kind, ids), keyOf: (id) => id });
    this.#credentials = { service_token: lookup('service_token'), personal_token: lookup('personal_token') };
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
    if (token === undefined) {
      throw new AuthenticationRefusal(
        'malformed',
        'the token is malformed: it must be a whole kf_svc_… or kf_pat_… token with nothing around it',
      );
    }
    const found = await this.#credentials[token.kind].find(token.credentialId);
    if (found === undefined || !hashesEqual(found.tokenHash, token.hash)) {
      throw new AuthenticationRefusal('unknown', 'the token is unknown');
    }
    const { fault, principal } = found;
    if (fault !== null) throw new AuthenticationRefusal(fault, faultDetails[fault], principal);
    if (found.useDue) this.#usage.note(token.kind, token.credentialId);
    return principal;
  }
}
