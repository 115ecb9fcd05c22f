import type { SecretSync } from '../../generated/secret-sync.ts';
import { OwnWrites } from '../../frame/own-writes.ts';
import { ReverseIndex } from '../../frame/reverse-index.ts';
import type { ReportMemory } from '../../frame/status-report.ts';
import type { Allowance } from './read/bounded-reads.ts';
import type { TokenView } from './tokens/service-token-view.ts';
import { syncKeyOf } from './spec/source.ts';
import type { RolledBack, Outcome, Asked, TargetMemory } from './model.ts';

/** What was read of a source last, for the comparison after the change feed was away. */
export interface ReadSource {
  readonly environmentId: string;
  /** Its newest revision; undefined where the next one would be no news. */
  readonly revisionId: string | undefined;
  readonly credentialId: string;
  /** The revision or snapshot that was pinned and found. */
  readonly pinnedId: string | undefined;
}

/** What is remembered of one source of a SecretSync. */
export interface SourceMemory {
  /** The environment that was asked for when the memory of it was made. */
  environmentPath: string | undefined;
  read: ReadSource | undefined;
  /** The Secret, by `namespace/name`, that holds the token. */
  tokenSecret: string | undefined;
  /** Version of the token Secret that was read last. */
  tokenVersion: string | undefined;
  /** Whether the environment's commits are no news, its end aside. */
  isPinned: boolean;
  /** The SecretSnapshot that was looked for last, by `namespace/name`. */
  snapshotKey: string | undefined;
  /** What was found there, as far as the pin cares. */
  snapshotVersion: string | undefined;
}

/**
 * What the controller remembers of one SecretSync between reconciles. All of it can be lost: the next reconcile then
 * looks at everything once. It never holds a value.
 */
export interface SyncMemory extends ReportMemory<SecretSync>, TargetMemory {
  /** By their keys (see `sourceKeyOf`): those of the spec that was reconciled last. */
  readonly sources: Map<string, SourceMemory>;
  /** The SecretSync that was reconciled last, as far as it asks for something. */
  reconciled: Asked | undefined;
  /** What the last reconcile came to, for the status to be told again with what its workloads have come to since. */
  outcome: Outcome | undefined;
  /** Settles when the status has been told because of a workload. */
  telling: Promise<unknown> | undefined;
  /** What the last reconcile took in memory. */
  needed: Allowance | undefined;
  /** What the Secret is held back at instead of what its spec asks for. */
  rolledBack: RolledBack | undefined;
  /** What was seen of the ServiceTokens; undefined where none was looked at. */
  tokenView: TokenView | undefined;
  /** Since when a refused token is about to be accepted, or its refusal to be explained; milliseconds since the epoch. */
  unsettledSince: number | undefined;
  /** Checks of events that came while a reconcile was under way: each answers whether it was news. */
  readonly deferred: (() => boolean)[];
}

// Environments that were told of and concern nobody here; more than these are forgotten and looked at once more.
const mostUnrelated = 10_000;

/**
 * The memories of all SecretSyncs (keys `namespace/name`), and the ways from an event to them. What is a source's own goes by
 * its key (see `sourceKeyOf`). Before its first reconcile a SecretSync has one source, its own key's, which waits.
 */
export class SyncMemories {
  readonly #memories = new Map<string, SyncMemory>();
  readonly #byTarget = new ReverseIndex();
  readonly #byEnvironment = new ReverseIndex();
  readonly #byServiceToken = new ReverseIndex();
  /** By the key of the ServiceToken that they name. */
  readonly #byTokenRef = new ReverseIndex();
  readonly #bySnapshot = new ReverseIndex();
  /** The sources that wait for an environment to appear. */
  readonly #unresolved = new Set<string>();
  readonly #unrelated = new Set<string>();

  /** The memory of a SecretSync that exists, made where there is none. */
  of(key: string): SyncMemory {
    const known = this.#memories.get(key);
    if (known !== undefined) return known;
    const fresh: SyncMemory = {
      resource: new OwnWrites(),
      target: new OwnWrites(),
      sources: new Map(),
      status: undefined,
      reconciled: undefined,
      outcome: undefined,
      telling: undefined,
      verified: undefined,
      needed: undefined,
      rolledBack: undefined,
      tokenView: undefined,
      unsettledSince: undefined,
      reason: undefined,
      failure: undefined,
      deferred: [],
    };
    this.#memories.set(key, fresh);
    this.keepSources(key, [key]);
    return fresh;
  }

  find(key: string): SyncMemory | undefined {
    return this.#memories.get(key);
  }

  entries(): Iterable<readonly [string, SyncMemory]> {
    return this.#memories;
  }

