import { usageError } from './cli-error.ts';
import type { Option } from './options.ts';

const unitMs: Readonly<Record<string, number>> = {
  s: 1000,
  m: 60_000,
  h: 3_600_000,
  d: 86_400_000,
  w: 7 * 86_400_000,
};

/** A past time: how long ago it was, such as 90m, 2h or 7d, or a date or time of ISO 8601. Parsed to the latter. */
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
  const [, amount, unit = ''] = /^([0-9]{1,6})([smhdw])$/.exec(given) ?? [];
  const ago = Number(amount) * (unitMs[unit] ?? Number.NaN);
  if (!Number.isNaN(ago)) return new Date(Date.now() - ago).toISOString();
  const text = /^[0-9]{4}-[0-9]{2}-[0-9]{2}$/.test(given) ? `${given}T00:00:00Z` : given;
  const isTime = /^[0-9]{4}-.*(?:Z|[+-][0-9]{2}:?[0-9]{2})$/i.test(text) && !Number.isNaN(Date.parse(text));
  return isTime ? text : undefined;
}
