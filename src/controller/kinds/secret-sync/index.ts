import { secretSyncKind } from '../../../kube/client/keyframe-kinds.ts';
import { objectKey, parseObjectKey } from '../../../kube/client/objects.ts';
import { SecretsClient } from '../../../kube/client/secrets.ts';
import { MemoryBudget } from '../../../lib/memory-budget.ts';
import type { Backend } from '../../backend/backend.ts';
import { allowDeletionAnnotation, retryAnnotation } from '../../annotations.ts';
import { announce } from '../../frame/announce.ts';
import { EventPace } from '../../frame/event-pace.ts';
import type { Fingerprint } from '../../backend/fingerprint.ts';
import { KindController } from '../../frame/kind-controller.ts';
import type { KindRules } from '../../frame/kind-rules.ts';
import type { KindContext, ManagedKind } from '../../frame/managed-kind.ts';
import type { NamedWatch } from '../../frame/named-watch.ts';
import type { SecretSync } from '../../generated/secret-sync.ts';
import type { GrantIndex } from '../access-grant/grant-index.ts';
import type { SecretClaims } from '../secret-claims/claims.ts';
import { Rollouts } from '../rollout/rollouts.ts';
import type { SnapshotLookup } from '../secret-snapshot/lookup.ts';
import { type Referrers, type SnapshotReferences, namesBy } from '../secret-snapshot/references.ts';
import type { ServiceTokens } from '../service-token/index.ts';
import { SyncMemories } from './memory.ts';
import type { SyncOutcome } from './model.ts';
import { ReadMemory } from './read/bounded-reads.ts';
import { SecretSyncReconciler } from './reconcile.ts';
import { snapshotKeyOf } from './spec/pin.ts';
import { isMerge, targetKeyOf } from './spec/resource.ts';
import { sourcesOf } from './spec/source.ts';
import { reportsOf } from './fleet/reports.ts';
import { SyncReporter } from './fleet/reporter.ts';
import { convergedClaim, nextStatus } from './status.ts';
import { claimOf, claimantOf } from './target/claims.ts';
import { SyncSecrets } from './target/sync-secrets.ts';
import { isKeyless } from './tokens/token-place.ts';

export interface SecretSyncDeps {
  readonly context: KindContext;
  readonly backend: Pick<Backend, 'changes' | 'fleet' | 'sources'>;
  /** The grants of the namespaces, for sources without a token reference. */
  readonly grants: GrantIndex;
  /** The watches that must be synced before the cluster's name is known; none if it is configured. */
  readonly clusterWatches: readonly NamedWatch[];
  /** The fingerprints of this cluster. */
  readonly fingerprint: Fingerprint;
  readonly serviceTokens: ServiceTokens;
  /** The claims of all kinds on Secrets. */
  readonly claims: SecretClaims;
  /** For sources that are pinned to a SecretSnapshot. */
  readonly snapshots: SnapshotLookup;
  readonly snapshotWatch: NamedWatch;
  /** Whether workloads may be restarted for SecretSyncs. */
  readonly mayRestartIn: (namespace: string) => boolean;
  /** Beginnings of the labels and annotations that a spec may set on a Secret; empty for all. */
  readonly metadataPrefixes: readonly string[];
  /** Memory for what is read at the same time. */
  readonly reconcileBytes: number;
}

/** Syncs the Secrets of all SecretSyncs with their environments. */
export function registerSecretSync(deps: SecretSyncDeps): {
  readonly kind: ManagedKind;
  /** The SecretSnapshots that SecretSyncs are pinned to. */
  readonly pins: SnapshotReferences;
} {
  const kind = new SecretSyncController(deps);
  return { kind, pins: kind.pins };
}

/** A KindController with the Secrets and the workloads of its resources. */
class SecretSyncController implements ManagedKind {
  readonly pins: SnapshotReferences;
  readonly #deps: SecretSyncDeps;
  readonly #memories = new SyncMemories();
  readonly #repairPace: EventPace;
  readonly #kind: KindController<SecretSync, SyncOutcome>;
  readonly #secrets: SyncSecrets;
  readonly #rollouts: Rollouts;
  readonly #reporter: SyncReporter;

