import { type ExitCode, exitCodes } from './exit-codes.ts';

export interface CliErrorOptions extends ErrorOptions {
  /** The next steps: whole lines, often a command to run. */
  readonly next?: readonly string[];
}

/**
 * Ends the command: the message goes to standard error after «error: », followed by the next steps. It never contains a
 * value or a token.
 */
export class CliError extends Error {
  readonly exitCode: ExitCode;
  readonly next: readonly string[];

  constructor(exitCode: ExitCode, message: string, options: CliErrorOptions = {}) {
    super(message, options);
    this.name = 'CliError';
    this.exitCode = exitCode;
    this.next = options.next ?? [];
  }
}

/** The command line is invalid. */
export function usageError(message: string, ...next: readonly string[]): CliError {
  return new CliError(exitCodes.usage, message, { next });
}
