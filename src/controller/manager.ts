import { hostname } from 'node:os';
import type { ChangeFeed } from '../services/change-feed.ts';
import { isApiStatus } from '../kube/api-error.ts';
import type { KubeClient } from '../kube/client.ts';
import { collectionPath } from '../kube/custom-resources.ts';
import { NamedWatches } from '../kube/named-watches.ts';
import type { KubeObject } from '../kube/objects.ts';
import { ReflectorGroup } from '../kube/reflector-group.ts';
import { SecretsClient, secretsPath } from '../kube/secrets.ts';
import type { FailureKind } from '../kube/watch-failure.ts';
import type { Clock } from '../lib/clock.ts';
import type { Logger } from '../lib/logger.ts';
import type { Metrics } from '../lib/metrics.ts';
import type { SecretSync } from './generated/secret-sync.ts';
import { SyncMemories } from './secret-sync/memory.ts';
import type { ReadServices } from './secret-sync/read.ts';
import { type ReconcilerDeps, SecretSyncReconciler } from './secret-sync/reconcile.ts';
import { secretSyncKind, targetLabel } from './secret-sync/resource.ts';
import type { Fingerprint } from './secret-sync/secret-data.ts';
import { Waker } from './secret-sync/wake.ts';
import { type Next, WorkQueue } from './work-queue.ts';

export interface ControllerDeps {
  readonly kube: Pick<KubeClient, 'request' | 'watch'>;
  readonly services: ReadServices & { readonly changes: Pick<ChangeFeed, 'subscribe' | 'compare'> };
  /** `Keyring.fingerprint`, bound to its keyring. */
  readonly fingerprint: Fingerprint;
  readonly logger: Logger;
  readonly clock: Clock;
  readonly metrics: Pick<Metrics, 'reconciled' | 'secretWrite' | 'observeControllerQueue'>;
  readonly options: ControllerOptions;
}

export interface ControllerOptions {
  /** How often everything is compared with the database although no event asked for it. */
  readonly resyncIntervalMs: number;
  /** Empty for all namespaces. */
  readonly watchNamespaces: readonly string[];
  readonly random?: () => number;
}

export interface Controller {
  /** Begins to watch and to reconcile; does not wait for either. */
  start(): void;
  /** Ends the watches and lets reconciles under way finish, for a while. */
  stop(): Promise<void>;
  /** Why the controller does not work yet, and what to do; undefined when it does. */
  ready(): string | undefined;
}

const drainLimitMs = 10_000;
const missingDefinition =
  'the cluster does not know SecretSync (keyframe.dev/v1alpha1): apply the custom resource definitions with `kubectl apply -f crds/`';
// The one key of the queue that compares.
const everything = 'everything';

/** Makes the controller; nothing happens before `start`. */
export function createController(deps: ControllerDeps): Controller {
  return new SecretSyncController(deps);
}

class SecretSyncController implements Controller {
  readonly #deps: ControllerDeps;
  readonly #queue: WorkQueue;
  /** One comparison at a time, tried again until it succeeds. */
  readonly #comparisons: WorkQueue;
  readonly #syncs: ReflectorGroup<SecretSync>;
  readonly #targets: ReflectorGroup<KubeObject>;
  readonly #followed: NamedWatches;
  readonly #reconciler: SecretSyncReconciler;
  readonly #waker: Waker;
  #saidMissing = false;
  #unsubscribe: () => void = () => {};

