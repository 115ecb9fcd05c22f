import { Plaintext } from '../../../domain/plaintext.ts';
import { otherManagers } from '../../../kube/client/managed-fields.ts';
import { type KubeObject, objectKey } from '../../../kube/client/objects.ts';
import type { SecretObject, SecretsClient } from '../../../kube/client/secrets.ts';
import type { ServiceToken } from '../../generated/service-token.ts';
import { type Seen, objectVersion } from '../../frame/dependencies.ts';
import type { SecretFacts } from './judge.ts';
import { ownerOf } from '../secret-claims/claim.ts';
import type { SecretClaims } from '../secret-claims/claims.ts';
import { type Repair, repairOf } from '../secret-claims/drift.ts';
import type { TokenState, VerifiedSecret } from './state.ts';
import { claimantOf, isFederated, metadataFits, secretOf, tokenDataKey } from './resource.ts';
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
  if (isFederated(resource)) return { state: 'unwanted', leftover: await findLeftover(deps, resource, watched) };
  if (verified !== undefined && isVersion(watched, verified)) return { state: 'owned', ...verified };
  state.verified = undefined;
  const found = await deps.secretsClient.find(target);
  note(found?.metadata);
  if (found === undefined || !isOwnedBy(found, resource)) return foreignFacts(deps, resource, found);
  const present = await verify(deps, resource, found);
  state.verified = present;
  // An own write forgets what was verified, so another client has written this version.
  if (verified !== undefined) state.drift = driftSince(verified, present, found) ?? state.drift;
  return { state: 'owned', ...present };
}

/** The Secret of a federated ServiceToken, which a controller of an older release wrote. */
async function findLeftover(
  { secretsClient }: Pick<ObserveDeps, 'secretsClient'>,
  resource: ServiceToken,
  watched: KubeObject['metadata'] | undefined,
): Promise<KubeObject['metadata'] | undefined> {
  // The watch shows each Secret of a ServiceToken.
  const found = watched === undefined ? undefined : await secretsClient.find(secretOf(resource));
  return found !== undefined && isOwnedBy(found, resource) ? found.metadata : undefined;
}

async function verify(
  { serialOf }: Pick<ObserveDeps, 'serialOf'>,
  resource: ServiceToken,
  found: SecretObject,
): Promise<VerifiedSecret> {
  const { metadata } = found;
  const value = tokenOf(found);
  return {
    uid: metadata.uid,
    resourceVersion: metadata.resourceVersion,
    serial: value === undefined ? undefined : await serialOf(value),
    metadataFits: metadataFits(resource, metadata),
    isReplaceable: found.immutable !== true && isOpaque(found),
  };
}

function isOpaque({ type = 'Opaque' }: SecretObject): boolean {
  return type === 'Opaque';
}

/** What another client did to a token Secret; undefined if nothing that a write must repair. */
function driftSince(before: VerifiedSecret, present: VerifiedSecret, found: SecretObject): Repair | undefined {
  const managers = otherManagers(found.metadata);
  const isMetadataChanged = before.metadataFits && !present.metadataFits;
  const isTokenChanged = before.serial !== undefined && present.serial !== before.serial;
  const changed = isTokenChanged ? [tokenDataKey] : [];
  const isPresent = tokenOf(found) !== undefined;
  const removed = isPresent ? [] : changed;
  // If no other manager holds the value, another process of this program wrote it.
  const held = isPresent ? changed.filter((key) => managers.some(({ keys }) => keys.has(key))) : [];
  if (!isMetadataChanged && removed.length + held.length === 0) return undefined;
  const [isImmutable, isTypeChanged] = [found.immutable === true, !isOpaque(found)];
  return repairOf(
    { isDeleted: false, isImmutable, isTypeChanged, isMetadataChanged, removed, held, managers },
    () => false,
  );
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
