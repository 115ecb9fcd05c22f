import { hostname } from 'node:os';
import { isApiStatus } from '../../kube/client/api-error.ts';
import type { KubeClient } from '../../kube/client/client.ts';
import type { Lease } from '../../kube/lease.ts';
import type { FailureKind } from '../../kube/informer/watch-failure.ts';
import type { Clock, SteadyNow } from '../../lib/clock.ts';
import type { Logger } from '../../observability/logger.ts';
import type { Metrics } from '../../observability/metrics.ts';
import type { Backend, ConnectBackend } from '../backend/backend.ts';
import { clusterEvent, controllerEvents } from './change-events.ts';
import { ClusterClaim } from './cluster-claim.ts';
import { ClusterIssuerReader } from './cluster-issuer.ts';
import { EventLog } from './event-log.ts';
import { resourceStates } from './resource-states.ts';
import { Leadership } from './leadership.ts';
import type { KindContext, ManagedKind } from './managed-kind.ts';
import { definitionsMissing, featuresDisabled, firstListMissing, firstListReceived, watchDenied } from './messages.ts';
import { NamespaceShares } from './namespace-shares.ts';
import { Namespaces } from './namespaces.ts';
import { ServerClock } from './server-clock.ts';
import { type Next, WorkQueue } from './work-queue.ts';
import type { NamedWatch } from './named-watch.ts';

export interface ManagerDeps {
  readonly kube: Pick<KubeClient, 'request' | 'watch'>;
  readonly connect: ConnectBackend;
  /** Whether this process could work if it led; default true. While it could not, it does not lead. */
  readonly mayLead?: () => boolean;
  readonly logger: Logger;
  readonly clock: Clock;
  readonly steadyNow: SteadyNow;
  /** Only the controller that holds the Lease works. */
  readonly lease: Pick<Lease, 'attempt' | 'release'>;
  readonly metrics: Pick<
    Metrics,
    | 'reconciled'
    | 'secretWrite'
    | 'orphanedTokenSuspended'
    | 'syncStatesReported'
    | 'observeControllerQueue'
    | 'observeLeadership'
    | 'observeClockSkew'
    | 'observeDeniedWatches'
    | 'observeResources'
  >;
  readonly options: ManagerOptions;
}

export interface ManagerOptions {
  /** How often everything is compared with the database without an event. */
  readonly resyncIntervalMs: number;
  /** Empty for all namespaces. */
  readonly watchNamespaces: readonly string[];
  /** The controller's namespace, which contains its Lease. */
  readonly namespace: string;
  /** The cluster's name in the database; undefined for the uid of its namespace kube-system. */
  readonly clusterName?: string | undefined;
  readonly random?: () => number;
}

export interface Controller {
  /** Starts to watch and, while it leads, to reconcile. Does not wait. */
  start(): void;
  /** Waits for reconciles in progress, up to a limit, releases the Lease and ends the watches. */
  stop(): Promise<void>;
  /** Why the controller neither works nor stands by, and what to do; undefined if it does. */
  ready(): string | undefined;
  /** Problems that an operator should solve although the controller works. */
  warnings(): readonly string[];
}

const drainLimitMs = 10_000;
// The resync queue has only this key.
const everything = 'everything';

/** Starts and stops the controllers of all kinds. They work while this process leads. Publishes commits as events. */
export class Manager implements Controller {
  readonly #deps: ManagerDeps;
  readonly #backend: Backend;
  readonly #logger: Logger;
  readonly #events = new EventLog();
  readonly #kinds: readonly ManagedKind[];
  /** Runs one resync at a time and retries it until it succeeds. */
  readonly #resyncs: WorkQueue;
  readonly #leadership: Leadership;
  readonly #claim: ClusterClaim;
  readonly #serverClock: ServerClock;
  readonly #stepListeners: (() => void)[] = [];
  /** The kinds that have been started. */
  readonly #leading = new Set<ManagedKind>();
  #isCandidate = false;
  #loggedMissing = false;
  /** The watches whose denial has been logged. */
  #loggedDenied: readonly string[] = [];
  #unsubscribe: () => void = () => {};

