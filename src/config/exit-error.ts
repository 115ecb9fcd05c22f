/** Exit codes as in sysexits.h, so that a supervisor can distinguish them. */
export const exitCodes = { failure: 1, usage: 64, unavailable: 69, configuration: 78 } as const;

/** The program cannot do its work. The message says to an operator what is wrong and what to do, without secret values. */
export class ExitError extends Error {
  override readonly name = 'ExitError';
  readonly exitCode: number;

  constructor(exitCode: number, message: string, cause?: unknown) {
    super(message, cause === undefined ? undefined : { cause });
    this.exitCode = exitCode;
  }
}
