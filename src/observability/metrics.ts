import { Counter, Gauge, Histogram, Registry, collectDefaultMetrics } from 'prom-client';
import { type DatabaseFigures, DatabaseMetrics } from './database-metrics.ts';
import { ResourceMetrics, type ResourceStates } from './resource-metrics.ts';

/** Connections of the database pool, as `pg` counts them. */
export interface PoolCounts {
  readonly totalCount: number;
  readonly idleCount: number;
  readonly waitingCount: number;
}

export interface HttpRequestObservation {
  readonly method: string;
  /** The route's template, such as `/api/v1/me`; never the path, which would make a series for each name in it. */
  readonly route: string;
  readonly status: number;
  readonly durationMs: number;
}

export type SecretOperation = 'create' | 'replace' | 'apply' | 'delete' | 'repair';

const latencyBucketsSeconds = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];

/**
 * All metrics of one process, in one registry. No label contains a value, a token or a key of a secret. The only names in
 * labels are those of custom resources and their namespaces.
 */
export class Metrics {
  readonly #registry = new Registry();
  readonly #httpRequests: Histogram<'method' | 'route' | 'status'>;
  readonly #authenticationFailures: Counter<'fault'>;
  readonly #rateLimited: Counter<'limit'>;
  readonly #reconciles: Histogram<'kind' | 'result'>;
  readonly #secretWrites: Counter<'operation' | 'result'>;
  readonly #orphanedTokens: Counter<'cause'>;
  readonly #syncStateReports: Counter<'result'>;

