import type { ChangeEvent, ChangeFeed } from '../../../services/change-feed.ts';
import { collectionPath } from '../../../kube/custom-resources.ts';
import { secretSyncKind } from '../../../kube/keyframe-kinds.ts';
import { NamedWatches } from '../../../kube/named-watches.ts';
import { type KubeObject, objectKey, parseObjectKey } from '../../../kube/objects.ts';
import { ReflectorGroup } from '../../../kube/reflector-group.ts';
import { SecretsClient, secretsPath } from '../../../kube/secrets.ts';
import type { SecretSync } from '../../generated/secret-sync.ts';
import { watchLabelledSecrets } from '../../frame/labelled-secrets.ts';
import type { KindContext, ManagedKind } from '../../frame/managed-kind.ts';
import { untilNamespaceEnded } from '../../frame/namespaces.ts';
import type { ServiceTokens } from '../service-token/index.ts';
import type { SnapshotLookup } from '../secret-snapshot/lookup.ts';
import type { SnapshotReferences } from '../secret-snapshot/references.ts';
import { Rollouts } from '../rollout/rollouts.ts';
import { WorkQueue } from '../../frame/work-queue.ts';
import { SyncMemories } from './memory.ts';
import { createReadBudget } from './read/bounded-reads.ts';
import type { ReadServices } from './read/read.ts';
import { type ReconcilerDeps, SecretSyncReconciler } from './reconcile.ts';
import { TokenSource } from './tokens/token-source.ts';
import { Waker } from './wake.ts';
import { targetLabel } from '../../annotations.ts';
import type { NamedWatch } from '../../frame/named-watch.ts';
import type { Fingerprint } from '../../frame/fingerprint.ts';

export interface SecretSyncDeps {
  readonly context: KindContext;
  readonly services: ReadServices & { readonly changes: Pick<ChangeFeed, 'compare'> };
  /** `Keyring.fingerprint`, bound to its keyring. */
  readonly fingerprint: Fingerprint;
  readonly serviceTokens: ServiceTokens;
  /** For those that are pinned to a SecretSnapshot. */
  readonly snapshots: SnapshotLookup;
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

class SecretSyncController implements ManagedKind {
  readonly pins: SnapshotReferences;
  readonly watches: readonly NamedWatch[];
  readonly #deps: SecretSyncDeps;
  readonly #queue: WorkQueue;
  readonly #syncs: ReflectorGroup<SecretSync>;
  readonly #targets: ReflectorGroup<KubeObject>;
  readonly #followed: NamedWatches;
  readonly #reconciler: SecretSyncReconciler;
  readonly #waker: Waker;
  readonly #rollouts: Rollouts;

