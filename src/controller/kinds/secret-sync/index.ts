import { NamedWatches } from '../../../kube/named-watches.ts';
import { secretSyncKind } from '../../../kube/keyframe-kinds.ts';
import { type KubeObject, objectKey, parseObjectKey } from '../../../kube/objects.ts';
import type { ReflectorGroup } from '../../../kube/reflector-group.ts';
import { SecretsClient, secretsPath } from '../../../kube/secrets.ts';
import type { ChangeFeed } from '../../../services/change-feed.ts';
import { allowDeletionAnnotation, retryAnnotation, targetLabel } from '../../annotations.ts';
import { type DependencySet, objectVersion } from '../../frame/dependencies.ts';
import type { Fingerprint } from '../../frame/fingerprint.ts';
import { KindController } from '../../frame/kind-controller.ts';
import type { KindRules } from '../../frame/kind-rules.ts';
import { watchLabelledSecrets } from '../../frame/labelled-secrets.ts';
import type { KindContext, ManagedKind } from '../../frame/managed-kind.ts';
import type { NamedWatch } from '../../frame/named-watch.ts';
import type { SecretSync } from '../../generated/secret-sync.ts';
import { Rollouts } from '../rollout/rollouts.ts';
import type { SnapshotLookup } from '../secret-snapshot/lookup.ts';
import { type Referrers, type SnapshotReferences, namesBy } from '../secret-snapshot/references.ts';
import type { ServiceTokens } from '../service-token/index.ts';
import { SyncMemories } from './memory.ts';
import type { SyncOutcome } from './model.ts';
import { createReadBudget } from './read/bounded-reads.ts';
import type { ReadServices } from './read/read.ts';
import { SecretSyncReconciler } from './reconcile.ts';
import { snapshotKeyOf } from './spec/pin.ts';
import { isMerge, targetKeyOf } from './spec/resource.ts';
import { sourcesOf } from './spec/source.ts';
import { convergedClaim, nextStatus } from './status.ts';
import { TokenSource } from './tokens/token-source.ts';

export interface SecretSyncDeps {
  readonly context: KindContext;
  readonly services: ReadServices & { readonly changes: Pick<ChangeFeed, 'compare'> };
  /** `Keyring.fingerprint`, bound to its keyring. */
  readonly fingerprint: Fingerprint;
  readonly serviceTokens: ServiceTokens;
  /** For those that are pinned to a SecretSnapshot. */
  readonly snapshots: SnapshotLookup;
  readonly snapshotWatch: NamedWatch;
  /** Whether workloads may be restarted for SecretSyncs. */
  readonly rolloutsAllowed: boolean;
}

/** Keeps the Secrets of all SecretSyncs in step with their environments. */
export function registerSecretSync(deps: SecretSyncDeps): {
  readonly kind: ManagedKind;
  /** The SecretSnapshots that SecretSyncs are pinned to. */
  readonly pins: SnapshotReferences;
} {
  const kind = new SecretSyncController(deps);
  return { kind, pins: kind.pins };
}

/** A KindController with the Secrets and the workloads that its resources have to do with. */
class SecretSyncController implements ManagedKind {
  readonly pins: SnapshotReferences;
  readonly #deps: SecretSyncDeps;
  readonly #memories = new SyncMemories();
  readonly #kind: KindController<SecretSync, SyncOutcome>;
  readonly #targets: ReflectorGroup<KubeObject>;
  readonly #targetWatch: NamedWatch;
  readonly #followed: NamedWatches;
  readonly #rollouts: Rollouts;

