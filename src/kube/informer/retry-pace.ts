import { backoffMs } from '../../lib/backoff.ts';
import { ApiError } from '../client/api-error.ts';
import { type FailureKind, failureKind, needsList } from './watch-failure.ts';

export interface RetryLimits {
  readonly backoffInitialMs: number;
  readonly backoffMaxMs: number;
  /** The longest pause while the resource does not exist: someone is about to make it. */
  readonly missingRetryMaxMs: number;
}

export interface Retry {
  readonly kind: FailureKind;
  readonly delayMs: number;
  /** Whether to begin with a list. */
  readonly list: boolean;
  /** How many failures there were since the last progress, with this one. */
  readonly inARow: number;
}

// After so many failures in a row even a watch that could go on begins with a list: the version it waits for may never
// come, as after etcd was restored from a backup.
const failuresBeforeList = 4;

/** How a reflector goes on after failures: when, and with what. */
export class RetryPace {
  readonly #limits: RetryLimits;
  readonly #random: () => number;
  #inARow = 0;

  constructor(deps: { readonly limits: RetryLimits; readonly random: () => number }) {
    this.#limits = deps.limits;
    this.#random = deps.random;
  }

  progressed(): void {
    this.#inARow = 0;
  }

  failed(error: unknown): Retry {
    const kind = failureKind(error);
    this.#inARow += 1;
    const list = needsList(kind) || this.#inARow % failuresBeforeList === 0;
    return { kind, delayMs: this.#delayMs(kind, error), list, inARow: this.#inARow };
  }

  #delayMs(kind: FailureKind, error: unknown): number {
    // Silence was pause enough. An expired version is in the order of things; one right after another is not.
    if (kind === 'silent' || (kind === 'expired' && this.#inARow === 1)) return 0;
    const { backoffInitialMs: initialMs, backoffMaxMs, missingRetryMaxMs } = this.#limits;
    const maxMs = kind === 'missing' ? missingRetryMaxMs : backoffMaxMs;
    const delayMs = backoffMs(this.#inARow, { initialMs, maxMs, random: this.#random });
    return Math.max(delayMs, error instanceof ApiError ? (error.retryAfterMs ?? 0) : 0);
  }
}