  drop(key: string): void {
    this.keepSources(key, []);
    this.#memories.delete(key);
    for (const index of [this.#byTarget, this.#byTokenRef, this.#bySnapshot]) index.set(key, undefined);
  }

  /** A SecretSync has these sources from now on and no others; a new one waits for its environment. */
  keepSources(key: string, sourceKeys: readonly string[]): void {
    const sources = this.#memories.get(key)?.sources;
    if (sources === undefined) return;
    for (const known of sources.keys()) if (!sourceKeys.includes(known)) this.#dropSource(sources, known);
    for (const sourceKey of sourceKeys) {
      if (sources.has(sourceKey)) continue;
      sources.set(sourceKey, freshSource());
      this.markUnresolved(sourceKey);
    }
  }

  /** What is remembered of a source that is kept; of any other nothing, and that is soon forgotten. */
  sourceOf(sourceKey: string): SourceMemory {
    return this.#find(sourceKey) ?? freshSource();
  }

  setTarget(key: string, targetKey: string): void {
    this.#byTarget.set(key, targetKey);
  }

  /** The ServiceTokens (`namespace/name`) that the SecretSync names. */
  setTokenRefs(key: string, tokenKeys: readonly string[]): void {
    this.#byTokenRef.setAll(key, tokenKeys);
  }

  /** Events of these SecretSnapshots, and no others, concern the SecretSync from now on. */
  setSnapshots(key: string, snapshotKeys: readonly string[]): void {
    this.#bySnapshot.setAll(key, snapshotKeys);
  }

  /** Events of this service token concern the source from now on. */
  setServiceToken(sourceKey: string, serviceTokenId: string): void {
    if (this.#find(sourceKey) !== undefined) this.#byServiceToken.set(sourceKey, serviceTokenId);
  }

  /** Events of this environment concern the source from now on. */
  setEnvironment(sourceKey: string, environmentId: string): void {
    if (this.#find(sourceKey) === undefined) return;
    this.#byEnvironment.set(sourceKey, environmentId);
    this.#unresolved.delete(sourceKey);
  }

  /** The source waits for an environment that is not known yet. */
  markUnresolved(sourceKey: string): void {
    this.#byEnvironment.set(sourceKey, undefined);
    if (this.#find(sourceKey) === undefined || this.#unresolved.has(sourceKey)) return;
    this.#unresolved.add(sourceKey);
    // One of those may be what it waits for.
    this.#unrelated.clear();
  }

  /** No event of an environment can help the SecretSync: it waits for something else. */
  markUnconcerned(key: string): void {
    for (const sourceKey of this.#memories.get(key)?.sources.keys() ?? []) {
      this.#byEnvironment.set(sourceKey, undefined);
      this.#unresolved.delete(sourceKey);
    }
  }

  isResolved(sourceKey: string): boolean {
    return this.#byEnvironment.hasAny(sourceKey);
  }

  byTarget(targetKey: string): readonly string[] {
    return this.#byTarget.keysOf(targetKey);
  }

  byTokenRef(tokenKey: string): readonly string[] {
    return this.#byTokenRef.keysOf(tokenKey);
  }

  bySnapshot(snapshotKey: string): readonly string[] {
    return this.#bySnapshot.keysOf(snapshotKey);
  }

  byServiceToken(serviceTokenId: string): readonly string[] {
    return syncKeysOf(this.#byServiceToken.keysOf(serviceTokenId));
  }

  /**
   * The SecretSyncs that an event of an environment concerns: its own; where nobody has it, those that wait for one, but
   * only once, so that a busy environment which is none of theirs does not wake them with each change.
   */
  byEnvironment(environmentId: string): readonly string[] {
    const own = this.#byEnvironment.keysOf(environmentId);
    if (own.length > 0) return syncKeysOf(own);
    if (this.#unrelated.has(environmentId) || this.#unresolved.size === 0) return [];
    if (this.#unrelated.size >= mostUnrelated) this.#unrelated.clear();
    this.#unrelated.add(environmentId);
    return syncKeysOf([...this.#unresolved]);
  }

  /** The sources of a SecretSync that have an environment. */
  sourcesAt(key: string, environmentId: string): readonly SourceMemory[] {
    const sources = [...(this.#memories.get(key)?.sources ?? [])];
    return sources
      .filter(([sourceKey]) => this.#byEnvironment.has(sourceKey, environmentId))
      .map(([, source]) => source);
  }

  #find(sourceKey: string): SourceMemory | undefined {
    return this.#memories.get(syncKeyOf(sourceKey))?.sources.get(sourceKey);
  }

  #dropSource(sources: Map<string, SourceMemory>, sourceKey: string): void {
    sources.delete(sourceKey);
    this.#unresolved.delete(sourceKey);
    this.#byEnvironment.set(sourceKey, undefined);
    this.#byServiceToken.set(sourceKey, undefined);
  }
}

function freshSource(): SourceMemory {
  return {
    environmentPath: undefined,
    read: undefined,
    tokenSecret: undefined,
    tokenVersion: undefined,
    isPinned: false,
    snapshotKey: undefined,
    snapshotVersion: undefined,
  };
}

function syncKeysOf(sourceKeys: readonly string[]): readonly string[] {
  return [...new Set(sourceKeys.map(syncKeyOf))];
}
