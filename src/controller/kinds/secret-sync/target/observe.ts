import { lastAppliedAnnotation, type ObjectMeta } from '../../../../kube/client/objects.ts';
import type { SecretObject, SecretsClient } from '../../../../kube/client/secrets.ts';
import type { SecretSync } from '../../../generated/secret-sync.ts';
import { isTokenSecret } from '../../service-token/resource.ts';
import type { SyncContext, TargetMemory } from '../model.ts';
import { targetKeyOf, targetOf } from '../spec/resource.ts';
import { fingerprintOf } from '../data/secret-data.ts';
import { isOfferedTo, isOwnedBy, metadataFits } from './target-metadata.ts';
import { recordOf } from './target-record.ts';
import { ownedByAnnotation } from '../../../annotations.ts';
import type { TargetFacts } from '../model.ts';
import type { Fingerprint } from '../../../frame/fingerprint.ts';

export interface ObserveDeps {
  readonly secretsClient: Pick<SecretsClient, 'find'>;
  readonly fingerprint: Fingerprint;
  /** Metadata of a target by `namespace/name`, as a watch shows it. */
  readonly watchedTarget: (key: string) => { readonly metadata: ObjectMeta } | undefined;
}

export interface ObservedTarget {
  readonly target: TargetFacts;
  /** The target's metadata, where it is ours to write. */
  readonly existing: ObjectMeta | undefined;
}

/** The SecretSync whose target is observed. */
export type TargetContext = Pick<SyncContext, 'resource'> & { readonly memory: TargetMemory };

const absent: ObservedTarget = { target: { state: 'absent' }, existing: undefined };

/**
 * Looks at the Secret that a SecretSync owns: at what the watch shows as long as that tells enough, else, or where
 * `fresh` asks for it, at the Secret itself. Throws ApiError.
 */
export async function observeTarget(
  deps: ObserveDeps,
  context: TargetContext,
  fresh: boolean,
): Promise<ObservedTarget> {
  const { resource: sync, memory } = context;
  const watched = memory.target.current(deps.watchedTarget(targetKeyOf(sync)))?.metadata;
  const look = fresh ? undefined : observeFromCache(context, watched);
  if (look !== undefined) return look;
  const found = await findTarget(deps, sync, { watched, fresh });
  if (found === undefined) return absent;
  if (!isOwnedBy(found.metadata, sync) && !isOfferedTo(found.metadata, sync)) return foreign(found.metadata);
  memory.target.record(watched?.resourceVersion, { metadata: found.metadata });
  return owned(sync, found.metadata, contentOf(deps, sync, found));
}

/**
 * Looks at the Secret itself: at what the API server has in its cache, as long as that is no older than what the watch shows;
 * or at etcd, if `fresh` asks for it. Throws ApiError.
 */
export async function findTarget(
  { secretsClient }: ObserveDeps,
  sync: SecretSync,
  { watched, fresh }: { readonly watched: ObjectMeta | undefined; readonly fresh: boolean },
): Promise<SecretObject | undefined> {
  return await secretsClient.find(targetOf(sync), fresh ? undefined : watched?.resourceVersion);
}

/** What can be told from a target's metadata alone; undefined where its content has to be looked at. */
function observeFromCache(
  { resource: sync, memory }: TargetContext,
  watched: ObjectMeta | undefined,
): ObservedTarget | undefined {
  if (watched === undefined) return absent;
  if (!isOwnedBy(watched, sync)) return isOfferedTo(watched, sync) ? undefined : foreign(watched);
  // The watch's copy lacks its value, which a replacement made from the copy would take away.
  if (watched.annotations?.[lastAppliedAnnotation] !== undefined) return undefined;
  const { verified } = memory;
  // Nobody wrote it since: what it holds is known.
  const isKnown = verified?.uid === watched.uid && verified.resourceVersion === watched.resourceVersion;
  return isKnown ? owned(sync, watched, { ...verified, isImmutable: false }) : undefined;
}

interface TargetContent {
  readonly type: string;
  readonly isImmutable: boolean;
  readonly keys: readonly string[];
  readonly fingerprint: Buffer;
}

/** What is worth knowing of a Secret's content; its values are dropped with it. */
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

function foreign(metadata: ObjectMeta): ObservedTarget {
  const owner = metadata.annotations?.[ownedByAnnotation];
  return { target: { state: 'foreign', owner, isToken: isTokenSecret(metadata) }, existing: undefined };
}
