import type { SteadyNow } from '../lib/clock.ts';
import { ApiError, isApiStatus } from './client/api-error.ts';
import type { KubeClient } from './client/client.ts';
import { microTime } from './client/micro-time.ts';
import type { KubeObject, NamespacedName } from './client/objects.ts';

/** The spec of a coordination.k8s.io/v1 Lease; what it has beside this is kept as it is. */
export interface LeaseSpec {
  /** Empty or absent where nobody holds it. */
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
  /** Unlike that of any other process, also of this process' predecessor. */
  readonly identity: string;
  readonly durationSeconds: number;
  /** For the times that the record shows to people. */
  readonly now: () => number;
  /** For everything that is judged. */
  readonly steadyNow: SteadyNow;
}

export type LeaseAttempt =
  | {
      readonly kind: 'held';
      /** When the write began that others see the holder's life by, on the steady clock. */
      readonly sinceMs: number;
      /** Whether it was not ours just before. */
      readonly isNew: boolean;
    }
  | {
      readonly kind: 'taken';
      readonly holder: string;
      /** When it is free if its holder does not renew it; milliseconds from now. */
      readonly freeInMs: number;
    };

/** How one attempt or release asks the API server. */
export interface LeaseCall {
  /** For each of its few requests. */
  readonly timeoutMs: number;
}

/** A record that claims more, by a mistake of whoever edits it, shall not keep everyone out for hours. */
export const maxLeaseSeconds = 60;
// Between a look and a write someone else can always come.
const maxAttempts = 3;

/**
 * One Lease, tried for by this process. A holder's life is judged as client-go judges it: by how long the record has not
 * changed before our own eyes, never by the times it holds, for no two machines' clocks agree. Each write is bound to
 * the version that was looked at, so of two who try at once one succeeds.
 */
export class Lease {
  readonly #deps: LeaseDeps;
  /** As our own last write left it, until a write meets another version. */
  #own: LeaseObject | undefined;
  /** The record as it was seen last, and since when it has been so, on the steady clock. */
  #observed: { readonly record: string; readonly sinceMs: number } | undefined;

  constructor(deps: LeaseDeps) {
    this.#deps = deps;
  }

  /** Takes the Lease where it is free or ours, and renews it. Call one at a time. Throws ApiError. */
  async attempt(call: LeaseCall): Promise<LeaseAttempt> {
    return await this.#try(call, (seen) => this.#freeInMs(seen));
  }

  /**
   * Takes the Lease from whoever holds it, and renews it where it is ours. Who held it finds out when they try to renew it,
   * and may work on until they do. Answers their name: undefined where nobody else held it. Throws ApiError.
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

  /** Gives the Lease up, if it is ours, so that another process can take it at once. Throws ApiError. */
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

  /** Zero where the Lease may be taken: nobody's, our own, or not renewed for as long as its holder said it would hold. */
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

  /** The Lease as written; undefined where it is no longer what was seen. */
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
      // A 404 to a POST is about the namespace, and no other look helps.
      if (isApiStatus(error, ...(seen === undefined ? [409] : [404, 409]))) return undefined;
      throw error;
    }
  }
}

function holderOf(lease: LeaseObject | undefined): string {
  return lease?.spec?.holderIdentity ?? '';
}
