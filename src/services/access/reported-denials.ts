import { LRUCache } from 'lru-cache';

// Far more than the sources of a large cluster. Beyond it, the oldest denial may be audited a second time.
const capacity = 20_000;

/** Remembers which denials were audited, so that retries of the same do not fill the audit. */
export class ReportedDenials {
  /** By subject. */
  readonly #verdicts = new LRUCache<string, string>({ max: capacity });

  isReported(subject: string, verdict: string): boolean {
    return this.#verdicts.peek(subject) === verdict;
  }

  /** Replaces what was reported of the subject before. */
  report(subject: string, verdict: string): void {
    this.#verdicts.set(subject, verdict);
  }

  /** The next denial of the subject is reported again. */
  forget(subject: string): void {
    this.#verdicts.delete(subject);
  }
}
