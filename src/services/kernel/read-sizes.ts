import { LRUCache } from 'lru-cache';
import type { SecretSelection } from '../../store/secret-reads.ts';
import type { EnvironmentAccess } from '../access/access.ts';

// A response of this size takes a few milliseconds, like one without values.
const smallBytes = 256 * 1024;
const rememberedReads = 10_000;

/** Room in memory for the large reads of a caller. */
export interface ReadRoom {
  /** Waits until the caller may read a large state. Throws DomainError overloaded if that takes too long. */
  enter(): Promise<void>;
  /** Takes memory before values are decrypted. Throws DomainError overloaded if too much is taken. */
  reserve(bytes: number): void;
}

/** Which reads were small. Any other may be large: only reading it shows its size. */
export class ReadSizes {
  readonly #known = new LRUCache<string, boolean>({ max: rememberedReads });

  isSmall(access: EnvironmentAccess, selection: SecretSelection): boolean {
    return this.#known.get(stateOf(access, selection)) === true;
  }

  /** Remembers how many bytes of values a read found. */
  note(access: EnvironmentAccess, selection: SecretSelection, bytes: number): void {
    this.#known.set(stateOf(access, selection), bytes <= smallBytes);
  }
}

/** What is read; the newest state by its revision, as it changes with each commit. */
function stateOf(
  { environmentId, revisionId }: EnvironmentAccess,
  { prefix = '', revision = revisionId }: SecretSelection,
): string {
  return `${environmentId} ${revision} ${prefix}`;
}
