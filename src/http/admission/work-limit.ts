import type { ServerResponse } from 'node:http';
import { DomainError } from '../../domain/errors/domain-error.ts';
import { MemoryBudget } from '../../lib/memory-budget.ts';
import { KeyedLimiter } from '../../lib/keyed-limiter.ts';
import { type RequestMemory, requestMemory } from '../../lib/process-memory.ts';
import { sourceNetwork } from './source-address.ts';

/** Limits of concurrent work (docs/interface.md section 8, which has the defaults). */
export interface WorkLimits extends Partial<RequestMemory> {
  /** Requests, from their authentication to the end of their response. */
  readonly requests?: number;
  /** Requests of one user or service token, or of one network without a token. */
  readonly requestsPerParty?: number;
  /** How long a request waits for memory. */
  readonly waitMs?: number;
  /** How long a client may let its request wait before another request may take its place. */
  readonly patienceMs?: number;
}

// Far more than keep all database connections busy. Beyond that, an early error is better than a long wait.
const defaultRequests = 1_000;
// A slow client occupies its slots for long, so one party must not have all of them.
const defaultRequestsPerParty = 250;
// Requests without a token, from all networks together. Others always find a slot.
const tokenlessShare = 1 / 2;
// Of the memory that depends on clients: two parties cannot hold all of it.
const partyShare = 2 / 5;
// Large responses of one caller, for all tokens together: the second is read while the first is sent.
const largeResponses = { concurrency: 2, maxWaiting: defaultRequestsPerParty, waitMs: 10_000 };
// A smaller request is never refused because of others: a thousand of them use 64 MiB.
const smallBytes = 64 * 1024;
const defaultPatienceMs = 1_000;
const defaultWaitMs = 10_000;
const retryMs = 250;

/** The slowest transfer that keeps its place while others need it, after its first seconds. */
export const slowTransfer = { graceMs: 10_000, bytesPerSecond: 32 * 1024 } as const;

/** What a request computes with: the copies of a large state, or of a large body. */
export type Computation = 'read' | 'write';

/** The resources of one request, until it leaves. */
export interface Work {
  /**
   * Sets the caller. `onBytes` gets the bytes that the request uses from then on, each once.
   *
   * @throws DomainError limit_exceeded if the caller has too many requests in progress.
   */
  isOf(callerId: string, onBytes?: (bytes: number) => void): void;
  /**
   * Sets the address of a request that needs no token.
   *
   * @throws DomainError limit_exceeded if its network has too many requests in progress, or overloaded if all networks
   *   together have.
   */
  isFrom(address: string): void;
  /** Counts bytes that wait for a client. Throws DomainError overloaded if they are too many. */
  hold(bytes: number): void;
  /**
   * Counts bytes in advance, before the data that `hold` counts later is computed. Waits until they are free. Throws
   * DomainError overloaded if that takes too long.
   */
  reserve(bytes: number): Promise<void>;
  /** Gives back bytes that were held. */
  release(bytes: number): void;
  /**
   * Waits until the caller may have one more large response, which counts until the request leaves. Throws DomainError
   * overloaded if that takes too long.
   */
  enterLarge(): Promise<void>;
  /**
   * Waits until this memory is free for copies. It counts until `computed` or `end`. Throws DomainError overloaded if
   * that takes too long. Only the first call counts.
   */
  compute(kind: Computation, bytes: number): Promise<void>;
  computed(): void;
  /** From now on nothing happens until the client sends or reads. `moved` bytes were sent or read before. */
  awaitClient(moved: number): void;
  /** The client has sent or read. */
  continue(): void;
  /** Releases everything before the response ends. */
  leave(): void;
  /** The handler has ended. Everything is released when the response has ended or its connection has closed, too. */
  end(): void;
}

interface Usage {
  requests: number;
  bytes: number;
}

/** Who has a share: a caller, or a network without a token. */
interface Party {
  readonly name: string;
  readonly isTokenless: boolean;
}

/** One request in progress. */
interface Exchange extends Usage {
  readonly response: ServerResponse;
  readonly startedMs: number;
  party: Party | undefined;
  /** When the wait for the client began; undefined while the client is not awaited. */
  awaitedMs: number | undefined;
  /** Bytes that the client has sent and read. */
  moved: number;
  /** Whether the response has ended or its connection has closed. */
  isClosed: boolean;
  /** Whether the handler has ended. It may go on for a while after its client has gone. */
  hasEnded: boolean;
  readonly leave: () => void;
}

/**
 * Limits concurrent requests and their memory. If a limit is reached, the request whose client is awaited for longest
 * makes room. So clients that send nothing or read nothing do not lead to refusals of others.
 */
