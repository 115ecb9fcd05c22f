import { fingerprintOfCluster } from '../../../src/lib/set-fingerprint.ts';
import type { ConnectBackend } from '../../../src/controller/backend/backend.ts';
import { type Controller, createController } from '../../../src/controller/index.ts';
import type { SourcesBackend } from '../../../src/controller/backend/sources.ts';
import type { Condition } from '../../../src/controller/generated/condition.ts';
import type { SecretSync, SecretSyncStatus } from '../../../src/controller/generated/secret-sync.ts';
import type { Hello, HelloAnswer, NameHolder } from '../../../src/domain/clusters.ts';
import type { DomainError } from '../../../src/domain/errors/domain-error.ts';
import { createLogger } from '../../../src/observability/logger.ts';
import { ReadsRoom } from '../../../src/http/cluster/reads-room.ts';
import { ClusterSources } from '../../../src/services/cluster/sources.ts';
import type { PortAdapter } from '../../support/api/adapters.ts';
import { fingerprintKeyFor, secretSync, type SyncOptions } from './builders.ts';
import { type AnyObject, FakeCluster } from './fake-cluster.ts';
import { FakeClock, settled } from './fake-clock.ts';
import { FakeLease } from './fake-lease.ts';
import { overTheWire } from './wire-backend.ts';
import { FakeServices, noResources, type ResourcesBackend, serviceToken } from './fake-services.ts';

export const secrets = '/api/v1/namespaces/ns/secrets';
export const syncs = '/apis/keyframe.dev/v1alpha1/namespaces/ns/secretsyncs';
export const prod = 'acme/web/prod';

/** The calls of a reconcile that changes a Secret whose content is known. */
export const shortestChange = [`GET ${secrets}/token`, `PUT ${secrets}/app`, `PATCH ${syncs}/app/status`];

/** Which cluster has which name. */
export interface FakeClusters {
  readonly claim: (cluster: string, uid: string) => Promise<NameHolder | 'ours'>;
}

export interface HarnessOptions {
  /** Those of another harness, as after a restart or beside another controller. */
  readonly cluster?: FakeCluster;
  readonly services?: FakeServices;
  readonly watchNamespaces?: readonly string[];
  readonly targetMetadataPrefixes?: readonly string[];
  /** Memory for the reads of SecretSyncs; default: that of the process. */
  readonly reconcileBytes?: number | undefined;
  /** Which cluster has the name of the harness's; default: this one. */
  readonly clusters?: FakeClusters;
  /** The configured name of the cluster, or `uid` for the uid of its namespace kube-system; default: test. */
  readonly clusterName?: string;
  /** Whether workloads may be restarted; false by default. */
  readonly rollouts?: boolean;
  /** For the kinds that act in their own name. */
  readonly resources?: ResourcesBackend;
  /** Whether answers have the values, as over a network. */
  readonly hasValuesInAnswers?: boolean;
}

/** A controller on a cluster and services in memory, with a clock of the test's own. */
export class Harness {
  static #adapter: PortAdapter = 'in process';

  /** Controllers that are made during the run reach the services with this adapter. */
  static async reaching<T>(adapter: PortAdapter, run: () => Promise<T>): Promise<T> {
    Harness.#adapter = adapter;
    try {
      return await run();
    } finally {
      Harness.#adapter = 'in process';
    }
  }

  readonly cluster: FakeCluster;
  readonly services: FakeServices;
  readonly clock = new FakeClock();
  readonly logs: Record<string, unknown>[] = [];
  readonly reconciled: string[] = [];
  readonly writes: string[] = [];
  readonly stateReports: string[] = [];
  /** The metric keyframe_controller_leader. */
  isLeading = (): boolean => false;
  /** Of the cluster, in the answers to hellos. */
  clusterState: HelloAnswer['state'] = 'enabled';
  /** Whether the cluster is one of the installation, in the answers to hellos. */
  isHome = true;
  /** Each hello of the controller. */
  readonly hellos: Hello[] = [];
  /** Thrown instead of an answer. */
  helloRefusal: DomainError | undefined;
  /** Answers to hellos wait for it. */
  helloGate: Promise<void> | undefined;
  /** The metric keyframe_controller_clock_skew_seconds. */
  clockSkewMs = (): number => 0;
  /** How far the database's clock is ahead of that of the test. */
  serverAheadMs = 0;
  readonly lease = new FakeLease(this.clock);
  readonly controller: Controller;

