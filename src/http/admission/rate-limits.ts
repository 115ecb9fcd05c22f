import { createHash } from 'node:crypto';
import { type ClusterPrincipal, limitsOwner } from '../../domain/cluster-principal.ts';
import { DomainError } from '../../domain/errors/domain-error.ts';
import type { BearerPrincipal } from '../../domain/principal.ts';
import { audienceNamed } from '../../services/access/federated-tokens.ts';
import { KnownTokens } from './known-tokens.ts';
import { RateCounter, type RateState } from './rate-counter.ts';
import { sourceNetwork } from './source-address.ts';

/** Limits of this process; 0 turns a limit off. */
export interface RateLimitOptions {
  /** Requests a minute with one token. */
  readonly requests: number;
  /** Unknown tokens a minute from one address, or one /64 network of IPv6; also refusals a minute of one ended token. */
  readonly failedAuthentications: number;
  /** Bytes of requests and responses a minute of one user or service token. */
  readonly trafficBytes: number;
  /** Items that one cluster asks for, reports or changes from one network in a minute; no limit by default. */
  readonly clusterItems?: number;
  /** Bytes of requests and responses a minute of one cluster from one network; no limit by default. */
  readonly clusterBytes?: number;
}

export const noRateLimits: RateLimitOptions = { requests: 0, failedAuthentications: 0, trafficBytes: 0 };

export type RateLimitName = 'credential' | 'address' | 'traffic' | 'cluster';

/** A `limit_exceeded` with the name of the limit and the time until it resets. */
export class LimitExceeded extends DomainError {
  readonly limit: RateLimitName;

  constructor(limit: RateLimitName, detail: string, { resetSeconds }: RateState) {
    super('limit_exceeded', `${detail}; try again in ${resetSeconds} seconds`, { retryAfterSeconds: resetSeconds });
    this.limit = limit;
  }
}

const details = {
  requests: 'too many requests with this token within a minute',
  public: 'too many requests without a token came from this address within a minute',
  ended: 'this token was refused too often within a minute',
  traffic: 'this user or service token has sent and read too many bytes within a minute',
  cluster: 'this cluster has asked for too much within a minute',
  guesses: 'too many invalid tokens came from this address within a minute, and this token was not accepted before',
};

// Each credential has one entry. One organization or user cannot displace the entries of all others.
const knownTokenLimits = { maxTokens: 10_000, maxTokensPerOwner: 1_000 };

/**
 * The limits of docs/interface.md section 8.
 *
 * - An address that has sent too many unknown tokens is refused before the lookup, so guessing does not load the
 *   database.
 * - Tokens that this process has accepted before are looked up as usual. One bad client must not lock out the others
 *   behind its address.
 * - A token that existed but has ended, for example because it was revoked, is not a guess. It has another limit.
 * - Each job has another JWT, and the runners of many tenants share an address. So JWTs are known by their audience, and
 *   only one for an audience that no service token has is a guess. Those for one audience are one guess of the address.
 * - Only its controllers have JWTs for a cluster, so that each one that does not prove the cluster is a guess.
 */
export class RateLimits {
  readonly #requests: RateCounter | undefined;
  readonly #guesses: RateCounter | undefined;
  /** Requests without a token, by address. */
  readonly #public: RateCounter | undefined;
  /** Refusals of tokens that have ended. */
  readonly #ended: RateCounter | undefined;
  /** Bytes, by the caller. */
  readonly #traffic: RateCounter | undefined;
  /** Items and bytes, by `limitsOwner` and network: a thief of a token elsewhere uses up nothing of what a controller has. */
  readonly #clusters: { readonly items: RateCounter | undefined; readonly bytes: RateCounter | undefined };
  readonly #known = new KnownTokens(knownTokenLimits);