export class WorkLimit {
  readonly #requests: number;
  readonly #requestsPerParty: number;
  readonly #transferBytes: number;
  readonly #patienceMs: number;
  readonly #waitMs: number;
  readonly #all: Usage = { requests: 0, bytes: 0 };
  /** By the names of parties. */
  readonly #usages = new Map<string, Usage>();
  /** Requests without a token. */
  #tokenless = 0;
  /** Requests whose client is awaited, the longest first. */
  readonly #awaited = new Set<Exchange>();
  /** Resolves when memory is released. */
  #released = Promise.withResolvers<void>();
  readonly #computing: Readonly<Record<Computation, MemoryBudget>>;
  readonly #large = new KeyedLimiter({
    ...largeResponses,
    makeError: () => new DomainError('overloaded', 'too many of your large responses are in progress; try again'),
  });

  constructor({
    requests = defaultRequests,
    requestsPerParty = defaultRequestsPerParty,
    patienceMs = defaultPatienceMs,
    waitMs = defaultWaitMs,
    ...memory
  }: WorkLimits = {}) {
    const { transferBytes, readBytes, writeBytes } = { ...requestMemory(), ...memory };
    this.#requests = requests;
    this.#requestsPerParty = requestsPerParty;
    this.#patienceMs = patienceMs;
    this.#transferBytes = transferBytes;
    this.#waitMs = waitMs;
    const wait = { waitMs, makeError: tooMuchMemory };
    this.#computing = {
      read: new MemoryBudget({ maxBytes: readBytes, wait }),
      write: new MemoryBudget({ maxBytes: writeBytes, wait }),
    };
  }

  /** Occupies a slot, which `end` must release. Throws DomainError overloaded if none is free. */
  enter(response: ServerResponse): Work {
    if (this.#all.requests >= this.#requests && !this.#displace(() => true)) throw tooManyRequests();
    this.#all.requests += 1;
    const left = Promise.withResolvers<void>();
    const exchange: Exchange = {
      response,
      startedMs: performance.now(),
      requests: 1,
      bytes: 0,
      party: undefined,
      awaitedMs: undefined,
      moved: 0,
      isClosed: false,
      hasEnded: false,
      leave: () => {
        left.resolve();
        this.#awaited.delete(exchange);
        this.#giveBack(exchange);
      },
    };
    response.once('close', () => {
      exchange.isClosed = true;
      if (exchange.hasEnded) exchange.leave();
    });
    return this.#workOf(exchange, left.promise);
  }

  /** Runs the handler of a request in a slot. Throws what `enter` and the handler throw. */
  async during(response: ServerResponse, handle: (work: Work) => Promise<void>): Promise<void> {
    const work = this.enter(response);
    try {
      await handle(work);
    } finally {
      work.end();
    }
  }

  #workOf(exchange: Exchange, left: Promise<void>): Work {
    let onBytes: ((bytes: number) => void) | undefined;
    let reserved = 0;
    let computing: PromiseWithResolvers<void> | undefined;
    const take = (bytes: number): void => {
      this.#hold(exchange, bytes);
      if (bytes > 0) onBytes?.(bytes);
    };
    const party = (): string => exchange.party?.name ?? '';
    return {
      isOf: (callerId, listener) => {
        this.#admit(exchange, { name: `caller ${callerId}`, isTokenless: false });
        onBytes = listener;
      },
      isFrom: (address) => this.#admit(exchange, { name: `network ${sourceNetwork(address)}`, isTokenless: true }),
      hold: (bytes) => {
        const used = Math.min(bytes, reserved);
        take(bytes - used);
        reserved -= used;
      },
      reserve: async (bytes) => {
        await this.#retry(exchange, () => take(bytes));
        reserved += bytes;
      },
      release: (bytes) => this.#take(exchange, -Math.min(bytes, exchange.bytes)),
      enterLarge: () => admission((inTurn) => this.#large.run(party(), () => inTurn(left))),
      compute: async (kind, bytes) => {
        if (computing !== undefined) return;
        computing = Promise.withResolvers();
        const { promise } = computing;
        await admission((inTurn) => this.#computing[kind].run(party(), bytes, () => inTurn(promise)));
      },
      computed: () => computing?.resolve(),
      awaitClient: (moved) => this.#await(exchange, moved),
      continue: () => {
        this.#awaited.delete(exchange);
        exchange.awaitedMs = undefined;
      },
      leave: () => exchange.leave(),
      end: () => {
        computing?.resolve();
        exchange.hasEnded = true;
        if (exchange.isClosed) exchange.leave();
        else this.#await(exchange, 0);
      },
    };
  }

  #await(exchange: Exchange, moved: number): void {
    this.#awaited.delete(exchange);
    this.#awaited.add(exchange);
    exchange.awaitedMs = performance.now();
    exchange.moved += moved;
  }

  #admit(exchange: Exchange, party: Party): void {
    const { name, isTokenless } = party;
    const max = this.#requestsPerParty;
    const isFull = (this.#usages.get(name)?.requests ?? 0) >= max;
    if (isFull && !this.#displace((other) => other.party?.name === name)) {
      throw new DomainError('limit_exceeded', `${max} of your requests are in progress; try again`);
    }
    const maxTokenless = this.#requests * tokenlessShare;
    if (
      isTokenless &&
      this.#tokenless >= maxTokenless &&
      !this.#displace((other) => other.party?.isTokenless === true)
    ) {
      throw tooManyRequests();
    }
    exchange.party = party;
    this.#count(party, { requests: 1, bytes: 0 });
    if (isTokenless) this.#tokenless += 1;
  }

  #hold(exchange: Exchange, bytes: number): void {
    const { party } = exchange;
    if (exchange.bytes + bytes <= smallBytes) {
      this.#take(exchange, bytes);
      return;
    }
    // A request that alone exceeds the limit may pass if no other holds memory.
    const isTooMuch = (of: Usage, limit: number): boolean => of.bytes > exchange.bytes && of.bytes + bytes > limit;
    const others = (other: Exchange): boolean => other !== exchange && other.bytes > smallBytes;
    while (isTooMuch(this.#all, this.#transferBytes)) {
      if (!this.#displace(others)) throw tooMuchMemory();
    }
    const ofParty = (): Usage => this.#usages.get(party?.name ?? '') ?? exchange;
    while (isTooMuch(ofParty(), this.#transferBytes * partyShare)) {
      if (!this.#displace((other) => others(other) && other.party?.name === party?.name)) throw tooMuchMemory();
    }
    this.#take(exchange, bytes);
  }

  /** Takes memory as soon as it is free. */
  async #retry(exchange: Exchange, take: () => void): Promise<void> {
    const untilMs = performance.now() + this.#waitMs;
    for (;;) {
      try {
        return take();
      } catch (error) {
        const leftMs = untilMs - performance.now();
        if (leftMs <= 0 || exchange.isClosed) throw error;
        // A client may become slow meanwhile, which nothing reports.
        const timer = Promise.withResolvers<void>();
        const handle = setTimeout(timer.resolve, Math.min(leftMs, retryMs));
        await Promise.race([this.#released.promise, timer.promise]);
        clearTimeout(handle);
      }
    }
  }

  /** Ends the request among these whose client is awaited for longest. Returns false if no client was slow. */
  #displace(isCandidate: (exchange: Exchange) => boolean): boolean {
    const now = performance.now();
    for (const exchange of this.#awaited) {
      if (!isCandidate(exchange) || !this.#isSlow(exchange, now)) continue;
      // What it holds is free at once, not when its connection has closed.
      exchange.leave();
      exchange.response.req.socket.destroy();
      return true;
    }
    return false;
  }

  #isSlow({ awaitedMs = Infinity, startedMs, moved }: Exchange, now: number): boolean {
    const { graceMs, bytesPerSecond } = slowTransfer;
    return now - awaitedMs >= this.#patienceMs || now - startedMs > graceMs + (moved / bytesPerSecond) * 1000;
  }

  #take(exchange: Exchange, bytes: number): void {
    exchange.bytes += bytes;
    this.#all.bytes += bytes;
    this.#count(exchange.party, { requests: 0, bytes });
    if (bytes >= 0) return;
    this.#released.resolve();
    this.#released = Promise.withResolvers();
  }

  #giveBack(exchange: Exchange): void {
    const { requests, party } = exchange;
    this.#take(exchange, -exchange.bytes);
    this.#all.requests -= requests;
    this.#count(party, { requests: -requests, bytes: 0 });
    if (party?.isTokenless === true) this.#tokenless -= requests;
    exchange.requests = 0;
  }

  #count(party: Party | undefined, { requests, bytes }: Usage): void {
    if (party === undefined) return;
    const usage = this.#usages.get(party.name) ?? { requests: 0, bytes: 0 };
    usage.requests += requests;
    usage.bytes += bytes;
    if (usage.requests === 0 && usage.bytes === 0) this.#usages.delete(party.name);
    else this.#usages.set(party.name, usage);
  }
}

/** Resolves when `run` has called its argument; throws what `run` throws before. */
async function admission(run: (inTurn: (until: Promise<void>) => Promise<void>) => Promise<void>): Promise<void> {
  const admitted = Promise.withResolvers<void>();
  const place = run((until) => {
    admitted.resolve();
    return until;
  });
  await Promise.race([admitted.promise, place]);
}

function tooManyRequests(): DomainError {
  return new DomainError('overloaded', 'too many requests are in progress; try again');
}

function tooMuchMemory(): DomainError {
  return new DomainError('overloaded', 'large requests and responses use too much memory; try again');
}