  constructor(deps: ControllerDeps) {
    const { kube, services, clock, metrics, options } = deps;
    const logger = deps.logger.child({ component: 'controller' });
    this.#deps = { ...deps, logger };
    const memories = new SyncMemories();
    const follow = (key: string, secrets: ReadonlySet<string>): void => this.#followed.follow(key, secrets);
    const watchedSync = (key: string): SecretSync | undefined => this.#syncs.get(key);
    this.#queue = new WorkQueue({
      clock,
      logger,
      process: async (key) => await this.#reconciler.reconcile(key),
      onInactive: (key) => this.#waker.afterReconcile(key),
    });
    this.#comparisons = new WorkQueue({ clock, logger, workers: 1, process: async () => await this.#compare() });
    this.#waker = new Waker({
      queue: this.#queue,
      memories,
      changes: services.changes,
      follow,
      followersOf: (secretKey) => this.#followed.followersOf(secretKey),
      watchedSync,
    });
    const watching = { client: kube, clock, logger, namespaces: options.watchNamespaces };
    this.#syncs = new ReflectorGroup<SecretSync>({
      ...watching,
      source: (namespace) => ({ path: collectionPath(secretSyncKind, namespace) }),
      handler: {
        onUpsert: (sync) => this.#waker.syncChanged(sync),
        onDelete: (sync) => this.#waker.syncGone(sync),
      },
      onFailure: (kind) => this.#sayMissing(kind),
      // What failed because the API server was away need not wait until its backoff has passed.
      onRecovered: () => this.#comparisons.add(everything),
    });
    this.#targets = new ReflectorGroup<KubeObject>({
      ...watching,
      source: (namespace) => ({
        path: secretsPath(namespace),
        labelSelector: `${targetLabel}=true`,
        metadataOnly: true,
      }),
      handler: {
        onUpsert: (secret) => this.#waker.targetChanged(secret),
        onDelete: (secret) => this.#waker.targetGone(secret),
        onListed: () => this.#waker.targetsListed((key) => this.#targets.get(key) !== undefined),
      },
      onRecovered: () => this.#comparisons.add(everything),
    });
    this.#followed = new NamedWatches({
      client: kube,
      clock,
      logger,
      path: secretsPath,
      onChange: (secretKey, secret) => this.#waker.followedChanged(secretKey, secret),
    });
    this.#reconciler = this.#createReconciler({ memories, follow, watchedSync });
    metrics.observeControllerQueue(() => this.#queue.length);
  }

  #createReconciler(parts: Pick<ReconcilerDeps, 'memories' | 'follow' | 'watchedSync'>): SecretSyncReconciler {
    const { kube, services, fingerprint, clock, logger, metrics } = this.#deps;
    return new SecretSyncReconciler({
      ...parts,
      services,
      fingerprint,
      client: kube,
      secretsClient: new SecretsClient({ client: kube }),
      watchedTarget: (key) => this.#targets.get(key) ?? this.#inTheWay(key),
      watchedToken: (key) => this.#followed.get(key),
      clock,
      logger,
      metrics,
      events: { controller: 'keyframe.dev/secretsync', instance: hostname() },
    });
  }

  /** A Secret without our label, which only a watch by its name shows. One with the label the watch of targets shows, or it is gone. */
  #inTheWay(key: string): KubeObject | undefined {
    const followed = this.#followed.get(key);
    return followed?.metadata.labels?.[targetLabel] === 'true' ? undefined : followed;
  }

  start(): void {
    // Before anything is read, so that no commit can fall between.
    this.#unsubscribe = this.#deps.services.changes.subscribe({
      onEvent: (event) => this.#waker.committed(event),
      onReady: () => this.#comparisons.add(everything),
    });
    this.#syncs.start();
    this.#targets.start();
    void this.#workWhenSynced();
  }

  async stop(): Promise<void> {
    this.#unsubscribe();
    await Promise.all([this.#queue.stop(drainLimitMs), this.#comparisons.stop(drainLimitMs)]);
    await Promise.all([this.#syncs.stop(), this.#targets.stop(), this.#followed.stop()]);
  }

  ready(): string | undefined {
    if (isApiStatus(this.#syncs.fault, 404)) return missingDefinition;
    for (const { name, group } of [
      { name: 'SecretSyncs', group: this.#syncs },
      { name: 'Secrets', group: this.#targets },
    ]) {
      if (group.isSynced) continue;
      return isApiStatus(group.fault, 401, 403)
        ? `the API server does not let the controller list ${name}: apply the rules of charts/keyframe/files/controller-rules.yaml to its account`
        : `the first list of ${name} has not come from the API server yet`;
    }
    return undefined;
  }

  /** A list that never comes leaves this waiting, which hinders nobody. */
  async #workWhenSynced(): Promise<void> {
    await Promise.all([this.#syncs.synced, this.#targets.synced]);
    const secretSyncs = this.#syncs.keys().length;
    this.#deps.logger.info({ secretSyncs }, 'the controller watches SecretSyncs and their Secrets');
    // Before the first reconcile: a comparison has then nothing to ask for.
    this.#comparisons.start();
    // Each SecretSync is in the queue since its list was told: all are reconciled once.
    this.#queue.start();
    this.#comparisons.addAfter(everything, this.#resyncDelayMs());
  }

  async #compare(): Promise<Next> {
    await this.#waker.compareAll();
    return { kind: 'after', delayMs: this.#resyncDelayMs() };
  }

  // A tenth to either side, so that replicas do not all ask at once.
  #resyncDelayMs(): number {
    const { resyncIntervalMs, random = Math.random } = this.#deps.options;
    return resyncIntervalMs * (0.9 + 0.2 * random());
  }

  #sayMissing(kind: FailureKind): void {
    if (kind !== 'missing') this.#saidMissing = false;
    else if (!this.#saidMissing) {
      this.#saidMissing = true;
      this.#deps.logger.error(missingDefinition);
    }
  }
}
