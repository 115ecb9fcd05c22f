import { copyOf, DomainError } from '../../domain/errors/domain-error.ts';
import { FairQueue } from '../../lib/fair-queue.ts';
import { presentOwner, workFor } from '../../store/pool-shares.ts';

export interface GroupedLookupOptions<Asked, Found> {
  /** Looks many up at once; returns them in the order asked, undefined for what does not exist. */
  readonly look: (asked: readonly Asked[]) => Promise<readonly (Found | undefined)[]>;
  /** Equal texts are one question. */
  readonly keyOf: (asked: Asked) => string;
  /** Lookups under way at the same time. */
  readonly concurrency?: number;
  /** How many one lookup takes at most. */
  readonly groupLimit?: number;
}

// More than one, so that one slow connection does not delay every lookup.
const defaultConcurrency = 2;
const defaultGroupLimit = 250;

interface Waiting<Asked, Found> extends PromiseWithResolvers<Found | undefined> {
  readonly asked: Asked;
}

/**
 * Looks up for many requests with one statement instead of one for each. Nothing is cached: the lookup that answers a
 * call begins after that call, so it sees all that was committed before. What comes alone is looked up at once; what
 * comes in the same turn of the event loop, or while the most are under way, goes together. Owners of work take turns
 * (`workFor`), and a lookup is of no owner: its connections are limited already.
 */
export class GroupedLookup<Asked, Found> {
  readonly #options: Required<GroupedLookupOptions<Asked, Found>>;
  readonly #waiting = new Map<string, Waiting<Asked, Found>>();
  /** The keys of what waits, by the owner that asked first. */
  readonly #turns = new FairQueue<string | undefined, string>();
  #underWay = 0;
  #isDue = false;

  constructor(options: GroupedLookupOptions<Asked, Found>) {
    this.#options = { concurrency: defaultConcurrency, groupLimit: defaultGroupLimit, ...options };
  }

  /**
   * Looks one up. Throws what the lookup throws, as a new error for this call: the audit distinguishes failures by
   * their error.
   */
  async find(asked: Asked): Promise<Found | undefined> {
    try {
      return await this.#join(asked).promise;
    } catch (error) {
      throw error instanceof DomainError ? copyOf(error) : new Error('a lookup failed', { cause: error });
    }
  }

  #join(asked: Asked): Waiting<Asked, Found> {
    const key = this.#options.keyOf(asked);
    const known = this.#waiting.get(key);
    if (known !== undefined) return known;
    const waiting = { asked, ...Promise.withResolvers<Found | undefined>() };
    this.#waiting.set(key, waiting);
    this.#turns.add(presentOwner(), key);
    this.#begin();
    return waiting;
  }

  #begin(): void {
    if (this.#isDue || this.#waiting.size === 0 || this.#underWay === this.#options.concurrency) return;
    this.#isDue = true;
    setImmediate(() => {
      this.#isDue = false;
      void this.#lookUp(this.#takeGroup());
      this.#begin();
    });
  }

  #takeGroup(): Waiting<Asked, Found>[] {
    return this.#turns.take(this.#options.groupLimit).flatMap((key) => {
      const waiting = this.#waiting.get(key);
      this.#waiting.delete(key);
      return waiting ?? [];
    });
  }

  /** Never throws. */
  async #lookUp(group: readonly Waiting<Asked, Found>[]): Promise<void> {
    this.#underWay += 1;
    try {
      const found = await workFor(undefined, () => this.#options.look(group.map(({ asked }) => asked)));
      for (const [index, { resolve }] of group.entries()) resolve(found[index]);
    } catch (error) {
      for (const { reject } of group) reject(error);
    }
    this.#underWay -= 1;
    this.#begin();
  }
}
