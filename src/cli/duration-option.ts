import { parseDurationMs } from '../lib/duration.ts';
import { usageError } from './cli-error.ts';
import type { Option } from './options.ts';

const maxMs = 7 * 24 * 3_600_000;

/** A duration such as 90s, 5m or 1h30m, at most a week. Parsed to milliseconds. */
export function durationOption(flags: string, description: string): Option<number | undefined> {
  return {
    flags,
    description,
    parse: (text) => {
      const ms = parseDurationMs(text) ?? 0;
      if (ms > 0 && ms <= maxMs) return ms;
      throw usageError('must be a duration such as 90s, 5m or 1h30m, at most 168h');
    },
  };
}
