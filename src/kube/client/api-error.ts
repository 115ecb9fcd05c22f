/** One fault that the API server found, in names alone. */
export interface ErrorCause {
  /** Such as `FieldManagerConflict`. */
  readonly reason: string;
  /** Path of the field, such as `.data.KEY` or `metadata.labels`. */
  readonly field: string;
  /** Who holds the field, where that is what stands in the way; undefined too where the name is none that one would give. */
  readonly manager: string | undefined;
}

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
  /** What the server found wrong, field by field, as far as it told in names; never what it says of them. */
  readonly causes: readonly ErrorCause[];

  constructor(
    call: string,
    status: number,
    reason: string,
    options: { retryAfterMs?: number | undefined; causes?: readonly ErrorCause[]; cause?: unknown } = {},
  ) {
    super(
      `${call}: ${status === 0 ? reason : `${status} ${reason}`}`,
      options.cause === undefined ? undefined : { cause: options.cause },
    );
    this.name = 'ApiError';
    this.status = status;
    this.reason = reason;
    this.retryAfterMs = options.retryAfterMs;
    this.causes = options.causes ?? [];
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

/**
 * The causes of a Status object, reduced to names: a message may quote data, so of one is taken only who holds a field that
 * is applied to (`conflict with "NAME" …`, sigs.k8s.io/structured-merge-diff). At most 1000.
 */
export function statusCauses(body: unknown): readonly ErrorCause[] {
  const causes = (body as { details?: { causes?: unknown } } | null | undefined)?.details?.causes;
  return Array.isArray(causes) ? causes.slice(0, maxCauses).flatMap(causeOf) : [];
}

const maxCauses = 1000;

function causeOf(cause: unknown): readonly ErrorCause[] {
  const { reason, field, message } = (cause ?? {}) as Readonly<Record<string, unknown>>;
  if (typeof reason !== 'string' || !/^[A-Za-z]{1,64}$/.test(reason)) return [];
  // Field names, and the keys of maps, which are DNS names, keys of Secrets and the like.
  if (typeof field !== 'string' || !/^[A-Za-z0-9._/[\]-]{1,400}$/.test(field)) return [];
  const isConflict = reason === 'FieldManagerConflict' && typeof message === 'string';
  // Anybody can call himself anything.
  const manager = isConflict ? /^conflict with "([A-Za-z0-9._:/@ -]{1,128})"/.exec(message)?.[1] : undefined;
  return [{ reason, field, manager }];
}

/** Retry-After in milliseconds, where it is a number of seconds (which is all the API server sends); at most 5 minutes. */
export function retryAfterMs(header: string | readonly string[] | undefined): number | undefined {
  if (typeof header !== 'string' || !/^[0-9]{1,6}$/.test(header)) return undefined;
  return Math.min(Number(header) * 1000, 300_000);
}
