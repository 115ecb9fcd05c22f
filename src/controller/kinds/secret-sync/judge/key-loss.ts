import { composedOf, originsOf, renamedOf, sourcesOfRecord } from '../target/target-record.ts';
import type { TargetRecord, TargetSource, WantedFacts } from '../model.ts';

/** What tells the loss of a Secret's keys from what the spec takes away on purpose. */
export interface KeyLoss {
  /**
   * Whether a key of the Secret is lost: the environment that it came from has it no more, and no source gives it that comes
   * as late in the spec or later. A key that the environment still has, and the spec no longer chooses or names otherwise, is
   * taken away on purpose; so is every key of a source whose environment or pin is another one now, or that is taken out.
   */
  readonly isLost: (key: string) => boolean;
  /** The name of the source that a key came from, where that is known and has one. */
  readonly originOf: (key: string) => string | undefined;
}

type Wanted = Pick<WantedFacts, 'sources' | 'names' | 'origins'>;

/** Judges losses by the record of the Secret, and by what its keys shall be. */
export function keyLoss(record: TargetRecord, wanted: Wanted): KeyLoss {
  const recorded = sourcesOfRecord(record);
  const originOf = recorded === undefined ? (): undefined => undefined : originsOf(record, recorded);
  const [renamed, composed] = [renamedOf(record), composedOf(record)];
  const environments = wanted.sources.map(({ keys }) => new Set(keys));
  const has = (rank: number, key: string): boolean => environments[rank]?.has(renamed.get(key) ?? key) === true;
  const givers = giversOf(wanted);
  const rankOf = new Map((recorded ?? []).map((source) => [source, rankNow(source, wanted.sources)]));
  const isLost = (key: string): boolean => {
    if (composed.has(key)) return false;
    const origin = originOf(key);
    // Nobody knows where it came from.
    if (origin === undefined) return !givers.has(key) && !environments.some((_, rank) => has(rank, key));
    const rank = rankOf.get(origin);
    if (rank === undefined || has(rank, key)) return false;
    return (givers.get(key) ?? -1) < rank;
  };
  return { isLost, originOf: (key) => originOf(key)?.name };
}

/** The keys that the Secret shall have, with the rank of the source that gives each: its place in the spec. */
function giversOf({ sources, names, origins }: Wanted): ReadonlyMap<string, number> {
  const ranks = new Map(sources.map(({ name }, rank) => [name, rank]));
  // What the template composes is above all of them.
  return new Map(names.map((name) => [name, origins.has(name) ? (ranks.get(origins.get(name)) ?? 0) : sources.length]));
}

/** The place in the spec that a source of a record has now; undefined where it is no longer what it was. */
function rankNow(recorded: TargetSource, sources: Wanted['sources']): number | undefined {
  const rank = sources.findIndex(
    (source) => isSame(recorded, source, sources) && source.path === recorded.path && source.pin === recorded.pin,
  );
  return rank === -1 ? undefined : rank;
}

/**
 * Whether a source of a record is a source of the spec: by the name; and where the spec has that name no more, as where a
 * source was renamed or the spec got sources, by the environment.
 */
export function isSame(
  recorded: TargetSource,
  source: TargetSource,
  sources: readonly { readonly name: string | undefined }[],
): boolean {
  if (recorded.name === source.name) return true;
  return recorded.path === source.path && !sources.some(({ name }) => name === recorded.name);
}
