import type { Clock } from '../../lib/clock.ts';

/** Aborts a signal if `renew` is not called for a while, counted from the creation. */
export class Liveness {
  readonly #clock: Clock;
  readonly #limitMs: number;
  readonly #controller = new AbortController();
  #lastSignAt: number;
  #cancel: () => void = () => {};

  constructor(clock: Clock, limitMs: number) {
    this.#clock = clock;
    this.#limitMs = limitMs;
    this.#lastSignAt = clock.now();
    this.#arm(limitMs);
  }

  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  renew(): void {
    this.#lastSignAt = this.#clock.now();
  }

  end(): void {
    this.#cancel();
  }

  // One timer for each period, not one for each call of `renew`.
  #arm(delayMs: number): void {
    this.#cancel = this.#clock.after(delayMs, () => {
      const remainingMs = this.#lastSignAt + this.#limitMs - this.#clock.now();
      if (remainingMs > 0) this.#arm(remainingMs);
      else this.#controller.abort();
    });
  }
}

/** Resolves after a delay in milliseconds, or as soon as the signal is aborted. */
export async function pause(clock: Clock, delayMs: number, signal: AbortSignal): Promise<void> {
  if (signal.aborted) return;
  const { promise, resolve } = Promise.withResolvers<void>();
  const end = (): void => resolve();
  const cancel = clock.after(delayMs, end);
  signal.addEventListener('abort', end, { once: true });
  await promise;
  signal.removeEventListener('abort', end);
  cancel();
}
