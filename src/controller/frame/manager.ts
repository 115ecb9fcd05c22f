import { hostname } from 'node:os';
import type { ChangeFeed } from '../../services/changes/change-feed.ts';
import type { ClusterRegistry } from '../../services/managed/cluster-registry.ts';
import { isApiStatus } from '../../kube/client/api-error.ts';
import type { KubeClient } from '../../kube/client/client.ts';
import type { Lease } from '../../kube/lease.ts';
import type { FailureKind } from '../../kube/informer/watch-failure.ts';
import type { Clock, SteadyNow } from '../../lib/clock.ts';
import type { Logger } from '../../observability/logger.ts';
import type { Metrics } from '../../observability/metrics.ts';
import { controllerEvents } from './change-events.ts';
import { ClusterClaim } from './cluster-claim.ts';
import { EventLog } from './event-log.ts';
import { resourceStates } from './resource-states.ts';
import { Leadership } from './leadership.ts';
import type { KindContext, ManagedKind } from './managed-kind.ts';
import { NamespaceShares } from './namespace-shares.ts';
import { Namespaces } from './namespaces.ts';
import { type Next, WorkQueue } from './work-queue.ts';
import { type NamedWatch, definitionsMissing, watchDenied } from './named-watch.ts';

export interface ManagerDeps {
  readonly kube: Pick<KubeClient, 'request' | 'watch'>;
  readonly changes: Pick<ChangeFeed, 'subscribe'>;
  readonly logger: Logger;
  readonly clock: Clock;
  readonly steadyNow: SteadyNow;
  readonly clusters: Pick<ClusterRegistry, 'claim'>;
  /** Of all controllers of an installation, the one that holds it works. */
  readonly lease: Pick<Lease, 'attempt' | 'release'>;
  readonly metrics: Pick<
    Metrics,
    | 'reconciled'
    | 'secretWrite'
    | 'orphanedTokenSuspended'
    | 'observeControllerQueue'
    | 'observeLeadership'
    | 'observeDeniedWatches'
    | 'observeResources'
  >;
  readonly options: ManagerOptions;
}

export interface ManagerOptions {
  /** How often everything is compared with the database although no event asked for it. */
  readonly resyncIntervalMs: number;
  /** Empty for all namespaces. */
  readonly watchNamespaces: readonly string[];
  /** The controller's own, where its Lease is. */
  readonly namespace: string;
  /** What the database knows the cluster by; undefined for the uid of its namespace kube-system. */
  readonly clusterName?: string | undefined;
  readonly random?: () => number;
}

export interface Controller {
  /** Begins to watch and, while it leads, to reconcile; does not wait for either. */
  start(): void;
  /** Lets reconciles under way finish, for a while, gives up the Lease and ends the watches. */
  stop(): Promise<void>;
  /** Why the controller neither works nor stands by yet, and what to do; undefined when it does. */
  ready(): string | undefined;
  /** What an operator should look at although the controller works. */
  warnings(): readonly string[];
}

const drainLimitMs = 10_000;
// The one key of the queue that compares.
const everything = 'everything';

/** Starts and stops the kinds' controllers, lets them work while this process leads, and passes commits to them. */
export class Manager implements Controller {
  readonly #deps: ManagerDeps;
  readonly #logger: Logger;
  readonly #events = new EventLog();
  readonly #kinds: readonly ManagedKind[];
  /** One comparison at a time, tried again until it succeeds. */
  readonly #resyncs: WorkQueue;
  readonly #leadership: Leadership;
  readonly #claim: ClusterClaim;
  /** The kinds that work. */
  readonly #leading = new Set<ManagedKind>();
  #isCandidate = false;
  #loggedMissing = false;
  /** The watches whose denial has been logged. */
  #loggedDenied: readonly string[] = [];
  #unsubscribe: () => void = () => {};

