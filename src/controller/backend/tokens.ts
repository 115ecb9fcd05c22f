import type { Asker } from '../../domain/asker.ts';
import type { AskedPlace } from '../../domain/grants.ts';
import type { Plaintext } from '../../domain/plaintext.ts';
import type {
  AllowedPlace,
  FederateInput,
  LiveTokensAsked,
  LiveTokensPage,
  MintedToken,
  MintInput,
  MovedExpiry,
  SuspensionCause,
  TokenOrGone,
} from '../../domain/resources/tokens.ts';

/**
 * The service tokens of ServiceTokens: one for each, with a secret string or a federation for each serial. What takes a place needs an
 * AccessGrant that covers it, and throws DomainError forbidden without one, which is audited, and not_found if nothing is
 * there. All throw store_unavailable and cluster_unavailable.
 */
export interface TokensBackend {
  /** What the resource has; undefined if it never had a token. */
  readonly find: (asker: Asker) => Promise<TokenOrGone | undefined>;
  /** Which serial of the resource's token a value is, live or not; undefined for anything else. */
  readonly serialOf: (asker: Asker, token: Plaintext) => Promise<number | undefined>;
  /** What the slugs name now. */
  readonly placeOf: (asker: Asker, asked: AskedPlace) => Promise<AllowedPlace>;
  /** Throws what `mint` throws before it creates anything. */
  readonly mayMint: (asker: Asker, asked: AskedPlace) => Promise<void>;
  /**
   * Creates the secret of a serial, pending, and the token with the first. A pending secret of that serial is replaced.
   * Throws DomainError conflict for a serial that was used, a token that was revoked, purged or is for another place, and
   * a resource that has ended.
   */
  readonly mint: (asker: Asker, asked: AskedPlace, input: MintInput) => Promise<MintedToken>;
  /**
   * Creates a serial that JWTs of ServiceAccounts in the resource's namespace prove, and the token with the first. It works
   * at once. Ends what else has its audience. Throws as `mint`, and DomainError issuer_unknown before the cluster's issuer
   * is known.
   */
  readonly federate: (asker: Asker, asked: AskedPlace, input: FederateInput) => Promise<void>;
  /**
   * Makes a serial live, given the secret that was minted for it. If it is live already, nothing changes. Throws
   * DomainError conflict for another secret and for what was revoked, and not_found for a serial that never existed.
   */
  readonly activate: (asker: Asker, serial: number, token: Plaintext) => Promise<void>;
  /** Ends one serial at once. Does nothing for one that has ended or never existed. */
  readonly revokeSerial: (asker: Asker, serial: number) => Promise<void>;
  /** Ends the resource's token for good, at once. Nothing is created for the resource afterwards. */
  readonly revoke: (asker: Asker) => Promise<void>;
  /** Stops a token from working until it is resumed. Returns whether that changed anything. */
  readonly suspend: (asker: Asker, cause: SuspensionCause) => Promise<boolean>;
  /**
   * Lets a suspended token work again. Throws DomainError conflict if the token is for another place, may do more than is
   * asked for, or was revoked, and not_found without a token.
   */
  readonly resume: (asker: Asker, asked: AskedPlace) => Promise<void>;
  /** Sets the token's permission to what is asked for, and the given ends of serials. Throws as `resume`. */
  readonly update: (asker: Asker, asked: AskedPlace, expiries: readonly MovedExpiry[]) => Promise<void>;
  /** A page of at most 1,000 tokens of this cluster's ServiceTokens that work now, without secrets. */
  readonly live: (asked: LiveTokensAsked) => Promise<LiveTokensPage>;
}