  constructor(deps: SecretSyncDeps) {
    this.#deps = deps;
    this.#repairPace = new EventPace(deps.context.clock);
    const find = (key: string): SecretSync | undefined => this.#kind.find(key);
    this.#secrets = new SyncSecrets({ context: deps.context, memories: this.#memories, find });
    this.#rollouts = this.#createRollouts();
    this.#reporter = this.#createReporter();
    const watches = [this.#secrets.watch, ...deps.grants.watches];
    this.#kind = new KindController<SecretSync, SyncOutcome>(deps.context, this.#rules(), watches);
    const kind = this.#kind;
    this.pins = {
      get isSynced() {
        return kind.watch.group.isSynced;
      },
      referrersIn: (namespace) => this.#pinsIn(namespace),
    };
  }

  get watch(): NamedWatch {
    return this.#kind.watch;
  }

  get watches(): readonly NamedWatch[] {
    return this.#kind.watches;
  }

  get queueLength(): number {
    return this.#kind.queueLength + this.#rollouts.queueLength;
  }

  startLeading(): void {
    // While another controller led, the events of the watch of targets were not processed.
    for (const [, memory] of this.#memories.entries()) {
      memory.target.reset();
      memory.expected = undefined;
    }
    this.#deps.claims.forgetFound();
    // First: what a Secret held before another controller led no longer counts.
    this.#rollouts.startLeading();
    this.#reporter.startLeading();
    this.#kind.startLeading();
  }

  stopLeading(): void {
    this.#kind.stopLeading();
    this.#reporter.stopLeading();
    this.#rollouts.stopLeading();
  }

  async resync(): Promise<void> {
    await this.#kind.resync();
    // Reports can be lost, and a recovery of the database takes them back.
    const { namespaces } = this.#deps.context;
    for (const key of this.#kind.keys()) {
      if (!namespaces.isGone(parseObjectKey(key).namespace)) this.#kind.refreshStatus(key);
    }
    this.#reporter.sweep();
  }

  async drain(limitMs: number): Promise<void> {
    await Promise.all([this.#kind, this.#rollouts, this.#reporter].map((part) => part.drain(limitMs)));
  }

  async close(): Promise<void> {
    await Promise.all([this.#secrets.stop(), this.#rollouts.close()]);
  }

  #rules(): KindRules<SecretSync, SyncOutcome> {
    const reconciler = this.#createReconciler();
    const rollouts = this.#rollouts;
    return {
      kind: secretSyncKind,
      plural: 'SecretSyncs',
      isNamespaced: true,
      action: 'Sync',
      isFirstSuccessQuiet: true,
      needs: (sync) => this.#needsOf(sync),
      requestAnnotations: [allowDeletionAnnotation, retryAnnotation],
      // The garbage collector deletes its Secret, or the Secret stays.
      endsWithNamespace: true,
      changes: this.#deps.backend.changes,
      reconcile: async (context) => await reconciler.reconcile(context),
      suspended: (context) => Promise.resolve(reconciler.suspended(context)),
      failed: (error, context) => reconciler.failed(error, context),
      statusAfter: (sync, known, outcome, nowMs) =>
        nextStatus(sync, known, { ...outcome, rollout: rollouts.outcome(sync) }, nowMs),
      sideClaim: (sync) => convergedClaim(rollouts.outcome(sync).claim),
      // An owner that removes the merged keys from its Secret, or writes it all the time, must not keep the controller busy.
      isThrottled: (key, { kind }) => kind === 'target' && this.#isMerge(key),
      isFruitless: (key) => this.#memories.ensure(key).isTooLarge,
      onSettled: (key, dependencies) => this.#secrets.follow(key, dependencies),
      onReport: (sync, report) =>
        this.#reporter.report(reportsOf({ ...report, sync, rollout: rollouts.outcome(sync) })),
      onSeen: (sync) => this.#claim(sync),
      onGone: (sync) => this.#forget(sync),
    };
  }

  /**
   * Every target is compared by a fingerprint of the cluster. Only a source that names no token needs the grants, only a
   * tokenRef a ServiceToken, and only a pin a SecretSnapshot.
   */
  #needsOf(sync: SecretSync): readonly NamedWatch[] {
    if (sync.spec.suspend) return [];
    const { clusterWatches, serviceTokens, snapshotWatch, grants } = this.#deps;
    const sources = sourcesOf(sync);
    return [
      this.#secrets.watch,
      ...clusterWatches,
      ...(sources.some(isKeyless) ? grants.watches : []),
      ...(sources.some(({ tokenRef }) => tokenRef !== undefined) ? [serviceTokens.watch] : []),
      ...(sources.some(({ snapshotRef }) => snapshotRef !== undefined) ? [snapshotWatch] : []),
    ];
  }

  #createReconciler(): SecretSyncReconciler {
    const { context, backend, fingerprint, snapshots, serviceTokens, claims } = this.#deps;
    const { grants, metadataPrefixes, reconcileBytes } = this.#deps;
    const { kube: client, clock, serverNow, metrics } = context;
    return new SecretSyncReconciler({
      memories: this.#memories,
      serviceToken: (key) => serviceTokens.find(key),
      sources: backend.sources,
      grants,
      fingerprint,
      snapshots,
      client,
      secretsClient: new SecretsClient({ client }),
      rollouts: this.#rollouts,
      readMemory: new ReadMemory({ budget: new MemoryBudget({ maxBytes: reconcileBytes, maxOvertaken: 0 }) }),
      metadataPrefixes,
      watchedTarget: (key) => this.#secrets.target(key),
      claims,
      issuedSecret: (key) => serviceTokens.issuedSecret(key),
      followedSecret: (key) => this.#secrets.followed(key),
      onRepaired: (sync, note) => this.#announceRepair(sync, note),
      clock,
      serverNow,
      metrics,
    });
  }

  #announceRepair(sync: SecretSync, note: string): void {
    const reason = 'DriftRepaired';
    if (!this.#repairPace.take(objectKey(sync.metadata), reason)) return;
    const { kube: client, clock, logger, instance } = this.#deps.context;
    announce({ client, clock, logger, instance }, secretSyncKind, sync, {
      type: 'Warning',
      reason,
      action: 'Sync',
      note,
    });
  }

  #createRollouts(): Rollouts {
    const { kube: client, clock, logger, shares, namespaces } = this.#deps.context;
    return new Rollouts({
      client,
      clock,
      logger,
      shares,
      fingerprint: this.#deps.fingerprint,
      mayRestartIn: this.#deps.mayRestartIn,
      onAbandoned: (key) => this.#kind.enqueue(key),
      current: (key) => (namespaces.isEnding(parseObjectKey(key).namespace) ? undefined : this.#kind.find(key)),
      refreshStatus: (key) => this.#kind.refreshStatus(key),
    });
  }

  /** The states of the SecretSyncs in the database. */
  #createReporter(): SyncReporter {
    const { context, backend } = this.#deps;
    const { namespaces, hasName, clock, logger, metrics } = context;
    const reporter = new SyncReporter({
      states: backend.fleet.syncStates,
      namespaces,
      hasName,
      knownUids: () => [...this.#kind.keys()].flatMap((key) => this.#kind.find(key)?.metadata.uid ?? []),
      isListed: (namespace) => this.#kind.hasListed(namespace),
      clock,
      logger,
      metrics,
    });
    namespaces.onEnding((name) => {
      for (const { metadata } of this.#syncsIn(name)) reporter.forget(metadata.uid);
    });
    return reporter;
  }

  #claim(sync: SecretSync): void {
    const { claims } = this.#deps;
    if (sync.metadata.deletionTimestamp === undefined) claims.note(targetKeyOf(sync), claimOf(sync));
    else claims.drop(targetKeyOf(sync), claimantOf(sync));
  }

  #forget(sync: SecretSync): void {
    const { metadata } = sync;
    const key = objectKey(metadata);
    this.#deps.claims.drop(targetKeyOf(sync), claimantOf(sync));
    this.#reporter.forget(metadata.uid);
    this.#memories.drop(key);
    this.#secrets.forget(key);
    this.#rollouts.forget(key);
    this.#repairPace.forget(key);
  }

  #isMerge(key: string): boolean {
    const sync = this.#kind.find(key);
    return sync !== undefined && isMerge(sync);
  }

  #syncsIn(namespace: string): readonly SecretSync[] {
    return [...this.#kind.keysIn(namespace)].flatMap((key) => this.#kind.find(key) ?? []);
  }

  /** The SecretSyncs of a namespace that are pinned to a SecretSnapshot. */
  #pinsIn(namespace: string): Referrers {
    const pins = namesBy(
      this.#syncsIn(namespace).flatMap((sync) =>
        [...new Set(sourcesOf(sync).flatMap((source) => snapshotKeyOf(sync, source) ?? []))].map(
          (snapshotKey) => [snapshotKey, `SecretSync ${sync.metadata.name}`] as const,
        ),
      ),
    );
    return (key) => pins.get(key) ?? [];
  }
}
