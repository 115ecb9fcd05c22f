import { randomUUID } from 'node:crypto';
import { hostname } from 'node:os';
import { ApiError, isApiStatus } from '../../kube/client/api-error.ts';
import type { ApiCall, KubeClient } from '../../kube/client/client.ts';
import { Lease, type LeaseAttempt } from '../../kube/lease.ts';
import { pause } from '../../kube/client/liveness.ts';
import { type Clock, type SteadyNow, steadyNow, systemClock } from '../../lib/clock.ts';
import { type Logger, errorFields } from '../../observability/logger.ts';
import * as messages from './messages.ts';

// The times of the election: see docs/configuration.md, "Several controllers".
const leaseName = 'keyframe-controller';
// How long standbys wait for a leader that does not renew the Lease. With the time until they check it, they take over from a
// killed leader within 13 s.
export const leaseDurationSeconds = 10;
// How long a leader works after the start of its last successful renewal. The rest of the duration is for requests that it
// has just sent.
const renewDeadlineMs = 7000;
const retryMs = 2000;
// How often a standby checks whether the Lease was released. Each check is one GET.
const standbyRetryMs = 700;
// How often a process that may not lead looks whether it may. It sends nothing.
const abstainRetryMs = 250;
// Allows at least two attempts before the deadline, even if the API server does not respond.
const callTimeoutMs = 2500;
// An API server that does not respond must not delay the shutdown for longer.
const stopLimitMs = 3000;

/**
 * The Lease of the controllers of an installation. Each process has a unique identity. A renewal holds the Lease for
 * `durationSeconds`.
 */
export function controllerLease(
  client: Pick<KubeClient, 'request'>,
  namespace: string,
  durationSeconds = leaseDurationSeconds,
): Lease {
  return new Lease({
    client,
    place: { namespace, name: leaseName },
    identity: `${hostname()}_${randomUUID()}`,
    durationSeconds,
    now: () => systemClock.now(),
    steadyNow,
  });
}

export interface LeadershipDeps {
  readonly lease: Pick<Lease, 'attempt' | 'release'>;
  /** The namespace of the Lease, for messages. */
  readonly namespace: string;
  readonly clock: Clock;
  readonly steadyNow: SteadyNow;
  readonly logger: Logger;
  /** Whether this process could work as the leader. While it could not, it leaves the Lease to another one. */
  readonly mayLead: () => boolean;
  /** Called when this process starts to lead: work may start. */
  readonly onLead: () => void;
  /** Called when this process stops leading, before another one can lead: no further work may start. */
  readonly onLose: () => void;
  /** A number in [0, 1). */
  readonly random?: () => number;
}

interface Term {
  /** When the term ends without a renewal, on the steady clock. */
  untilMs: number;
  readonly cut: AbortController;
  cancelTimer: () => void;
}

/**
 * Leader election: only the controller that holds the Lease works. A leader that cannot renew the Lease stops leading before
 * another one can take it. It uses its own steady clock, so that a process that was frozen notices this before it writes.
 * Correctness does not depend on the election, because each write is bound to the versions that the controller saw.
 */
export class Leadership {
  readonly #deps: LeadershipDeps;
  readonly #stopping = new AbortController();
  #term: Term | undefined;
  #running: Promise<void> = Promise.resolve();
  #wasAnswered = false;
  #lastError: unknown;
  #holder: string | undefined;

  constructor(deps: LeadershipDeps) {
    this.#deps = deps;
  }

  /** Whether this process leads now. */
  get isLeading(): boolean {
    return this.#presentTerm() !== undefined;
  }

  /** Starts to try for the Lease, again and again. Call it once. */
  start(): void {
    this.#running = this.#run();
  }

  /** Stops leading, aborts writes in progress and releases the Lease, within 3 s. Let the work end before. */
  async stop(): Promise<void> {
    this.#stopping.abort();
    this.#lose(messages.processStops);
    const limit = Promise.withResolvers<void>();
    const cancel = this.#deps.clock.after(stopLimitMs, limit.resolve);
    await Promise.race([this.#release(), limit.promise]);
    cancel();
  }

  async #release(): Promise<void> {
    // An attempt in progress could renew the Lease after its release.
    await this.#running;
    await this.#releaseLease();
  }

  async #releaseLease(): Promise<void> {
    try {
      await this.#deps.lease.release({ timeoutMs: callTimeoutMs });
    } catch (error) {
      this.#deps.logger.debug(errorFields(error), messages.leaseNotReleased);
    }
  }

