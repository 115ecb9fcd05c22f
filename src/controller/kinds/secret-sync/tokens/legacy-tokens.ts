import { objectKey } from '../../../../kube/client/objects.ts';
import { secretSyncKind } from '../../../../kube/client/keyframe-kinds.ts';
import type { SecretSync } from '../../../generated/secret-sync.ts';
import type { ServiceToken } from '../../../generated/service-token.ts';
import { secretOf } from '../../service-token/resource.ts';
import { type Source, sourcesOf } from '../spec/source.ts';

/**
 * The ServiceTokens `<SecretSync>-token` and `<SecretSync>-token-<source>` that release 0.1.0 created for sources without a
 * token reference. They are no longer needed. Pure.
 */

// Release 0.1.0 refused a source whose name contains this word, so a name has one possible owner.
const suffix = '-token';

/** The key of the SecretSync for which a ServiceToken of this key was created; undefined if there is none. */
export function legacyOwnerOf(tokenKey: string): string | undefined {
  if (tokenKey.endsWith(suffix)) return tokenKey.slice(0, -suffix.length);
  const at = tokenKey.lastIndexOf(`${suffix}-`);
  return at === -1 ? undefined : tokenKey.slice(0, at);
}

/** Whether release 0.1.0 created a ServiceToken for exactly this SecretSync. */
export function isLegacyTokenOf({ metadata: sync }: SecretSync, { metadata }: ServiceToken): boolean {
  const { group, kind } = secretSyncKind;
  const isControlled = (metadata.ownerReferences ?? []).some(
    (owner) =>
      owner.controller === true &&
      owner.kind === kind &&
      owner.apiVersion.startsWith(`${group}/`) &&
      owner.uid === sync.uid,
  );
  // With any other name, a user created it and copied the owner reference.
  return isControlled && legacyOwnerOf(objectKey(metadata)) === objectKey(sync);
}

/** Whether a source of these SecretSyncs, all in the token's namespace, names the ServiceToken or its Secret. */
export function isTokenNamed(token: ServiceToken, syncs: readonly SecretSync[]): boolean {
  const secret = secretOf(token);
  const isNamed = ({ tokenRef, tokenSecretRef }: Source): boolean =>
    tokenRef?.name === token.metadata.name || tokenSecretRef?.name === secret.name;
  return syncs.some((sync) => sourcesOf(sync).some(isNamed));
}
