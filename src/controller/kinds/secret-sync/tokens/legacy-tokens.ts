import { objectKey } from '../../../../kube/client/objects.ts';
import { secretSyncKind } from '../../../../kube/client/keyframe-kinds.ts';
import type { SecretSync } from '../../../generated/secret-sync.ts';
import type { ServiceToken } from '../../../generated/service-token.ts';
import { secretOf } from '../../service-token/resource.ts';
import { type Source, sourcesOf } from '../spec/source.ts';

/**
 * The ServiceTokens `<SecretSync>-token` and `<SecretSync>-token-<source>` that release 0.1.0 made for sources that name no
 * token. Nothing needs them any more. Pure.
 */

// Release 0.1.0 refused a source whose name contains this word, so a name has one possible owner.
const suffix = '-token';

/** The key of the SecretSync that a ServiceToken of this key was made for; undefined if none could be. */
export function legacyOwnerOf(tokenKey: string): string | undefined {
  if (tokenKey.endsWith(suffix)) return tokenKey.slice(0, -suffix.length);
  const at = tokenKey.lastIndexOf(`${suffix}-`);
  return at === -1 ? undefined : tokenKey.slice(0, at);
}

/** Whether a ServiceToken was made for just this SecretSync by release 0.1.0. */
export function isLegacyTokenOf({ metadata: sync }: SecretSync, { metadata }: ServiceToken): boolean {
  const { group, kind } = secretSyncKind;
  const isControlled = (metadata.ownerReferences ?? []).some(
    (owner) =>
      owner.controller === true &&
      owner.kind === kind &&
      owner.apiVersion.startsWith(`${group}/`) &&
      owner.uid === sync.uid,
  );
  // With any other name a user made it, and copied the owner reference.
  return isControlled && legacyOwnerOf(objectKey(metadata)) === objectKey(sync);
}

/** Whether a source of one of these SecretSyncs, all of the token's namespace, names the ServiceToken or its Secret. */
export function isTokenNamed(token: ServiceToken, syncs: readonly SecretSync[]): boolean {
  const secret = secretOf(token);
  const isNamed = ({ tokenRef, tokenSecretRef }: Source): boolean =>
    tokenRef?.name === token.metadata.name || tokenSecretRef?.name === secret.name;
  return syncs.some((sync) => sourcesOf(sync).some(isNamed));
}
