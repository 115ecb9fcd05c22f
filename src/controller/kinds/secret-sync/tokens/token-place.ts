import type { DomainError } from '../../../../domain/errors/domain-error.ts';
import { type NamespacedName, objectKey } from '../../../../kube/client/objects.ts';
import type { SecretSync } from '../../../generated/secret-sync.ts';
import type { ServiceToken } from '../../../generated/service-token.ts';
import type { Seen } from '../../../frame/dependencies.ts';
import { isFederated, secretOf, tokenDataKey } from '../../service-token/resource.ts';
import { specVersionOf } from '../../service-token/versions.ts';
import { targetOf } from '../spec/resource.ts';
import { type Source, inSource, sourcesOf } from '../spec/source.ts';
import {
  serviceTokenDeleted,
  serviceTokenFederated,
  serviceTokenMissing,
  tokenSecretIsTarget,
} from '../token-messages.ts';

/** The tokens of a SecretSync's sources. Nothing here writes. */

/** The Secret and the key that hold a token. */
export interface TokenPlace extends NamespacedName {
  readonly key: string;
  /** The ServiceToken whose Secret it is; undefined if the source names the Secret itself. */
  readonly serviceToken: ServiceToken | undefined;
}

/** `keyless`: the keyless service token of the namespace, which has no value. */
export type SourceToken = TokenPlace | 'keyless';

/** Whether a source has no token reference and so reads with the keyless token of its namespace. */
export function isKeyless({ tokenRef, tokenSecretRef }: Pick<Source, 'tokenRef' | 'tokenSecretRef'>): boolean {
  return tokenRef === undefined && tokenSecretRef === undefined;
}

/** The key of the ServiceToken in a source's tokenRef; undefined without tokenRef. */
function namedTokenKeyOf({ metadata: { namespace } }: SecretSync, { tokenRef }: Source): string | undefined {
  if (tokenRef === undefined) return undefined;
  return objectKey({ ...(namespace === undefined ? {} : { namespace }), name: tokenRef.name });
}

/**
 * The tokens of a SecretSync's sources, in the order of the spec. The result depends on the ServiceTokens that they name.
 * Throws DomainError service_token_not_found, service_token_not_ready and invalid_input.
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

/** The token of a source, or why it cannot read yet. `named` is the ServiceToken in its tokenRef. Pure. */
export function judgeToken(
  sync: SecretSync,
  source: Source,
  named: ServiceToken | undefined,
): SourceToken | DomainError {
  const { tokenSecretRef } = source;
  if (isKeyless(source)) return 'keyless';
  if (tokenSecretRef !== undefined) {
    const { name, key = tokenDataKey } = tokenSecretRef;
    return { namespace: sync.metadata.namespace ?? '', name, key, serviceToken: undefined };
  }
  if (named === undefined) return serviceTokenMissing(source);
  if (named.metadata.deletionTimestamp !== undefined) return serviceTokenDeleted(named.metadata.name, source);
  if (isFederated(named)) return serviceTokenFederated(named.metadata.name, source);
  const secret = secretOf(named);
  if (secret.name === targetOf(sync).name) return tokenSecretIsTarget(sync, named.metadata.name);
  return { ...secret, key: tokenDataKey, serviceToken: named };
}
