import { isDeepStrictEqual } from 'node:util';
import type { ChangeEvent, ChangeFeed, PresentState } from '../../../services/change-feed.ts';
import type { ErrorCode } from '../../../domain/error-catalogue.ts';
import type { Clock } from '../../../lib/clock.ts';
import type { KubeObject } from '../../../kube/objects.ts';
import { objectKey } from '../../../kube/objects.ts';
import type { SecretSync } from '../../generated/secret-sync.ts';
import { EventChecks } from '../../frame/event-checks.ts';
import { statusPatch } from '../../frame/status-report.ts';
import { WakeThrottle, editThrottle } from '../../frame/wake-throttle.ts';
import type { WorkQueue } from '../../frame/work-queue.ts';
import type { ReadSource, SourceMemory, SyncMemories, SyncMemory } from './memory.ts';
import { snapshotKeyOf } from './spec/pin.ts';
import { tokenVersionOf } from './read/read.ts';
import { askedBy, isMerge, targetKeyOf } from './spec/resource.ts';
import { namedTokenKeyOf, possibleOwnerOf } from './tokens/service-token.ts';
import { isNews, viewOf } from './tokens/service-token-view.ts';
import { sourcesOf } from './spec/source.ts';
import { type StateDeps, snapshotVersionOf } from './read/state.ts';
import type { SyncTokens } from './tokens/token-source.ts';

export interface WakerDeps {
  readonly clock: Clock;
  readonly queue: Pick<WorkQueue, 'add' | 'addAfter' | 'forget' | 'isActive'>;
  /** Whether a SecretSync's status may be being written: events are judged after that. */
  readonly isBusy: (key: string) => boolean;
  readonly memories: SyncMemories;
  readonly changes: Pick<ChangeFeed, 'compare'>;
  readonly follow: (key: string, secrets: ReadonlySet<string>) => void;
  readonly followersOf: (secretKey: string) => Iterable<string>;
  readonly watchedSync: (key: string) => SecretSync | undefined;
  /** The ServiceTokens that concern a SecretSync. */
  readonly tokenFacts: (sync: SecretSync) => SyncTokens;
  readonly snapshots: Pick<StateDeps['snapshots'], 'find'>;
}

// A status that someone else changed is put right soon, but not at once: two controllers of different minds would
// otherwise keep each other busy.
const repairDelayMs = 1000;

// An owner that takes out of its Secret what it did not put there, or writes it all the time, would keep us busy as well.
const sharedIntervalMs = 1000;

// What only an event of its own can mend; asking again on every comparison would help nothing.
const hasOwnEvent: ReadonlySet<ErrorCode> = new Set([
  'token_secret_not_found',
  'service_token_not_found',
  'service_token_not_ready',
  'service_token_denied',
  'service_token_place_not_found',
  'service_token_revoked',
  'service_token_not_owned',
  'target_not_owned',
  'target_not_found',
  'merge_refused',
  'invalid_input',
  'malformed_request',
]);

// What was found in an environment that was read: asking again helps only where it has changed since.
const followsFromSource: ReadonlySet<ErrorCode> = new Set([
  'target_too_large',
  'target_type_unmet',
  'key_conflict',
  'merge_conflict',
  'value_not_base64',
  'template_invalid',
  'template_key_missing',
  'template_value_binary',
  'source_replaced',
  'deletion_blocked',
  'revision_not_found',
  'snapshot_not_found',
  'snapshot_not_ready',
  'snapshot_gone',
  'snapshot_mismatch',
  'version_destroyed',
]);

/** Turns events into keys to work on. */
export class Waker {
  readonly #deps: WakerDeps;
  readonly #checks: EventChecks;
  /** Of Secrets that others own: what they do there is looked at once a second. */
  readonly #throttle: WakeThrottle;
  readonly #edits: WakeThrottle;