  constructor(options: RateLimitOptions) {
    this.#requests = counterOf(options.requests);
    this.#public = counterOf(options.requests);
    this.#guesses = counterOf(options.failedAuthentications);
    this.#ended = counterOf(options.failedAuthentications);
    this.#traffic = counterOf(options.trafficBytes);
    this.#clusters = { items: counterOf(options.clusterItems ?? 0), bytes: counterOf(options.clusterBytes ?? 0) };
  }

  /**
   * Must be called before a token is looked up.
   *
   * @throws LimitExceeded if the address has sent too many unknown tokens, or if the token has ended and came too often.
   */
  async admit(address: string, token: TokenNames): Promise<void> {
    const ended = await this.#ended?.peek(token.digest);
    if (ended !== undefined && ended.used >= ended.limit) throw new LimitExceeded('credential', details.ended, ended);
    await this.#admitGuess(sourceNetwork(address), token);
  }

  async #admitGuess(network: string, token: TokenNames): Promise<void> {
    const { same, all } = guessOf(network, token);
    const counters = same === undefined ? [all] : [all, same];
    const states = await Promise.all(counters.map(async (counter) => this.#guesses?.peek(counter)));
    // Concurrent requests can pass together, above the limit, but not more than there are connections.
    const full = states.find((state) => state !== undefined && state.used >= state.limit);
    const isKnown = this.#known.has(nameOf(token)) || this.#known.has(nameAt(network, token));
    if (full !== undefined && !isKnown) throw new LimitExceeded('address', details.guesses, full);
  }

  /**
   * Must be called before a request that needs no token. Counts it for its address.
   *
   * @throws LimitExceeded if the address has sent too many of them, or too many unknown tokens.
   */
  async admitPublic(address: string): Promise<void> {
    await this.admit(address, noToken);
    await this.countPublic(address);
  }

  /**
   * Counts a request that needs no token and cannot guess one.
   *
   * @throws LimitExceeded if the address has sent too many requests without a token.
   */
  async countPublic(address: string): Promise<void> {
    const state = await this.#public?.count(sourceNetwork(address));
    if (state !== undefined && state.used > state.limit) throw new LimitExceeded('address', details.public, state);
  }

  /** Must be called after a token was refused that was not found, or what a request without a token presents. */
  async guessed(address: string, token: TokenNames = noToken): Promise<void> {
    const { same, all } = guessOf(sourceNetwork(address), token);
    this.#known.delete(nameOf(token));
    const before = same === undefined ? undefined : await this.#guesses?.count(same);
    if (before === undefined || before.used === 1) await this.#guesses?.count(all);
  }

  /**
   * Must be called after a token was refused that was found, so that it was not a guess. `principal`: of a token that has
   * ended; undefined for a JWT that names a service token and does not prove it. One credential can have many JWTs, so that
   * it is counted too.
   *
   * @throws LimitExceeded if the credential has ended and came too often.
   */
  async refused(token: TokenNames, principal?: BearerPrincipal): Promise<void> {
    await this.#ended?.count(token.digest);
    if (principal === undefined) return;
    this.#known.delete(nameOf(token));
    const state = await this.#ended?.count(principal.credentialId);
    if (state !== undefined && state.used > state.limit) throw new LimitExceeded('credential', details.ended, state);
  }

  /**
   * Must be called after a token was accepted. Counts a request of its credential and returns the state of that limit, or
   * undefined without a limit.
   *
   * @throws LimitExceeded if the credential or the traffic of the caller is above its limit. Such a request does not keep
   *   the token known.
   */
  async accepted(token: TokenNames, principal: BearerPrincipal): Promise<RateState | undefined> {
    const state = await this.#requests?.count(principal.credentialId);
    if (state !== undefined && state.used > state.limit) {
      throw new LimitExceeded('credential', details.requests, state);
    }
    await this.admitTraffic(principal);
    if (this.#guesses !== undefined) this.#known.add(nameOf(token), ownerOf(principal));
    return state;
  }

  /**
   * Must be called before a large read. A request that begins below the limit may exceed it, so that no single request is
   * too large.
   *
   * @throws LimitExceeded if the traffic of the caller is above its limit.
   */
  async admitTraffic({ id }: BearerPrincipal): Promise<void> {
    const state = await this.#traffic?.peek(id);
    if (state !== undefined && state.used >= state.limit) throw new LimitExceeded('traffic', details.traffic, state);
  }

  /**
   * Must be called after the token of a cluster was accepted. A request that begins below the limits may exceed them.
   *
   * @throws LimitExceeded if the cluster is above one of its limits.
   */
  async acceptedCluster(address: string, token: TokenNames, cluster: LimitedCluster): Promise<void> {
    const owner = limitsOwner(cluster);
    if (this.#guesses !== undefined) this.#known.add(nameAt(sourceNetwork(address), token), owner);
    for (const counter of [this.#clusters.items, this.#clusters.bytes]) {
      const state = await counter?.peek(ownerAt(address, owner));
      if (state !== undefined && state.used >= state.limit) throw new LimitExceeded('cluster', details.cluster, state);
    }
  }

  /** Counts what a request of a cluster was about, and its bytes. Never throws. */
  async countCluster(
    address: string | null,
    cluster: LimitedCluster,
    { items = 0, bytes = 0 }: { readonly items?: number; readonly bytes?: number },
  ): Promise<void> {
    const owner = ownerAt(address ?? '', limitsOwner(cluster));
    await this.#clusters.items?.count(owner, items);
    await this.#clusters.bytes?.count(owner, bytes);
  }

  /** Counts bytes of a request or response. Never throws, because a change may be committed already. */
  async countTraffic({ id }: BearerPrincipal, bytes: number): Promise<void> {
    await this.#traffic?.count(id, bytes);
  }
}

function ownerAt(address: string, owner: string): string {
  return `${owner} ${sourceNetwork(address)}`;
}

/** 0 is no limit. */
function counterOf(limit: number): RateCounter | undefined {
  return limit === 0 ? undefined : new RateCounter({ limit });
}

type LimitedCluster = Pick<ClusterPrincipal, 'name' | 'isHome'>;

/** The owner of many credentials: the organization of a service token, or the user of a personal token. */
function ownerOf(principal: BearerPrincipal): string {
  return principal.type === 'service_token' ? principal.organizationId : principal.id;
}

/** What the limits know a token by. Make it once for a request, because a JWT is read for it. */
export interface TokenNames {
  /** A digest, so that no token stays in memory. */
  readonly digest: string;
  /** Of a JWT its audience, which is empty without one of Keyframe; undefined for any other token. */
  readonly audience: string | undefined;
}

/** The names of a token; undefined for none. */
export function namesOf(token: string | undefined): TokenNames {
  const digest = createHash('sha256')
    .update(token ?? '')
    .digest('base64');
  return { digest, audience: token === undefined ? undefined : audienceNamed(token) };
}

const noToken = namesOf(undefined);

/** Each job has another JWT, so that JWTs are known by their audience. */
function nameOf({ digest, audience }: TokenNames): string {
  return audience ?? digest;
}

/**
 * Anyone can write a JWT for the audience of a cluster, so that one which was accepted says something of others from its
 * network only.
 */
function nameAt(network: string, token: TokenNames): string {
  return guessOf(network, token).same ?? token.digest;
}

/** How a token that is not found counts. */
interface Guess {
  /** Of JWTs, counts those for the same audience. Only the first of them within a minute is a guess of the address. */
  readonly same: string | undefined;
  /** Counts the guesses of the address: JWTs apart, so that neither they nor other tokens lock out the others. */
  readonly all: string;
}

function guessOf(network: string, { audience }: TokenNames): Guess {
  if (audience === undefined) return { same: undefined, all: network };
  return { same: `${network} ${audience}`, all: `${network} jwt` };
}
