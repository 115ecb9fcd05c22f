import { usageError } from './cli-error.ts';
import { durationMs } from './duration-option.ts';
import type { Option } from './options.ts';

/** A past time: how long ago it was, such as 90m, 1d12h or 7d, or a date or time of ISO 8601. Parsed to the latter. */
export function timeOption(flags: string, description: string): Option<string | undefined> {
  return {
    flags,
    description,
    parse: (given) => {
      const time = pastTime(given);
      if (time !== undefined) return time;
      throw usageError('must be a time, such as 2h, 7d, 2027-01-31 (UTC) or 2027-01-31T12:00:00Z');
    },
  };
}

/** The time in ISO 8601; undefined for any other text. */
export function pastTime(given: string): string | undefined {
  const ago = durationMs(given);
  if (ago !== undefined) return isoTime(Date.now() - ago);
  const text = /^[0-9]{4}-[0-9]{2}-[0-9]{2}$/.test(given) ? `${given}T00:00:00Z` : given;
  const isTime = /^[0-9]{4}-.*(?:Z|[+-][0-9]{2}:?[0-9]{2})$/i.test(text) && !Number.isNaN(Date.parse(text));
  return isTime ? text : undefined;
}

/** Undefined before the first time that a date can be. */
function isoTime(ms: number): string | undefined {
  const time = new Date(ms);
  return Number.isNaN(time.getTime()) ? undefined : time.toISOString();
}
