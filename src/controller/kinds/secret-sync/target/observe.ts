import { lastAppliedAnnotation, type ObjectMeta, type OwnerReference } from '../../../../kube/client/objects.ts';
import type { SecretObject, SecretsClient } from '../../../../kube/client/secrets.ts';
import type { SecretSync } from '../../../generated/secret-sync.ts';
import { ownerOf } from '../../secret-claims/claim.ts';
import { type Drift, type HeldContent, deletion, driftOf } from '../../secret-claims/drift.ts';
import type { SecretClaims } from '../../secret-claims/claims.ts';
import type { SyncContext, TargetMemory } from '../model.ts';
import { isMerge, targetKeyOf, targetOf } from '../spec/resource.ts';
import { fingerprintOf } from '../data/secret-data.ts';
import { isOfferedTo, isOwnedBy, metadataFits, otherOwners } from './target-metadata.ts';
import { recordOf } from './target-record.ts';
import type { TargetFacts } from '../model.ts';
import type { Fingerprint } from '../../../backend/fingerprint.ts';

export interface ObserveDeps {
  readonly secretsClient: Pick<SecretsClient, 'find'>;
  readonly fingerprint: Fingerprint;
  /** Metadata of a target by `namespace/name`, from a watch. */
  readonly watchedTarget: (key: string) => { readonly metadata: ObjectMeta } | undefined;
  readonly claims: Pick<SecretClaims, 'rivalOf' | 'ownerClaim' | 'mergersOf' | 'depend'>;
}

export interface ObservedTarget {
  readonly target: TargetFacts;
  /** The target's metadata, if the SecretSync may write it. */
  readonly existing: ObjectMeta | undefined;
  /** What other clients did to it. */
  readonly drift?: ObservedDrift | undefined;
}

export interface ObservedDrift extends Drift {
  /** Keyed digests of the values that other field managers hold. */
  readonly digests: ReadonlyMap<string, Buffer>;
}

/** The SecretSync whose target is observed. */
export type TargetContext = Pick<SyncContext, 'resource'> & { readonly memory: TargetMemory };

/** No Secret. Another client deleted it if it must exist. */
function absent({ memory: { expected } }: TargetContext): ObservedTarget {
  const drift = expected === undefined ? undefined : { ...deletion, digests: new Map() };
  return { target: { state: 'absent' }, existing: undefined, drift };
}

/**
 * Observes the Secret that a SecretSync owns. The watch's copy is used if it is sufficient, and otherwise, or if `fresh` is
 * set, the Secret itself. Throws ApiError.
 */
export async function observeTarget(
  deps: ObserveDeps,
  context: TargetContext,
  fresh: boolean,
): Promise<ObservedTarget> {
  const { resource: sync, memory } = context;
  const watched = memory.target.current(deps.watchedTarget(targetKeyOf(sync)))?.metadata;
  const observed = fresh ? undefined : observeFromCache(context, watched);
  if (observed !== undefined) return observed;
  const found = await findTarget(deps, sync, { watched, fresh });
  if (found === undefined) return absent(context);
  const foreign = foreignTarget(sync, found.metadata);
  if (foreign !== undefined) return foreign;
  memory.target.record(watched?.resourceVersion, { metadata: found.metadata });
  const content = contentOf(deps, sync, found);
  return { ...owned(sync, found.metadata, content), drift: observedDrift(deps, context, found, content) };
}

/**
 * Reads the Secret itself: from the API server's cache, no older than the watch's copy, or from etcd if `fresh` is set. Throws
 * ApiError.
 */
export async function findTarget(
  { secretsClient }: ObserveDeps,
  sync: SecretSync,
  { watched, fresh }: { readonly watched: ObjectMeta | undefined; readonly fresh: boolean },
): Promise<SecretObject | undefined> {
  return await secretsClient.find(targetOf(sync), fresh ? undefined : watched?.resourceVersion);
}

/** What a target's metadata alone proves; undefined if its content must be read. */
function observeFromCache(context: TargetContext, watched: ObjectMeta | undefined): ObservedTarget | undefined {
  const { resource: sync, memory } = context;
  if (watched === undefined) return absent(context);
  if (!isOwnedBy(watched, sync)) return foreignTarget(sync, watched);
  // The watch's copy lacks the value of this annotation: a replacement built from the copy would remove it.
  if (watched.annotations?.[lastAppliedAnnotation] !== undefined) return undefined;
  const { verified } = memory;
  // It has not been written since, so its content is known.
  const isKnown = verified?.uid === watched.uid && verified.resourceVersion === watched.resourceVersion;
  return isKnown ? owned(sync, watched, { ...verified, isImmutable: false }) : undefined;
}

/** What a target holds, without values. */
export interface TargetContent extends HeldContent {
  readonly isImmutable: boolean;
}

/** What other clients did to a Secret that the SecretSync owns, or merges its keys into. */
export function observedDrift(
  { fingerprint }: Pick<ObserveDeps, 'fingerprint'>,
  { resource: sync, memory: { expected } }: TargetContext,
  { metadata, data }: SecretObject,
  content: TargetContent,
): ObservedDrift | undefined {
  if (expected === undefined) return undefined;
  const isMetadataChanged =
    !isMerge(sync) && expected.generation === sync.metadata.generation && !metadataFits(sync, metadata);
  const drift = driftOf(expected, { ...content, metadata, isMetadataChanged });
  if (drift === undefined) return undefined;
  const digest = (key: string): Buffer => digestOf(fingerprint, sync, key, data?.[key] ?? '');
  return { ...drift, digests: new Map(drift.held.map((key) => [key, digest(key)])) };
}

/** Keyed digest of one value, which is in base64. */
export function digestOf(fingerprint: Fingerprint, sync: SecretSync, key: string, value: string): Buffer {
  return fingerprintOf(fingerprint, targetKeyOf(sync), { [key]: value });
}

/** The facts about a Secret's content, without the values. */
function contentOf(
  { fingerprint }: ObserveDeps,
  sync: SecretSync,
  { type, immutable, data }: SecretObject,
): TargetContent {
  return {
    type: type ?? 'Opaque',
    isImmutable: immutable === true,
    keys: Object.keys(data ?? {}),
    fingerprint: fingerprintOf(fingerprint, targetKeyOf(sync), data),
  };
}

function owned(sync: SecretSync, metadata: ObjectMeta, content: TargetContent): ObservedTarget {
  const { type, isImmutable, keys, fingerprint } = content;
  const target: TargetFacts = {
    state: isOwnedBy(metadata, sync) ? 'owned' : 'adopted',
    uid: metadata.uid,
    resourceVersion: metadata.resourceVersion,
    type,
    isImmutable,
    isDeleting: metadata.deletionTimestamp !== undefined,
    metadataFits: metadataFits(sync, metadata),
    record: recordOf(metadata),
    keys,
    fingerprint,
  };
  return { target, existing: metadata };
}

/** A Secret that the SecretSync must not write; undefined for one that it owns or may take over. */
function foreignTarget(sync: SecretSync, metadata: ObjectMeta): ObservedTarget | undefined {
  if (isOwnedBy(metadata, sync)) return undefined;
  if (!isOfferedTo(metadata, sync)) return unmanaged(metadata);
  // A controller would write its Secret again, and the garbage collector would delete the Secret with it.
  const controller = otherOwners(sync, metadata).find((owner) => owner.controller === true);
  return controller === undefined ? undefined : unmanaged(metadata, controller);
}

function unmanaged(metadata: ObjectMeta, controller?: OwnerReference): ObservedTarget {
  return { target: { state: 'unmanaged', owner: ownerOf(metadata), controller }, existing: undefined };
}
