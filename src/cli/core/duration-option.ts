import { parseDurationMs } from '../../lib/duration.ts';
import { usageError } from './cli-error.ts';
import type { Option } from './options.ts';

const dayMs = 24 * 3_600_000;

/** The longest durations that an option takes, in milliseconds. */
const longest = { '7d': 7 * dayMs, '24h': dayMs } as const;

/** Milliseconds of a duration such as 90s, 1h30m, 2d or 1w2d12h; undefined for any other text. */
export function durationMs(text: string): number | undefined {
  const [, weeks = '0', days = '0', rest = ''] = /^(?:([0-9]{1,6})w)?(?:([0-9]{1,6})d)?(.*)$/.exec(text) ?? [];
  const restMs = rest === '' && text !== '' ? 0 : parseDurationMs(rest);
  return restMs === undefined ? undefined : (Number(weeks) * 7 + Number(days)) * dayMs + restMs;
}

/** A duration such as 90s, 5m or 1h30m, at most a week if nothing else is said. Parsed to milliseconds. */
export function durationOption(
  flags: string,
  description: string,
  max: keyof typeof longest = '7d',
): Option<number | undefined> {
  return {
    flags,
    description,
    parse: (text) => {
      const ms = durationMs(text) ?? 0;
      if (ms > 0 && ms <= longest[max]) return ms;
      throw usageError(`must be a duration such as 90s, 5m, 1h30m or 2d, at most ${max}`);
    },
  };
}
