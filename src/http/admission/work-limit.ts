import type { ServerResponse } from 'node:http';
import { DomainError } from '../../domain/errors/domain-error.ts';
import { MemoryBudget, type MemoryHolder, type MemoryOwner } from '../../lib/memory-budget.ts';
import { KeyedLimiter } from '../../lib/keyed-limiter.ts';
import { type RequestMemory, divideMemory } from '../../lib/process-memory.ts';
import type { ReadRoom } from '../../services/secrets/read-sizes.ts';
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

// A response of this size takes a few milliseconds, like one without values.
const smallReadBytes = 256 * 1024;
// Ciphertexts as PostgreSQL sends them and decoded, values as text, and their JSON.
const copiesOfRead = 3;

/** The memory for what a request reads. `admit` is called again before a large read. */
export function readRoomOf(work: Work, admit: () => Promise<void> = async () => {}): ReadRoom {
  return {
    enter: async (bytes) => {
      if (bytes > smallReadBytes) {
        await work.enterLarge();
        await admit();
      }
      await work.reserve(bytes);
      if (bytes > smallReadBytes) await work.compute('read', bytes * copiesOfRead);
    },
  };
}

/** Who has a share: a caller, or a network without a token. */
interface Party {
  readonly name: MemoryOwner;
  readonly isTokenless: boolean;
}

/** One request in progress. */
interface Exchange {
  /** What depends on its client. */
  readonly transfer: MemoryHolder;
  readonly response: ServerResponse;
  readonly startedMs: number;
  party: Party | undefined;
  /** Whether it has left its slot. */
  hasLeft: boolean;
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
  readonly #patienceMs: number;
  readonly #waitMs: number;
  /** Requests in progress, and those of each party. */
  #entered = 0;
  readonly #ofParty = new Map<string, number>();
  /** Requests without a token. */
  #tokenless = 0;
  /** Requests whose client is awaited, the longest first. */
  readonly #awaited = new Set<Exchange>();
  /** Resolves when memory is released. */
  #released = Promise.withResolvers<void>();
  readonly #transfers: MemoryBudget;
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
    const { transferBytes, readBytes, writeBytes } = { ...divideMemory(false), ...memory };
    this.#requests = requests;
    this.#requestsPerParty = requestsPerParty;
    this.#patienceMs = patienceMs;
    this.#waitMs = waitMs;
    this.#transfers = new MemoryBudget({ maxBytes: transferBytes, maxBytesOfOwner: transferBytes * partyShare });
    this.#computing = {
      read: new MemoryBudget({ maxBytes: readBytes }),
      write: new MemoryBudget({ maxBytes: writeBytes }),
    };
  }

  /** Occupies a slot, which `end` must release. Throws DomainError overloaded if none is free. */
  enter(response: ServerResponse): Work {
    if (this.#entered >= this.#requests && !this.#displace(() => true)) throw tooManyRequests();
    this.#entered += 1;
    const left = Promise.withResolvers<void>();
    const exchange: Exchange = {
      response,
      startedMs: performance.now(),
      transfer: this.#transfers.holder(),
      party: undefined,
      hasLeft: false,
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
    let computing: MemoryHolder | undefined;
    const take = (bytes: number): void => {
      this.#hold(exchange, bytes);
      if (bytes > 0) onBytes?.(bytes);
    };
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
      release: (bytes) => this.#release(exchange, bytes),
      enterLarge: () => admission((inTurn) => this.#large.run(exchange.party?.name ?? '', () => inTurn(left))),
      compute: async (kind, bytes) => {
        if (computing !== undefined) return;
        computing = this.#computing[kind].holder(exchange.party?.name);
        await computing.reserve(bytes, { waitMs: this.#waitMs, makeError: tooMuchMemory });
        if (exchange.hasEnded) computing.release();
      },
      computed: () => computing?.release(),
      awaitClient: (moved) => this.#await(exchange, moved),
      continue: () => {
        this.#awaited.delete(exchange);
        exchange.awaitedMs = undefined;
      },
      leave: () => exchange.leave(),
      end: () => {
        computing?.release();
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
    const isFull = (this.#ofParty.get(name) ?? 0) >= max;
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
    exchange.transfer.moveTo(name);
    this.#count(party, 1);
  }

  #hold(exchange: Exchange, bytes: number): void {
    const { transfer, party } = exchange;
    if (transfer.bytes + bytes <= smallBytes) {
      transfer.force(bytes);
      return;
    }
    const isLarge = (other: Exchange): boolean => other !== exchange && other.transfer.bytes > smallBytes;
    const isOfParty = (other: Exchange): boolean => other.party?.name === party?.name;
    for (;;) {
      const shortage = transfer.tryReserve(bytes);
      if (shortage === undefined) return;
      if (!this.#displace((other) => isLarge(other) && (shortage === 'all' || isOfParty(other)))) throw tooMuchMemory();
    }
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

  #release({ transfer }: Exchange, bytes?: number): void {
    transfer.release(bytes);
    this.#released.resolve();
    this.#released = Promise.withResolvers();
  }

  #giveBack(exchange: Exchange): void {
    this.#release(exchange);
    if (exchange.hasLeft) return;
    exchange.hasLeft = true;
    this.#entered -= 1;
    this.#count(exchange.party, -1);
  }

  #count(party: Party | undefined, change: 1 | -1): void {
    if (party === undefined) return;
    const { name, isTokenless } = party;
    if (isTokenless) this.#tokenless += change;
    const requests = (this.#ofParty.get(name) ?? 0) + change;
    if (requests === 0) this.#ofParty.delete(name);
    else this.#ofParty.set(name, requests);
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
