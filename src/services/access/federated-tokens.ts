import { isTokenAudience, readAudience } from '../../domain/audience.ts';
import type { CredentialFault } from '../../domain/credential-faults.ts';
import type { FederationFault, JwtFault } from '../../domain/jwt-faults.ts';
import type { ServiceTokenPrincipal } from '../../domain/principal.ts';
import { isJwt, judgeClaims, JwtError, readJwt, type UnverifiedJwt, verifySignature } from '../../identity/jwt.ts';
import type { Database } from '../../store/database.ts';
import { findFederations, type FoundFederation } from '../../store/federations.ts';
import { GroupedLookup } from '../kernel/grouped-lookup.ts';
import { type IssuerKeys, KeysUnavailable, type LastFetch, UnknownKey } from './issuer-keys.ts';

export interface FederatedTokensDeps {
  readonly database: Pick<Database, 'pool'>;
  readonly keys: Pick<IssuerKeys, 'keyFor'>;
}

/** What a JWT proves. */
export type JudgedJwt =
  /** Nothing: it is not known whose it is. `tokenId` is of the token that its audience names, if there is one. */
  | {
      readonly isProven: false;
      readonly fault: JwtFault | 'issuer_disabled';
      readonly tokenId: string | undefined;
      /** Of the keys, for a JWT of an unknown one. */
      readonly lastFetch?: LastFetch | undefined;
    }
  /** A service token, which may not work. */
  | {
      readonly isProven: true;
      readonly principal: ServiceTokenPrincipal;
      readonly fault: CredentialFault | FederationFault | null;
      readonly useDue: boolean;
    };

/** Reads a JWT for a service token of any installation. Throws JwtError. */
export function readProof(text: string): UnverifiedJwt {
  return readJwt(text, isTokenAudience);
}

/** The audience of Keyframe that a JWT names; empty if it names none, undefined for a bearer that is no JWT. */
export function audienceNamed(bearer: string): string | undefined {
  if (!isJwt(bearer)) return undefined;
  try {
    return readJwt(bearer, (audience) => readAudience(audience) !== undefined).audience;
  } catch (error) {
    if (error instanceof JwtError) return '';
    throw error;
  }
}

/** Finds the federated service token that a JWT proves (docs/federation.md). */
export class FederatedTokens {
  readonly #keys: FederatedTokensDeps['keys'];
  readonly #federations: GroupedLookup<string, FoundFederation>;

  constructor({ database: { pool }, keys }: FederatedTokensDeps) {
    this.#keys = keys;
    this.#federations = new GroupedLookup({
      look: (audiences) => findFederations(pool, audiences),
      keyOf: (audience) => audience,
    });
  }

  /**
   * Judges a JWT, check by check in the order of `jwtChecks`. Its only audience names the service token, and so the
   * issuer: keys are never searched by what the JWT says of its issuer. Throws KeysUnavailable, and DomainError
   * store_unavailable.
   */
  async judge(text: string): Promise<JudgedJwt> {
    let jwt: UnverifiedJwt;
    try {
      jwt = readProof(text);
    } catch (error) {
      if (error instanceof JwtError) return { isProven: false, fault: error.fault, tokenId: undefined };
      throw error;
    }
    return await this.judgeRead(jwt);
  }

  /** Judges a JWT that was read, as `judge`. */
  async judgeRead(jwt: UnverifiedJwt): Promise<JudgedJwt> {
    let found: FoundFederation | undefined;
    try {
      found = await this.#federations.find(jwt.audience);
      if (found === undefined) throw new JwtError('jwt_unknown_audience');
      return await this.#proven(jwt, found);
    } catch (error) {
      const fault = faultOf(error, found);
      if (fault === undefined) throw error;
      const lastFetch = error instanceof UnknownKey ? error.lastFetch : undefined;
      return { isProven: false, fault, tokenId: found?.principal.id, lastFetch };
    }
  }

  async #proven(jwt: UnverifiedJwt, { principal, issuer, claims, now, fault, useDue }: FoundFederation) {
    verifySignature(jwt, await this.#keys.keyFor(issuer, jwt));
    const { expiresAt, acceptedUntil } = judgeClaims(jwt, { ...issuer, claims, now });
    const end = principal.expiresAt === null || expiresAt < principal.expiresAt ? expiresAt : principal.expiresAt;
    const proven = { ...principal, expiresAt: end, jwtEndsAt: acceptedUntil };
    return { isProven: true, principal: proven, fault, useDue } as const;
  }
}

/** Undefined for an error that says nothing of the JWT. Keys of a disabled issuer are not fetched. */
function faultOf(error: unknown, found: FoundFederation | undefined): JwtFault | 'issuer_disabled' | undefined {
  if (error instanceof JwtError) return error.fault;
  return error instanceof KeysUnavailable && found?.fault === 'issuer_disabled' ? found.fault : undefined;
}
