import { appliedDataKeys } from '../../../../kube/client/managed-fields.ts';
import { type ObjectMeta, stripped } from '../../../../kube/client/objects.ts';
import type { SecretObject } from '../../../../kube/client/secrets.ts';
import type { SecretSync } from '../../../generated/secret-sync.ts';
import { type TargetContext, type ObserveDeps, type ObservedTarget, findTarget } from './observe.ts';
import { contentObstacle, metadataObstacle } from './merge-consent.ts';
import { fieldManagerOf, mergedRecordOf } from './merge-identity.ts';
import { targetKeyOf } from '../spec/resource.ts';
import { fingerprintOf } from '../data/secret-data.ts';
import type { MergeObstacle, OwnedTargetFacts } from '../model.ts';

/**
 * Looks at the Secret that a SecretSync merges into: whether it may, and which keys are its own. At what the watch by the
 * name shows as long as that tells enough, else, or where `fresh` asks for it, at the Secret itself. Keys of others go no
 * further than this look. Throws ApiError.
 */
export async function observeSharedTarget(
  deps: ObserveDeps,
  context: TargetContext,
  fresh: boolean,
): Promise<ObservedTarget> {
  const { resource: sync, memory } = context;
  const watched = memory.target.current(deps.watchedTarget(targetKeyOf(sync)))?.metadata;
  const look = fresh || watched === undefined ? undefined : observeFromCache(context, watched);
  if (look !== undefined) return look;
  const found = await findTarget(deps, sync, { watched, fresh });
  // A watch that was opened just now may not have shown it yet, so only the Secret itself tells that it is not there.
  if (found === undefined) return barred({ kind: 'absent' });
  const keys = appliedDataKeys(found.metadata, fieldManagerOf(sync));
  // Of a Secret that kubectl applied, the metadata holds all values.
  const { metadata } = stripped({ metadata: found.metadata });
  memory.target.record(watched?.resourceVersion, { metadata });
  const obstacle = metadataObstacle(metadata, sync) ?? contentObstacle(found);
  if (obstacle !== undefined) return barred(obstacle);
  return shared(sync, metadata, {
    type: found.type ?? 'Opaque',
    keys,
    fingerprint: fingerprintOf(deps.fingerprint, targetKeyOf(sync), dataUnder(keys, found)),
  });
}

/** What can be told from the metadata alone; undefined where the Secret has to be looked at. */
function observeFromCache({ resource: sync, memory }: TargetContext, watched: ObjectMeta): ObservedTarget | undefined {
  const obstacle = metadataObstacle(watched, sync);
  if (obstacle !== undefined) return barred(obstacle);
  const { verified } = memory;
  // Nobody wrote it since: which of its keys are ours is known.
  const isKnown = verified?.uid === watched.uid && verified.resourceVersion === watched.resourceVersion;
  return isKnown ? shared(sync, watched, verified) : undefined;
}

function shared(
  sync: SecretSync,
  metadata: ObjectMeta,
  { type, keys, fingerprint }: Pick<OwnedTargetFacts, 'type' | 'keys' | 'fingerprint'>,
): ObservedTarget {
  const { uid, resourceVersion } = metadata;
  const target: OwnedTargetFacts = {
    state: 'shared',
    uid,
    resourceVersion,
    type,
    isImmutable: false,
    isDeleting: false,
    metadataFits: true,
    record: mergedRecordOf(metadata, sync),
    keys,
    fingerprint,
  };
  return { target, existing: metadata };
}

function barred(obstacle: MergeObstacle): ObservedTarget {
  return { target: { state: 'barred', obstacle }, existing: undefined };
}

function dataUnder(keys: readonly string[], { data }: SecretObject): Record<string, string> {
  const own = new Set(keys);
  return Object.fromEntries(Object.entries(data ?? {}).filter(([key]) => own.has(key)));
}
