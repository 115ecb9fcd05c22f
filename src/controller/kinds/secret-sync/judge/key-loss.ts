import { composedOf, originsOf, renamedOf, sourcesOfRecord } from '../target/target-record.ts';
import type { TargetRecord, TargetSource, WantedFacts } from '../model.ts';

/** Distinguishes lost keys of a Secret from those that the spec removes on purpose. */
export interface KeyLoss {
  /**
   * Whether a key of the Secret is lost: its environment no longer has it, and no source at the same place in the spec or
   * later provides it. A key that the environment still has, but the spec no longer includes or now renames, is removed on
   * purpose. So is every key of a source that was removed, or whose environment or pin has changed.
   */
  readonly isLost: (key: string) => boolean;
  /** The name of the source that a key came from, if known. */
  readonly originOf: (key: string) => string | undefined;
}

type Wanted = Pick<WantedFacts, 'sources' | 'names' | 'origins'>;

/** Judges losses from the record of the Secret and the keys that it must have. */
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
    // Its origin is unknown.
    if (origin === undefined) return !givers.has(key) && !environments.some((_, rank) => has(rank, key));
    const rank = rankOf.get(origin);
    if (rank === undefined || has(rank, key)) return false;
    return (givers.get(key) ?? -1) < rank;
  };
  return { isLost, originOf: (key) => originOf(key)?.name };
}

/** The keys that the Secret must have, with the rank of each key's source: its place in the spec. */
function giversOf({ sources, names, origins }: Wanted): ReadonlyMap<string, number> {
  const ranks = new Map(sources.map(({ name }, rank) => [name, rank]));
  // Composed keys rank above all sources.
  return new Map(names.map((name) => [name, origins.has(name) ? (ranks.get(origins.get(name)) ?? 0) : sources.length]));
}

/** The place of a recorded source in the present spec; undefined if its environment or pin has changed. */
function rankNow(recorded: TargetSource, sources: Wanted['sources']): number | undefined {
  const rank = sources.findIndex(
    (source) => isSame(recorded, source, sources) && source.path === recorded.path && source.pin === recorded.pin,
  );
  return rank === -1 ? undefined : rank;
}

/**
 * Whether a recorded source is a source of the spec: by the name, or by the environment if the spec no longer has that name
 * because the source was renamed or the spec got sources.
 */
export function isSame(
  recorded: TargetSource,
  source: Pick<TargetSource, 'name' | 'path'>,
  sources: readonly { readonly name: string | undefined }[],
): boolean {
  if (recorded.name === source.name) return true;
  return recorded.path === source.path && !sources.some(({ name }) => name === recorded.name);
}
