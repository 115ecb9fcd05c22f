import { ApiError } from '../client/api-error.ts';

/**
 * Why a list or watch failed, by what has to happen next. `expired`, `refused`, `missing` and `broken` begin again with
 * a list; the others go on from the version that was seen last.
 */
export type FailureKind = 'expired' | 'throttled' | 'unreachable' | 'silent' | 'refused' | 'missing' | 'broken';

/** The watch sent nothing for longer than a living one does. */
export class SilenceError extends Error {
  override readonly name = 'SilenceError';
}

/** The server ended the watch by an ERROR event. */
export class WatchEndedError extends Error {
  override readonly name = 'WatchEndedError';
  /** HTTP status of the Status object that the event held. */
  readonly status: number;

  constructor(status: number) {
    super(`the server ended the watch with status ${status}`);
    this.status = status;
  }
}

/** A line that is no watch event, or one longer than any object can be. */
export class WatchFormatError extends Error {
  override readonly name = 'WatchFormatError';
}

/** The kind of anything that a list or watch threw. What is not known is a fault of the connection. */
export function failureKind(error: unknown): FailureKind {
  if (error instanceof SilenceError) return 'silent';
  if (error instanceof WatchFormatError) return 'broken';
  if (error instanceof WatchEndedError) return statusKinds[error.status] ?? 'broken';
  if (!(error instanceof ApiError)) return 'unreachable';
  if (error.status === 404) return 'missing';
  return statusKinds[error.status] ?? (error.status === 0 || error.status >= 500 ? 'unreachable' : 'refused');
}

const statusKinds: Readonly<Record<number, FailureKind>> = { 410: 'expired', 429: 'throttled' };

/** Whether the next try begins with a list. */
export function needsList(kind: FailureKind): boolean {
  return kind === 'expired' || kind === 'refused' || kind === 'missing' || kind === 'broken';
}
