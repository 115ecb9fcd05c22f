/** One cause of an error, reduced to names. */
export interface ErrorCause {
  /** Such as `FieldManagerConflict`. */
  readonly reason: string;
  /** Path of the field, such as `.data.KEY` or `metadata.labels`. */
  readonly field: string;
  /** The manager that owns a conflicting field; undefined for other causes and for unusual names. */
  readonly manager: string | undefined;
}

/**
 * A failed call to the API server. It contains the call, the status and the one-word reason, but never the server's message,
 * which may quote refused data.
 */
export class ApiError extends Error {
  /** The HTTP status; 0 without a response. */
  readonly status: number;
  /** The Status object's reason, such as `Conflict`; `Unreachable` or `Timeout` without a response. */
  readonly reason: string;
  /** The delay that the server requests with Retry-After. */
  readonly retryAfterMs: number | undefined;
  /** The causes for each field, without the server's messages. */
  readonly causes: readonly ErrorCause[];
  /** What refused the call, such as `admission webhook "name"`; undefined if the server names nothing. */
  readonly refuser: string | undefined;

  constructor(
    call: string,
    status: number,
    reason: string,
    options: {
      retryAfterMs?: number | undefined;
      causes?: readonly ErrorCause[];
      refuser?: string | undefined;
      cause?: unknown;
    } = {},
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
    this.refuser = options.refuser;
  }

  get code(): string {
    return `${this.status} ${this.reason}`;
  }
}

/** Whether an error is a response of the API server with one of these statuses. */
export function isApiStatus(error: unknown, ...statuses: readonly number[]): error is ApiError {
  return error instanceof ApiError && statuses.includes(error.status);
}

/** The reason of a Status object if it is one word. Anything else could be data. */
export function statusReason(body: unknown): string | undefined {
  const reason = (body as { reason?: unknown } | null | undefined)?.reason;
  return typeof reason === 'string' && /^[A-Za-z]{1,64}$/.test(reason) ? reason : undefined;
}

/**
 * The causes of a Status object, reduced to names; at most 1000. A message may quote data, so only the manager of a
 * conflicting field is read from it (`conflict with "NAME" …`, sigs.k8s.io/structured-merge-diff).
 */
export function statusCauses(body: unknown): readonly ErrorCause[] {
  const causes = (body as { details?: { causes?: unknown } } | null | undefined)?.details?.causes;
  return Array.isArray(causes) ? causes.slice(0, maxCauses).flatMap(causeOf) : [];
}

// The beginnings of the messages of policies (k8s.io/apiserver pkg/admission). An object of the cluster has each name.
const refusals: readonly (readonly [form: RegExp, what: (name: string) => string])[] = [
  [/^admission webhook "([a-z0-9][-a-z0-9.]{0,252})" denied the request/, (name) => `admission webhook ${name}`],
  [
    /^[a-z0-9.]+ "[-a-z0-9.]+" is forbidden: ValidatingAdmissionPolicy '([a-z0-9][-a-z0-9.]{0,252})' with binding '/,
    (name) => `ValidatingAdmissionPolicy ${name}`,
  ],
  [
    /^[a-z0-9.]+ "[-a-z0-9.]+" is forbidden: exceeded quota: ([a-z0-9][-a-z0-9.]{0,252}), /,
    (name) => `ResourceQuota ${name}`,
  ],
];

/**
 * What refused a call, by the beginning of the Status object's message; undefined for other messages. The rest of the message
 * may quote data.
 */
export function statusRefuser(body: unknown): string | undefined {
  const message = (body as { message?: unknown } | null | undefined)?.message;
  if (typeof message !== 'string') return undefined;
  const found = refusals.flatMap(([form, what]) => {
    const [, name] = form.exec(message) ?? [];
    return name === undefined ? [] : [what(name)];
  });
  return found[0];
}

const maxCauses = 1000;

function causeOf(cause: unknown): readonly ErrorCause[] {
  const { reason, field, message } = (cause ?? {}) as Readonly<Record<string, unknown>>;
  if (typeof reason !== 'string' || !/^[A-Za-z]{1,64}$/.test(reason)) return [];
  // Field names, and the keys of maps, such as DNS names and keys of Secrets.
  if (typeof field !== 'string' || !/^[A-Za-z0-9._/[\]-]{1,400}$/.test(field)) return [];
  const isConflict = reason === 'FieldManagerConflict' && typeof message === 'string';
  // A client can choose any manager name.
  const manager = isConflict ? /^conflict with "([A-Za-z0-9._:/@ -]{1,128})"/.exec(message)?.[1] : undefined;
  return [{ reason, field, manager }];
}

/** Retry-After in milliseconds if it is a number of seconds, the only form that the API server sends. At most 5 minutes. */
export function retryAfterMs(header: string | readonly string[] | undefined): number | undefined {
  if (typeof header !== 'string' || !/^[0-9]{1,6}$/.test(header)) return undefined;
  return Math.min(Number(header) * 1000, 300_000);
}
