// Far more than the sources of a large cluster. Beyond it, the oldest denial may be audited a second time.
const capacity = 20_000;

/** Remembers which denials were audited, so that retries of the same do not fill the audit. */
export class ReportedDenials {
  /** By subject, oldest first. */
  readonly #verdicts = new Map<string, string>();

  isReported(subject: string, verdict: string): boolean {
    return this.#verdicts.get(subject) === verdict;
  }

  /** Takes the place of what was reported of the subject before. */
  report(subject: string, verdict: string): void {
    this.#verdicts.delete(subject);
    this.#verdicts.set(subject, verdict);
    if (this.#verdicts.size <= capacity) return;
    const oldest = this.#verdicts.keys().next();
    if (!oldest.done) this.#verdicts.delete(oldest.value);
  }

  /** The next denial of the subject is reported again. */
  forget(subject: string): void {
    this.#verdicts.delete(subject);
  }
}
