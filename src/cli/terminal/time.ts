/** A time in a table: `3 h ago` for a user at a terminal, ISO 8601 for a program. */
export interface Time {
  readonly iso: string;
}

/** The cell for a time of an answer; null if there is none. */
export function time(iso: string | null | undefined): Time | null {
  return iso === null || iso === undefined ? null : { iso };
}

const second = 1000;
const minute = 60 * second;
const hour = 60 * minute;
const day = 24 * hour;
const units = [
  { ms: day, word: 'd' },
  { ms: hour, word: 'h' },
  { ms: minute, word: 'min' },
  { ms: second, word: 's' },
] as const;

/** A time relative to now, in one unit, of which there are at least two; a date if it is more than 60 days away. */
export function relativeTime({ iso }: Time, now: Date): string {
  const ms = now.getTime() - Date.parse(iso);
  const size = Math.abs(ms);
  if (Number.isNaN(ms) || size >= 60 * day) return iso.slice(0, 10);
  const unit = units.find((one) => size >= 2 * one.ms);
  if (unit === undefined) return 'now';
  const text = `${Math.floor(size / unit.ms)} ${unit.word}`;
  return ms > 0 ? `${text} ago` : `in ${text}`;
}
