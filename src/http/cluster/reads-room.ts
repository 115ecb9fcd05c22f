import { DomainError } from '../../domain/errors/domain-error.ts';
import type { AnswerRoom } from '../../services/cluster/sources.ts';

/** Values of one answer, in bytes. What does not fit is asked for separately. */
export const maxValueBytes = 2 * 1024 * 1024;
// Of keys with globs, of all reads for one answer: a quarter of a second at most, for globs that were made to be slow.
const maxComparisons = 250_000;

/** The room of one answer to a controller, which several reads share. */
export class ReadsRoom implements AnswerRoom {
  #valueBytes = maxValueBytes;
  #comparisons = maxComparisons;
  #isClosed = false;

  takeValues(bytes: number): boolean {
    if (bytes > this.#valueBytes) return false;
    this.#valueBytes -= bytes;
    return true;
  }

  takeComparisons(count: number): boolean {
    if (count > this.#comparisons) return false;
    this.#comparisons -= count;
    return true;
  }

  /** Once the answer is sent, reads that are still under way end at their next step. */
  close(): void {
    this.#isClosed = true;
  }

  expectOpen(): void {
    if (this.#isClosed) throw new DomainError('overloaded', 'the read took too long for this answer');
  }
}
