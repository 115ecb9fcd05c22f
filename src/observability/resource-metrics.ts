import { Gauge, type Registry } from 'prom-client';

/** The state of one custom resource, from its status. */
export interface ResourceState {
  readonly kind: string;
  /** Empty for a cluster-scoped resource. */
  readonly namespace: string;
  readonly name: string;
  readonly isReady: boolean;
  /** The reason of its condition Ready: a constant of the code, never data. */
  readonly reason: string;
  /** When Ready stopped being true, in milliseconds since the epoch; undefined if it is true or the resource is suspended. */
  readonly notReadySinceMs?: number | undefined;
  /** When its Secret was last written or verified; only for a SecretSync. */
  readonly lastSyncMs?: number | undefined;
  /** When its value expires; only for a ServiceToken. */
  readonly expiresMs?: number | undefined;
  /** Whether rotation replaces the value before that. */
  readonly isRotated?: boolean;
}

export interface ResourceStates {
  readonly resources: Iterable<ResourceState>;
  /** Secrets whose owner is a SecretSync that does not exist. */
  readonly orphanedSecrets: number;
}

/** Maximum number of resources with their own series. Resources that are not ready come first. */
export const maxResourceSeries = 2_000;

type Name = 'namespace' | 'name';

/**
 * Metrics of custom resources, collected at each scrape. The number of series is limited: each resource counts in
 * keyframe_resources, but at most `maxResourceSeries` of them have series with their names.
 */
export class ResourceMetrics {
  readonly #ready: Gauge<Name | 'kind' | 'reason'>;
  readonly #counts: Gauge<'kind' | 'ready' | 'reason'>;
  readonly #stale: Gauge<Name>;
  readonly #lastSync: Gauge<Name>;
  readonly #expiry: Gauge<Name | 'rotation'>;
  readonly #orphans: Gauge;
  readonly #omitted: Gauge;
  readonly #now: () => number;

  /** Registers the gauges. `collect` is called once for each scrape; `now` returns milliseconds since the epoch. */
  static register(registry: Registry, collect: () => ResourceStates, now: () => number): ResourceMetrics {
    return new ResourceMetrics(registry, collect, now);
  }

  private constructor(registry: Registry, collect: () => ResourceStates, now: () => number) {
    const registers = [registry];
    this.#now = now;
    // The registry collects gauges in the order of registration, so the first one sets all of them.
    this.#ready = new Gauge({
      name: 'keyframe_resource_ready',
      help: `Whether a custom resource is ready (1) or not (0), for at most ${maxResourceSeries} resources. Resources that are not ready come first.`,
      labelNames: ['kind', 'namespace', 'name', 'reason'],
      registers,
      collect: () => this.#set(collect()),
    });
    this.#counts = new Gauge({
      name: 'keyframe_resources',
      help: 'Custom resources, by kind, readiness and reason.',
      labelNames: ['kind', 'ready', 'reason'],
      registers,
    });
    this.#stale = new Gauge({
      name: 'keyframe_secret_sync_stale_seconds',
      help: 'How long the Secret of a SecretSync may have been out of date; 0 while it is in sync or suspended.',
      labelNames: ['namespace', 'name'],
      registers,
    });
    this.#lastSync = new Gauge({
      name: 'keyframe_secret_sync_last_sync_timestamp_seconds',
      help: 'When the Secret of a SecretSync was last written, or verified after a change.',
      labelNames: ['namespace', 'name'],
      registers,
    });
    this.#expiry = new Gauge({
      name: 'keyframe_service_token_expiration_timestamp_seconds',
      help: 'When the current value of a ServiceToken expires, and whether rotation replaces it before.',
      labelNames: ['namespace', 'name', 'rotation'],
      registers,
    });
    this.#orphans = new Gauge({
      name: 'keyframe_orphaned_secrets',
      help: 'Secrets whose SecretSync no longer exists. They are not updated any more.',
      registers,
    });
    this.#omitted = new Gauge({
      name: 'keyframe_resource_series_omitted',
      help: 'Custom resources without their own series, because there are too many.',
      registers,
    });
  }

  #set({ resources, orphanedSecrets }: ResourceStates): void {
    for (const gauge of [this.#ready, this.#counts, this.#stale, this.#lastSync, this.#expiry]) gauge.reset();
    const all = [...resources];
    for (const { kind, isReady, reason } of all) this.#counts.inc({ kind, ready: String(isReady), reason });
    const shown = [...all.filter(({ isReady }) => !isReady), ...all.filter(({ isReady }) => isReady)];
    for (const resource of shown.slice(0, maxResourceSeries)) this.#setOne(resource);
    this.#orphans.set(orphanedSecrets);
    this.#omitted.set(Math.max(0, all.length - maxResourceSeries));
  }

  #setOne(resource: ResourceState): void {
    const { kind, namespace, name, isReady, reason, notReadySinceMs, lastSyncMs, expiresMs, isRotated } = resource;
    this.#ready.set({ kind, namespace, name, reason }, isReady ? 1 : 0);
    if (kind === 'SecretSync') {
      const staleMs = notReadySinceMs === undefined ? 0 : Math.max(0, this.#now() - notReadySinceMs);
      this.#stale.set({ namespace, name }, staleMs / 1000);
    }
    if (lastSyncMs !== undefined) this.#lastSync.set({ namespace, name }, lastSyncMs / 1000);
    if (expiresMs !== undefined) {
      this.#expiry.set({ namespace, name, rotation: String(isRotated === true) }, expiresMs / 1000);
    }
  }
}
