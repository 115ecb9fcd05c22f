import { backoffMs } from '../../lib/backoff.ts';
import { ApiError } from '../client/api-error.ts';
import { type FailureKind, failureKind, needsList } from './watch-failure.ts';

export interface RetryLimits {
  readonly backoffInitialMs: number;
  readonly backoffMaxMs: number;
  /** The maximum delay while the resource does not exist, because it will probably be created soon. */
  readonly missingRetryMaxMs: number;
}

export interface Retry {
  readonly kind: FailureKind;
  readonly delayMs: number;
  /** Whether to start with a list. */
  readonly list: boolean;
  /** The number of failures since the last progress, including this one. */
  readonly inARow: number;
}

// After this many failures in a row, even a watch that could continue starts with a list. Its version may never come, for
// example after a restore of etcd from a backup.
const failuresBeforeList = 4;

/** When and how a reflector continues after failures. */
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
    // After silence, no delay is needed. An expired version is normal, but two in a row are not.
    if (kind === 'silent' || (kind === 'expired' && this.#inARow === 1)) return 0;
    const { backoffInitialMs: initialMs, backoffMaxMs, missingRetryMaxMs } = this.#limits;
    const maxMs = kind === 'missing' ? missingRetryMaxMs : backoffMaxMs;
    const delayMs = backoffMs(this.#inARow, { initialMs, maxMs, random: this.#random });
    return Math.max(delayMs, error instanceof ApiError ? (error.retryAfterMs ?? 0) : 0);
  }
}
