import { DomainError } from '../../domain/errors/domain-error.ts';
import { KeyedLimiter } from '../../lib/keyed-limiter.ts';

// Writers of one environment run one after another anyway. The second fetches what it needs while the first commits;
// more would only keep connections from other environments.
const options = {
  concurrency: 2,
  maxWaiting: 256,
  waitMs: 5_000,
  makeError: () => new DomainError('overloaded', 'too many changes of this environment wait already; try again'),
};

/**
 * The turns of all that lock an environment: writes, snapshots and restores share them, so that a busy environment
 * cannot take every connection.
 */
export class EnvironmentQueue {
  readonly #limiter = new KeyedLimiter(options);

  /**
   * Runs `work` when the environment's turn for it comes, and returns what it returns. Throws what it throws, and
   * DomainError overloaded if 256 wait already or its turn did not come within 5 seconds.
   */
  run<T>(environmentId: string, work: () => Promise<T>): Promise<T> {
    return this.#limiter.run(environmentId, work);
  }
}
