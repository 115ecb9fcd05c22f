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

/**
 * What the log may hold of an error: its kind, code and stack frames. Not its message: a driver's or an API server's
 * may quote the data it refused.
 */
export function errorFields(error: unknown): Record<string, unknown> {
  if (!(error instanceof Error)) return { error: typeof error };
  const { code } = error as { code?: unknown };
  return {
    error: error.name,
    ...(typeof code === 'string' || typeof code === 'number' ? { code } : {}),
    at: stackFrames(error),
    ...(error.cause === undefined ? {} : { cause: errorFields(error.cause) }),
  };
}

function stackFrames(error: Error): string[] {
  const lines = error.stack?.split('\n') ?? [];
  return lines
    .filter((line) => /^\s+at /.test(line))
    .slice(0, 6)
    .map((line) => line.trim());
}
