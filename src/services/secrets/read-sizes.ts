import { LRUCache } from 'lru-cache';
import type { SecretSelection } from '../../store/secret-reads.ts';
import type { EnvironmentAccess } from '../access/access.ts';

const rememberedReads = 10_000;

/** Room in memory for the large reads of a caller. */
export interface ReadRoom {
  /** Waits until the caller may read so many bytes of values. Throws DomainError overloaded if that takes too long. */
  enter(bytes: number): Promise<void>;
}

/** How many bytes of values earlier reads found. */
export class ReadSizes {
  readonly #known = new LRUCache<string, number>({ max: rememberedReads });

  find(access: EnvironmentAccess, selection: SecretSelection): number | undefined {
    return this.#known.get(stateOf(access, selection));
  }

  note(access: EnvironmentAccess, selection: SecretSelection, bytes: number): void {
    this.#known.set(stateOf(access, selection), bytes);
  }
}

/** What is read; the newest state by its revision, as it changes with each commit. */
function stateOf(
  { environmentId, revisionId }: EnvironmentAccess,
  { prefix = '', revision = revisionId }: SecretSelection,
): string {
  return `${environmentId} ${revision} ${prefix}`;
}
