import { appliedDataKeys } from '../../../../kube/client/managed-fields.ts';
import { type ObjectMeta, stripped } from '../../../../kube/client/objects.ts';
import type { SecretObject } from '../../../../kube/client/secrets.ts';
import type { SecretSync } from '../../../generated/secret-sync.ts';
import {
  type TargetContent,
  type TargetContext,
  type ObserveDeps,
  type ObservedTarget,
  findTarget,
  observedDrift,
} from './observe.ts';
import { contentObstacle, metadataObstacle } from './merge-consent.ts';
import { fieldManagerOf, mergedRecordOf } from './merge-identity.ts';
import { targetKeyOf } from '../spec/resource.ts';
import { fingerprintOf } from '../data/secret-data.ts';
import type { MergeObstacle, OwnedTargetFacts } from '../model.ts';

/**
 * Observes the Secret that a SecretSync merges into: whether it may merge, and which keys it owns. The copy of the watch by
 * name is used if it is sufficient, and otherwise, or if `fresh` is set, the Secret itself. Keys of others never leave this
 * function. Throws ApiError.
 */
export async function observeSharedTarget(
  deps: ObserveDeps,
  context: TargetContext,
  fresh: boolean,
): Promise<ObservedTarget> {
  const { resource: sync, memory } = context;
  const watched = memory.target.current(deps.watchedTarget(targetKeyOf(sync)))?.metadata;
  const observed = fresh || watched === undefined ? undefined : observeFromCache(context, watched);
  if (observed !== undefined) return observed;
  const found = await findTarget(deps, sync, { watched, fresh });
  // A new watch may not have shown it yet, so only a read proves that it does not exist.
  if (found === undefined) return mergeForbidden({ kind: 'absent' });
  const keys = appliedDataKeys(found.metadata, fieldManagerOf(sync));
  // After `kubectl apply`, the metadata contains all values.
  const { metadata } = stripped({ metadata: found.metadata });
  memory.target.record(watched?.resourceVersion, { metadata });
  const obstacle = metadataObstacle(metadata, sync) ?? contentObstacle(found);
  if (obstacle !== undefined) return mergeForbidden(obstacle);
  const content = {
    type: found.type ?? 'Opaque',
    keys,
    fingerprint: fingerprintOf(deps.fingerprint, targetKeyOf(sync), dataUnder(keys, found)),
    isImmutable: false,
  };
  return { ...shared(sync, metadata, content), drift: sharedDrift(deps, context, metadata, content) };
}

/** What other clients did to the merged keys: only which of them are missing is the SecretSync's matter. */
function sharedDrift(
  deps: ObserveDeps,
  context: TargetContext,
  metadata: ObjectMeta,
  content: TargetContent,
): ObservedTarget['drift'] {
  const { expected } = context.memory;
  // A Secret that was created again never had the keys.
  if (expected?.uid !== metadata.uid) return undefined;
  return observedDrift(deps, context, { metadata, data: {} }, { ...content, type: expected.type });
}

/** What the metadata alone proves; undefined if the Secret must be read. */
function observeFromCache({ resource: sync, memory }: TargetContext, watched: ObjectMeta): ObservedTarget | undefined {
  const obstacle = metadataObstacle(watched, sync);
  if (obstacle !== undefined) return mergeForbidden(obstacle);
  const { verified } = memory;
  // It has not been written since, so the SecretSync's keys are known.
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

function mergeForbidden(obstacle: MergeObstacle): ObservedTarget {
  return { target: { state: 'mergeForbidden', obstacle }, existing: undefined };
}

function dataUnder(keys: readonly string[], { data }: SecretObject): Record<string, string> {
  const own = new Set(keys);
  return Object.fromEntries(Object.entries(data ?? {}).filter(([key]) => own.has(key)));
}
