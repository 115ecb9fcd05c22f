import type { Plaintext } from '../../domain/plaintext.ts';
import type { FoundState, LargerState } from '../../domain/secret-states.ts';
import type { RevisionQuestion, SourcesAnswer, SourcesQuestion, ValuesQuestion } from '../../domain/source-reads.ts';

/**
 * Reads the environments of SecretSyncs (docs/internals/reading-and-audit.md).
 *
 * A reconcile asks `read` once. The question says which values the Secret needs, and an answer over HTTPS has them if they
 * fit. Otherwise the reconcile asks `values` once for each source: in one process, for a large state, and for a snapshot.
 */
export interface SourcesBackend {
  /**
   * Authenticates all tokens, then gives access to all environments, and then finds their states: keys and sizes. The
   * first error ends it, and is in the answer with what was found before. With a keyless source, all environments are
   * compared with the recorded ones before a keyless token is created. Equal calls for several sources are made once.
   */
  readonly read: (question: SourcesQuestion) => Promise<SourcesAnswer>;
  /** Finds a state of a source whose state `read` left for later. Throws what `values` throws, and not_found. */
  readonly find: (question: RevisionQuestion) => Promise<FoundState | LargerState>;
  /**
   * Reads values of a found state. The read is audited before they are returned. Throws DomainError conflict if a value was
   * destroyed or the environment replaced or deleted meanwhile, what refuses the source now, key_unavailable, overloaded
   * and store_unavailable.
   */
  readonly values: (question: ValuesQuestion) => Promise<ReadonlyMap<string, Plaintext>>;
}
