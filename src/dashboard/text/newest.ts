import type { ConsumerView } from '../../wire/consumers.ts';
import { counted } from './counted.ts';

/** Where the newest revision of an environment is: one answer for all pages. */

/** The newest revision of an environment. */
export interface Newest {
  readonly revision: number;
  readonly revisionId: string;
}

/** What keeps a consumer from being well, the most urgent first. Several may hold at once. */
export const concerns = ['stalled', 'behind', 'stale', 'progressing', 'suspended'] as const;
export type Concern = (typeof concerns)[number];

type Reported = Pick<ConsumerView, 'cluster' | 'stale' | 'health' | 'pinned' | 'syncedRevisionId'>;

/** A consumer beside the newest revision of its environment. */
export interface ComparedConsumer {
  readonly consumer: Reported;
  readonly newest: Newest;
}

/** Whether the Secret of a consumer does not hold the newest revision. A pinned one stays where it is by intent. */
export function isBehind({ pinned, syncedRevisionId }: Reported, newest: Newest): boolean {
  return !pinned && syncedRevisionId !== newest.revisionId;
}

/**
 * Everything that keeps a consumer from being well. What a cluster reports is as old as its report: the consumer of a stale
 * one is not known to hold anything.
 */
export function concernsOf({ consumer, newest }: ComparedConsumer): readonly Concern[] {
  const { health, stale } = consumer;
  const found: Readonly<Record<Concern, boolean>> = {
    stalled: health === 'stalled',
    behind: isBehind(consumer, newest),
    stale,
    progressing: health === 'progressing',
    suspended: health === 'suspended',
  };
  return concerns.filter((concern) => found[concern]);
}

/** Where the newest revision is, in numbers. */
export interface Whereabouts {
  readonly total: number;
  /** With no concern. */
  readonly well: number;
  /** How many consumers have each; one consumer may have several. */
  readonly counts: Readonly<Record<Concern, number>>;
  readonly pinned: number;
  readonly staleClusters: number;
}

export function whereIsNewest(all: readonly ComparedConsumer[]): Whereabouts {
  const counts = { stalled: 0, behind: 0, stale: 0, progressing: 0, suspended: 0 };
  let well = 0;
  for (const compared of all) {
    const found = concernsOf(compared);
    for (const concern of found) counts[concern] += 1;
    if (found.length === 0) well += 1;
  }
  const clusters = new Set(all.filter(({ consumer }) => consumer.stale).map(({ consumer }) => consumer.cluster));
  const pinned = all.filter(({ consumer }) => consumer.pinned).length;
  return { total: all.length, well, counts, pinned, staleClusters: clusters.size };
}

/** One sentence of a verdict. */
export interface VerdictLine {
  readonly tone: 'good' | 'warn' | 'danger' | 'neutral';
  readonly text: string;
}

/**
 * The verdict: everything that is wrong, and that all is well only if nothing is.
 *
 * @param newest what the Secrets are to hold: "revision 5", "the newest revision"
 */
export function verdictOf(where: Whereabouts, newest: string): readonly VerdictLine[] {
  const { total, counts, pinned, staleClusters } = where;
  const wrong: readonly (VerdictLine & { readonly count: number })[] = [
    {
      count: counts.stalled,
      tone: 'danger',
      text: `${share(counts.stalled, total, 'SecretSync', ['needs', 'need'])} a person.`,
    },
    {
      count: counts.behind,
      tone: 'warn',
      text: `${share(counts.behind, total, 'Secret', ['does', 'do'])} not hold ${newest}.`,
    },
    {
      count: staleClusters,
      tone: 'warn',
      text: `${counted(staleClusters, 'cluster')} stopped reporting. What is below may be old.`,
    },
    {
      count: counts.progressing,
      tone: 'warn',
      text: `${share(counts.progressing, total, 'SecretSync', ['is', 'are'])} not done yet.`,
    },
  ];
  const found = wrong.filter(({ count }) => count > 0).map(({ tone, text }): VerdictLine => ({ tone, text }));
  if (found.length === 0) {
    const which = pinned === 0 ? 'every Secret holds' : 'every Secret that is not pinned holds';
    found.push({ tone: 'good', text: `All is well: ${which} ${newest}.` });
  }
  for (const [count, state] of [
    [counts.suspended, 'suspended'],
    [pinned, 'pinned'],
  ] as const) {
    if (count > 0)
      found.push({ tone: 'neutral', text: `${counted(count, 'SecretSync is', 'SecretSyncs are')} ${state}.` });
  }
  return found;
}

/** Some of all, with a verb: "1 of 3 SecretSyncs needs". */
function share(count: number, total: number, noun: string, [one, many]: readonly [string, string]): string {
  return `${count} of ${counted(total, noun)} ${count === 1 ? one : many}`;
}
