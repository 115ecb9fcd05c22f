import type { ServerResponse } from 'node:http';
import { DomainError } from '../../domain/errors/domain-error.ts';
import { KeyedLimiter } from '../../lib/keyed-limiter.ts';

/** How much is under way at once (docs/interface.md section 8); the defaults are those. */
export interface WorkLimits {
  /** Requests, from their authentication to the end of their answer. */
  readonly requests?: number;
  /** Those of one person or service token. */
  readonly requestsOfOne?: number;
  /** Bytes of large bodies and answers; one caller has half of it. */
  readonly bytes?: number;
}

// Far more than the database's connections can be kept busy with. What waits longer is better told so.
const defaultRequests = 1_000;
// Whoever sends or reads slowly keeps a place for long: nobody may have all of them.
const defaultRequestsOfOne = 250;
// Sixteen times all values of a full environment.
const defaultBytes = 256 * 1024 * 1024;
// Large answers of one caller, whatever the number of their tokens: the second is read while the first is sent.
const largeAnswers = { atOnce: 2, waiting: defaultRequestsOfOne, waitMs: 10_000 };
// A request that holds no more is never refused for what others hold: a thousand of them are a quarter of the memory.
const smallBytes = 64 * 1024;

interface Taken {
  requests: number;
  bytes: number;
}

/** What one request takes, until it leaves. */
export interface Work {
  /**
   * Sets whose it is. `onTaken` gets the bytes that the request takes from then on, each once.
   *
   * @throws DomainError limit_exceeded if too many of this caller's are under way.
   */
  isOf(callerId: string, onTaken?: (bytes: number) => void): void;
  /** Takes note of bytes that wait in memory. Throws DomainError overloaded where too many do. */
  hold(bytes: number): void;
  /**
   * Waits until the caller may have one more large answer, which counts until the work leaves. Throws DomainError
   * overloaded if that takes too long.
   */
  enterLarge(): Promise<void>;
  /** Holds bytes for what will be held later, before it is computed. Throws what `hold` throws. */
  reserve(bytes: number): void;
  /** Gives everything back, before the answer is out. */
  leave(): void;
}

/** Bounds how many requests are under way at once, and how much memory waits for those who send or read slowly. */
export class WorkLimit {
  readonly #limits: Required<WorkLimits>;
  readonly #all: Taken = { requests: 0, bytes: 0 };
  readonly #callers = new Map<string, Taken>();
  readonly #large = new KeyedLimiter({
    ...largeAnswers,
    refusal: () => new DomainError('overloaded', 'too many large answers of yours are under way; try again'),
  });

  constructor({
    requests = defaultRequests,
    requestsOfOne = defaultRequestsOfOne,
    bytes = defaultBytes,
  }: WorkLimits = {}) {
    this.#limits = { requests, requestsOfOne, bytes };
  }

  /** Takes a place until the answer is out or its connection gone. Throws DomainError overloaded where none is free. */
  enter(response: ServerResponse): Work {
    if (this.#all.requests >= this.#limits.requests) {
      throw new DomainError('overloaded', 'too many requests are under way; try again');
    }
    this.#all.requests += 1;
    const own: Taken = { requests: 1, bytes: 0 };
    let caller: string | undefined;
    let onTaken: ((bytes: number) => void) | undefined;
    let reserved = 0;
    const take = (bytes: number): void => {
      own.bytes += this.#hold(bytes, own, caller);
      if (bytes > 0) onTaken?.(bytes);
    };
    const left = Promise.withResolvers<void>();
    const leave = (): void => {
      left.resolve();
      this.#giveBack(own, caller);
      Object.assign(own, { requests: 0, bytes: 0 });
    };
    response.once('close', leave);
    return {
      isOf: (callerId, listener) => {
        this.#admit(callerId);
        caller = callerId;
        onTaken = listener;
      },
      hold: (bytes) => {
        const used = Math.min(bytes, reserved);
        take(bytes - used);
        reserved -= used;
      },
      enterLarge: () => this.#enterLarge(caller ?? '', left.promise),
      reserve: (bytes) => {
        take(bytes);
        reserved += bytes;
      },
      leave,
    };
  }

  #admit(callerId: string): void {
    const taken = this.#callers.get(callerId) ?? { requests: 0, bytes: 0 };
    const { requestsOfOne } = this.#limits;
    if (taken.requests >= requestsOfOne) {
      throw new DomainError('limit_exceeded', `${requestsOfOne} requests of yours are under way; try again`);
    }
    taken.requests += 1;
    this.#callers.set(callerId, taken);
  }

  async #enterLarge(callerId: string, left: Promise<void>): Promise<void> {
    const admitted = Promise.withResolvers<void>();
    const place = this.#large.run(callerId, () => {
      admitted.resolve();
      return left;
    });
    await Promise.race([admitted.promise, place]);
  }

  #hold(bytes: number, own: Readonly<Taken>, caller: string | undefined): number {
    const taken = caller === undefined ? undefined : this.#callers.get(caller);
    const most = this.#limits.bytes;
    // What is larger than the limit alone may pass alone.
    const isTooMuch = (of: Taken | undefined, limit: number): boolean =>
      of !== undefined && of.bytes > own.bytes && of.bytes + bytes > limit;
    if (own.bytes + bytes > smallBytes && (isTooMuch(this.#all, most) || isTooMuch(taken, most / 2))) {
      throw new DomainError('overloaded', 'too much memory is taken by large bodies and answers; try again');
    }
    this.#all.bytes += bytes;
    if (taken !== undefined) taken.bytes += bytes;
    return bytes;
  }

  #giveBack({ requests, bytes }: Taken, caller: string | undefined): void {
    this.#all.requests -= requests;
    this.#all.bytes -= bytes;
    const taken = caller === undefined ? undefined : this.#callers.get(caller);
    if (caller === undefined || taken === undefined) return;
    taken.requests -= requests;
    taken.bytes -= bytes;
    if (taken.requests === 0) this.#callers.delete(caller);
  }
}