  constructor(deps: SecretSyncDeps) {
    this.#deps = deps;
    this.#targets = this.#watchTargets();
    this.#followed = this.#followSecrets();
    this.#rollouts = this.#createRollouts();
    this.#targetWatch = { name: 'Secrets', group: this.#targets };
    this.#kind = new KindController<SecretSync, SyncOutcome>(deps.context, this.#rules(), [this.#targetWatch]);
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
    // While another one led, nothing looked at what the watch of the targets showed.
    for (const [, { target }] of this.#memories.entries()) target.reset();
    // First: what a Secret held before another one led counts no more.
    this.#rollouts.start();
    this.#kind.startLeading();
  }

  stopLeading(): void {
    this.#kind.stopLeading();
    this.#rollouts.pause();
  }

  async resync(): Promise<void> {
    await this.#kind.resync();
  }

  async drain(limitMs: number): Promise<void> {
    await Promise.all([this.#kind.drain(limitMs), this.#rollouts.drain(limitMs)]);
  }

  async close(): Promise<void> {
    await Promise.all([this.#followed.stop(), this.#rollouts.close()]);
  }

  #rules(): KindRules<SecretSync, SyncOutcome> {
    const reconciler = this.#createReconciler();
    const rollouts = this.#rollouts;
    return {
      kind: secretSyncKind,
      plural: 'SecretSyncs',
      isNamespaced: true,
      action: 'Sync',
      needs: (sync) => this.#needsOf(sync),
      requestAnnotations: [allowDeletionAnnotation, retryAnnotation],
      // Its Secret is the garbage collector's, or stays.
      endsWithNamespace: true,
      changes: this.#deps.services.changes,
      reconcile: async (context) => await reconciler.reconcile(context),
      suspended: (context) => Promise.resolve(reconciler.suspended(context)),
      failed: (error, context) => reconciler.failed(error, context),
      statusAfter: (sync, known, outcome, nowMs) =>
        nextStatus(sync, known, { ...outcome, rollout: rollouts.outcome(sync) }, nowMs),
      sideClaim: (sync) => convergedClaim(rollouts.outcome(sync).claim),
      // An owner that takes out of its Secret what it did not put there, or writes it all the time, must not keep the
      // controller busy.
      isThrottled: (key, { kind }) => kind === 'target' && this.#isMerge(key),
      onSettled: (key, dependencies) => this.#follow(key, dependencies),
      onGone: ({ metadata }) => this.#forget(objectKey(metadata)),
    };
  }

  /** Only a source that names no Secret of its token needs a ServiceToken, and only a pinned one a SecretSnapshot. */
  #needsOf(sync: SecretSync): readonly NamedWatch[] {
    if (sync.spec.suspend) return [];
    const { serviceTokens, snapshotWatch } = this.#deps;
    const sources = sourcesOf(sync);
    const needsTokens = sources.some(({ tokenSecretRef }) => tokenSecretRef === undefined);
    const needsSnapshots = sources.some(({ snapshotRef }) => snapshotRef !== undefined);
    return [
      this.#targetWatch,
      ...(needsTokens ? [serviceTokens.watch] : []),
      ...(needsSnapshots ? [snapshotWatch] : []),
    ];
  }

  #createReconciler(): SecretSyncReconciler {
    const { context, services, fingerprint, snapshots, serviceTokens } = this.#deps;
    const { kube: client, clock, metrics } = context;
    return new SecretSyncReconciler({
      memories: this.#memories,
      tokens: new TokenSource({ client, serviceTokens }),
      services,
      fingerprint,
      snapshots,
      client,
      secretsClient: new SecretsClient({ client }),
      rollouts: this.#rollouts,
      readBudget: createReadBudget(),
      watchedTarget: (key) => this.#targets.get(key) ?? this.#inTheWay(key),
      watchedToken: (key) => this.#followed.get(key),
      clock,
      metrics,
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
      isAllowed: this.#deps.rolloutsAllowed,
      giveUp: (key) => this.#kind.enqueue(key),
      current: (key) => (namespaces.isEnding(parseObjectKey(key).namespace) ? undefined : this.#kind.find(key)),
      refreshStatus: (key) => this.#kind.refreshStatus(key),
    });
  }

  #watchTargets(): ReflectorGroup<KubeObject> {
    return watchLabelledSecrets(this.#deps.context, targetLabel, {
      onUpsert: ({ metadata }) => this.#targetChanged(objectKey(metadata), metadata),
      onDelete: ({ metadata }) => this.#targetGone(objectKey(metadata), metadata.uid),
      onListed: () => this.#targetsListed(),
    });
  }

  /** The Secrets that hold tokens, and those that are in the way of a target, each by its name. */
  #followSecrets(): NamedWatches {
    const { kube: client, clock, logger } = this.#deps.context;
    const publish = (id: string, secret: KubeObject | undefined): void => {
      const { metadata } = secret ?? {};
      this.#deps.context.events.publish({ kind: 'Secret', id, version: objectVersion(metadata) });
      if (!this.#isFollowedTarget(id)) return;
      if (metadata === undefined) this.#targetGone(id, undefined);
      else this.#targetChanged(id, metadata);
    };
    return new NamedWatches({
      client,
      clock,
      logger,
      path: secretsPath,
      onChange: publish,
    });
  }

  /** Whether a Secret is followed by a SecretSync that writes it, or would. */
  #isFollowedTarget(id: string): boolean {
    return [...this.#followed.followersOf(id)].some((key) => {
      const sync = this.#kind.find(key);
      return sync !== undefined && targetKeyOf(sync) === id;
    });
  }

  #targetChanged(id: string, { uid, resourceVersion }: KubeObject['metadata']): void {
    this.#deps.context.events.publish({ kind: 'target', id, version: resourceVersion, uid });
  }

  #targetGone(id: string, uid: string | undefined): void {
    this.#deps.context.events.publish({ kind: 'target', id, uid });
  }

  /**
   * The targets were listed again. One that was written and is not among them was deleted while no watch looked. A list that
   * is older than the write only costs a look.
   */
  #targetsListed(): void {
    for (const [key, { target }] of this.#memories.entries()) {
      const sync = this.#kind.find(key);
      // What is merged into carries no label of the controller; its own watch shows it.
      if (sync === undefined || isMerge(sync) || !target.isAhead) continue;
      const id = targetKeyOf(sync);
      if (this.#targets.get(id) === undefined) this.#targetGone(id, undefined);
    }
  }

  /** Follows the Secrets that a result rests on, and no others. */
  #follow(key: string, dependencies: DependencySet): void {
    const sync = this.#kind.find(key);
    const secrets = [...dependencies.values()].filter(({ kind }) => kind === 'Secret').map(({ id }) => id);
    const isTargetFollowed = sync !== undefined && this.#memories.ensure(key).isTargetFollowed;
    this.#followed.follow(key, new Set([...secrets, ...(isTargetFollowed ? [targetKeyOf(sync)] : [])]));
  }

  #forget(key: string): void {
    this.#memories.drop(key);
    this.#followed.follow(key, new Set());
    this.#rollouts.forget(key);
  }

  #isMerge(key: string): boolean {
    const sync = this.#kind.find(key);
    return sync !== undefined && isMerge(sync);
  }

  /** A Secret without our label, which only a watch by its name shows. One with the label the watch of targets shows, or it is gone. */
  #inTheWay(key: string): KubeObject | undefined {
    const followed = this.#followed.get(key);
    return followed?.metadata.labels?.[targetLabel] === 'true' ? undefined : followed;
  }

  /** The SecretSyncs of a namespace that are pinned to a SecretSnapshot. */
  #pinsIn(namespace: string): Referrers {
    const syncs = [...this.#kind.keys()].filter((key) => parseObjectKey(key).namespace === namespace);
    const pins = namesBy(
      syncs
        .flatMap((key) => this.#kind.find(key) ?? [])
        .flatMap((sync) =>
          [...new Set(sourcesOf(sync).flatMap((source) => snapshotKeyOf(sync, source) ?? []))].map(
            (snapshotKey) => [snapshotKey, `SecretSync ${sync.metadata.name}`] as const,
          ),
        ),
    );
    return (key) => pins.get(key) ?? [];
  }
}
