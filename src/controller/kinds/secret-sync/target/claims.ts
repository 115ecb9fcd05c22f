import type { SecretSync } from '../../../generated/secret-sync.ts';
import type { Claimant, SecretClaim } from '../../secret-claims/claim.ts';
import type { MergeObstacle, SyncContext, TargetFacts } from '../model.ts';
import { isMerge, targetKeyOf } from '../spec/resource.ts';
import { recordAnnotationOf } from './merge-identity.ts';
import { type ObserveDeps, type ObservedTarget, observeTarget } from './observe.ts';
import { observeSharedTarget } from './observe-shared.ts';

/** A SecretSync as one that claims its target. */
export function claimantOf({ metadata: { name } }: SecretSync): Claimant {
  return { kind: 'SecretSync', name };
}

/** The claim of a SecretSync on its target. */
export function claimOf(sync: SecretSync): SecretClaim {
  const { target, lastSyncTime } = sync.status ?? {};
  const heldAt = target === undefined ? undefined : lastSyncTime;
  return { ...claimantOf(sync), isMerge: isMerge(sync), createdAt: sync.metadata.creationTimestamp, heldAt };
}

/**
 * Observes the target, and what the claims of other resources on it forbid. `isFresh`: reads the target itself instead of the
 * watch's copy. Throws ApiError.
 */
export async function observe(deps: ObserveDeps, context: SyncContext, isFresh: boolean): Promise<ObservedTarget> {
  const { resource: sync, memory } = context;
  const observed = await (isMerge(sync) ? observeSharedTarget : observeTarget)(deps, context, isFresh);
  const target = claimedFacts(deps.claims, context, observed) ?? observed.target;
  if (isInTheWay(target)) memory.isTargetFollowed = true;
  return target === observed.target ? observed : { target, existing: undefined };
}

/** Whether a Secret of something else has the target's name. The watch of all targets may not show it. */
function isInTheWay(target: TargetFacts): boolean {
  return target.state === 'unmanaged' || (target.state === 'claimed' && target.isPresent);
}

function claimedFacts(
  claims: ObserveDeps['claims'],
  context: Pick<SyncContext, 'resource' | 'seen'>,
  { target, existing }: ObservedTarget,
): TargetFacts | undefined {
  const { resource: sync, seen } = context;
  const key = targetKeyOf(sync);
  if (target.state === 'absent') return claimedBy(claims.rivalOf(key, claimantOf(sync), seen), false);
  if (target.state === 'unmanaged') {
    // Its owner consents, so only the controller is in the way.
    if (target.controller !== undefined) return undefined;
    return claimedBy(claims.ownerClaim(key, target.owner, seen), true);
  }
  const obstacle = mergeObstacle(claims, context, { target, existing });
  return obstacle === undefined ? undefined : { state: 'mergeForbidden', obstacle };
}

function claimedBy(holder: SecretClaim | undefined, isPresent: boolean): TargetFacts | undefined {
  return holder === undefined ? undefined : { state: 'claimed', holder, isPresent };
}

function mergeObstacle(
  claims: ObserveDeps['claims'],
  { resource: sync, seen }: Pick<SyncContext, 'resource' | 'seen'>,
  { target, existing }: ObservedTarget,
): MergeObstacle | undefined {
  const key = targetKeyOf(sync);
  if (target.state === 'mergeForbidden' && target.obstacle.kind === 'absent')
    return creatorObstacle(claims.rivalOf(key, claimantOf(sync), seen));
  if (target.state !== 'shared') return undefined;
  const others = unmergedOthers(claims.mergersOf(key), sync, existing?.annotations ?? {});
  for (const name of others) claims.depend(key, { kind: 'SecretSync', name }, seen);
  return others.length === 0 ? undefined : { kind: 'unmerged', others };
}

/** The obstacle to a merge into a missing Secret that another resource is about to create. */
function creatorObstacle(holder: SecretClaim | undefined): MergeObstacle | undefined {
  if (holder === undefined || holder.isMerge) return undefined;
  return holder.kind === 'SecretSync' ? { kind: 'owned', owner: holder.name } : { kind: 'token-secret' };
}

/**
 * The SecretSyncs that merged into a Secret before it was created again, and have not done so since. A SecretSync that has
 * merged into it itself waits for none, so that the failure of one does not stop all.
 */
function unmergedOthers(
  mergers: readonly string[],
  sync: SecretSync,
  annotations: Readonly<Record<string, string>>,
): readonly string[] {
  if (annotations[recordAnnotationOf(sync)] !== undefined || mergers.includes(sync.metadata.name)) return [];
  return mergers.filter((name) => annotations[recordAnnotationOf({ metadata: { name } })] === undefined).toSorted();
}
