import { DomainError } from '../../../../domain/domain-error.ts';
import type { ServiceTokenPrincipal } from '../../../../domain/principal.ts';
import type { EnvironmentAccess } from '../../../../services/access.ts';
import type { ClaimedSnapshot } from '../../../../services/resource-snapshots.ts';
import type { FoundState } from '../../../../services/secret-reader.ts';
import type { SecretSnapshot } from '../../../generated/secret-snapshot.ts';
import type { SnapshotLookup } from '../../secret-snapshot/lookup.ts';
import type { SecretSync } from '../../../generated/secret-sync.ts';
import type { BoundedReads } from './bounded-reads.ts';
import { readFormerState } from './former-state.ts';
import { chooseKeys } from '../data/keys.ts';
import type { ReadSource, SourceMemory } from '../memory.ts';
import { type Pin, pinOf, snapshotKeyOf } from '../spec/pin.ts';
import {
  revisionNotFound,
  snapshotGone,
  snapshotMismatch,
  snapshotNotFound,
  snapshotNotReady,
  valuesDestroyed,
} from './pin-refusals.ts';
import { type Source, fieldOf } from '../spec/source.ts';

export interface StateDeps {
  readonly snapshots: Pick<SnapshotLookup, 'isSynced' | 'find' | 'claimed'>;
}

/** One reading of an environment that a source's token has been admitted to. */
export interface StateReading {
  readonly sync: SecretSync;
  readonly source: Source;
  readonly memory: SourceMemory;
  readonly requestId: string;
  readonly principal: ServiceTokenPrincipal;
  readonly access: EnvironmentAccess<'secret.list'>;
  readonly reads: Pick<BoundedReads, 'find'>;
}

/** The state of an environment that a source is to be read at. */
export type WantedState =
  | { readonly kind: 'newest' }
  /** One that it was at once, while the newest one is still news. */
  | { readonly kind: 'past'; readonly revisionId: string }
  | Pin;

/** The keys of a state, without values; what has no value any more is nothing that the Secret gets. */
export interface State extends Pick<FoundState, 'revision' | 'revisionId' | 'secrets' | 'destroyed'> {
  /** What the values are read from; undefined for a state that never had any. */
  readonly found: FoundState | undefined;
}

/** The state that a source asks for: the newest, or the one that it is pinned to. */
export function wantedOf(source: Source): WantedState {
  return pinOf(source) ?? { kind: 'newest' };
}

/** Takes note, before an environment is looked up, whether its commits from now on are news. */
export function expectCommits({ kind }: WantedState, memory: SourceMemory): void {
  // A revision may be the very one that the next commit makes.
  memory.isPinned = kind === 'snapshot';
}

/**
 * Finds one state of a source's environment, and notes what of the database that rests on. Throws DomainError
 * revision_not_found, snapshot_not_found, snapshot_not_ready, snapshot_gone, snapshot_mismatch, version_destroyed, cluster_unavailable and what `BoundedReads.find` throws.
 */
export async function readState(deps: StateDeps, reading: StateReading, wanted: WantedState): Promise<State> {
  const { memory, access, principal, reads } = reading;
  const { environmentId } = access;
  const seen: ReadSource = {
    environmentId,
    revisionId: undefined,
    credentialId: principal.credentialId,
    pinnedId: undefined,
  };
  if (wanted.kind === 'newest') {
    const found = await reads.find(access);
    memory.read = { ...seen, revisionId: found.revisionId };
    return stateOf(found);
  }
  if (wanted.kind === 'past') {
    const { revisionId } = wanted;
    const found = await readFormerState(reads, { source: reading.source, access, revisionId });
    // Which state is the newest, the reading before this one told: what was committed between the two is news.
    memory.read = { ...(memory.read ?? { ...seen, revisionId: access.revisionId }), pinnedId: revisionId };
    return stateOf(found);
  }
  if (wanted.kind === 'revision') return await readRevision(reading, { pin: wanted, seen });
  // Whatever is found wrong with the pin rests on the environment and the token alone; the snapshot has its own events.
  memory.read = seen;
  const { id, revision, revisionId } = await findSnapshot(deps, reading, wanted);
  memory.read = { ...seen, pinnedId: id };
  // Revision 0 has no changes and so no secrets; it is not kept once another one follows.
  if (revisionId === null) return { revision, revisionId: id, secrets: [], destroyed: [], found: undefined };
  return await readPinned(reading, { revision: revisionId, seen });
}

/** Reads a pinned state, of which values may have been destroyed: nothing but another spec mends that. */
async function readPinned(
  reading: StateReading,
  { revision, seen }: { readonly revision: number | string; readonly seen: ReadSource },
): Promise<State> {
  const { source, memory, access, reads } = reading;
  const found = await reads.find(access, { revision });
  const lost = new Map(found.destroyed.map((version) => [version.key, version]));
  const wanted = chooseKeys(source.keys, [...lost.keys()], fieldOf(source, 'keys')).flatMap(
    ({ key }) => lost.get(key) ?? [],
  );
  if (wanted.length === 0) return stateOf(found);
  memory.read = seen;
  memory.isPinned = true;
  throw valuesDestroyed(reading, wanted);
}

function stateOf(found: FoundState): State {
  const { revision, revisionId, secrets, destroyed } = found;
  return { revision, revisionId, secrets, destroyed, found };
}

async function readRevision(
  reading: StateReading,
  { pin, seen }: { readonly pin: Extract<Pin, { kind: 'revision' }>; readonly seen: ReadSource },
): Promise<State> {
  const { memory, access } = reading;
  if (pin.revision > access.revision) {
    memory.read = { ...seen, revisionId: access.revisionId };
    throw revisionNotFound(reading, pin.revision, access.revision);
  }
  const state = await readPinned(reading, { revision: pin.revision, seen });
  memory.read = { ...seen, pinnedId: state.revisionId };
  memory.isPinned = true;
  return state;
}

/**
 * The snapshot that a source is pinned to. It stands for its revision: both were made of one moment under the
 * environment's lock, neither ever changes, and neither goes without the other but by the snapshot's deletion.
 */
async function findSnapshot(
  { snapshots }: StateDeps,
  reading: StateReading,
  { name }: Extract<Pin, { kind: 'snapshot' }>,
): Promise<ClaimedSnapshot> {
  const { sync, source, memory, access, requestId } = reading;
  if (!snapshots.isSynced) {
    const detail =
      'the list of SecretSnapshots has not come from the API server yet; check that all of crds/ is applied';
    throw new DomainError('cluster_unavailable', detail);
  }
  memory.snapshotKey = snapshotKeyOf(sync, source) ?? '';
  const resource = snapshots.find(memory.snapshotKey);
  memory.snapshotVersion = snapshotVersionOf(resource);
  if (resource === undefined) throw snapshotNotFound(reading, name);
  const found = await snapshots.claimed(resource, requestId);
  if (found === undefined) throw snapshotNotReady(reading, name, readyReasonOf(resource));
  if (found === 'gone') throw snapshotGone(reading, name);
  if (found.environmentId !== access.environmentId) throw snapshotMismatch(reading, name, found);
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