  constructor(deps: SecretSyncDeps) {
    this.#deps = deps;
    const { kube: client, clock, logger, shares } = deps.context;
    const memories = new SyncMemories();
    const tokens = new TokenSource({ client, serviceTokens: deps.serviceTokens });
    const follow = (key: string, secrets: ReadonlySet<string>): void => this.#followed.follow(key, secrets);
    const watchedSync = (key: string): SecretSync | undefined => this.#syncs.get(key);
    this.#queue = new WorkQueue({
      clock,
      logger,
      shares,
      // What is in a namespace that ends goes with it: nothing is written or made there any more.
      process: async (key) => (this.#isEnding(key) ? untilNamespaceEnded : await this.#reconciler.reconcile(key)),
      onInactive: (key) => {
        this.#waker.afterReconcile(key);
        this.#rollouts.afterReconcile(key);
      },
    });
    this.#rollouts = this.#createRollouts(memories, watchedSync);
    this.#waker = new Waker({
      clock,
      queue: this.#queue,
      isBusy: (key) => this.#queue.isActive(key) || memories.find(key)?.telling !== undefined,
      memories,
      changes: deps.services.changes,
      follow,
      followersOf: (secretKey) => this.#followed.followersOf(secretKey),
      watchedSync,
      tokenFacts: (sync) => tokens.facts(sync),
      snapshots: deps.snapshots,
    });
    deps.snapshots.onChange((key) => this.#waker.snapshotChanged(key));
    this.#syncs = this.#watchSyncs();
    this.#targets = this.#watchTargets();
    this.#followed = new NamedWatches({
      client,
      clock,
      logger,
      path: secretsPath,
      onChange: (secretKey, secret) => this.#waker.followedChanged(secretKey, secret),
      onJoin: (key, secretKey, secret) => this.#waker.followedSeen(key, secretKey, secret),
    });
    this.#reconciler = this.#createReconciler({ memories, follow, watchedSync, tokens });
    this.#listen();
    const syncs = this.#syncs;
    this.pins = {
      get isSynced() {
        return syncs.isSynced;
      },
      referrersOf: (key) => memories.bySnapshot(key).map((sync) => `SecretSync ${parseObjectKey(sync).name}`),
    };
    this.watches = [
      { name: 'SecretSyncs', kind: secretSyncKind, group: this.#syncs },
      { name: 'Secrets', group: this.#targets },
    ];
  }

  get queueLength(): number {
    return this.#queue.length + this.#rollouts.queueLength;
  }

  work(): void {
    for (const key of this.#syncs.keys()) this.#queue.add(key, 'low');
    this.#queue.start();
    this.#rollouts.start();
  }

  pause(): void {
    this.#queue.pause();
    this.#rollouts.pause();
  }

  committed(event: ChangeEvent): void {
    this.#waker.committed(event);
  }

  async compare(): Promise<void> {
    await this.#waker.compareAll();
  }

  async drain(limitMs: number): Promise<void> {
    await Promise.all([this.#queue.stop(limitMs), this.#rollouts.drain(limitMs)]);
  }

  async close(): Promise<void> {
    await Promise.all([this.#followed.stop(), this.#rollouts.close()]);
  }

  #watchSyncs(): ReflectorGroup<SecretSync> {
    const {
      kube: client,
      clock,
      logger,
      watchNamespaces,
      namespaces,
      onWatchFailure,
      onRecovered,
    } = this.#deps.context;
    return new ReflectorGroup<SecretSync>({
      client,
      clock,
      logger,
      namespaces: watchNamespaces,
      isGone: (name) => namespaces.isGone(name),
      source: (namespace) => ({ path: collectionPath(secretSyncKind, namespace) }),
      handler: {
        onUpsert: (sync) => this.#waker.syncChanged(sync),
        onDelete: (sync) => {
          this.#waker.syncGone(sync);
          this.#rollouts.forget(objectKey(sync.metadata));
        },
      },
      onFailure: onWatchFailure,
      onRecovered,
    });
  }

  #watchTargets(): ReflectorGroup<KubeObject> {
    return watchLabelledSecrets(this.#deps.context, targetLabel, {
      onUpsert: (secret) => this.#waker.targetChanged(secret),
      onDelete: (secret) => this.#waker.targetGone(secret),
      onListed: () => this.#waker.targetsListed((key) => this.#targets.get(key) !== undefined),
    });
  }

  #listen(): void {
    const { serviceTokens } = this.#deps;
    serviceTokens.onChange((key) => this.#waker.serviceTokenChanged(key));
    // Who needs one was left alone until it is known which ones there are.
    void serviceTokens.synced.then(() => this.#waker.serviceTokensListed());
  }

  #isEnding(key: string): boolean {
    return this.#deps.context.namespaces.isEnding(parseObjectKey(key).namespace);
  }

  #createReconciler(
    parts: Pick<ReconcilerDeps, 'memories' | 'follow' | 'watchedSync' | 'tokens'>,
  ): SecretSyncReconciler {
    const { context, services, fingerprint, snapshots } = this.#deps;
    const { kube, clock, logger, metrics, instance } = context;
    return new SecretSyncReconciler({
      ...parts,
      services,
      fingerprint,
      snapshots,
      client: kube,
      secretsClient: new SecretsClient({ client: kube }),
      rollouts: this.#rollouts,
      readBudget: createReadBudget(),
      watchedTarget: (key) => this.#targets.get(key) ?? this.#inTheWay(key),
      watchedToken: (key) => this.#followed.get(key),
      clock,
      logger,
      metrics,
      events: { controller: 'keyframe.dev/secretsync', instance },
    });
  }

  #createRollouts(memories: SyncMemories, watchedSync: (key: string) => SecretSync | undefined): Rollouts {
    const { kube: client, clock, logger, shares } = this.#deps.context;
    return new Rollouts({
      client,
      clock,
      logger,
      shares,
      fingerprint: this.#deps.fingerprint,
      isAllowed: this.#deps.rolloutsAllowed,
      giveUp: (key) => this.#queue.add(key),
      current: (key) => (this.#isEnding(key) ? undefined : memories.find(key)?.resource.current(watchedSync(key))),
      tell: async (key) => {
        if (this.#queue.isActive(key)) return 'busy';
        const next = await this.#reconciler.retell(key);
        // What a reconcile under way has deferred is judged after it.
        if (!this.#queue.isActive(key)) this.#waker.afterReconcile(key);
        return next;
      },
    });
  }

  /** A Secret without our label, which only a watch by its name shows. One with the label the watch of targets shows, or it is gone. */
  #inTheWay(key: string): KubeObject | undefined {
    const followed = this.#followed.get(key);
    return followed?.metadata.labels?.[targetLabel] === 'true' ? undefined : followed;
  }
}
