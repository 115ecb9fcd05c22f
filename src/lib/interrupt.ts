/**
 * Ends waits early, once and for all. Racing each wait against one long-lived promise would do so too, but every race leaves
 * its reaction on that promise for as long as it is pending; here nothing of a wait that is over stays behind.
 */
export class Interrupt {
  readonly #waits = new Set<PromiseWithResolvers<void>>();
  #fired: { readonly reason: Error | undefined } | undefined;

  /** How many waits are going on. */
  get waiting(): number {
    return this.#waits.size;
  }

  /** Ends all waits, those to come as well: with a reason they throw it, without one they come back. Only the first call counts. */
  fire(reason?: Error): void {
    this.#fired ??= { reason };
    for (const wait of this.#waits) settle(wait, this.#fired.reason);
  }

  /** Waits for the work, or until this is fired. The work goes on then, and what it throws afterwards is ignored. */
  async during(work: Promise<void>): Promise<void> {
    const wait = Promise.withResolvers<void>();
    this.#waits.add(wait);
    if (this.#fired !== undefined) settle(wait, this.#fired.reason);
    try {
      await Promise.race([wait.promise, work]);
    } finally {
      this.#waits.delete(wait);
    }
  }
}

function settle(wait: PromiseWithResolvers<void>, reason: Error | undefined): void {
  if (reason === undefined) wait.resolve();
  else wait.reject(reason);
}
