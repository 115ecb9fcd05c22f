import { type ErrorCode, errorCatalogue } from './catalogue.ts';
import type { ErrorDescription } from './description.ts';

/** An invalid field of an input: a path such as `set.API_KEY`, and what is wrong. Never contains the value. */
export interface FieldError {
  readonly field: string;
  readonly message: string;
}

export interface DomainErrorOptions {
  /** For the log only. Callers never see it. */
  readonly cause?: unknown;
  readonly fields?: readonly FieldError[];
  /** Whole seconds until a retry can succeed; at least 1. */
  readonly retryAfterSeconds?: number;
}

/**
 * An error whose text the caller may see. `detail` says what is wrong and what to do; it contains names, never values. Any
 * other thrown error is reported as `internal`.
 */
export class DomainError extends Error {
  readonly code: ErrorCode;
  readonly detail: string;
  readonly fields: readonly FieldError[];
  readonly retryAfterSeconds: number | undefined;

  constructor(code: ErrorCode, detail: string, options: DomainErrorOptions = {}) {
    super(detail, options.cause === undefined ? undefined : { cause: options.cause });
    this.name = 'DomainError';
    this.code = code;
    this.detail = detail;
    this.fields = options.fields ?? [];
    this.retryAfterSeconds = options.retryAfterSeconds;
  }

  get description(): ErrorDescription {
    return errorCatalogue[this.code];
  }
}

/** The same error for another call that failed by it, so that each call has an error of its own. */
export function copyOf(error: DomainError): DomainError {
  const { code, detail, fields, retryAfterSeconds } = error;
  return new DomainError(code, detail, {
    cause: error,
    fields,
    ...(retryAfterSeconds === undefined ? {} : { retryAfterSeconds }),
  });
}

/** An `invalid_input` for one field. */
export function invalidField(field: string, message: string): DomainError {
  return new DomainError('invalid_input', `${field}: ${message}`, { fields: [{ field, message }] });
}
