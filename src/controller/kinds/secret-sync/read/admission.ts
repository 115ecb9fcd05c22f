import { DomainError } from '../../../../domain/errors/domain-error.ts';
import type { ReadingAccess } from '../../../../services/access/access.ts';
import type { SourceToken } from '../tokens/token-place.ts';
import { admitKeyless, enterKeyless } from './keyless.ts';
import { notVisible } from '../token-messages.ts';
import { type ReadDeps, enterSource, readPrincipal } from './read.ts';
import type { SourceContext } from './state.ts';

/** How a source gets access to its environment, with any kind of token. */

/** A source that may read its environment. A keyless one may still lack its token. */
export interface AdmittedSource {
  readonly environmentId: string;
  /** When the token ends; null if it does not. */
  readonly expiresAt: Date | null;
  readonly enter: () => Promise<ReadingAccess>;
}

/**
 * Identifies the token of a source. The returned function admits it to the environment. Both throw DomainError and ApiError.
 */
export async function identify(
  deps: ReadDeps,
  context: SourceContext,
  token: SourceToken,
): Promise<() => Promise<AdmittedSource>> {
  if (token === 'keyless') {
    const admission = await admitKeyless(deps.keyless, context);
    const { environmentId } = admission;
    const enter = async (): ReturnType<AdmittedSource['enter']> => await enterKeyless(context, admission);
    return () => Promise.resolve({ environmentId, expiresAt: null, enter });
  }
  const principal = await readPrincipal(deps, context, token);
  return async () => {
    const access = await enterSource(deps, context, principal).catch((error: unknown) => {
      if (!(error instanceof DomainError) || error.code !== 'not_found') throw error;
      // One message for both: the token may not know whether the environment exists.
      throw notVisible(context.source, token, error);
    });
    const { environmentId } = access;
    return { environmentId, expiresAt: principal.expiresAt, enter: () => Promise.resolve(access) };
  };
}
