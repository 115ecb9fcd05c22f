import type { DomainError } from '../../../../domain/errors/domain-error.ts';
import { type NamespacedName, objectKey } from '../../../../kube/client/objects.ts';
import type { SecretSync } from '../../../generated/secret-sync.ts';
import type { ServiceToken } from '../../../generated/service-token.ts';
import type { Seen } from '../../../frame/dependencies.ts';
import { secretOf, tokenDataKey } from '../../service-token/resource.ts';
import { specVersionOf } from '../../service-token/versions.ts';
import { targetOf } from '../spec/resource.ts';
import { type Source, inSource, sourcesOf } from '../spec/source.ts';
import { serviceTokenDeleted, serviceTokenMissing, tokenSecretIsTarget } from '../source-messages.ts';

/** What each source of a SecretSync reads with. Nothing here writes. */

/** Where a token's value is read. */
export interface TokenPlace extends NamespacedName {
  readonly key: string;
  /** The ServiceToken whose Secret it is; undefined if the source names the Secret itself. */
  readonly serviceToken: ServiceToken | undefined;
}

/** `keyless`: with the keyless service token of the namespace, which has no value. */
export type SourceToken = TokenPlace | 'keyless';

/** Whether a source names no token, and so reads with the keyless one of its namespace. */
export function isKeyless({ tokenRef, tokenSecretRef }: Pick<Source, 'tokenRef' | 'tokenSecretRef'>): boolean {
  return tokenRef === undefined && tokenSecretRef === undefined;
}

/** The key of the ServiceToken that a source's tokenRef names; undefined if it names none. */
function namedTokenKeyOf({ metadata: { namespace } }: SecretSync, { tokenRef }: Source): string | undefined {
  if (tokenRef === undefined) return undefined;
  return objectKey({ ...(namespace === undefined ? {} : { namespace }), name: tokenRef.name });
}

/**
 * What the sources of a SecretSync read with, in the order of the spec. The ServiceTokens that they name are part of what
 * the result rests on. Throws DomainError service_token_not_found, service_token_not_ready and invalid_input.
 */
export function sourceTokens(
  find: (key: string) => ServiceToken | undefined,
  sync: SecretSync,
  seen: Seen,
): readonly SourceToken[] {
  const judged = sourcesOf(sync).map((source) => {
    const key = namedTokenKeyOf(sync, source);
    const named = key === undefined ? undefined : find(key);
    if (key !== undefined) seen.note('ServiceToken spec', key, specVersionOf(named));
    return { source, token: judgeToken(sync, source, named) };
  });
  return judged.map(({ source, token }) => {
    if (token instanceof Error) throw inSource(source, token);
    return token;
  });
}

/** What a source reads with, or why it cannot read yet; `named` is the ServiceToken that its tokenRef names. Pure. */
export function judgeToken(
  sync: SecretSync,
  source: Source,
  named: ServiceToken | undefined,
): SourceToken | DomainError {
  const { tokenSecretRef } = source;
  if (isKeyless(source)) return 'keyless';
  if (tokenSecretRef !== undefined)
    return { namespace: sync.metadata.namespace ?? '', ...tokenSecretRef, serviceToken: undefined };
  if (named === undefined) return serviceTokenMissing(source);
  if (named.metadata.deletionTimestamp !== undefined) return serviceTokenDeleted(named.metadata.name, source);
  const secret = secretOf(named);
  if (secret.name === targetOf(sync).name) return tokenSecretIsTarget(sync, named.metadata.name);
  return { ...secret, key: tokenDataKey, serviceToken: named };
}