  constructor(options: HarnessOptions = {}) {
    const { cluster = new FakeCluster(), services = new FakeServices(), clusterName = 'test' } = options;
    const { watchNamespaces = [], targetMetadataPrefixes = [], reconcileBytes, rollouts = false } = options;
    this.cluster = cluster;
    this.services = services;
    this.controller = createController({
      kube: this.cluster,
      connect: this.#connectTo(options),
      logger: createLogger('debug', { write: (line: string) => void this.logs.push(JSON.parse(line)) }),
      clock: this.clock,
      steadyNow: () => this.clock.now(),
      lease: this.lease,
      metrics: {
        reconciled: (_, result) => void this.reconciled.push(result),
        secretWrite: (operation, result) => void this.writes.push(`${operation} ${result}`),
        orphanedTokenSuspended: () => {},
        syncStatesReported: (result) => void this.stateReports.push(result),
        observeControllerQueue: () => {},
        observeLeadership: (isLeading) => void (this.isLeading = isLeading),
        observeClockSkew: (skewMs) => void (this.clockSkewMs = skewMs),
        observeDeniedWatches: () => {},
        observeResources: () => {},
      },
      options: {
        resyncIntervalMs: 600_000,
        watchNamespaces,
        targetMetadataPrefixes,
        reconcileBytes,
        rollouts,
        namespace: 'system',
        clusterName: clusterName === 'uid' ? undefined : clusterName,
        random: () => 0.5,
      },
    });
  }

  /** The services in memory, with the adapter of the run. */
  #connectTo({
    resources = noResources,
    clusters = { claim: () => Promise.resolve('ours') },
    hasValuesInAnswers = false,
  }: HarnessOptions): ConnectBackend {
    const { services, clock } = this;
    const connect: ConnectBackend = (nameOf) => ({
      ...resources,
      cluster: { hello: async (hello) => await this.#hello(clusters, nameOf(), hello) },
      changes: services.changes,
      sources: sourcesOf(new ClusterSources(services.sourcesDeps(nameOf)), hasValuesInAnswers),
      fleet: services,
      fingerprint: fingerprintOfCluster(fingerprintKeyFor, nameOf),
    });
    if (Harness.#adapter === 'in process') return connect;
    return overTheWire(connect, { clock, isHome: () => this.isHome, hasGreeted: () => this.hellos.length > 0 });
  }

  async #hello(clusters: FakeClusters, name: string, hello: Hello): Promise<HelloAnswer> {
    const { uid, isLeading } = hello;
    this.hellos.push(hello);
    await this.helloGate;
    if (this.helloRefusal !== undefined) throw this.helloRefusal;
    const claimed = isLeading ? await clusters.claim(name, uid) : 'ours';
    const now = new Date(this.clock.now() + this.serverAheadMs);
    return { state: this.clusterState, holder: claimed === 'ours' ? undefined : claimed, isHome: this.isHome, now };
  }

  /** An environment, a token for it in the Secret `token`, and the SecretSync ns/app, all in step. */
  async synced(options: SyncOptions = {}): Promise<void> {
    this.services.create(prod, 'env', { A: 'alpha', B: 'beta' });
    this.services.tokens.set('kf_svc_good', serviceToken('good'));
    this.putToken('kf_svc_good');
    this.putSync(options);
    await this.start();
    this.cluster.takeCalls();
    this.reconciled.splice(0);
  }

  async start(): Promise<void> {
    this.controller.start();
    this.services.ready();
    await settled();
  }

  /** Makes the SecretSync, or changes its spec as a user does: with a new generation. */
  putSync(options: SyncOptions = {}): void {
    const { metadata, spec } = secretSync(options);
    this.cluster.put(syncs, metadata.name, (object) => {
      object['spec'] = spec;
    });
  }

  putToken(token: string, name = 'token'): void {
    this.cluster.put(secrets, name, (secret) => {
      secret['data'] = { token: Buffer.from(token).toString('base64') };
    });
  }

  /** Changes the target as someone else. */
  edit(change: (secret: AnyObject) => void, name = 'app'): void {
    this.cluster.put(secrets, name, change);
  }

  /** Lets everything happen that follows from what was done, and answers the calls it made. */
  async calls(): Promise<string[]> {
    await settled();
    return this.cluster.takeCalls();
  }

  target(name = 'app'): AnyObject | undefined {
    return this.cluster.get(`${secrets}/${name}`);
  }

  /** The target's values; undefined where there is no target. */
  values(name = 'app'): Record<string, string> | undefined {
    const data = this.target(name)?.['data'] as Record<string, string> | undefined;
    if (this.target(name) === undefined) return undefined;
    return Object.fromEntries(
      Object.entries(data ?? {}).map(([key, value]) => [key, Buffer.from(value, 'base64').toString()]),
    );
  }

  status(name = 'app'): SecretSyncStatus {
    return (this.cluster.get(`${syncs}/${name}`) as unknown as SecretSync | undefined)?.status ?? {};
  }

  ready(name = 'app'): Condition | undefined {
    return this.status(name).conditions?.find(({ type }) => type === 'Ready');
  }
}

/** With values in the answers, nothing else must be asked for. */
function sourcesOf(sources: ClusterSources, hasValuesInAnswers: boolean): SourcesBackend {
  if (!hasValuesInAnswers) return sources;
  const unexpected = (): Promise<never> => Promise.reject(new Error('values were asked for that the answer has'));
  return {
    read: (question) => sources.readForAnswer(question, new ReadsRoom()),
    find: unexpected,
    values: unexpected,
  };
}
