import type { SteadyNow } from '../lib/clock.ts';
import { ApiError, isApiStatus } from './client/api-error.ts';
import type { KubeClient } from './client/client.ts';
import { microTime } from './client/micro-time.ts';
import type { KubeObject, NamespacedName } from './client/objects.ts';

/** The spec of a coordination.k8s.io/v1 Lease. Other fields are kept. */
export interface LeaseSpec {
  /** Empty or absent if the Lease is not held. */
  readonly holderIdentity?: string;
  readonly leaseDurationSeconds?: number;
  readonly acquireTime?: string;
  readonly renewTime?: string;
  /** How often the holder has changed. */
  readonly leaseTransitions?: number;
}

export interface LeaseObject extends KubeObject {
  readonly spec?: LeaseSpec;
}

export interface LeaseDeps {
  readonly client: Pick<KubeClient, 'request'>;
  readonly place: NamespacedName;
  /** Unique for each process, also after a restart. */
  readonly identity: string;
  readonly durationSeconds: number;
  /** The clock for the times in the record, which only users read. */
  readonly now: () => number;
  /** The clock for all decisions. */
  readonly steadyNow: SteadyNow;
}

export type LeaseAttempt =
  | {
      readonly kind: 'held';
      /** When the write started that renewed the Lease, on the steady clock. */
      readonly sinceMs: number;
      /** Whether this process did not hold it before. */
      readonly isNew: boolean;
    }
  | {
      readonly kind: 'taken';
      readonly holder: string;
      /** When it is free if its holder does not renew it, in milliseconds from now. */
      readonly freeInMs: number;
    };

/** Options for the requests of one attempt or release. */
export interface LeaseCall {
  /** The limit for each request. */
  readonly timeoutMs: number;
}

/** The maximum duration of a Lease. It limits the effect of a wrong manual edit. */
export const maxLeaseSeconds = 60;
// Another process can write between the read and the write of an attempt.
const maxAttempts = 3;

/**
 * A Lease that this process tries to hold. As in client-go, a holder is alive while its record keeps changing, measured with
 * the local clock. The times in the record are ignored, because the clocks of machines differ. Each write is bound to the
 * version that was read, so only one of two concurrent attempts succeeds.
 */
export class Lease {
  readonly #deps: LeaseDeps;
  /** The result of the last own write, until a write fails with a conflict. */
  #own: LeaseObject | undefined;
  /** The last seen record, and since when it has been unchanged, on the steady clock. */
  #observed: { readonly record: string; readonly sinceMs: number } | undefined;

  constructor(deps: LeaseDeps) {
    this.#deps = deps;
  }

  /** Takes the Lease if it is free, and renews it if this process holds it. Do not call it concurrently. Throws ApiError. */
  async attempt(call: LeaseCall): Promise<LeaseAttempt> {
    return await this.#try(call, (seen) => this.#freeInMs(seen));
  }

