import { localTimes } from '../lib/time-zone.ts';

/**
 * Which snapshots are kept, and why. Pure: SnapshotSchedules and `keyframe snapshot prune` both use it
 * (docs/resources/snapshot-schedule.md, "Retention").
 */

/** How many snapshots to keep by each rule; an absent rule keeps none. One snapshot can count for several rules. */
export interface Retention {
  /** Number of newest snapshots. */
  readonly keepLast?: number | undefined;
  /** Number of hours with a snapshot; the newest snapshot of each is kept. The rules below work alike. */
  readonly keepHourly?: number | undefined;
  readonly keepDaily?: number | undefined;
  /** Weeks begin on Mondays (ISO 8601). */
  readonly keepWeekly?: number | undefined;
  readonly keepMonthly?: number | undefined;
}

/** The facts about one snapshot that decide whether it is kept. */
export interface RetentionCandidate {
  readonly id: string;
  /** The time of the snapshot, in milliseconds since the epoch. */
  readonly atMs: number;
  /** Whether it can be restored from. If not, it counts for no rule, and goes as soon as a newer one can be restored. */
  readonly isSuccessful: boolean;
  /** Whether the pruning owner made it. Others are never deleted and count for no rule. */
  readonly isOwn: boolean;
  /** What still refers to it, as text. While anything does, it is kept. */
  readonly references: readonly string[];
}

export interface RetentionVerdict {
  readonly id: string;
  /** Why it is kept, such as `last 1` or `daily 2026-11-21`, most specific first; empty if it is deleted. */
  readonly reasons: readonly string[];
}

type LocalTime = ReturnType<ReturnType<typeof localTimes>>;

interface Rule {
  readonly count: keyof Retention;
  readonly name: string;
  /** The key of the period that a time belongs to. */
  readonly bucketOf: (local: LocalTime) => string;
}

const rules: readonly Rule[] = [
  // With the offset: an hour that the clocks show twice counts as two.
  {
    count: 'keepHourly',
    name: 'hourly',
    bucketOf: (local) => `${dayOf(local)}T${two(local.hour)}${offsetOf(local)}`,
  },
  { count: 'keepDaily', name: 'daily', bucketOf: dayOf },
  { count: 'keepWeekly', name: 'weekly', bucketOf: weekOf },
  { count: 'keepMonthly', name: 'monthly', bucketOf: ({ year, month }) => `${four(year)}-${two(month)}` },
];

/**
 * Decides for all candidates, newest first; of equal times, the greater id counts as newer. Each rule keeps the newest
 * own successful snapshot of each bucket, for as many buckets as the retention says, by the calendar of an IANA time zone.
 * A snapshot is kept if any rule keeps it. These are always kept: snapshots of others, referenced snapshots, the newest
 * successful snapshot, and unsuccessful snapshots that are newer than it. Throws RangeError for an unknown time zone.
 */
export function judgeRetention(
  candidates: readonly RetentionCandidate[],
  retention: Retention,
  timeZone: string,
): RetentionVerdict[] {
  const newestFirst = candidates.toSorted((a, b) => b.atMs - a.atMs || (a.id < b.id ? 1 : a.id > b.id ? -1 : 0));
  const counted = newestFirst.filter(({ isOwn, isSuccessful }) => isOwn && isSuccessful);
  const places = placesOf(counted, retention, timeZone);
  const [newest] = counted;
  return newestFirst.map((candidate) => {
    if (!candidate.isOwn) return { id: candidate.id, reasons: ['made by others'] };
    const references = candidate.references.map((reference) => `referred to by ${reference}`);
    const reasons = [...references, ...(places.get(candidate.id) ?? [])];
    if (candidate === newest) reasons.push('newest successful');
    const isPending = !candidate.isSuccessful && (newest === undefined || candidate.atMs >= newest.atMs);
    return { id: candidate.id, reasons: isPending ? [...reasons, 'none newer is successful'] : reasons };
  });
}

/** Whether a retention keeps anything. */
export function keepsSomething(retention: Retention): boolean {
  return (retention.keepLast ?? 0) > 0 || rules.some(({ count }) => (retention[count] ?? 0) > 0);
}

/** The reasons to keep each snapshot, by id. */
function placesOf(
  newestFirst: readonly RetentionCandidate[],
  retention: Retention,
  timeZone: string,
): ReadonlyMap<string, string[]> {
  const local = localTimes(timeZone);
  const placed = newestFirst.map(({ id, atMs }) => ({ id, local: local(atMs), places: new Array<string>() }));
  placed.slice(0, retention.keepLast ?? 0).forEach(({ places }, index) => places.push(`last ${index + 1}`));
  for (const { count, name, bucketOf } of rules) {
    const wanted = retention[count] ?? 0;
    const seen = new Set<string>();
    for (const each of placed) {
      if (seen.size >= wanted) break;
      const bucket = bucketOf(each.local);
      if (seen.has(bucket)) continue;
      seen.add(bucket);
      each.places.push(`${name} ${bucket}`);
    }
  }
  return new Map(placed.map(({ id, places }) => [id, places]));
}

function dayOf({ year, month, day }: LocalTime): string {
  return `${four(year)}-${two(month)}-${two(day)}`;
}

/** The week of ISO 8601, which belongs to the year of its Thursday. */
function weekOf({ year, month, day }: LocalTime): string {
  const dayMs = 86_400_000;
  const midnight = Date.UTC(year, month - 1, day);
  const thursday = new Date(midnight + (4 - (new Date(midnight).getUTCDay() || 7)) * dayMs);
  const weekYear = thursday.getUTCFullYear();
  const week = Math.floor((thursday.getTime() - Date.UTC(weekYear, 0, 1)) / (7 * dayMs)) + 1;
  return `${four(weekYear)}-W${two(week)}`;
}

function offsetOf({ offsetMinutes }: LocalTime): string {
  const minutes = Math.abs(offsetMinutes);
  return `${offsetMinutes < 0 ? '-' : '+'}${two(Math.floor(minutes / 60))}:${two(minutes % 60)}`;
}

function two(number: number): string {
  return String(number).padStart(2, '0');
}

function four(number: number): string {
  return String(number).padStart(4, '0');
}
