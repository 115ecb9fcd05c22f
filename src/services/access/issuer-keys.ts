import type { KeyObject } from 'node:crypto';
import { LRUCache } from 'lru-cache';
import { DomainError } from '../../domain/errors/domain-error.ts';
import { JwtError, type UnverifiedJwt } from '../../identity/jwt.ts';
import { type FetchRules, fetchKeySet, KeyFetchError } from '../../identity/key-set-fetch.ts';
import { KeySet } from '../../identity/key-set.ts';
import { readKeySet } from '../../identity/public-keys.ts';
import type { Clock } from '../../lib/clock.ts';
import { errorFields, type Logger } from '../../observability/logger.ts';
import type { Database } from '../../store/database.ts';
import {
  type FederationIssuer,
  type IssuerKeysRow,
  type KeyFetches,
  readIssuerKeys,
  storeFetchFault,
  storeFetchedKeys,
  takeKeyFetch,
} from '../../store/federations.ts';

export interface IssuerKeysDeps {
  readonly database: Pick<Database, 'pool'>;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly fetchRules: FetchRules;
}

/** Why the last fetch of keys failed, and when; null if it did not. For admins alone. */
export type LastFetch = Pick<KeyFetches, 'fetchFault' | 'fetchFailedAt'>;

/** Keys that were not fetched within the last hour. Callers do not see why. */
export class KeysUnavailable extends DomainError {
  readonly lastFetch: LastFetch | undefined;

  constructor(lastFetch: LastFetch | undefined) {
    super(
      'issuer_unavailable',
      'the keys of the trusted issuer of this JWT were not fetched within the last hour; try again, and if it lasts, ask an instance admin: `keyframe issuer show` has the address, and why they were not fetched',
      { retryAfterSeconds: fetchEverySeconds },
    );
    this.lastFetch = lastFetch;
  }
}

/** A JWT of a key that the issuer does not have, or that was not fetched. */
export class UnknownKey extends JwtError {
  readonly lastFetch: LastFetch | undefined;

  constructor(lastFetch: LastFetch | undefined) {
    super('jwt_unknown_key');
    this.lastFetch = lastFetch;
  }
}

// There are at most 100 issuers, besides those of clusters.
const maxParsed = 256;
/** From then on the keys are fetched again in the background, so that one that was withdrawn ends. */
const refreshAfterSeconds = 5 * 60;
/** From then on a JWT waits for that fetch: no JWT came in the last minutes that would have started it. */
const waitAfterSeconds = 10 * 60;
/** From then on the keys prove nothing until they were fetched again. */
const maxAgeSeconds = 60 * 60;
const fetchEverySeconds = 60;
/** How long the fetch of another server is waited for; a little more than it may take. */
const otherFetchSeconds = 6;
const lookEveryMs = 250;

/**
 * The keys of trusted issuers. In memory are parsed keys only, by issuer and version, and each JWT brings the present
 * version from the database. Keys of a URL are fetched by one server at a time, at most once a minute.
 */
export class IssuerKeys {
  readonly #deps: IssuerKeysDeps;
  readonly #parsed = new LRUCache<string, KeySet>({ max: maxParsed });
  /** When this process last took the right to fetch the keys of an issuer, for fetches that are done. */
  readonly #done = new LRUCache<string, number>({ max: maxParsed });
  /** Fetches of this process, by issuer and generation. */
  readonly #underWay = new Map<string, Promise<IssuerKeysRow | undefined>>();

  constructor(deps: IssuerKeysDeps) {
    this.#deps = deps;
  }

