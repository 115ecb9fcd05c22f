import { createHash } from 'node:crypto';
import { DomainError } from '../domain/domain-error.ts';
import { RateCounter, type RateState } from './rate-counter.ts';
import { sourceNetwork } from './source-address.ts';

/** Each counts in this process alone; 0 turns a limit off. */
export interface RateLimitOptions {
  /** Requests a minute with one token. */
  readonly requests: number;
  /** Refused tokens a minute from one address, or one /64 network of IPv6. */
  readonly failedAuthentications: number;
}

export const noRateLimits: RateLimitOptions = { requests: 0, failedAuthentications: 0 };

export type RateLimitName = 'credential' | 'address';

/** A `limit_exceeded` that knows which limit and how long it holds. */
export class LimitExceeded extends DomainError {
  readonly limit: RateLimitName;
  /** Whole seconds, at least 1. */
  readonly retryAfterSeconds: number;

  constructor(limit: RateLimitName, { resetSeconds }: RateState) {
    super('limit_exceeded', `${limitDetails[limit]}; try again in ${resetSeconds} seconds`);
    this.limit = limit;
    this.retryAfterSeconds = resetSeconds;
  }
}

const limitDetails: Readonly<Record<RateLimitName, string>> = {
  credential: 'this token has made too many requests in a minute',
  address: 'too many tokens from this address were refused in a minute, and this one was not seen before',
};

// How many tokens that opened something last are told from those that never did.
const knownTokens = 10_000;

/**
 * The limits of docs/interface.md section 8. An address that has sent too many wrong tokens is refused before its token
 * is looked up, so that guessing costs the database nothing. Tokens that this process has seen open something pass all
 * the same, and are looked up as ever: one bad client must not lock out the others behind its address.
 */
export class RateLimits {
  readonly #requests: RateCounter | undefined;
  readonly #failures: RateCounter | undefined;
  /** SHA-256 of tokens, the least recently used first. */
  readonly #known = new Set<string>();

  constructor({ requests, failedAuthentications }: RateLimitOptions) {
    this.#requests = requests === 0 ? undefined : new RateCounter({ limit: requests });
    this.#failures = failedAuthentications === 0 ? undefined : new RateCounter({ limit: failedAuthentications });
  }

  /** Before a token is looked up. Throws LimitExceeded where its address has sent too many wrong ones. */
  async admit(address: string, bearer: string): Promise<void> {
    const state = await this.#failures?.look(sourceNetwork(address));
    // Those that pass it at once are looked up together: more than the limit, but no more than there are connections.
    if (state === undefined || state.used < state.limit || this.#known.has(digest(bearer))) return;
    throw new LimitExceeded('address', state);
  }

  /** After a token was refused. */
  async refused(address: string, bearer: string): Promise<void> {
    if (this.#failures === undefined) return;
    this.#known.delete(digest(bearer));
    await this.#failures.count(sourceNetwork(address));
  }

  /**
   * After a token was found good: counts a request of its credential and answers where that stands, undefined without
   * a limit. Throws LimitExceeded where it is one too many.
   */
  async accepted(bearer: string, credentialId: string): Promise<RateState | undefined> {
    if (this.#failures !== undefined) this.#remember(digest(bearer));
    const state = await this.#requests?.count(credentialId);
    if (state !== undefined && state.used > state.limit) throw new LimitExceeded('credential', state);
    return state;
  }

  #remember(token: string): void {
    this.#known.delete(token);
    this.#known.add(token);
    const [oldest] = this.#known;
    if (this.#known.size > knownTokens && oldest !== undefined) this.#known.delete(oldest);
  }
}

/** So that no token is kept. */
function digest(bearer: string): string {
  return createHash('sha256').update(bearer).digest('base64');
}