  constructor(deps: WakerDeps) {
    this.#deps = deps;
    this.#checks = new EventChecks({
      queue: { add: (key) => deps.queue.add(key), isActive: deps.isBusy },
      deferredOf: (key) => deps.memories.find(key)?.deferred,
    });
    const wake = (key: string): void => deps.queue.add(key);
    this.#throttle = new WakeThrottle({ clock: deps.clock, intervalMs: sharedIntervalMs, wake });
    this.#edits = editThrottle(deps.clock, (key) => this.#checks.notice(key, () => this.#isEdited(key)));
  }

  syncChanged(sync: SecretSync): void {
    const { memories, queue } = this.#deps;
    const key = objectKey(sync.metadata);
    const memory = memories.of(key);
    memories.setTarget(key, targetKeyOf(sync));
    memories.setTokenRefs(
      key,
      sourcesOf(sync).flatMap((source) => namedTokenKeyOf(sync, source) ?? []),
    );
    memories.setSnapshots(
      key,
      sourcesOf(sync).flatMap((source) => snapshotKeyOf(sync, source) ?? []),
    );
    this.#checks.notice(key, () => {
      if (!memory.resource.observe(sync)) return false;
      if (isChanged(sync, memory)) {
        this.#edits.wake(key);
        return false;
      }
      if (statusPatch(sync.status, memory.status ?? {}) !== undefined) queue.addAfter(key, repairDelayMs);
      return false;
    });
  }

  /** A SecretSync is gone: all that is kept of it is dropped. Its Secret is the garbage collector's, or stays. */
  syncGone(sync: SecretSync): void {
    const key = objectKey(sync.metadata);
    this.#deps.queue.forget(key);
    this.#edits.forget(key);
    this.#deps.memories.drop(key);
    this.#deps.follow(key, new Set());
  }

  targetChanged(secret: KubeObject): void {
    this.#noticeTarget(objectKey(secret.metadata), (memory) => memory.target.observe(secret));
  }

  targetGone(secret: KubeObject): void {
    this.#noticeTarget(objectKey(secret.metadata), (memory) => memory.target.observeGone(secret.metadata.uid));
  }

  /**
   * The targets were listed anew. One that we wrote and that is not among them was deleted while no watch looked. A list
   * that is older than the write only costs a look.
   */
  targetsListed(isWatched: (targetKey: string) => boolean): void {
    for (const [key, memory] of this.#deps.memories.entries()) {
      const sync = this.#deps.watchedSync(key);
      // What is merged into carries no label of ours; its own watch tells of it.
      if (sync === undefined || isMerge(sync) || !memory.target.isAhead || isWatched(targetKeyOf(sync))) continue;
      this.#checks.notice(key, () => memory.target.observeGone(undefined));
    }
  }

  /** A Secret that is followed by its name appeared, changed or went: a token Secret, or one that is in the way. */
  followedChanged(secretKey: string, secret: KubeObject | undefined): void {
    for (const key of this.#deps.followersOf(secretKey)) this.followedSeen(key, secretKey, secret);
  }

  /** What a SecretSync sees of a Secret that it follows. */
  followedSeen(key: string, secretKey: string, secret: KubeObject | undefined): void {
    const memory = this.#deps.memories.find(key);
    const sync = this.#deps.watchedSync(key);
    if (memory === undefined || sync === undefined) return;
    const readers = [...memory.sources.values()].filter(({ tokenSecret }) => tokenSecret === secretKey);
    if (readers.length > 0) {
      const version = secret === undefined ? 'absent' : tokenVersionOf(secret);
      this.#checks.notice(key, () => readers.some(({ tokenVersion }) => tokenVersion !== version));
    }
    if (targetKeyOf(sync) === secretKey) {
      this.#noticeTargetOf(key, () =>
        secret === undefined ? memory.target.observeGone(undefined) : memory.target.observe(secret),
      );
    }
  }

  /** A ServiceToken appeared, changed or went: one that SecretSyncs name, or that was made for one. */
  serviceTokenChanged(tokenKey: string): void {
    const { memories, watchedSync, tokenFacts } = this.#deps;
    const owner = possibleOwnerOf(tokenKey);
    for (const key of new Set([...memories.byTokenRef(tokenKey), ...(owner === undefined ? [] : [owner])])) {
      this.#checks.notice(key, () => {
        const [memory, sync] = [memories.find(key), watchedSync(key)];
        if (memory === undefined || sync === undefined) return false;
        return isNews(memory.tokenView, viewOf(tokenFacts(sync)), memory.failure);
      });
    }
  }

  /** All ServiceTokens are known now: whoever waited for that goes on. */
  serviceTokensListed(): void {
    for (const [key, { tokenView }] of this.#deps.memories.entries())
      if (tokenView === undefined) this.#deps.queue.add(key);
  }

  committed(event: ChangeEvent): void {
    const { memories, queue } = this.#deps;
    if (event.kind === 'environment') {
      for (const key of memories.byEnvironment(event.environmentId)) if (this.#isConcerned(key, event)) queue.add(key);
      return;
    }
    // A SecretSync acts as a service token, never as a person.
    if (event.kind === 'user') return;
    for (const key of event.kind === 'snapshot' ? this.#heldAt(event.snapshotId) : this.#actingAs(event.serviceTokenId))
      queue.add(key);
  }

  /** A SecretSnapshot appeared, changed or went. */
  snapshotChanged(snapshotKey: string): void {
    const { memories, snapshots } = this.#deps;
    for (const key of memories.bySnapshot(snapshotKey)) {
      const isAnother = ({ snapshotKey: held, snapshotVersion }: SourceMemory): boolean =>
        held === snapshotKey && snapshotVersion !== snapshotVersionOf(snapshots.find(snapshotKey));
      this.#checks.notice(key, () => [...(memories.find(key)?.sources.values() ?? [])].some(isAnother));
    }
  }

  /**
   * Compares what was read last with the present state, in one query, and wakes what differs or failed. Events tell of
   * everything while the feed is connected; this is for the times when it was not. Throws DomainError store_unavailable.
   */
  async compareAll(): Promise<void> {
    const { changes, memories, queue } = this.#deps;
    const all = [...memories.entries()];
    const compared = new Set(all.flatMap(([, memory]) => readOf(memory)));
    // What these are reading may be older than the question.
    const active = new Set(all.map(([key]) => key).filter((key) => queue.isActive(key)));
    const reads = [...compared];
    const environmentIds = [...new Set(reads.map(({ environmentId }) => environmentId))];
    const credentialIds = [...new Set(reads.map(({ credentialId }) => credentialId))];
    const keptIds = [...new Set(reads.flatMap(({ pinnedId = [] }) => pinnedId))];
    const present = await changes.compare({ environmentIds, credentialIds, keptIds });
    for (const [key, memory] of memories.entries()) {
      const { failure } = memory;
      const isOutdated = (read: ReadSource): boolean => compared.has(read) && !isCurrent(read, present);
      const isSettled = failure === undefined || followsFromSource.has(failure);
      const isStale = isSettled ? !active.has(key) && readOf(memory).some(isOutdated) : !hasOwnEvent.has(failure);
      if (isStale || active.has(key)) queue.add(key, 'low');
    }
  }

  /** Judges the events that came during a reconcile of a key; call in the moment in which it is no longer active. */
  afterReconcile(key: string): void {
    this.#checks.afterReconcile(key);
  }

  /** Whether a SecretSync still asks for something else than at its last reconcile. */
  #isEdited(key: string): boolean {
    const memory = this.#deps.memories.find(key);
    const sync = memory?.resource.current(this.#deps.watchedSync(key));
    return memory !== undefined && sync !== undefined && isChanged(sync, memory);
  }

  #isConcerned(
    key: string,
    { environmentId, ended, destroyed }: Extract<ChangeEvent, { kind: 'environment' }>,
  ): boolean {
    const { memories, queue } = this.#deps;
    const sources = memories.sourcesAt(key, environmentId);
    if (ended === true || sources.length === 0) return true;
    // What is destroyed is past. Whether what is being read at this moment is past is not known yet.
    if (destroyed === true && queue.isActive(key)) return true;
    // What a Secret was taken back to is past, and what its environment comes to is news all the same.
    return sources.some(({ isPinned, read }) =>
      destroyed === true ? isPinned || read?.pinnedId !== undefined : !isPinned,
    );
  }

  // Whose token, or which snapshot, is being looked up at this moment is not known yet.
  #actingAs(serviceTokenId: string): Iterable<string> {
    const { memories, queue } = this.#deps;
    const active = [...memories.entries()].map(([key]) => key).filter((key) => queue.isActive(key));
    return new Set([...memories.byServiceToken(serviceTokenId), ...active]);
  }

  #heldAt(snapshotId: string): Iterable<string> {
    const { memories, queue } = this.#deps;
    const isConcerned = ([key, { sources }]: readonly [string, SyncMemory]): boolean =>
      [...sources.values()].some(
        ({ read, isPinned }) => read?.pinnedId === snapshotId || (isPinned && queue.isActive(key)),
      );
    return [...memories.entries()].filter(isConcerned).map(([key]) => key);
  }

  #noticeTarget(targetKey: string, check: (memory: SyncMemory) => boolean): void {
    for (const key of this.#deps.memories.byTarget(targetKey)) {
      const memory = this.#deps.memories.find(key);
      if (memory !== undefined) this.#noticeTargetOf(key, () => check(memory));
    }
  }

  #noticeTargetOf(key: string, check: () => boolean): void {
    this.#checks.notice(key, () => {
      const isOther = check();
      const sync = this.#deps.watchedSync(key);
      if (!isOther || sync === undefined || !isMerge(sync)) return isOther;
      this.#throttle.wake(key);
      return false;
    });
  }
}

/** What was read of a SecretSync's sources last. */
function readOf({ sources }: SyncMemory): readonly ReadSource[] {
  return [...sources.values()].flatMap(({ read = [] }) => read);
}

/** Whether what was read last is still what there is to read. */
function isCurrent(read: ReadSource, { environments, liveCredentials, kept }: PresentState): boolean {
  const { environmentId, revisionId, credentialId, pinnedId } = read;
  const present = environments.get(environmentId);
  if (present === undefined || !liveCredentials.has(credentialId)) return false;
  return (revisionId ?? present) === present && (pinnedId === undefined || kept.has(pinnedId));
}

/** Whether a SecretSync is another one, or asks for something else, than at its last reconcile. */
function isChanged(sync: SecretSync, { reconciled }: SyncMemory): boolean {
  return !isDeepStrictEqual(reconciled, askedBy(sync));
}