  /**
   * The key that signed a JWT of an issuer, if that issuer signed it.
   *
   * @throws JwtError jwt_issuer_algorithm. UnknownKey, also if an admin changes the issuer meanwhile. KeysUnavailable if the
   *   keys are more than an hour old and cannot be fetched, and store_unavailable.
   */
  async keyFor(issuer: FederationIssuer, jwt: UnverifiedJwt): Promise<KeyObject> {
    if (!issuer.algorithms.includes(jwt.algorithm)) throw new JwtError('jwt_issuer_algorithm');
    const known = isUsable(issuer.fetched) ? (await this.#keySet(issuer)).keyFor(jwt) : undefined;
    if (known !== undefined && ageOf(issuer.fetched) < waitAfterSeconds) {
      this.#refresh(issuer);
      return known;
    }
    const renewed = issuer.fetched === undefined ? undefined : await this.#renewed(issuer, issuer.fetched);
    const latest = renewed ?? issuer.fetched;
    if (!isUsable(latest)) throw new KeysUnavailable(latest);
    const key = renewed === undefined ? known : this.#keySetOf(issuer.id, renewed).keyFor(jwt);
    if (key === undefined) throw new UnknownKey(latest);
    return key;
  }

  /** Waits for fetches in the background. */
  async drain(): Promise<void> {
    await Promise.allSettled(this.#underWay.values());
  }

  async #keySet(issuer: FederationIssuer): Promise<KeySet> {
    const parsed = this.#parsed.get(cacheKey(issuer.id, issuer.keysVersion));
    if (parsed !== undefined) return parsed;
    const row = await readIssuerKeys(this.#deps.database.pool, issuer);
    return row === undefined ? new KeySet([]) : this.#keySetOf(issuer.id, row);
  }

  #keySetOf(issuerId: string, { version, keys }: IssuerKeysRow): KeySet {
    const key = cacheKey(issuerId, version);
    const parsed = this.#parsed.get(key) ?? new KeySet(readKeySet(keys)?.keys ?? []);
    this.#parsed.set(key, parsed);
    return parsed;
  }

  /** Fetches keys in the background that are no longer fresh. */
  #refresh(issuer: FederationIssuer): void {
    const { fetched } = issuer;
    if (fetched === undefined || ageOf(fetched) < refreshAfterSeconds || !mayFetch(fetched)) return;
    this.#renewed(issuer, fetched).catch((error: unknown) => {
      this.#deps.logger.warn(errorFields(error), 'the keys of a trusted issuer were not fetched');
    });
  }

  /** The keys after a fetch, of this server or another one; undefined if none is due, or if the issuer was changed. */
  async #renewed(issuer: Generation, fetched: KeyFetches): Promise<IssuerKeysRow | undefined> {
    const key = cacheKey(issuer.id, String(issuer.generation));
    const underWay = this.#underWay.get(key);
    if (underWay !== undefined) return await underWay;
    if (!mayFetch(fetched) && !isUnderWay(fetched)) return undefined;
    const fetch = this.#fetch(issuer).finally(() => this.#underWay.delete(key));
    this.#underWay.set(key, fetch);
    return await fetch;
  }

  async #fetch(issuer: Generation): Promise<IssuerKeysRow | undefined> {
    const { database, fetchRules, logger } = this.#deps;
    const { id: issuerId } = issuer;
    const right = await takeKeyFetch(database.pool, issuerId);
    if (right === undefined) return await this.#fetchOfOther(issuer);
    try {
      await storeFetchedKeys(database.pool, issuerId, right, await fetchKeySet(right, fetchRules));
    } catch (error) {
      if (!(error instanceof KeyFetchError)) throw error;
      const { fault, code } = error;
      await storeFetchFault(database.pool, issuerId, right, fault);
      logger.warn({ issuerId, fault, code }, 'the keys of a trusted issuer were not fetched');
    }
    this.#done.set(issuerId, right.triedAt.getTime());
    return await readIssuerKeys(database.pool, issuer);
  }

  /** Waits until the server that fetches the keys is done. */
  async #fetchOfOther(issuer: Generation): Promise<IssuerKeysRow | undefined> {
    for (;;) {
      const row = await readIssuerKeys(this.#deps.database.pool, issuer);
      if (row === undefined || !isUnderWay(row) || row.triedAt?.getTime() === this.#done.get(issuer.id)) return row;
      const { promise, resolve } = Promise.withResolvers<void>();
      this.#deps.clock.after(lookEveryMs, resolve);
      await promise;
    }
  }
}

type Generation = Pick<FederationIssuer, 'id' | 'generation'>;

function cacheKey(issuerId: string, version: string): string {
  return `${issuerId} ${version}`;
}

/** Keys that are given by value do not age. */
function ageOf(fetched: KeyFetches | undefined): number {
  return fetched?.ageSeconds ?? 0;
}

/** Whether keys count: those that are given by value always, fetched ones for an hour. */
function isUsable(fetched: KeyFetches | undefined): boolean {
  return fetched === undefined || (fetched.ageSeconds !== null && fetched.ageSeconds < maxAgeSeconds);
}

function mayFetch({ triedSecondsAgo }: KeyFetches): boolean {
  return triedSecondsAgo === null || triedSecondsAgo >= fetchEverySeconds;
}

/** Whether a server took the right to fetch and may not be done. */
function isUnderWay({ triedSecondsAgo, ageSeconds }: KeyFetches): boolean {
  if (triedSecondsAgo === null || triedSecondsAgo > otherFetchSeconds) return false;
  return ageSeconds === null || ageSeconds > triedSecondsAgo;
}