  /**
   * Takes the Lease from any holder, and renews it if this process holds it. The previous holder notices this at its next
   * renewal and may work until then. Returns the previous holder; undefined if there was no other one. Throws ApiError.
   */
  async seize(call: LeaseCall): Promise<string | undefined> {
    let holder = '';
    await this.#try(call, (seen) => {
      holder = holderOf(seen);
      return 0;
    });
    return holder === '' || holder === this.#deps.identity ? undefined : holder;
  }

  async #try(call: LeaseCall, freeInMsOf: (seen: LeaseObject) => number): Promise<LeaseAttempt> {
    for (let attempt = 1; attempt <= maxAttempts; attempt += 1) {
      const seen = this.#own ?? (await this.#find(call));
      this.#own = undefined;
      const freeInMs = seen === undefined ? 0 : freeInMsOf(seen);
      if (freeInMs > 0) return { kind: 'taken', holder: holderOf(seen), freeInMs };
      const sinceMs = this.#deps.steadyNow();
      const written = await this.#write(seen, this.#specAfter(seen), call);
      if (written === undefined) continue;
      this.#own = written;
      return { kind: 'held', sinceMs, isNew: holderOf(seen) !== this.#deps.identity };
    }
    throw new ApiError(`PUT ${this.#path}`, 409, 'Conflict');
  }

  /** Releases the Lease if this process holds it, so that another process can take it at once. Throws ApiError. */
  async release(call: LeaseCall): Promise<void> {
    for (let attempt = 1; attempt <= maxAttempts; attempt += 1) {
      const seen = this.#own ?? (await this.#find(call));
      this.#own = undefined;
      if (seen === undefined || holderOf(seen) !== this.#deps.identity) return;
      const now = microTime(this.#deps.now());
      const spec = { ...seen.spec, holderIdentity: '', leaseDurationSeconds: 1, acquireTime: now, renewTime: now };
      if ((await this.#write(seen, spec, call)) !== undefined) return;
    }
  }

  get #collection(): string {
    return `/apis/coordination.k8s.io/v1/namespaces/${encodeURIComponent(this.#deps.place.namespace)}/leases`;
  }

  get #path(): string {
    return `${this.#collection}/${encodeURIComponent(this.#deps.place.name)}`;
  }

  /** Zero if the Lease is free, held by this process, or not renewed for its duration. */
  #freeInMs(seen: LeaseObject): number {
    const record = JSON.stringify(seen.spec ?? {});
    if (this.#observed?.record !== record) this.#observed = { record, sinceMs: this.#deps.steadyNow() };
    const holder = holderOf(seen);
    if (holder === '' || holder === this.#deps.identity) return 0;
    const claimedSeconds = seen.spec?.leaseDurationSeconds ?? this.#deps.durationSeconds;
    const durationMs = Math.min(claimedSeconds, maxLeaseSeconds) * 1000;
    return Math.max(0, this.#observed.sinceMs + durationMs - this.#deps.steadyNow());
  }

  #specAfter(seen: LeaseObject | undefined): LeaseSpec {
    const now = microTime(this.#deps.now());
    const isOwn = holderOf(seen) === this.#deps.identity;
    const { acquireTime, leaseTransitions } = seen?.spec ?? {};
    return {
      ...seen?.spec,
      holderIdentity: this.#deps.identity,
      leaseDurationSeconds: this.#deps.durationSeconds,
      acquireTime: isOwn && acquireTime !== undefined ? acquireTime : now,
      renewTime: now,
      leaseTransitions: seen === undefined ? 0 : (leaseTransitions ?? 0) + (isOwn ? 0 : 1),
    };
  }

  async #find({ timeoutMs }: LeaseCall): Promise<LeaseObject | undefined> {
    try {
      return await this.#deps.client.request<LeaseObject>({ method: 'GET', path: this.#path, timeoutMs });
    } catch (error) {
      if (isApiStatus(error, 404)) return undefined;
      throw error;
    }
  }

  /** Returns the written Lease; undefined if it has changed since it was read. */
  async #write(
    seen: LeaseObject | undefined,
    spec: LeaseSpec,
    { timeoutMs }: LeaseCall,
  ): Promise<LeaseObject | undefined> {
    const { managedFields: _ours, ...metadata } = seen?.metadata ?? { name: this.#deps.place.name };
    const body = { apiVersion: 'coordination.k8s.io/v1', kind: 'Lease', metadata, spec };
    const [method, path] = seen === undefined ? (['POST', this.#collection] as const) : (['PUT', this.#path] as const);
    try {
      return await this.#deps.client.request<LeaseObject>({ method, path, body, timeoutMs });
    } catch (error) {
      // A 404 to a POST means that the namespace is missing, and another attempt does not help.
      if (isApiStatus(error, ...(seen === undefined ? [409] : [404, 409]))) return undefined;
      throw error;
    }
  }
}

function holderOf(lease: LeaseObject | undefined): string {
  return lease?.spec?.holderIdentity ?? '';
}
