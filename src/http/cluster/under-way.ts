import { DomainError } from '../../domain/errors/domain-error.ts';
import { KeyedLimiter } from '../../lib/keyed-limiter.ts';
import { type Flight, maxUnderWay } from '../../wire/cluster/methods.ts';

/** A request whose work is to begin. */
export interface StartingRequest {
  /** Whose limits count, as `limitsOwner` says. */
  readonly owner: string;
  /** The process that it says it comes from. */
  readonly process: string;
  /** The network that it comes from. */
  readonly network: string;
  readonly flight: Flight;
}

// A leader, a standby, and a pod that replaces one of them.
const processesOfOwner = 3;
// More than the controllers of a cluster ever send beyond its places.
const maxWaiting = 8;
// Half of what a controller waits for most answers.
const waitMs = 5_000;
const retryAfterSeconds = 1;

/**
 * Limits the work of the server for requests of controllers, for each process and each `limitsOwner`. A controller keeps to
 * the limits itself: only another program gets a refusal. A place is held while the server works, not while a client sends or
 * reads. What comes while an owner has no place waits, and networks take turns: a thief of its token cannot keep its
 * controller out, however many processes it pretends to have.
 */
export class RequestsUnderWay {
  /** Requests of each process, those that wait too. */
  readonly #processes = new Map<string, number>();
  readonly #owners: Readonly<Record<Flight, KeyedLimiter>> = {
    hello: limiterOf('hello'),
    reads: limiterOf('reads'),
    values: limiterOf('values'),
    others: limiterOf('others'),
    long: limiterOf('long'),
  };

  /** How many processes and owners have a request under way, by its kind. */
  get counted(): number {
    return Object.values(this.#owners).reduce((sum, { keys }) => sum + keys, this.#processes.size);
  }

  /** Does the work of a request when its turn comes. Throws what the work throws, and DomainError limit_exceeded. */
  async run<T>({ owner, process, network, flight }: StartingRequest, work: () => Promise<T>): Promise<T> {
    const key = JSON.stringify([flight, owner, process]);
    const present = this.#processes.get(key) ?? 0;
    if (present >= maxUnderWay[flight]) throw tooMany('process', flight);
    this.#processes.set(key, present + 1);
    try {
      return await this.#owners[flight].run(owner, work, network);
    } finally {
      const left = (this.#processes.get(key) ?? 1) - 1;
      if (left === 0) this.#processes.delete(key);
      else this.#processes.set(key, left);
    }
  }
}

function limiterOf(flight: Flight): KeyedLimiter {
  const concurrency = maxUnderWay[flight] * processesOfOwner;
  return new KeyedLimiter({ concurrency, maxWaiting, waitMs, makeError: () => tooMany('cluster', flight) });
}

function tooMany(of: 'process' | 'cluster', flight: Flight): DomainError {
  const detail = `too many requests of this ${of} are under way (${flight}); try again in a second`;
  return new DomainError('limit_exceeded', detail, { retryAfterSeconds });
}
