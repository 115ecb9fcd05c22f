import type { ServerResponse } from 'node:http';
import { DomainError } from '../../domain/errors/domain-error.ts';
import { KeyedLimiter } from '../../lib/keyed-limiter.ts';

/** Limits of concurrent work (docs/interface.md section 8, which has the defaults). */
export interface WorkLimits {
  /** Requests, from their authentication to the end of their response. */
  readonly requests?: number;
  /** Requests of one user or service token. */
  readonly requestsPerCaller?: number;
  /** Bytes of large requests and responses; one caller can use half of it. */
  readonly bytes?: number;
}

// Far more than keep all database connections busy. Beyond that, an early error is better than a long wait.
const defaultRequests = 1_000;
// A slow client occupies its slots for long, so one caller must not have all of them.
const defaultRequestsPerCaller = 250;
// Sixteen times the values of a full environment.
const defaultBytes = 256 * 1024 * 1024;
// Large responses of one caller, for all tokens together: the second is read while the first is sent.
const largeResponses = { concurrency: 2, maxWaiting: defaultRequestsPerCaller, waitMs: 10_000 };
// A smaller request is never refused because of others: a thousand of them use a quarter of the memory.
const smallBytes = 64 * 1024;

interface Usage {
  requests: number;
  bytes: number;
}

/** The resources of one request, until it leaves. */
export interface Work {
  /**
   * Sets the caller. `onBytes` gets the bytes that the request uses from then on, each once.
   *
   * @throws DomainError limit_exceeded if the caller has too many requests in progress.
   */
  isOf(callerId: string, onBytes?: (bytes: number) => void): void;
  /** Counts bytes that wait in memory. Throws DomainError overloaded if they are too many. */
  hold(bytes: number): void;
  /**
   * Waits until the caller may have one more large response, which counts until the request leaves. Throws DomainError
   * overloaded if that takes too long.
   */
  enterLarge(): Promise<void>;
  /** Counts bytes in advance, before the data that `hold` counts later is computed. Throws what `hold` throws. */
  reserve(bytes: number): void;
  /** Releases everything before the response ends. */
  leave(): void;
}

/** Limits concurrent requests, and the memory that waits for slow clients. */
export class WorkLimit {
  readonly #limits: Required<WorkLimits>;
  readonly #all: Usage = { requests: 0, bytes: 0 };
  readonly #callers = new Map<string, Usage>();
  readonly #large = new KeyedLimiter({
    ...largeResponses,
    makeError: () => new DomainError('overloaded', 'too many of your large responses are in progress; try again'),
  });

  constructor({
    requests = defaultRequests,
    requestsPerCaller = defaultRequestsPerCaller,
    bytes = defaultBytes,
  }: WorkLimits = {}) {
    this.#limits = { requests, requestsPerCaller, bytes };
  }

  /** Occupies a slot until the response ends or its connection closes. Throws DomainError overloaded if none is free. */
  enter(response: ServerResponse): Work {
    if (this.#all.requests >= this.#limits.requests) {
      throw new DomainError('overloaded', 'too many requests are in progress; try again');
    }
    this.#all.requests += 1;
    const own: Usage = { requests: 1, bytes: 0 };
    let caller: string | undefined;
    let onBytes: ((bytes: number) => void) | undefined;
    let reserved = 0;
    const take = (bytes: number): void => {
      own.bytes += this.#hold(bytes, own, caller);
      if (bytes > 0) onBytes?.(bytes);
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
        onBytes = listener;
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
    const { requestsPerCaller } = this.#limits;
    if (taken.requests >= requestsPerCaller) {
      throw new DomainError('limit_exceeded', `${requestsPerCaller} of your requests are in progress; try again`);
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

  #hold(bytes: number, own: Readonly<Usage>, caller: string | undefined): number {
    const taken = caller === undefined ? undefined : this.#callers.get(caller);
    const maxBytes = this.#limits.bytes;
    // A request that alone exceeds the limit may pass if no other holds memory.
    const isTooMuch = (of: Usage | undefined, limit: number): boolean =>
      of !== undefined && of.bytes > own.bytes && of.bytes + bytes > limit;
    if (own.bytes + bytes > smallBytes && (isTooMuch(this.#all, maxBytes) || isTooMuch(taken, maxBytes / 2))) {
      throw new DomainError('overloaded', 'large requests and responses use too much memory; try again');
    }
    this.#all.bytes += bytes;
    if (taken !== undefined) taken.bytes += bytes;
    return bytes;
  }

  #giveBack({ requests, bytes }: Usage, caller: string | undefined): void {
    this.#all.requests -= requests;
    this.#all.bytes -= bytes;
    const taken = caller === undefined ? undefined : this.#callers.get(caller);
    if (caller === undefined || taken === undefined) return;
    taken.requests -= requests;
    taken.bytes -= bytes;
    if (taken.requests === 0) this.#callers.delete(caller);
  }
}