  /** `register` makes all kinds, in the order in which they are resynced. Nothing happens before `start`. */
  constructor(deps: ManagerDeps, register: (context: KindContext) => readonly ManagedKind[]) {
    const { clock, metrics } = deps;
    const logger = deps.logger.child({ component: 'controller' });
    this.#deps = deps;
    this.#logger = logger;
    this.#resyncs = new WorkQueue({ clock, logger, workers: 1, process: async () => await this.#resync() });
    this.#leadership = this.#createLeadership();
    const context = this.#createContext();
    this.#claim = new ClusterClaim({
      registry: deps.clusters,
      name: deps.options.clusterName,
      uid: () => context.namespaces.clusterUid(),
      onChange: (mayWork) => (mayWork ? this.#startKinds() : this.#stopKinds()),
      clock,
      logger,
    });
    this.#kinds = register(context);
    const waiting = (): number => this.#kinds.reduce((sum, { queueLength }) => sum + queueLength, 0);
    // What a stand-by's queues hold is the leader's work.
    metrics.observeControllerQueue(() => (this.#leadership.isLeading ? waiting() : 0));
    metrics.observeLeadership(() => this.#leadership.isLeading);
    metrics.observeDeniedWatches(() => this.#denied());
    // Once for an installation, and by the process that keeps the statuses up to date.
    metrics.observeResources(
      () => resourceStates(this.#leadership.isLeading ? this.#watches() : []),
      () => clock.now(),
    );
  }

  #createLeadership(): Leadership {
    const { lease, clock, steadyNow, options } = this.#deps;
    const { namespace, random = Math.random } = options;
    const callbacks = { onLead: () => this.#claim.start(), onLose: () => this.#claim.pause() };
    return new Leadership({ lease, clock, steadyNow, logger: this.#logger, namespace, random, ...callbacks });
  }

  #createContext(): KindContext {
    const { clock, metrics, options } = this.#deps;
    const logger = this.#logger;
    const kube: KindContext['kube'] = {
      ...this.#leadership.guarded(this.#deps.kube),
      watch: async (call) => await this.#deps.kube.watch(call),
    };
    // What failed because the API server was away need not wait until its backoff has passed.
    const onRecovered = (): void => this.#resyncs.add(everything);
    return {
      kube,
      events: this.#events,
      clock,
      logger,
      metrics,
      namespaces: new Namespaces({ client: kube, clock, logger, onRecovered }),
      hasName: async () => await this.#claim.confirm(),
      shares: new NamespaceShares(),
      instance: hostname(),
      watchNamespaces: options.watchNamespaces,
      onWatchFailure: (failure) => {
        this.#logMissing(failure);
        this.#logDenied();
        this.#campaignIfSynced();
      },
      onRecovered,
    };
  }

  start(): void {
    // Before anything is read, so that no commit can fall between.
    this.#unsubscribe = this.#deps.changes.subscribe({
      onEvent: (change) => {
        for (const event of controllerEvents(change)) this.#events.publish(event);
      },
      onReady: () => {
        // What was committed before was not reported.
        this.#events.markGap();
        this.#resyncs.add(everything);
      },
    });
    for (const { group } of this.#watches()) group.start();
    for (const kind of this.#kinds) void this.#startWhenSynced(kind);
    for (const { group } of this.#watches()) void this.#campaignWhenSynced(group);
  }

  async stop(): Promise<void> {
    this.#unsubscribe();
    const drained = this.#kinds.map((kind) => kind.drain(drainLimitMs));
    await Promise.all([...drained, this.#resyncs.stop(drainLimitMs), this.#claim.stop(drainLimitMs)]);
    // Not before: another one begins as soon as this one has given the Lease up.
    await this.#leadership.stop();
    const closed = this.#kinds.map((kind) => kind.close());
    await Promise.all([...closed, ...this.#watches().map(({ group }) => group.stop())]);
  }

  ready(): string | undefined {
    const watches = this.#watches();
    const missing = missingKinds(watches);
    if (missing.length > 0) return definitionsMissing(missing);
    const waiting = watches.find(({ group }) => !group.isSynced && !isDenied(group));
    if (waiting !== undefined) return `the first list of ${waiting.name} has not come from the API server yet`;
    // A kind that is denied is off; others work all the same.
    if (!this.#kinds.some(isSynced)) return watchDenied(this.#denied());
    return this.#leadership.error ?? this.#claim.error;
  }

  warnings(): readonly string[] {
    const denied = this.#denied();
    return denied.length === 0 ? [] : [deniedWarning(denied)];
  }

  /** The names of the watches that the API server does not allow. */
  #denied(): string[] {
    return this.#watches()
      .filter(({ group }) => !group.isSynced && isDenied(group))
      .map(({ name }) => name);
  }

  /** Each watch once, whichever kinds need it. */
  #watches(): readonly NamedWatch[] {
    return [...new Map(this.#kinds.flatMap(({ watches }) => watches).map((watch) => [watch.group, watch])).values()];
  }

  /** A list that never comes leaves this kind waiting, which hinders no other. */
  async #startWhenSynced(kind: ManagedKind): Promise<void> {
    await kind.watch.group.synced;
    this.#logger.info({ watch: kind.watch.name }, 'the controller has its first list of a kind');
    if (this.#leadership.isLeading && this.#claim.mayWork) this.#startKind(kind);
  }

  async #campaignWhenSynced({ synced }: NamedWatch['group']): Promise<void> {
    await synced;
    this.#campaignIfSynced();
  }

  /** A process that sees nothing must not lead. A kind that the cluster does not know yet, or that is denied, hinders no other. */
  #campaignIfSynced(): void {
    const isSeen = ({ kind, group }: NamedWatch): boolean =>
      group.isSynced || isApiStatus(group.error, 403) || (kind !== undefined && isApiStatus(group.error, 404));
    if (this.#isCandidate || !this.#kinds.some(isSynced) || !this.#watches().every(isSeen)) return;
    this.#isCandidate = true;
    this.#leadership.start();
  }

  /** This process leads, under a name that is its cluster's: everything is reconciled once, whatever was seen before. */
  #startKinds(): void {
    // Before the first reconcile: a comparison has then nothing to ask for.
    this.#resyncs.start();
    for (const kind of this.#kinds.filter(isSynced)) this.#startKind(kind);
    this.#resyncs.addAfter(everything, this.#resyncDelayMs());
  }

  /** Once for each time of leading: a kind whose lists came at this moment is asked for in two ways. */
  #startKind(kind: ManagedKind): void {
    if (this.#leading.has(kind)) return;
    this.#leading.add(kind);
    kind.startLeading();
  }

  /** The watches go on, so that it can begin at once when its turn comes. */
  #stopKinds(): void {
    this.#leading.clear();
    for (const kind of this.#kinds) kind.stopLeading();
    this.#resyncs.pause();
  }

  async #resync(): Promise<Next> {
    for (const kind of this.#kinds) await kind.resync();
    return { kind: 'after', delayMs: this.#resyncDelayMs() };
  }

  // A tenth to either side, so that replicas do not all ask at once.
  #resyncDelayMs(): number {
    const { resyncIntervalMs, random = Math.random } = this.#deps.options;
    return resyncIntervalMs * (0.9 + 0.2 * random());
  }

  /** Logs which watches are denied, once for each set of them. */
  #logDenied(): void {
    const denied = this.#denied();
    if (denied.some((name) => !this.#loggedDenied.includes(name))) {
      this.#logger.error(deniedWarning(denied));
    }
    this.#loggedDenied = denied;
  }

  /** Says once which definitions are missing, and again only after all were there. */
  #logMissing(failure: FailureKind): void {
    const missing = missingKinds(this.#watches());
    if (missing.length === 0) this.#loggedMissing = false;
    else if (failure === 'missing' && !this.#loggedMissing) {
      this.#loggedMissing = true;
      this.#logger.error(definitionsMissing(missing));
    }
  }
}

function isSynced({ watch: { group } }: ManagedKind): boolean {
  return group.isSynced;
}

function deniedWarning(names: readonly string[]): string {
  return `${watchDenied(names)}; until then, what needs them is off`;
}

function isDenied({ error }: NamedWatch['group']): boolean {
  return isApiStatus(error, 401, 403);
}

/** The kinds of ours that the cluster does not know. */
function missingKinds(watches: readonly NamedWatch[]): string[] {
  return watches
    .filter(({ group }) => isApiStatus(group.error, 404))
    .flatMap(({ kind }) => (kind === undefined ? [] : [kind.kind]));
}
