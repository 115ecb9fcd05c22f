/** What the controller does after the error. Each event about what it read causes another reconcile. */
export type ErrorEffect =
  /** Only a change of the resource helps. */
  | 'stall'
  /** Only a person can fix it, in the resource or elsewhere. */
  | 'block'
  /** Something is missing that others may be about to supply. */
  | 'wait'
  /** Retried with backoff. */
  | 'retry';

/** One entry of the error catalogue. */
export interface ErrorDescription {
  /** HTTP status; absent for an error that only the controller reports. */
  readonly status?: number;
  readonly title: string;
  /** Reason of the condition Ready=False (CamelCase). */
  readonly reason: string;
  readonly effect: ErrorEffect;
  /** Level of the log line of a request that fails with it; `info` by default. */
  readonly logLevel?: 'warn' | 'error';
  /** Whether the database cannot serve the request now. The same request can succeed later. */
  readonly isOutage?: boolean;
  /** Whether a token cannot be read or is not accepted. The status of its ServiceToken may explain why. */
  readonly isTokenError?: boolean;
}
