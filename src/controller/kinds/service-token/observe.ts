import { Plaintext } from '../../../domain/plaintext.ts';
import { type KubeObject, objectKey } from '../../../kube/client/objects.ts';
import type { SecretObject, SecretsClient } from '../../../kube/client/secrets.ts';
import type { ServiceToken } from '../../generated/service-token.ts';
import { type Seen, objectVersion } from '../../frame/dependencies.ts';
import type { SecretFacts } from './judge.ts';
import { ownerOf } from '../secret-claims/claim.ts';
import type { SecretClaims } from '../secret-claims/claims.ts';
import type { TokenState } from './state.ts';
import { claimantOf, metadataFits, secretOf, tokenDataKey } from './resource.ts';
import { ownedByAnnotation, ownedByTokenAnnotation } from '../../annotations.ts';

export interface ObserveDeps {
  readonly secretsClient: Pick<SecretsClient, 'find'>;
  /** Metadata of a token Secret by `namespace/name`, as the watch shows it. */
  readonly watchedSecret: (key: string) => KubeObject | undefined;
  readonly seen: Seen;
  readonly claims: Pick<SecretClaims, 'rivalOf' | 'ownerClaim'>;
  /** Returns the serial of a value of the resource's token. */
  readonly serialOf: (token: Plaintext) => Promise<number | undefined>;
}

/**
 * Returns the facts about the Secret of a ServiceToken. Reads the Secret, unless the watch shows the verified version.
 * Throws ApiError, and DomainError store_unavailable.
 */
export async function observeSecret(
  deps: ObserveDeps,
  resource: ServiceToken,
  state: TokenState,
): Promise<SecretFacts> {
  const target = secretOf(resource);
  const watched = deps.watchedSecret(objectKey(target))?.metadata;
  const { verified } = state;
  const note = (metadata: KubeObject['metadata'] | undefined): void =>
    deps.seen.renote('issued Secret', objectKey(target), objectVersion(metadata));
  note(watched);
  if (verified !== undefined && isVersion(watched, verified)) return { state: 'owned', ...verified };
  state.verified = undefined;
  const found = await deps.secretsClient.find(target);
  note(found?.metadata);
  if (found === undefined || !isOwnedBy(found, resource)) return foreignFacts(deps, resource, found);
  const value = tokenOf(found);
  state.verified = {
    uid: found.metadata.uid,
    resourceVersion: found.metadata.resourceVersion,
    serial: value === undefined ? undefined : await deps.serialOf(value),
    metadataFits: metadataFits(resource, found.metadata),
    isReplaceable: found.immutable !== true && (found.type ?? 'Opaque') === 'Opaque',
  };
  return { state: 'owned', ...state.verified };
}

/** Whether a Secret belongs to a ServiceToken by its annotation. A Secret that a SecretSync writes belongs to that. */
export function isOwnedBy({ metadata: { annotations } }: KubeObject, { metadata: { name } }: ServiceToken): boolean {
  return annotations?.[ownedByTokenAnnotation] === name && annotations[ownedByAnnotation] === undefined;
}

/** The token in a Secret; undefined if there is none. */
export function tokenOf({ data }: SecretObject): Plaintext | undefined {
  const value = data?.[tokenDataKey];
  return value === undefined ? undefined : new Plaintext(Buffer.from(value, 'base64').toString('utf8'));
}

function isVersion(
  watched: KubeObject['metadata'] | undefined,
  { uid, resourceVersion }: { readonly uid: string; readonly resourceVersion: string },
): boolean {
  return watched?.uid === uid && watched.resourceVersion === resourceVersion;
}

/** The facts about a Secret that is missing or belongs to something else. */
function foreignFacts(
  { claims, seen }: Pick<ObserveDeps, 'claims' | 'seen'>,
  resource: ServiceToken,
  found: KubeObject | undefined,
): SecretFacts {
  const key = objectKey(secretOf(resource));
  const owner = found === undefined ? undefined : ownerOf(found.metadata);
  const holder =
    found === undefined ? claims.rivalOf(key, claimantOf(resource), seen) : claims.ownerClaim(key, owner, seen);
  if (holder !== undefined) return { state: 'claimed', holder, isPresent: found !== undefined };
  return found === undefined ? { state: 'absent' } : { state: 'unmanaged', owner };
}
