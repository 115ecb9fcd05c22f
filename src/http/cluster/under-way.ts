import { DomainError } from '../../domain/errors/domain-error.ts';
import { type Flight, maxUnderWay } from '../../wire/cluster/methods.ts';

// A leader, a standby, and a pod that replaces one of them.
const processesOfOwner = 3;
const retryAfterSeconds = 1;

/**
 * Counts the requests of controllers that are under way, for each process and each `limitsOwner`. A controller keeps to the limits
 * itself: only another program gets the refusal.
 */
export class RequestsUnderWay {
  readonly #counts = new Map<string, number>();

  /** How many processes and owners have a request under way, by its kind. */
  get counted(): number {
    return this.#counts.size;
  }

  /** Returns the function to call at the end of the request. Throws DomainError limit_exceeded. */
  enter(owner: string, process: string, flight: Flight): () => void {
    const max = maxUnderWay[flight];
    const counted = [
      [JSON.stringify([flight, owner, process]), max],
      [JSON.stringify([flight, owner]), max * processesOfOwner],
    ] as const;
    const isFull = counted.some(([key, limit]) => (this.#counts.get(key) ?? 0) >= limit);
    if (isFull) {
      throw new DomainError('limit_exceeded', `too many requests of ${owner} are under way (${flight})`, {
        retryAfterSeconds,
      });
    }
    for (const [key] of counted) this.#counts.set(key, (this.#counts.get(key) ?? 0) + 1);
    return () => {
      for (const [key] of counted) {
        const left = (this.#counts.get(key) ?? 1) - 1;
        if (left === 0) this.#counts.delete(key);
        else this.#counts.set(key, left);
      }
    };
  }
}
