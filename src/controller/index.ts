import { hostname } from 'node:os';
import type { ChangeFeed } from '../services/change-feed.ts';
import { isApiStatus } from '../kube/api-error.ts';
import type { KubeClient } from '../kube/client.ts';
import { keyframeApiVersion } from '../kube/keyframe-kinds.ts';
import type { Lease } from '../kube/lease.ts';
import type { FailureKind } from '../kube/watch-failure.ts';
import type { Clock, SteadyNow } from '../lib/clock.ts';
import type { Logger } from '../lib/logger.ts';
import type { Metrics } from '../lib/metrics.ts';
import { resourceStates } from './frame/resource-states.ts';
import { registerAccessGrant } from './kinds/access-grant/index.ts';
import { Leadership } from './frame/leadership.ts';
import type { KindContext, ManagedKind } from './frame/managed-kind.ts';
import { NamespaceShares } from './frame/namespace-shares.ts';
import { Namespaces } from './frame/namespaces.ts';
import type { ResourceServices } from './kinds/resource-services.ts';
import { registerSecretEnvironment } from './kinds/secret-environment/index.ts';
import { registerSecretSnapshot } from './kinds/secret-snapshot/index.ts';
import { registerSnapshotRestore } from './kinds/snapshot-restore/index.ts';
import { registerServiceToken } from './kinds/service-token/index.ts';
import { registerSecretSync } from './kinds/secret-sync/index.ts';
import { adoptionsOf } from './kinds/secret-snapshot/adoptions.ts';
import { registerSnapshotSchedule } from './kinds/snapshot-schedule/index.ts';
import { allReferences } from './kinds/secret-snapshot/references.ts';
import type { ReadServices } from './kinds/secret-sync/read/read.ts';
import { type Next, WorkQueue } from './frame/work-queue.ts';
import type { NamedWatch } from './frame/named-watch.ts';
import type { Fingerprint } from './frame/fingerprint.ts';

export interface ControllerDeps {
  readonly kube: Pick<KubeClient, 'request' | 'watch'>;
  readonly services: ReadServices & ResourceServices & { readonly changes: Pick<ChangeFeed, 'subscribe' | 'compare'> };
  /** `Keyring.fingerprint`, bound to its keyring. */
  readonly fingerprint: Fingerprint;
  readonly logger: Logger;
  readonly clock: Clock;
  readonly steadyNow: SteadyNow;
  /** Of all controllers of an installation, the one that holds it works. */
  readonly lease: Pick<Lease, 'attempt' | 'release'>;
  readonly metrics: Pick<
    Metrics,
    | 'reconciled'
    | 'secretWrite'
    | 'orphanedTokenSuspended'
    | 'observeControllerQueue'
    | 'observeLeadership'
    | 'observeResources'
  >;
  readonly options: ControllerOptions;
}

export interface ControllerOptions {
  /** How often everything is compared with the database although no event asked for it. */
  readonly resyncIntervalMs: number;
  /** Empty for all namespaces. */
  readonly watchNamespaces: readonly string[];
  /** The controller's own, where its Lease is. */
  readonly namespace: string;
  /** What the database knows the cluster by; undefined for the uid of its namespace kube-system. */
  readonly clusterName?: string | undefined;
  /** Whether workloads may be restarted; default false. */
  readonly rollouts?: boolean;
  readonly random?: () => number;
}

export interface Controller {
  /** Begins to watch and, while it leads, to reconcile; does not wait for either. */
  start(): void;
  /** Lets reconciles under way finish, for a while, gives up the Lease and ends the watches. */
  stop(): Promise<void>;
  /** Why the controller neither works nor stands by yet, and what to do; undefined when it does. */
  ready(): string | undefined;
}

const drainLimitMs = 10_000;
// The one key of the queue that compares.
const everything = 'everything';

/** Makes the controller of all kinds; nothing happens before `start`. */
export function createController(deps: ControllerDeps): Controller {
  return new Manager(deps);
}

/** Starts and stops the kinds' controllers, lets them work while this process leads, and tells them of commits. */
class Manager implements Controller {
  readonly #deps: ControllerDeps;
  readonly #logger: Logger;
  readonly #kinds: readonly ManagedKind[];
  /** One comparison at a time, tried again until it succeeds. */
  readonly #comparisons: WorkQueue;
  readonly #leadership: Leadership;
  /** The kinds that work. */
  readonly #working = new Set<ManagedKind>();
  #isCandidate = false;
  #saidMissing = false;
  #unsubscribe: () => void = () => {};

