import { type DestinationStream, type Logger, pino } from 'pino';

export type { Logger } from 'pino';

export const logLevels = ['debug', 'info', 'warn', 'error', 'silent'] as const;
export type LogLevel = (typeof logLevels)[number];

/** The root logger: one JSON object per line. `destination` is for tests; the default is standard output. */
export function createLogger(level: LogLevel, destination?: DestinationStream): Logger {
  const options = {
    level,
    base: {},
    timestamp: pino.stdTimeFunctions.isoTime,
    formatters: { level: (label: string) => ({ level: label }) },
  };
  // Synchronous, so that the last lines are written before the process ends, and in order.
  return pino(options, destination ?? pino.destination({ dest: 1, sync: true }));
}

const maxCauses = 8;

/**
 * The parts of an error that may be logged: its kind, code and stack frames, and those of its causes. Its message is
 * omitted, because a message of the database or the API server may quote data. The `detail` of a DomainError is logged: it
 * contains names and never values.
 */
export function errorFields(error: unknown): Record<string, unknown> {
  return fieldsOf(error, maxCauses);
}

function fieldsOf(error: unknown, causesLeft: number): Record<string, unknown> {
  if (!(error instanceof Error)) return { error: typeof error };
  const { code, detail } = error as { code?: unknown; detail?: unknown };
  // Recognized by its shape, because this folder must not import the domain. Database errors have a `detail` that quotes rows.
  const isDomainError = error.name === 'DomainError' && typeof code === 'string' && typeof detail === 'string';
  return {
    error: error.name,
    ...(typeof code === 'string' || typeof code === 'number' ? { code } : {}),
    ...(isDomainError ? { detail } : {}),
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
