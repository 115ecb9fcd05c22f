/**
 * What a call to the API server came to, other than success. It tells the call by names, the status and the one-word
 * reason; never the server's own message, which may quote the data it refused.
 */
export class ApiError extends Error {
  /** HTTP status; 0 where no answer came. */
  readonly status: number;
  /** The Status object's reason, such as `Conflict`; `Unreachable` or `Timeout` where no answer came. */
  readonly reason: string;
  /** How long the server asks callers to stay away, from Retry-After. */
  readonly retryAfterMs: number | undefined;

  constructor(
    call: string,
    status: number,
    reason: string,
    options: { retryAfterMs?: number | undefined; cause?: unknown } = {},
  ) {
    super(
      `${call}: ${status === 0 ? reason : `${status} ${reason}`}`,
      options.cause === undefined ? undefined : { cause: options.cause },
    );
    this.name = 'ApiError';
    this.status = status;
    this.reason = reason;
    this.retryAfterMs = options.retryAfterMs;
  }

  get code(): string {
    return `${this.status} ${this.reason}`;
  }
}

/** Whether an error is the API server's answer with one of these statuses. */
export function isApiStatus(error: unknown, ...statuses: readonly number[]): error is ApiError {
  return error instanceof ApiError && statuses.includes(error.status);
}

/** The reason of a Status object, if it is one word; anything else could be data. */
export function statusReason(body: unknown): string | undefined {
  const reason = (body as { reason?: unknown } | null | undefined)?.reason;
  return typeof reason === 'string' && /^[A-Za-z]{1,64}$/.test(reason) ? reason : undefined;
}

/** Retry-After in milliseconds, where it is a number of seconds (which is all the API server sends); at most 5 minutes. */
export function retryAfterMs(header: string | readonly string[] | undefined): number | undefined {
  if (typeof header !== 'string' || !/^[0-9]{1,6}$/.test(header)) return undefined;
  return Math.min(Number(header) * 1000, 300_000);
}