  constructor(deps: ControllerDeps) {
    const { clock, metrics } = deps;
    const logger = deps.logger.child({ component: 'controller' });
    this.#deps = deps;
    this.#logger = logger;
    this.#comparisons = new WorkQueue({ clock, logger, workers: 1, process: async () => await this.#compare() });
    this.#leadership = this.#createLeadership();
    this.#kinds = this.#createKinds();
    const waiting = (): number => this.#kinds.reduce((sum, { queueLength }) => sum + queueLength, 0);
    // What a stand-by's queues hold is the leader's work.
    metrics.observeControllerQueue(() => (this.#leadership.isLeading ? waiting() : 0));
    metrics.observeLeadership(() => this.#leadership.isLeading);
    // Once for an installation, and by the process that keeps the statuses up to date.
    metrics.observeResources(
      () => resourceStates(this.#leadership.isLeading ? this.#watches() : []),
      () => clock.now(),
    );
  }

  #createLeadership(): Leadership {
    const { lease, clock, steadyNow, options } = this.#deps;
    const { namespace, random = Math.random } = options;
    const callbacks = { onLead: () => this.#work(), onLose: () => this.#rest() };
    return new Leadership({ lease, clock, steadyNow, logger: this.#logger, namespace, random, ...callbacks });
  }

  // All kinds are here, in the order in which they are told of commits.
  #createKinds(): ManagedKind[] {
    const { services, fingerprint, options } = this.#deps;
    const context = this.#createContext();
    const { kind: accessGrants, grants } = registerAccessGrant(context);
    const deps = { services, grants, cluster: () => options.clusterName ?? context.namespaces.clusterUid() };
    const { kind: serviceTokenKind, tokens: serviceTokens } = registerServiceToken(context, deps);
    const { kind: secretSnapshots, snapshots } = registerSecretSnapshot(context, deps);
    const rolloutsAllowed = options.rollouts ?? false;
    const syncDeps = { context, services, fingerprint, serviceTokens, snapshots, rolloutsAllowed };
    const { kind: secretSyncs, pins } = registerSecretSync(syncDeps);
    const { watches: snapshotWatches } = secretSnapshots;
    const restoreDeps = { ...deps, snapshots, snapshotWatches };
    const { kind: snapshotRestores, references: restores } = registerSnapshotRestore(context, restoreDeps);
    const references = allReferences([pins, restores, adoptionsOf(snapshots)]);
    return [
      // First: the comparison at the start finds then that none of them has been reconciled, and asks for nothing more.
      secretSyncs,
      accessGrants,
      registerSecretEnvironment(context, deps).kind,
      serviceTokenKind,
      secretSnapshots,
      snapshotRestores,
      registerSnapshotSchedule(context, { ...deps, fingerprint, snapshots, snapshotWatches, references }),
    ];
  }

  #createContext(): KindContext {
    const { clock, metrics, options } = this.#deps;
    const logger = this.#logger;
    const kube: KindContext['kube'] = {
      ...this.#leadership.guarded(this.#deps.kube),
      watch: async (call) => await this.#deps.kube.watch(call),
    };
    // What failed because the API server was away need not wait until its backoff has passed.
    const onRecovered = (): void => this.#comparisons.add(everything);
    return {
      kube,
      clock,
      logger,
      metrics,
      namespaces: new Namespaces({ client: kube, clock, logger, onRecovered }),
      shares: new NamespaceShares(),
      instance: hostname(),
      watchNamespaces: options.watchNamespaces,
      onWatchFailure: (failure) => {
        this.#sayMissing(failure);
        this.#leadIfSeeing();
      },
      onRecovered,
    };
  }

  start(): void {
    // Before anything is read, so that no commit can fall between.
    this.#unsubscribe = this.#deps.services.changes.subscribe({
      onEvent: (event) => {
        for (const kind of this.#kinds) kind.committed(event);
      },
      onReady: () => this.#comparisons.add(everything),
    });
    for (const { group } of this.#watches()) group.start();
    for (const kind of this.#kinds) void this.#joinWhenSynced(kind);
  }

  async stop(): Promise<void> {
    this.#unsubscribe();
    const drained = this.#kinds.map((kind) => kind.drain(drainLimitMs));
    await Promise.all([...drained, this.#comparisons.stop(drainLimitMs)]);
    // Not before: another one begins as soon as this one has given the Lease up.
    await this.#leadership.stop();
    const closed = this.#kinds.map((kind) => kind.close());
    await Promise.all([...closed, ...this.#watches().map(({ group }) => group.stop())]);
  }

  ready(): string | undefined {
    const watches = this.#watches();
    const missing = missingKinds(watches);
    if (missing.length > 0) return missingDefinitions(missing);
    const waiting = watches.find(({ group }) => !group.isSynced);
    if (waiting === undefined) return this.#leadership.fault;
    return isApiStatus(waiting.group.fault, 401, 403)
      ? `the API server does not let the controller list ${waiting.name}: apply the rules of charts/keyframe/files/ to its account`
      : `the first list of ${waiting.name} has not come from the API server yet`;
  }

  /** Each watch once, whichever kinds need it. */
  #watches(): readonly NamedWatch[] {
    return [...new Map(this.#kinds.flatMap(({ watches }) => watches).map((watch) => [watch.group, watch])).values()];
  }

  /** A list that never comes leaves this kind waiting, which hinders no other. */
  async #joinWhenSynced(kind: ManagedKind): Promise<void> {
    await Promise.all(kind.watches.map(({ group }) => group.synced));
    const watches = kind.watches.map(({ name }) => name).join(', ');
    this.#logger.info({ watches }, 'the controller has its first lists of a kind');
    this.#leadIfSeeing();
    if (this.#leadership.isLeading) this.#workOn(kind);
  }

  /** Who sees nothing must not lead; a kind that the cluster does not know yet hinders no other. */
  #leadIfSeeing(): void {
    const isSeen = ({ kind, group }: NamedWatch): boolean =>
      group.isSynced || (kind !== undefined && isApiStatus(group.fault, 404));
    if (this.#isCandidate || !this.#kinds.some(isSynced) || !this.#watches().every(isSeen)) return;
    this.#isCandidate = true;
    this.#leadership.start();
  }

  /** This process leads: everything is reconciled once, whatever was seen while another one did the work. */
  #work(): void {
    // Before the first reconcile: a comparison has then nothing to ask for.
    this.#comparisons.start();
    for (const kind of this.#kinds.filter(isSynced)) this.#workOn(kind);
    this.#comparisons.addAfter(everything, this.#resyncDelayMs());
  }

  /** Once for each time of leading: a kind whose lists came at this moment is asked for in two ways. */
  #workOn(kind: ManagedKind): void {
    if (this.#working.has(kind)) return;
    this.#working.add(kind);
    kind.work();
  }

  /** It leads no more: the watches go on, so that it can begin at once when its turn comes. */
  #rest(): void {
    this.#working.clear();
    for (const kind of this.#kinds) kind.pause();
    this.#comparisons.pause();
  }

  async #compare(): Promise<Next> {
    for (const kind of this.#kinds) await kind.compare();
    return { kind: 'after', delayMs: this.#resyncDelayMs() };
  }

  // A tenth to either side, so that replicas do not all ask at once.
  #resyncDelayMs(): number {
    const { resyncIntervalMs, random = Math.random } = this.#deps.options;
    return resyncIntervalMs * (0.9 + 0.2 * random());
  }

  /** Says once which definitions are missing, and again only after all were there. */
  #sayMissing(failure: FailureKind): void {
    const missing = missingKinds(this.#watches());
    if (missing.length === 0) this.#saidMissing = false;
    else if (failure === 'missing' && !this.#saidMissing) {
      this.#saidMissing = true;
      this.#logger.error(missingDefinitions(missing));
    }
  }
}

function isSynced({ watches }: ManagedKind): boolean {
  return watches.every(({ group }) => group.isSynced);
}

/** The kinds of ours that the cluster does not know. */
function missingKinds(watches: readonly NamedWatch[]): string[] {
  return watches
    .filter(({ group }) => isApiStatus(group.fault, 404))
    .flatMap(({ kind }) => (kind === undefined ? [] : [kind.kind]));
}

function missingDefinitions(kinds: readonly string[]): string {
  return `the cluster does not know ${kinds.join(', ')} (${keyframeApiVersion}): apply the custom resource definitions with \`kubectl apply -f crds/\``;
}
