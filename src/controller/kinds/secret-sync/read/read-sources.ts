import { DomainError } from '../../../../domain/domain-error.ts';
import type { BoundedReads } from './bounded-reads.ts';
import type { SyncContext } from '../model.ts';
import { Seen } from '../../../frame/dependencies.ts';
import {
  type ReadDeps,
  type SourceContext,
  type SourceReading,
  enterSource,
  readPrincipal,
  readSource,
} from './read.ts';
import { isUnsettled } from '../tokens/service-token-refusals.ts';
import { sharedCalls } from './shared-calls.ts';
import type { TokenPlace } from '../tokens/service-token.ts';
import { type Source, inSource, sourcesOf } from '../spec/source.ts';
import { type WantedState, wantedOf } from './state.ts';

/** Why the sources of a SecretSync could not be read: what the first one that could not was refused with. */
export class SourceRefusedError extends Error {
  override readonly name = 'SourceRefusedError';
  /** Names the source, if it has a name. */
  readonly refusal: DomainError;
  /** Whether that is trouble with a token which will be over or explained at any moment. */
  readonly isUnsettled: boolean;

  constructor(source: Source, error: DomainError, serviceToken: TokenPlace['serviceToken']) {
    super(error.detail, { cause: error });
    this.refusal = inSource(source, error);
    this.isUnsettled = isUnsettled(error, serviceToken);
  }
}

export interface SourceReadings {
  /** In the order of the spec. */
  readonly readings: readonly SourceReading[];
  /** When the first of the tokens ends; null where none does. */
  readonly tokenExpiresAt: Date | null;
}

export interface ReadPlan {
  /** Where the tokens of the sources are, in the order of the spec. */
  readonly places: readonly TokenPlace[];
  /** At which state a source is to be read; the one that it asks for, if nothing else is said. */
  readonly stateOf?: (source: Source) => WantedState;
  readonly reads: BoundedReads;
}

/**
 * Reads all sources of a SecretSync, one after the other: first every token, then whether each may enter its environment,
 * and only then the keys. The values are read once it is decided which of them the Secret gets. Each environment is read at one moment of its own. Throws
 * SourceRefusedError for the first source that cannot be read, and ApiError.
 */
export async function readSources(
  deps: ReadDeps,
  context: SyncContext,
  { places, stateOf = wantedOf, reads }: ReadPlan,
): Promise<SourceReadings> {
  const { resource, requestId } = context;
  const asked = sourcesOf(resource).map((source, index) => {
    const place = places[index];
    if (place === undefined) throw new Error('a source needs the place of its token');
    return { source: { resource, source, requestId, seen: new Seen() }, place, wanted: stateOf(source) };
  });
  // The definition of the kind sees to it. No sources at all must never pass for empty ones.
  if (asked.length === 0) throw new DomainError('invalid_input', 'spec names neither environmentRef nor sources');
  const shared = sharedCalls(deps);
  try {
    const known = await oneByOne(asked, async (one) => {
      return { ...one, principal: await readPrincipal(shared, one.source, one.place) };
    });
    const entered = await oneByOne(known, async (one) => {
      return { ...one, access: await enterSource(shared, one.source, one.principal) };
    });
    const readings = await oneByOne(entered, async (one) => {
      return await readSource(deps, one.source, one.access, { wanted: one.wanted, reads });
    });
    const ends = known.flatMap(({ principal: { expiresAt } }) => expiresAt?.getTime() ?? []);
    return { readings, tokenExpiresAt: ends.length === 0 ? null : new Date(Math.min(...ends)) };
  } finally {
    for (const { source } of asked) context.seen.add(source.seen);
  }
}

interface AskedSource {
  readonly source: SourceContext;
  readonly place: TokenPlace;
}

async function oneByOne<A extends AskedSource, T>(asked: readonly A[], step: (one: A) => Promise<T>): Promise<T[]> {
  const results: T[] = [];
  for (const one of asked) {
    try {
      results.push(await step(one));
    } catch (error) {
      if (!(error instanceof DomainError)) throw error;
      // An environment that appears may be the one that is looked for.
      if (error.code === 'not_found' || error.code === 'forbidden') one.source.seen.note('environments', '');
      throw new SourceRefusedError(one.source.source, error, one.place.serviceToken);
    }
  }
  return results;
}
