/**
 * Ends all waits early. Racing each wait against one long-lived promise would do so too, but each race leaks a reaction
 * while that promise is pending. Here a finished wait leaves nothing behind.
 */
export class Interrupt {
  readonly #waits = new Set<PromiseWithResolvers<void>>();
  #fired: { readonly reason: Error | undefined } | undefined;

  /** How many waits are pending. */
  get waiting(): number {
    return this.#waits.size;
  }

  /** Ends all present and future waits. With a reason they throw it, without one they return. Only the first call counts. */
  fire(reason?: Error): void {
    this.#fired ??= { reason };
    for (const wait of this.#waits) settle(wait, this.#fired.reason);
  }

  /** Waits for the work, or until `fire` is called. The work then continues, and its errors are ignored. */
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
