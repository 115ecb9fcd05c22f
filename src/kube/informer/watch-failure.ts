import { ApiError } from '../client/api-error.ts';

/**
 * Why a list or watch failed, grouped by what happens next. `expired`, `refused`, `missing` and `broken` start again with a
 * list; the others continue from the last seen version.
 */
export type FailureKind = 'expired' | 'throttled' | 'unreachable' | 'silent' | 'refused' | 'missing' | 'broken';

/** The watch sent nothing for too long. */
export class SilenceError extends Error {
  override readonly name = 'SilenceError';
}

/** The server ended the watch with an ERROR event. */
export class WatchEndedError extends Error {
  override readonly name = 'WatchEndedError';
  /** The HTTP status of the Status object in the event. */
  readonly status: number;

  constructor(status: number) {
    super(`the server ended the watch with status ${status}`);
    this.status = status;
  }
}

/** A line that is not a watch event, or is too long for any object. */
export class WatchFormatError extends Error {
  override readonly name = 'WatchFormatError';
}

/** The kind of failure of any error from a list or watch. An unknown error counts as one of the connection. */
export function failureKind(error: unknown): FailureKind {
  if (error instanceof SilenceError) return 'silent';
  if (error instanceof WatchFormatError) return 'broken';
  if (error instanceof WatchEndedError) return statusKinds[error.status] ?? 'broken';
  if (!(error instanceof ApiError)) return 'unreachable';
  if (error.status === 404) return 'missing';
  return statusKinds[error.status] ?? (error.status === 0 || error.status >= 500 ? 'unreachable' : 'refused');
}

const statusKinds: Readonly<Record<number, FailureKind>> = { 410: 'expired', 429: 'throttled' };

/** Whether the next attempt starts with a list. */
export function needsList(kind: FailureKind): boolean {
  return kind === 'expired' || kind === 'refused' || kind === 'missing' || kind === 'broken';
}
