import { DomainError } from '../../domain/domain-error.ts';
import type { ServiceTokenPrincipal } from '../../domain/principal.ts';
import type { EnvironmentAccess } from '../../services/access.ts';
import type { ClaimedSnapshot } from '../../services/resource-snapshots.ts';
import type { SecretList, Secrets } from '../../services/secrets.ts';
import type { SecretSnapshot } from '../generated/secret-snapshot.ts';
import type { SnapshotLookup } from '../secret-snapshot/lookup.ts';
import type { SecretSync } from '../generated/secret-sync.ts';
import { chooseKeys } from './keys.ts';
import type { ReadSource, SyncMemory } from './memory.ts';
import { type Pin, pinOf, snapshotKeyOf } from './pin.ts';
import {
  revisionNotFound,
  snapshotGone,
  snapshotMismatch,
  snapshotNotFound,
  snapshotNotReady,
  valuesDestroyed,
} from './pin-refusals.ts';

export interface StateDeps {
  readonly services: { readonly secrets: Pick<Secrets, 'list'> };
  readonly snapshots: Pick<SnapshotLookup, 'isSynced' | 'find' | 'claimed'>;
}

/** One reading of an environment that the SecretSync's token has been admitted to. */
export interface StateReading {
  readonly sync: SecretSync;
  readonly memory: SyncMemory;
  readonly requestId: string;
  readonly principal: ServiceTokenPrincipal;
  readonly access: EnvironmentAccess<'secret.list'>;
}

/** A state whose `destroyed` keys are none that the Secret shall have. */
type State = Pick<SecretList, 'revision' | 'revisionId' | 'secrets' | 'destroyed'>;

/** Takes note, before an environment is looked up, whether its commits from now on are news. */
export function expectCommits(sync: SecretSync, memory: SyncMemory): void {
  // A revision may be the very one that the next commit makes.
  memory.isPinned = pinOf(sync)?.kind === 'snapshot';
}

/**
 * Reads the state that a SecretSync asks for: the environment's newest, or the one that it is pinned to; and notes what of
 * the database that rests on. Throws DomainError revision_not_found, snapshot_not_found, snapshot_not_ready,
 * snapshot_gone, snapshot_mismatch, version_destroyed, cluster_unavailable and what `Secrets.list` throws.
 */
export async function readState(deps: StateDeps, reading: StateReading): Promise<State> {
  const { sync, memory, access, principal } = reading;
  const pin = pinOf(sync);
  const { environmentId } = access;
  const seen: ReadSource = {
    environmentId,
    revisionId: undefined,
    credentialId: principal.credentialId,
    pinnedId: undefined,
  };
  if (pin === undefined) {
    const state = await deps.services.secrets.list(access);
    memory.source = { ...seen, revisionId: state.revisionId };
    return state;
  }
  if (pin.kind === 'revision') return await readRevision(deps, reading, { pin, seen });
  // Whatever is found wrong with the pin rests on the environment and the token alone; the snapshot has its own events.
  memory.source = seen;
  const { id, revision, revisionId } = await findSnapshot(deps, reading, pin);
  memory.source = { ...seen, pinnedId: id };
  // Revision 0 has no changes and so no secrets; it is not kept once another one follows.
  if (revisionId === null) return { revision, revisionId: id, secrets: [] };
  return await readPast(deps, reading, { revision: revisionId, seen });
}

/** Reads a state of the past, of which values may have been destroyed. Nothing but another spec mends that. */
async function readPast(
  { services }: StateDeps,
  { sync, memory, access }: StateReading,
  { revision, seen }: { readonly revision: number | string; readonly seen: ReadSource },
): Promise<State> {
  const state = await services.secrets.list(access, { revision, destroyed: 'apart' });
  const lost = new Map((state.destroyed ?? []).map((version) => [version.key, version]));
  const wanted = chooseKeys(sync.spec.keys, [...lost.keys()]).flatMap(({ key }) => lost.get(key) ?? []);
  if (wanted.length === 0) return state;
  memory.source = seen;
  memory.isPinned = true;
  throw valuesDestroyed(sync, wanted);
}

async function readRevision(
  deps: StateDeps,
  reading: StateReading,
  { pin, seen }: { readonly pin: Extract<Pin, { kind: 'revision' }>; readonly seen: ReadSource },
): Promise<State> {
  const { sync, memory, access } = reading;
  if (pin.revision > access.revision) {
    memory.source = { ...seen, revisionId: access.revisionId };
    throw revisionNotFound(sync, pin.revision, access.revision);
  }
  const state = await readPast(deps, reading, { revision: pin.revision, seen });
  memory.source = { ...seen, pinnedId: state.revisionId };
  memory.isPinned = true;
  return state;
}

/**
 * The snapshot that a SecretSync is pinned to. It stands for its revision: both were made of one moment under the
 * environment's lock, neither ever changes, and neither goes without the other but by the snapshot's deletion.
 */
async function findSnapshot(
  { snapshots }: StateDeps,
  { sync, memory, access, requestId }: StateReading,
  { name }: Extract<Pin, { kind: 'snapshot' }>,
): Promise<ClaimedSnapshot> {
  if (!snapshots.isSynced) {
    const detail =
      'the list of SecretSnapshots has not come from the API server yet; check that all of crds/ is applied';
    throw new DomainError('cluster_unavailable', detail);
  }
  const resource = snapshots.find(snapshotKeyOf(sync) ?? '');
  memory.snapshotVersion = snapshotVersionOf(resource);
  if (resource === undefined) throw snapshotNotFound(sync, name);
  const found = await snapshots.claimed(resource, requestId);
  if (found === undefined) throw snapshotNotReady(sync, name, readyReasonOf(resource));
  if (found === 'gone') throw snapshotGone(sync, name);
  if (found.environmentId !== access.environmentId) throw snapshotMismatch(sync, name, found);
  return found;
}

/** Tells one state of a SecretSnapshot from another, as far as a pin to it cares. */
export function snapshotVersionOf(resource: SecretSnapshot | undefined): string {
  if (resource === undefined) return 'absent';
  return [resource.metadata.uid, resource.status?.snapshotId, readyReasonOf(resource)].join('/');
}

function readyReasonOf({ status }: SecretSnapshot): string | undefined {
  return status?.conditions?.find(({ type }) => type === 'Ready')?.reason;
}
