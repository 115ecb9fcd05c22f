import type { KubeObject } from '../../kube/objects.ts';
import type { SecretSync } from '../generated/secret-sync.ts';
import { OwnWrites } from '../own-writes.ts';
import type { Outcome } from './status.ts';
import { ReverseIndex } from '../reverse-index.ts';
import type { ReportMemory } from '../status-report.ts';
import type { TokenView } from './service-token-view.ts';

/** A target whose content is known without another look, for as long as it is at this version. */
export interface VerifiedTarget {
  readonly uid: string;
  readonly resourceVersion: string;
  readonly type: string;
  /** Names of its keys. */
  readonly keys: readonly string[];
  /** Keyed digest of its data. */
  readonly fingerprint: Buffer;
}

/** What was read last, for the comparison after the change feed was away. */
export interface ReadSource {
  readonly environmentId: string;
  /** Its newest revision; undefined where the next one would be no news. */
  readonly revisionId: string | undefined;
  readonly credentialId: string;
  /** The revision or snapshot that was pinned and found. */
  readonly pinnedId: string | undefined;
}

/** What a SecretSync asks for: its spec by the generation, and what is asked for by annotations. */
export interface Asked {
  readonly uid: string;
  readonly generation: number;
  readonly allowDeletion: string | undefined;
  readonly reconcileAt: string | undefined;
}

/**
 * What the controller remembers of one SecretSync between reconciles. All of it can be lost: the next reconcile then
 * looks at everything once. It never holds a value.
 */
export interface SyncMemory extends ReportMemory<SecretSync> {
  readonly target: OwnWrites<KubeObject>;
  /** The SecretSync that was reconciled last, as far as it asks for something. */
  reconciled: Asked | undefined;
  /** The environment that was asked for when the memory of it was made. */
  environmentPath: string | undefined;
  /** What the last reconcile came to, for the status to be told again with what its workloads have come to since. */
  outcome: Outcome | undefined;
  /** Settles when the status has been told because of a workload. */
  telling: Promise<unknown> | undefined;
  verified: VerifiedTarget | undefined;
  source: ReadSource | undefined;
  /** What was seen of the ServiceTokens; undefined where none was looked at. */
  tokenView: TokenView | undefined;
  /** The Secret, by `namespace/name`, that holds the token. */
  tokenSecret: string | undefined;
  /** Since when a refused token is about to be accepted, or its refusal to be explained; milliseconds since the epoch. */
  unsettledSince: number | undefined;
  /** Whether the environment's commits are no news, its end aside. */
  isPinned: boolean;
  /** The SecretSnapshot that was found for the pin last, as far as the pin cares. */
  snapshotVersion: string | undefined;
  /** Version of the token Secret that was read last. */
  tokenVersion: string | undefined;
  /** Checks of events that came while a reconcile was under way: each answers whether it was news. */
  readonly deferred: (() => boolean)[];
}

// Environments that were told of and concern nobody here; more than these are forgotten and looked at once more.
const mostUnrelated = 10_000;

/** The memories of all SecretSyncs (keys `namespace/name`), and the ways from an event to them. */
export class SyncMemories {
  readonly #memories = new Map<string, SyncMemory>();
  readonly #byTarget = new ReverseIndex();
  readonly #byEnvironment = new ReverseIndex();
  readonly #byServiceToken = new ReverseIndex();
  /** By the key of the ServiceToken that they name. */
  readonly #byTokenRef = new ReverseIndex();
  readonly #bySnapshot = new ReverseIndex();
  /** Those that wait for an environment to appear. */
  readonly #unresolved = new Set<string>();
  readonly #unrelated = new Set<string>();

  /** The memory of a SecretSync that exists, made where there is none. */
  of(key: string): SyncMemory {
    const known = this.#memories.get(key);
    if (known !== undefined) return known;
    const fresh: SyncMemory = {
      resource: new OwnWrites(),
      target: new OwnWrites(),
      status: undefined,
      reconciled: undefined,
      environmentPath: undefined,
      outcome: undefined,
      telling: undefined,
      verified: undefined,
      source: undefined,
      tokenView: undefined,
      tokenSecret: undefined,
      unsettledSince: undefined,
      isPinned: false,
      snapshotVersion: undefined,
      tokenVersion: undefined,
      reason: undefined,
      failure: undefined,
      deferred: [],
    };
    this.#memories.set(key, fresh);
    this.markUnresolved(key);
    return fresh;
  }

  find(key: string): SyncMemory | undefined {
    return this.#memories.get(key);
  }

  entries(): Iterable<readonly [string, SyncMemory]> {
    return this.#memories;
  }

  drop(key: string): void {
    this.#memories.delete(key);
    this.#unresolved.delete(key);
    const indexes = [this.#byTarget, this.#byEnvironment, this.#byServiceToken, this.#byTokenRef, this.#bySnapshot];
    for (const index of indexes) index.set(key, undefined);
  }

  setTarget(key: string, targetKey: string): void {
    this.#byTarget.set(key, targetKey);
  }

  /** The ServiceToken (`namespace/name`) that the SecretSync names, if it names one. */
  setTokenRef(key: string, tokenKey: string | undefined): void {
    this.#byTokenRef.set(key, tokenKey);
  }

  /** Events of this SecretSnapshot concern the SecretSync from now on; undefined: of none. */
  setSnapshot(key: string, snapshotKey: string | undefined): void {
    this.#bySnapshot.set(key, snapshotKey);
  }

  /** Events of this service token concern the SecretSync from now on. */
  setServiceToken(key: string, serviceTokenId: string): void {
    if (this.#memories.has(key)) this.#byServiceToken.set(key, serviceTokenId);
  }

  /** Events of this environment concern the SecretSync from now on. */
  setEnvironment(key: string, environmentId: string): void {
    if (!this.#memories.has(key)) return;
    this.#byEnvironment.set(key, environmentId);
    this.#unresolved.delete(key);
  }

  /** The SecretSync waits for an environment that is not known yet. */
  markUnresolved(key: string): void {
    this.#byEnvironment.set(key, undefined);
    if (!this.#memories.has(key) || this.#unresolved.has(key)) return;
    this.#unresolved.add(key);
    // One of those may be what it waits for.
    this.#unrelated.clear();
  }

  /** No event of an environment can help the SecretSync: it waits for something else. */
  markUnconcerned(key: string): void {
    this.#byEnvironment.set(key, undefined);
    this.#unresolved.delete(key);
  }

  isResolved(key: string): boolean {
    return this.#byEnvironment.get(key) !== undefined;
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
    return this.#byServiceToken.keysOf(serviceTokenId);
  }

  /**
   * The SecretSyncs that an event of an environment concerns: its own; where nobody has it, those that wait for one, but
   * only once, so that a busy environment which is none of theirs does not wake them with each change.
   */
  byEnvironment(environmentId: string): readonly string[] {
    const own = this.#byEnvironment.keysOf(environmentId);
    if (own.length > 0 || this.#unrelated.has(environmentId) || this.#unresolved.size === 0) return own;
    if (this.#unrelated.size >= mostUnrelated) this.#unrelated.clear();
    this.#unrelated.add(environmentId);
    return [...this.#unresolved];
  }
}
