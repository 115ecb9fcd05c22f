import { type DestinationStream, type Logger, pino } from 'pino';

export type { Logger } from 'pino';

export const logLevels = ['debug', 'info', 'warn', 'error', 'silent'] as const;
export type LogLevel = (typeof logLevels)[number];

/** The root logger: one JSON object a line. `destination` is for tests; the default is standard output. */
export function createLogger(level: LogLevel, destination?: DestinationStream): Logger {
  const options = {
    level,
    base: {},
    timestamp: pino.stdTimeFunctions.isoTime,
    formatters: { level: (label: string) => ({ level: label }) },
  };
  // Synchronous: what is logged last must be there when the process ends, and in its place.
  return pino(options, destination ?? pino.destination({ dest: 1, sync: true }));
}

const maxCauses = 8;

/**
 * What the log may hold of an error: its kind, code and stack frames, and those of its causes. Not its message: a
 * driver's or an API server's may quote the data it refused. The `detail` of a DomainError is text of our own, which
 * holds names and never values.
 */
export function errorFields(error: unknown): Record<string, unknown> {
  return fieldsOf(error, maxCauses);
}

function fieldsOf(error: unknown, causesLeft: number): Record<string, unknown> {
  if (!(error instanceof Error)) return { error: typeof error };
  const { code, detail } = error as { code?: unknown; detail?: unknown };
  // Told by its shape: this room imports no other. Errors of the database have a `detail` too, which quotes rows.
  const isOurs = error.name === 'DomainError' && typeof code === 'string' && typeof detail === 'string';
  return {
    error: error.name,
    ...(typeof code === 'string' || typeof code === 'number' ? { code } : {}),
    ...(isOurs ? { detail } : {}),
    at: stackFrames(error),
    ...(error.cause === undefined || causesLeft === 0 ? {} : { cause: fieldsOf(error.cause, causesLeft - 1) }),
  };
}

function stackFrames(error: Error): string[] {
  const lines = error.stack?.split('\n') ?? [];
  return lines
    .filter((line) => /^\s+at /.test(line))
    .slice(0, 6)
    .map((line) => line.trim());
}