  constructor() {
    const registers = [this.#registry];
    collectDefaultMetrics({ register: this.#registry });
    this.#httpRequests = new Histogram({
      name: 'keyframe_http_request_duration_seconds',
      help: 'Time from the arrival of a request to the end of its response.',
      labelNames: ['method', 'route', 'status'],
      buckets: latencyBucketsSeconds,
      registers,
    });
    this.#authenticationFailures = new Counter({
      name: 'keyframe_authentication_failures_total',
      help: 'Requests without a valid token, by the reason of the refusal.',
      labelNames: ['fault'],
      registers,
    });
    this.#rateLimited = new Counter({
      name: 'keyframe_rate_limited_requests_total',
      help: 'Requests that a rate limit refused: the limit of their credential, of their address, or of the bytes of their caller.',
      labelNames: ['limit'],
      registers,
    });
    this.#reconciles = new Histogram({
      name: 'keyframe_reconcile_duration_seconds',
      help: 'Duration of a reconcile, by kind and resulting reason.',
      labelNames: ['kind', 'result'],
      buckets: latencyBucketsSeconds,
      registers,
    });
    this.#secretWrites = new Counter({
      name: 'keyframe_kubernetes_secret_writes_total',
      help: 'Writes of Kubernetes Secrets, by operation and result.',
      labelNames: ['operation', 'result'],
      registers,
    });
    this.#orphanedTokens = new Counter({
      name: 'keyframe_orphaned_tokens_suspended_total',
      help: 'Tokens that were suspended because their ServiceToken or its AccessGrant no longer exists, by cause.',
      labelNames: ['cause'],
      registers,
    });
    this.#syncStateReports = new Counter({
      name: 'keyframe_sync_state_reports_total',
      help: 'Reports of the states of SecretSyncs to the database, by result. A failed one is repeated; one that a limit refuses in part also counts as refused.',
      labelNames: ['result'],
      registers,
    });
  }

  /** The media type of `render()`. */
  get contentType(): string {
    return this.#registry.contentType;
  }

  /** All metrics in the text format of Prometheus. */
  render(): Promise<string> {
    return this.#registry.metrics();
  }

  httpRequest({ method, route, status, durationMs }: HttpRequestObservation): void {
    this.#httpRequests.observe({ method, route, status: String(status) }, durationMs / 1000);
  }

  /** Counts a request without a valid token. `fault` is a constant of the code, never data. */
  authenticationFailed(fault: string): void {
    this.#authenticationFailures.inc({ fault });
  }

  /** Counts a request that a rate limit refused. */
  rateLimited(limit: 'credential' | 'address' | 'traffic' | 'cluster'): void {
    this.#rateLimited.inc({ limit });
  }

  /** Reports the database pools at each scrape. Call once. */
  observePools(pools: Readonly<Record<'reads' | 'transactions', PoolCounts>>): void {
    const help = 'Database connections, by pool and state.';
    this.#gauge('keyframe_database_pool_connections', help, (gauge) => {
      for (const [pool, { totalCount, idleCount, waitingCount }] of Object.entries(pools)) {
        gauge.set({ pool, state: 'busy' }, totalCount - idleCount);
        gauge.set({ pool, state: 'idle' }, idleCount);
        gauge.set({ pool, state: 'waited_for' }, waitingCount);
      }
    });
  }

  /** Reports the size of the database, at most a minute old. Call once. */
  observeDatabaseSize(read: () => Promise<DatabaseFigures>): void {
    DatabaseMetrics.register(this.#registry, read);
  }

  /** Reports the number of audit entries that wait to be written. Call once. */
  observeAuditQueue(length: () => number): void {
    const help = 'Audit entries that wait to be written. Requests wait for them.';
    this.#gauge('keyframe_audit_queue_length', help, (gauge) => gauge.set(length()));
  }

  /** Reports the number of open change streams. Call once. */
  observeChangeStreams(open: () => number): void {
    const help = 'Open change streams.';
    this.#gauge('keyframe_change_streams', help, (gauge) => gauge.set(open()));
  }

  /** Reports the registered clusters whose controllers are refused. Call once. */
  observeRefusedClusters(collect: () => readonly { readonly cluster: string; readonly reason: string }[]): void {
    const gauge: Gauge = new Gauge({
      name: 'keyframe_refused_clusters',
      help: '1 for each registered cluster whose controller was refused within two minutes: its token does not prove the cluster, or its uid is another one.',
      labelNames: ['cluster', 'reason'],
      registers: [this.#registry],
      collect: (): void => {
        gauge.reset();
        for (const { cluster, reason } of collect()) gauge.set({ cluster, reason }, 1);
      },
    });
  }

  /** Reports the number of objects that wait for a reconcile. Call once. */
  observeControllerQueue(length: () => number): void {
    const help = 'Objects that wait for a reconcile.';
    this.#gauge('keyframe_controller_queue_length', help, (gauge) => gauge.set(length()));
  }

  /** Reports whether this controller is the leader. Call once. */
  observeLeadership(isLeading: () => boolean): void {
    const help =
      'Whether this controller leads and works (1). A standby, and a leader whose cluster name is taken, are 0.';
    this.#gauge('keyframe_controller_leader', help, (gauge) => gauge.set(isLeading() ? 1 : 0));
  }

  /** Reports how far the clock of this process is ahead of the database's, in milliseconds. Call once. */
  observeClockSkew(skewMs: () => number): void {
    const help = "How far the clock of this controller is ahead of the database's; 0 before it knows the latter.";
    this.#gauge('keyframe_controller_clock_skew_seconds', help, (gauge) => gauge.set(skewMs() / 1000));
  }

  /** Reports the lists that the API server denies to the controller. Call once. */
  observeDeniedWatches(collect: () => readonly string[]): void {
    const help =
      '1 for each list that the API server denies to this controller. Features that require the list are off.';
    const gauge: Gauge = new Gauge({
      name: 'keyframe_controller_denied_watches',
      help,
      labelNames: ['watch'],
      registers: [this.#registry],
      collect: (): void => {
        gauge.reset();
        for (const watch of collect()) gauge.set({ watch }, 1);
      },
    });
  }

  /** Reports the state of the custom resources. `now` returns milliseconds since the epoch. Call once. */
  observeResources(collect: () => ResourceStates, now: () => number): void {
    ResourceMetrics.register(this.#registry, collect, now);
  }

  /** Observes a finished reconcile. `result` is the reason of a condition: a constant of the code, never data. */
  reconciled(kind: string, result: string, durationMs: number): void {
    this.#reconciles.observe({ kind, result }, durationMs / 1000);
  }

  /** Counts a write of a Kubernetes Secret. `repair`: the write undoes what another client did to the Secret. */
  secretWrite(operation: SecretOperation, result: 'done' | 'conflict' | 'failed'): void {
    this.#secretWrites.inc({ operation, result });
  }

  /** Counts a token that was suspended because its ServiceToken or grant no longer exists. */
  orphanedTokenSuspended(cause: 'resource_gone' | 'grant_gone'): void {
    this.#orphanedTokens.inc({ cause });
  }

  /** Counts a report of the states of SecretSyncs to the database. */
  syncStatesReported(result: 'done' | 'refused' | 'failed'): void {
    this.#syncStateReports.inc({ result });
  }

  #gauge(name: string, help: string, collect: (gauge: Gauge) => void): void {
    const gauge: Gauge = new Gauge({
      name,
      help,
      labelNames: name.endsWith('_connections') ? ['pool', 'state'] : [],
      registers: [this.#registry],
      collect: (): void => collect(gauge),
    });
  }
}
