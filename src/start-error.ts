/** Exit codes as in sysexits.h, so that whoever supervises the program can tell them apart. */
export const exitCodes = { failure: 1, usage: 64, unavailable: 69, configuration: 78 } as const;

/** The program cannot do its work; the message tells an operator what to do. */
export class StartError extends Error {
  readonly exitCode: number;

  constructor(exitCode: number, message: string, cause?: unknown) {
    super(message, cause === undefined ? undefined : { cause });
    this.name = 'StartError';
    this.exitCode = exitCode;
  }
}