  /**
   * Why this process can neither lead nor stand by, and what to do; undefined if it can. An outage of the API server is no
   * error after its first response.
   */
  get error(): string | undefined {
    const { namespace } = this.#deps;
    if (isApiStatus(this.#lastError, 401, 403)) return messages.leaseForbidden(leaseName, namespace);
    if (isApiStatus(this.#lastError, 404)) return messages.leaseNamespaceMissing(namespace);
    return this.#wasAnswered ? undefined : messages.leaseUnread(leaseName);
  }

  /**
   * Returns a client that writes only while this process leads. Writes in progress are aborted when it stops leading.
   * Otherwise throws ApiError with the reason NotLeading.
   */
  guarded(client: Pick<KubeClient, 'request'>): Pick<KubeClient, 'request'> {
    return {
      request: async <T>(call: ApiCall): Promise<T> => {
        if (call.method === 'GET') return await client.request<T>(call);
        const term = this.#presentTerm();
        if (term === undefined) throw new ApiError(`${call.method} ${call.path}`, 0, 'NotLeading');
        const { signal: termSignal } = term.cut;
        const signal = call.signal === undefined ? termSignal : AbortSignal.any([call.signal, termSignal]);
        return await client.request<T>({ ...call, signal });
      },
    };
  }

  async #run(): Promise<void> {
    const { signal } = this.#stopping;
    while (!signal.aborted) {
      const delayMs = await this.#attempt();
      await pause(this.#deps.clock, delayMs, signal);
    }
  }

  /** Makes one attempt. Returns the delay until the next one in milliseconds. */
  async #attempt(): Promise<number> {
    if (!this.#deps.mayLead()) return await this.#abstain();
    const { random = Math.random } = this.#deps;
    // 20 percent, so that several controllers do not always send at the same time.
    const jitter = 0.8 + 0.4 * random();
    const delayMs = retryMs * jitter;
    try {
      const attempt = await this.#deps.lease.attempt({ timeoutMs: callTimeoutMs });
      this.#wasAnswered = true;
      this.#lastError = undefined;
      if (attempt.kind === 'held') {
        this.#held(attempt);
        return delayMs;
      }
      this.#standBy(attempt);
      return Math.min(standbyRetryMs * jitter, attempt.freeInMs);
    } catch (error) {
      this.#fail(error);
      return delayMs;
    }
  }

  async #abstain(): Promise<number> {
    if (this.#presentTerm() !== undefined) {
      this.#lose(messages.leaseLeft);
      await this.#releaseLease();
    }
    return abstainRetryMs;
  }

  #held({ sinceMs, isNew }: Extract<LeaseAttempt, { kind: 'held' }>): void {
    this.#holder = undefined;
    // Another process may have led in between.
    if (isNew) this.#lose(messages.leaseInterrupted);
    const untilMs = sinceMs + renewDeadlineMs;
    // The response came too late. The next attempt renews the Lease.
    if (untilMs <= this.#deps.steadyNow() || this.#stopping.signal.aborted) return;
    const term = this.#presentTerm();
    if (term !== undefined) {
      term.untilMs = untilMs;
      this.#watchEnd(term);
      return;
    }
    const fresh: Term = { untilMs, cut: new AbortController(), cancelTimer: () => undefined };
    this.#term = fresh;
    this.#watchEnd(fresh);
    this.#deps.logger.info(messages.leading);
    this.#deps.onLead();
  }

  #standBy({ holder }: Extract<LeaseAttempt, { kind: 'taken' }>): void {
    this.#lose(messages.leaseTaken);
    if (this.#holder === holder) return;
    this.#holder = holder;
    this.#deps.logger.info({ leader: holder }, messages.standingBy);
  }

  #fail(error: unknown): void {
    const isKnown =
      this.#lastError instanceof Error && error instanceof Error && this.#lastError.message === error.message;
    this.#lastError = error;
    const level = isKnown ? 'debug' : 'warn';
    this.#deps.logger[level](errorFields(error), messages.leaseAttemptFailed);
  }

  #watchEnd(term: Term): void {
    term.cancelTimer();
    const leftMs = term.untilMs - this.#deps.steadyNow();
    term.cancelTimer = this.#deps.clock.after(leftMs, () => {
      if (this.#term === term && this.#presentTerm() !== undefined) this.#watchEnd(term);
    });
  }

  /** The current term, if it has not expired. Ends an expired one, in case its timer is late. */
  #presentTerm(): Term | undefined {
    if (this.#term !== undefined && this.#term.untilMs <= this.#deps.steadyNow()) this.#lose(messages.leaseExpired);
    return this.#term;
  }

  #lose(why: string): void {
    const term = this.#term;
    if (term === undefined) return;
    this.#term = undefined;
    term.cancelTimer();
    this.#deps.logger.info({ why }, messages.leadingNoLonger);
    this.#deps.onLose();
    term.cut.abort();
  }
}
