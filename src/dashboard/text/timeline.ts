import type { ChangeView } from '../../wire/changes.ts';
import type { SnapshotView } from '../../wire/snapshots.ts';
import { actorText } from './actor-text.ts';

/** What happened in an environment, as one list. */
export type TimelineEntry =
  | { readonly kind: 'revision'; readonly at: string; readonly change: ChangeView }
  | { readonly kind: 'snapshot'; readonly at: string; readonly snapshot: SnapshotView };

/** The newest entries of a list, and whether the server has earlier ones. */
export interface LoadedPart<Item> {
  readonly items: readonly Item[];
  readonly hasMore: boolean;
}

export interface MergedTimeline {
  /** Newest first. */
  readonly entries: readonly TimelineEntry[];
  /** The list whose earlier entries come next; undefined if all are there. */
  readonly next: 'changes' | 'snapshots' | undefined;
}

/**
 * Merges revisions and snapshots. Entries that are older than what is loaded of the other list are left out: between them
 * and the others some would be missing.
 */
export function mergeTimeline(changes: LoadedPart<ChangeView>, snapshots: LoadedPart<SnapshotView>): MergedTimeline {
  const [changesFrom, snapshotsFrom] = [startOf(changes), startOf(snapshots)];
  const from = Math.max(changesFrom, snapshotsFrom);
  const entries: TimelineEntry[] = [
    ...changes.items.map((change) => ({ kind: 'revision' as const, at: change.createdAt, change })),
    ...snapshots.items.map((snapshot) => ({ kind: 'snapshot' as const, at: snapshot.createdAt, snapshot })),
  ];
  return {
    // Of the same moment, a snapshot follows the revision that it holds: it is the later one.
    entries: entries.filter(({ at }) => Date.parse(at) >= from).toSorted(newestFirst),
    next: from === Number.NEGATIVE_INFINITY ? undefined : changesFrom === from ? 'changes' : 'snapshots',
  };
}

/** Milliseconds since 1970 from which a list is complete. */
function startOf({ items, hasMore }: LoadedPart<{ readonly createdAt: string }>): number {
  const oldest = items.at(-1);
  return hasMore && oldest !== undefined ? Date.parse(oldest.createdAt) : Number.NEGATIVE_INFINITY;
}

function newestFirst(a: TimelineEntry, b: TimelineEntry): number {
  const distance = Date.parse(b.at) - Date.parse(a.at);
  return distance === 0 ? Number(b.kind === 'snapshot') - Number(a.kind === 'snapshot') : distance;
}

/** The entries with a text, in any case: in a changed key, in a name, in a comment, or as `revision 12`. */
export function matchingEntries(entries: readonly TimelineEntry[], filter: string): readonly TimelineEntry[] {
  const text = filter.trim().toLowerCase();
  return text === '' ? entries : entries.filter((entry) => searched(entry).some((part) => part.includes(text)));
}

function searched(entry: TimelineEntry): readonly string[] {
  const parts =
    entry.kind === 'revision'
      ? [
          `revision ${entry.change.revision}`,
          actorText(entry.change.changedByName, entry.change.changedByCluster),
          entry.change.comment,
          ...entry.change.keys.map(({ key }) => key),
        ]
      : ['snapshot', entry.snapshot.name, creatorOf(entry.snapshot), entry.snapshot.description];
  return parts.flatMap((part) => (part === null ? [] : [part.toLowerCase()]));
}

function creatorOf({ createdByName, createdByCluster }: SnapshotView): string {
  return actorText(createdByName, createdByCluster);
}

/** Entries of one day, by the clock of the browser. */
export interface TimelineDay {
  /** "Today", "Yesterday", "Monday, November 23", with the year if it is another one. */
  readonly title: string;
  readonly entries: readonly TimelineEntry[];
}

export function daysOf(entries: readonly TimelineEntry[], now: Date): readonly TimelineDay[] {
  const days = Map.groupBy(entries, ({ at }) => new Date(at).toDateString());
  return [...days].map(([day, members]) => ({ title: titleOf(new Date(day), now), entries: members }));
}

function titleOf(day: Date, now: Date): string {
  const yesterday = new Date(now);
  yesterday.setDate(now.getDate() - 1);
  if (day.toDateString() === now.toDateString()) return 'Today';
  if (day.toDateString() === yesterday.toDateString()) return 'Yesterday';
  const year = day.getFullYear() === now.getFullYear() ? {} : { year: 'numeric' as const };
  return day.toLocaleDateString('en', { weekday: 'long', month: 'long', day: 'numeric', ...year });
}

/** What made a revision, if it is not an ordinary change. */
export interface Origin {
  readonly name: 'Restore' | 'Revert' | 'Copy';
  /** What it was made from, in words. */
  readonly from: string;
}

type Groups = Readonly<Record<string, string | undefined>>;

const origins: readonly (readonly [Origin['name'], RegExp, (groups: Groups) => string])[] = [
  [
    'Restore',
    /^restored from snapshot [0-9a-f-]{36}(?<by> by [^:]+)?(?:: (?<rest>.*))?$/,
    ({ by = '' }) => `of a snapshot${by}`,
  ],
  ['Restore', /^restored revision (?<revision>\d+)(?:: (?<rest>.*))?$/, ({ revision }) => `of revision ${revision}`],
  ['Revert', /^reverted revision (?<revision>\d+)(?:: (?<rest>.*))?$/, ({ revision }) => `of revision ${revision}`],
  ['Copy', /^copied from (?<source>\S+ at revision \d+)(?:: (?<rest>.*))?$/, ({ source }) => `from ${source}`],
];

/**
 * What made a revision, by the comment that the server gives it, and the rest of the comment. With another comment, such as
 * one of the command, it is an ordinary change.
 */
export function originOf({ comment }: Pick<ChangeView, 'comment'>): {
  readonly origin?: Origin;
  readonly comment: string | null;
} {
  if (comment === null) return { comment };
  for (const [name, pattern, from] of origins) {
    const groups = pattern.exec(comment)?.groups;
    if (groups !== undefined) return { origin: { name, from: from(groups) }, comment: groups['rest'] ?? null };
  }
  return { comment };
}
