/** What the controller does after the error: stop until the resource changes, wait for an event, or retry with backoff. */
export type ErrorEffect = 'stall' | 'wait' | 'retry';

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
