import type { FoundState } from '../../../../domain/secret-states.ts';
import type { ClaimedSnapshot } from '../../../../domain/resources/snapshots.ts';
import type { AskedState, ReadSource } from '../../../../domain/source-reads.ts';
import type { SecretSnapshot } from '../../../generated/secret-snapshot.ts';
import type { Seen } from '../../../frame/dependencies.ts';
import { type SnapshotLookup, snapshotVersionOf } from '../../secret-snapshot/lookup.ts';
import type { SecretSync } from '../../../generated/secret-sync.ts';
import { formerState } from './former-state.ts';
import { chooseKeys, neededBy } from '../data/keys.ts';
import { type Pin, pinOf, snapshotKeyOf } from '../spec/pin.ts';
import {
  revisionNotFound,
  snapshotGone,
  snapshotMismatch,
  snapshotNotFound,
  snapshotNotReady,
  valuesDestroyed,
} from '../source-messages.ts';
import { type Source, fieldOf } from '../spec/source.ts';

export interface StateDeps {
  readonly snapshots: Pick<SnapshotLookup, 'find' | 'claimed'>;
}

/** The part of a reconcile that one source has. */
export interface SourceContext {
  readonly resource: SecretSync;
  readonly source: Source;
  readonly requestId: string;
  /** The dependencies of the reading of the source. */
  readonly seen: Seen;
}

/** A source that was admitted to its environment. */
export interface StateReading extends SourceContext {
  readonly environmentId: string;
  /** The newest revision when access was given. */
  readonly head: NonNullable<ReadSource['head']>;
  /** Returns the state that was found. Throws what `BoundedReads.take` throws, and why the state was not found. */
  readonly found: () => FoundState;
  /** Finds a revision that was not known before. Throws what `found` throws. */
  readonly findLater: (revisionId: string) => Promise<FoundState>;
}

/** The state of an environment at which a source is read. */
export type WantedState =
  | { readonly kind: 'newest' }
  /** A former one. */
  | { readonly kind: 'past'; readonly revisionId: string }
  | Pin;

/** The keys of a state, without values. */
export interface State extends Pick<FoundState, 'revision' | 'revisionId' | 'secrets' | 'destroyed'> {
  /** The state that the values are read from; undefined for one that never had any. */
  readonly found: FoundState | undefined;
}

/** The state that a source asks for: the newest one, or its pin. */
export function wantedOf(source: Source): WantedState {
  return pinOf(source) ?? { kind: 'newest' };
}

/** How a state is asked for. */
export function askedState(wanted: WantedState): AskedState {
  if (wanted.kind === 'newest') return 'newest';
  // What a source may not read is not looked up.
  if (wanted.kind === 'snapshot') return 'later';
  return wanted.kind === 'past' ? { revision: wanted.revisionId, deletedSince: true } : { revision: wanted.revision };
}

/**
 * Returns the state of a source's environment. Throws DomainError revision_not_found, snapshot_not_found, snapshot_not_ready,
 * snapshot_gone, snapshot_mismatch, version_destroyed, cluster_unavailable and what `StateReading.found` throws.
 */
export async function readState(deps: StateDeps, reading: StateReading, wanted: WantedState): Promise<State> {
  const { seen, environmentId, head, found } = reading;
  if (wanted.kind === 'newest') {
    seen.note('environment', environmentId, head.revisionId);
    const state = found();
    seen.renote('environment', environmentId, state.revisionId);
    return stateOf(state);
  }
  if (wanted.kind === 'revision') return readRevision(reading, wanted.revision);
  // Commits do not matter: only the end of the environment does, and the destruction of values that are read.
  seen.note('environment history', environmentId);
  if (wanted.kind === 'past') {
    const { source, resource } = reading;
    const state = formerState({ source, template: resource.spec.template }, found);
    seen.note('kept state', wanted.revisionId);
    return stateOf(state);
  }
  const { id, revision, revisionId } = await findSnapshot(deps, reading, wanted);
  // Revision 0 has no changes and so no secrets. It is not kept once another revision follows.
  const isEmpty = revisionId === null;
  const state = isEmpty
    ? { revision, revisionId: id, secrets: [], destroyed: [], found: undefined }
    : pinnedState(reading, await reading.findLater(revisionId));
  seen.note('kept state', id);
  return state;
}

/** A pinned state. If values of it were destroyed, only another spec helps. */
function pinnedState({ resource, source }: StateReading, found: FoundState): State {
  const lost = new Map(found.destroyed.map((version) => [version.key, version]));
  const wanted = chooseKeys(source.keys, [...lost.keys()], fieldOf(source, 'keys'))
    .filter(neededBy(resource.spec.template))
    .flatMap(({ key }) => lost.get(key) ?? []);
  if (wanted.length === 0) return stateOf(found);
  throw valuesDestroyed({ resource, source }, wanted);
}

function stateOf(found: FoundState): State {
  const { revision, revisionId, secrets, destroyed } = found;
  return { revision, revisionId, secrets, destroyed, found };
}

function readRevision(reading: StateReading, revision: number): State {
  const { seen, environmentId, head } = reading;
  if (revision > head.revision) {
    // The next commit may create it.
    seen.note('environment', environmentId, head.revisionId);
    throw revisionNotFound(reading, revision, head.revision);
  }
  seen.note('environment history', environmentId);
  const state = pinnedState(reading, reading.found());
  seen.note('kept state', state.revisionId);
  return state;
}

/**
 * The snapshot that a source is pinned to. It is equivalent to its revision: both were created at one moment under the
 * environment's lock, both are immutable, and only the deletion of the snapshot removes one without the other.
 */
async function findSnapshot(
  { snapshots }: StateDeps,
  reading: StateReading,
  { name }: Extract<Pin, { kind: 'snapshot' }>,
): Promise<ClaimedSnapshot> {
  const { resource: sync, source, seen, environmentId, requestId } = reading;
  const key = snapshotKeyOf(sync, source) ?? '';
  const resource = snapshots.find(key);
  seen.note('SecretSnapshot', key, snapshotVersionOf(resource));
  if (resource === undefined) throw snapshotNotFound(reading, name);
  const found = await snapshots.claimed(resource, requestId);
  if (found === undefined) throw snapshotNotReady(reading, name, readyReasonOf(resource));
  if (found === 'gone') throw snapshotGone(reading, name);
  if (found.environmentId !== environmentId) throw snapshotMismatch(reading, name, found);
  return found;
}

function readyReasonOf({ status }: SecretSnapshot): string | undefined {
  return status?.conditions?.find(({ type }) => type === 'Ready')?.reason;
}
