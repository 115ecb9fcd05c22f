import { localTimes } from '../lib/time-zone.ts';

/**
 * Which of some snapshots are kept, and why. Pure: SnapshotSchedules and `keyframe snapshot prune` ask here alike
 * (docs/resources/snapshot-schedule.md, "Retention").
 */

/** How many to keep of each sort; a sort that is absent keeps none. Snapshots that one sort keeps are no fewer for the others. */
export interface Retention {
  /** The newest so many. */
  readonly keepLast?: number | undefined;
  /** The newest one of each of the newest so many hours that have one; and so for the others. */
  readonly keepHourly?: number | undefined;
  readonly keepDaily?: number | undefined;
  /** Weeks begin on Mondays (ISO 8601). */
  readonly keepWeekly?: number | undefined;
  readonly keepMonthly?: number | undefined;
}

/** One snapshot, as far as that decides whether it goes. */
export interface RetentionCandidate {
  readonly id: string;
  /** The moment that it stands for, in milliseconds since the epoch. */
  readonly atMs: number;
  /** Whether it can be restored from. What cannot fills no place, and goes when a newer one can. */
  readonly isSuccessful: boolean;
  /** Whether whoever prunes made it. What others made is never touched, and fills no place. */
  readonly isOwn: boolean;
  /** What still refers to it, for people. As long as there is something, it stays. */
  readonly references: readonly string[];
}

export interface RetentionVerdict {
  readonly id: string;
  /** Why it is kept, such as `last 1` or `daily 2026-11-21`, most specific first; empty where it goes. */
  readonly reasons: readonly string[];
}

type LocalTime = ReturnType<ReturnType<typeof localTimes>>;

interface Sort {
  readonly count: keyof Retention;
  readonly name: string;
  /** What all that share a place have alike. */
  readonly bucketOf: (local: LocalTime) => string;
}

const sorts: readonly Sort[] = [
  // By the offset too: an hour that the clocks show twice is two.
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
 * Judges all candidates, in the order newest first; of equal times the greater id counts as newer. Of those that are own
 * and successful the newest of each bucket is kept, for as many buckets as the retention says, by the calendar of an
 * IANA time zone; what is kept is the union of all sorts. Kept as well, whatever it says: what is not own, what is
 * referred to, the newest successful one, and what is not successful while nothing newer is. Throws RangeError for an
 * unknown time zone.
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

/** Whether a retention keeps anything at all. */
export function keepsSomething(retention: Retention): boolean {
  return (retention.keepLast ?? 0) > 0 || sorts.some(({ count }) => (retention[count] ?? 0) > 0);
}

/** The places that each one fills, by id. */
function placesOf(
  newestFirst: readonly RetentionCandidate[],
  retention: Retention,
  timeZone: string,
): ReadonlyMap<string, string[]> {
  const local = localTimes(timeZone);
  const placed = newestFirst.map(({ id, atMs }) => ({ id, local: local(atMs), places: new Array<string>() }));
  placed.slice(0, retention.keepLast ?? 0).forEach(({ places }, index) => places.push(`last ${index + 1}`));
  for (const { count, name, bucketOf } of sorts) {
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
