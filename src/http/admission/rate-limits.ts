import { createHash } from 'node:crypto';
import { DomainError } from '../../domain/errors/domain-error.ts';
import type { BearerPrincipal } from '../../domain/principal.ts';
import { KnownTokens } from './known-tokens.ts';
import { RateCounter, type RateState } from './rate-counter.ts';
import { sourceNetwork } from './source-address.ts';

/** Each counts in this process alone; 0 turns a limit off. */
export interface RateLimitOptions {
  /** Requests a minute with one token. */
  readonly requests: number;
  /** Guessed tokens a minute from one address, or one /64 network of IPv6; also refusals a minute of one ended token. */
  readonly failedAuthentications: number;
  /** Bytes of bodies and answers a minute of one person or service token. */
  readonly trafficBytes: number;
}

export const noRateLimits: RateLimitOptions = { requests: 0, failedAuthentications: 0, trafficBytes: 0 };

export type RateLimitName = 'credential' | 'address' | 'traffic';

/** A `limit_exceeded` that knows which limit and how long it holds. */
export class LimitExceeded extends DomainError {
  readonly limit: RateLimitName;

  constructor(limit: RateLimitName, detail: string, { resetSeconds }: RateState) {
    super('limit_exceeded', `${detail}; try again in ${resetSeconds} seconds`, { retryAfterSeconds: resetSeconds });
    this.limit = limit;
  }
}

const details = {
  requests: 'this token has made too many requests in a minute',
  ended: 'this token opens nothing and was sent too often in a minute',
  traffic: 'this caller has sent and read too many bytes in a minute',
  guesses: 'too many tokens from this address were refused in a minute, and this one was not seen before',
};

// A token has one spelling, so each credential takes one place. An organization or user cannot displace all others.
const knownTokenLimits = { maxTokens: 10_000, maxTokensPerOwner: 1_000 };

/**
 * The limits of docs/interface.md section 8.
 *
 * - An address that has sent too many guesses is refused before its token is looked up, so guessing costs the database
 *   nothing.
 * - Tokens that this process has seen open something pass all the same and are looked up as always. One bad client must
 *   not lock out the others behind its address.
 * - A token that is right but has ended, for example because it was revoked, is no guess. It has a limit of its own.
 */
export class RateLimits {
  readonly #requests: RateCounter | undefined;
  readonly #guesses: RateCounter | undefined;
  /** Refusals of tokens that have ended. */
  readonly #ended: RateCounter | undefined;
  /** Bytes, by the caller. */
  readonly #traffic: RateCounter | undefined;
  readonly #known = new KnownTokens(knownTokenLimits);

  constructor({ requests, failedAuthentications: limit, trafficBytes }: RateLimitOptions) {
    this.#requests = requests === 0 ? undefined : new RateCounter({ limit: requests });
    this.#guesses = limit === 0 ? undefined : new RateCounter({ limit });
    this.#ended = limit === 0 ? undefined : new RateCounter({ limit });
    this.#traffic = trafficBytes === 0 ? undefined : new RateCounter({ limit: trafficBytes });
  }

  /**
   * To be called before a token is looked up; `token` is undefined if the header holds none.
   *
   * @throws LimitExceeded if the address has sent too many guesses, or if the token has ended and came too often.
   */
  async admit(address: string, token: string | undefined): Promise<void> {
    const digest = digestOf(token);
    const ended = await this.#ended?.look(digest);
    if (ended !== undefined && ended.used >= ended.limit) throw new LimitExceeded('credential', details.ended, ended);
    const guesses = await this.#guesses?.look(sourceNetwork(address));
    // Those that pass it at once are looked up together: more than the limit, but no more than there are connections.
    if (guesses === undefined || guesses.used < guesses.limit || this.#known.has(digest)) return;
    throw new LimitExceeded('address', details.guesses, guesses);
  }

  /** To be called after a token was refused. `hasEnded`: its secret part was right, so it was no guess. */
  async refused(address: string, token: string | undefined, { hasEnded }: { hasEnded: boolean }): Promise<void> {
    const digest = digestOf(token);
    this.#known.delete(digest);
    if (hasEnded) await this.#ended?.count(digest);
    else await this.#guesses?.count(sourceNetwork(address));
  }

  /**
   * To be called after a token was found good. Counts a request of its credential and returns the state of that limit,
   * undefined without a limit.
   *
   * @throws LimitExceeded if it is one too many, or if the caller's traffic is used up. Such a request does not keep the
   *   token known.
   */
  async accepted(token: string, principal: BearerPrincipal): Promise<RateState | undefined> {
    const state = await this.#requests?.count(principal.credentialId);
    if (state !== undefined && state.used > state.limit) {
      throw new LimitExceeded('credential', details.requests, state);
    }
    await this.admitTraffic(principal);
    if (this.#guesses !== undefined) this.#known.add(digestOf(token), ownerOf(principal));
    return state;
  }

  /**
   * To be called before much is read for a caller. What begins below the limit may exceed it, so that no single request
   * is too large.
   *
   * @throws LimitExceeded if the caller's traffic is used up.
   */
  async admitTraffic({ id }: BearerPrincipal): Promise<void> {
    const state = await this.#traffic?.look(id);
    if (state !== undefined && state.used >= state.limit) throw new LimitExceeded('traffic', details.traffic, state);
  }

  /** Counts bytes of a body that has come in, or of an answer. Never refuses: a change may be done already. */
  async countTraffic({ id }: BearerPrincipal, bytes: number): Promise<void> {
    await this.#traffic?.count(id, bytes);
  }
}

/** Who can create many credentials: an organization its service tokens, a user their personal tokens. */
function ownerOf(principal: BearerPrincipal): string {
  return principal.type === 'service_token' ? principal.organizationId : principal.id;
}

/** So that no token is kept. */
function digestOf(token: string | undefined): string {
  return createHash('sha256')
    .update(token ?? '')
    .digest('base64');
}