  /** `register` makes all kinds, in the order in which they are resynced. Nothing happens before `start`. */
  constructor(deps: ManagerDeps, register: (context: KindContext, backend: Backend) => readonly ManagedKind[]) {
    const { clock, steadyNow, metrics } = deps;
    const logger = deps.logger.child({ component: 'controller' });
    this.#deps = deps;
    this.#logger = logger;
    this.#resyncs = new WorkQueue({ clock, logger, workers: 1, process: async () => await this.#resync() });
    const onStep = (): void => {
      for (const listener of this.#stepListeners) listener();
    };
    this.#serverClock = new ServerClock({ clock, steadyNow, logger, onStep });
    this.#leadership = this.#createLeadership();
    const context = this.#createContext();
    this.#backend = deps.connect(() => deps.options.clusterName ?? context.namespaces.clusterUid());
    this.#claim = new ClusterClaim({
      backend: this.#backend.cluster,
      name: deps.options.clusterName,
      uid: () => context.namespaces.clusterUid(),
      kinds: () => this.#kindNames(),
      issuer: new ClusterIssuerReader({ kube: deps.kube, logger }),
      onChange: (mayWork) => (mayWork ? this.#startKinds() : this.#stopKinds()),
      onState: (state) => this.#events.publish(clusterEvent(state)),
      serverClock: this.#serverClock,
      clock,
      steadyNow,
      logger,
    });
    this.#kinds = register(context, this.#backend);
    const waiting = (): number => this.#kinds.reduce((sum, { queueLength }) => sum + queueLength, 0);
    // The leader processes what waits in the queues of a standby.
    metrics.observeControllerQueue(() => (this.#leadership.isLeading ? waiting() : 0));
    // A controller whose name belongs to another cluster holds the Lease, but does no work.
    metrics.observeLeadership(() => this.#claim.mayWork);
    metrics.observeClockSkew(() => this.#serverClock.skewMs);
    metrics.observeDeniedWatches(() => this.#denied());
    // Only the leader reports these, because it writes the statuses.
    metrics.observeResources(
      () => resourceStates(this.#leadership.isLeading ? this.#watches() : []),
      () => this.#serverClock.now(),
    );
  }

  #createLeadership(): Leadership {
    const { lease, clock, steadyNow, options } = this.#deps;
    const { namespace, random = Math.random } = options;
    const callbacks = {
      mayLead: () => this.#mayLead(),
      onLead: () => this.#claim.lead(),
      onLose: () => this.#claim.standBy(),
    };
    return new Leadership({ lease, clock, steadyNow, logger: this.#logger, namespace, random, ...callbacks });
  }

  #mayLead(): boolean {
    return this.#deps.mayLead?.() ?? true;
  }

  #createContext(): KindContext {
    const { clock, metrics, options } = this.#deps;
    const logger = this.#logger;
    const kube: KindContext['kube'] = {
      ...this.#leadership.guarded(this.#deps.kube),
      watch: async (call) => await this.#deps.kube.watch(call),
    };
    // After an outage of the API server, failed reconciles are retried without waiting for their backoff.
    const onRecovered = (): void => this.#resyncs.add(everything);
    return {
      kube,
      events: this.#events,
      clock,
      serverNow: () => this.#serverClock.now(),
      onServerStep: (listener) => void this.#stepListeners.push(listener),
      logger,
      metrics,
      namespaces: new Namespaces({ client: kube, clock, logger, onRecovered }),
      hasName: async () => await this.#claim.confirm(),
      isHome: () => this.#claim.isHome,
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
    // Before anything is read, so that no commit is missed.
    this.#unsubscribe = this.#backend.changes.subscribe({
      onEvent: (change) => {
        for (const event of controllerEvents(change)) this.#events.publish(event);
        if (change.kind === 'cluster') this.#claim.hello();
      },
      onReady: () => {
        // Earlier commits may not have been reported.
        this.#events.markGap();
        this.#resyncs.add(everything);
      },
    });
    for (const { group } of this.#watches()) group.start();
    this.#claim.start();
    for (const kind of this.#kinds) void this.#startWhenSynced(kind);
    for (const { group } of this.#watches()) void this.#campaignWhenSynced(group);
  }

  async stop(): Promise<void> {
    this.#unsubscribe();
    const drained = this.#kinds.map((kind) => kind.drain(drainLimitMs));
    await Promise.all([...drained, this.#resyncs.stop(drainLimitMs), this.#claim.stop(drainLimitMs)]);
    // Last, because another controller starts as soon as the Lease is released.
    await this.#leadership.stop();
    const closed = this.#kinds.map((kind) => kind.close());
    await Promise.all([...closed, ...this.#watches().map(({ group }) => group.stop())]);
  }

  ready(): string | undefined {
    const watches = this.#watches();
    const missing = missingKinds(watches);
    if (missing.length > 0) return definitionsMissing(missing);
    const waiting = watches.find(({ group }) => !group.isSynced && !isDenied(group));
    if (waiting !== undefined) return firstListMissing(waiting.name);
    // A denied kind is disabled, but the other kinds work.
    if (!this.#kinds.some(isSynced)) return watchDenied(this.#denied());
    // A process that may not lead does not read the Lease.
    return this.#claim.error ?? (this.#mayLead() ? this.#leadership.error : undefined);
  }

  warnings(): readonly string[] {
    const denied = this.#denied();
    const found = [
      denied.length === 0 ? undefined : featuresDisabled(denied),
      this.#claim.warning,
      this.#serverClock.warning,
    ];
    return found.filter((warning) => warning !== undefined);
  }

  /** The kinds that this controller reconciles, or would as the leader. */
  #kindNames(): string[] {
    return this.#kinds.filter(isSynced).flatMap(({ watch: { kind } }) => (kind === undefined ? [] : [kind.kind]));
  }

  /** The names of the watches that the API server does not allow. */
  #denied(): string[] {
    return this.#watches()
      .filter(({ group }) => !group.isSynced && isDenied(group))
      .map(({ name }) => name);
  }

  /** All watches, without duplicates. */
  #watches(): readonly NamedWatch[] {
    return [...new Map(this.#kinds.flatMap(({ watches }) => watches).map((watch) => [watch.group, watch])).values()];
  }

  /** A kind whose list never comes waits without blocking the others. */
  async #startWhenSynced(kind: ManagedKind): Promise<void> {
    await kind.watch.group.synced;
    this.#logger.info({ watch: kind.watch.name }, firstListReceived);
    if (this.#leadership.isLeading && this.#claim.mayWork) this.#startKind(kind);
  }

  async #campaignWhenSynced({ synced }: NamedWatch['group']): Promise<void> {
    await synced;
    this.#campaignIfSynced();
  }

  /** A process without lists must not lead. A kind whose definition is missing, or that is denied, does not block the others. */
  #campaignIfSynced(): void {
    const isSettled = ({ kind, group }: NamedWatch): boolean =>
      group.isSynced || isApiStatus(group.error, 403) || (kind !== undefined && isApiStatus(group.error, 404));
    if (this.#isCandidate || !this.#kinds.some(isSynced) || !this.#watches().every(isSettled)) return;
    this.#isCandidate = true;
    // The uid of the cluster is known now.
    this.#claim.hello();
    this.#leadership.start();
  }

  /** This process leads, and the name belongs to its cluster: everything is reconciled once. */
  #startKinds(): void {
    // Before the first reconcile, so that a resync finds no result to compare.
    this.#resyncs.start();
    for (const kind of this.#kinds.filter(isSynced)) this.#startKind(kind);
    this.#resyncs.addAfter(everything, this.#resyncDelayMs());
  }

  /** Starts a kind once in each term. It can be called twice if the kind's list comes at the start of the term. */
  #startKind(kind: ManagedKind): void {
    if (this.#leading.has(kind)) return;
    this.#leading.add(kind);
    kind.startLeading();
  }

  /** The watches continue, so that this process can take over at once. */
  #stopKinds(): void {
    this.#leading.clear();
    for (const kind of this.#kinds) kind.stopLeading();
    this.#resyncs.pause();
  }

  async #resync(): Promise<Next> {
    for (const kind of this.#kinds) await kind.resync();
    return { kind: 'after', delayMs: this.#resyncDelayMs() };
  }

  // 10 percent, so that replicas do not all resync at the same time.
  #resyncDelayMs(): number {
    const { resyncIntervalMs, random = Math.random } = this.#deps.options;
    return resyncIntervalMs * (0.9 + 0.2 * random());
  }

  /** Logs denied watches when a new one is denied. */
  #logDenied(): void {
    const denied = this.#denied();
    if (denied.some((name) => !this.#loggedDenied.includes(name))) {
      this.#logger.error(featuresDisabled(denied));
    }
    this.#loggedDenied = denied;
  }

  /** Logs missing definitions once, and again only after all were present. */
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

function isDenied({ error }: NamedWatch['group']): boolean {
  return isApiStatus(error, 401, 403);
}

/** Keyframe's kinds that the cluster does not know. */
function missingKinds(watches: readonly NamedWatch[]): string[] {
  return watches
    .filter(({ group }) => isApiStatus(group.error, 404))
    .flatMap(({ kind }) => (kind === undefined ? [] : [kind.kind]));
}
