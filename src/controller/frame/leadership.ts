import { randomUUID } from 'node:crypto';
import { hostname } from 'node:os';
import { ApiError, isApiStatus } from '../../kube/client/api-error.ts';
import type { ApiCall, KubeClient } from '../../kube/client/client.ts';
import { Lease, type LeaseAttempt } from '../../kube/lease.ts';
import { pause } from '../../kube/client/liveness.ts';
import { type Clock, type SteadyNow, steadyNow, systemClock } from '../../lib/clock.ts';
import { type Logger, errorFields } from '../../observability/logger.ts';

// The times of the election: see docs/configuration.md, "Several controllers".
const leaseName = 'keyframe-controller';
// How long others wait for a leader that is silent. With the time until they look, the work of one that was killed is taken
// over within 13 s.
export const leaseDurationSeconds = 10;
// How long a leader works after the beginning of its last successful renewal. The rest of the duration is for what it sent
// just before.
const renewDeadlineMs = 7000;
const retryMs = 2000;
// How often a stand-by looks whether the Lease was given up: one GET, and most of a second until it goes on.
const standbyRetryMs = 700;
// Two tries and more before the deadline, also where the API server answers nothing.
const callTimeoutMs = 2500;
// An API server that does not answer must not keep a process that ends.
const stopLimitMs = 3000;

/**
 * The Lease that the controllers of an installation try for, under a name that no other process has; held for so many
 * seconds after each renewal.
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
  /** Of the Lease, for messages. */
  readonly namespace: string;
  readonly clock: Clock;
  readonly steadyNow: SteadyNow;
  readonly logger: Logger;
  /** Called in the moment in which this process begins to lead: all work may begin. */
  readonly onLead: () => void;
  /** Called in the moment in which it ceases to lead, before anyone else can: no further work may begin. */
  readonly onLose: () => void;
  /** A number in [0, 1). */
  readonly random?: () => number;
}

interface Term {
  /** Until when this process leads if nothing is renewed, on the steady clock. */
  untilMs: number;
  readonly cut: AbortController;
  cancelTimer: () => void;
}

/**
 * Sees to it that of all controllers of an installation one works: it holds the Lease. A leader that cannot renew it
 * ceases to lead before another one can take it, by its own steady clock, so that a process which was frozen finds out
 * before it writes. Correctness does not rest on it: what a controller writes is bound to the versions it saw.
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

  /** Whether this process leads at this very moment. */
  get isLeading(): boolean {
    return this.#presentTerm() !== undefined;
  }

  /** Begins to try for the Lease, and keeps at it. Call once. */
  start(): void {
    this.#running = this.#run();
  }

  /** Ceases to lead, cuts the writes under way and gives the Lease up, within 3 s. Let the work end before. */
  async stop(): Promise<void> {
    this.#stopping.abort();
    this.#lose('this process stops');
    const limit = Promise.withResolvers<void>();
    const cancel = this.#deps.clock.after(stopLimitMs, limit.resolve);
    await Promise.race([this.#release(), limit.promise]);
    cancel();
  }

  async #release(): Promise<void> {
    // A try under way may be about to renew what is to be given up.
    await this.#running;
    try {
      await this.#deps.lease.release({ timeoutMs: callTimeoutMs });
    } catch (error) {
      this.#deps.logger.debug(errorFields(error), 'the Lease was not released; it runs out by itself');
    }
  }

  /**
   * Why this process can neither lead nor stand by, and what to do; undefined where it can. An API server that was there
   * once and is away is no fault: that passes.
   */
  get error(): string | undefined {
    const { namespace } = this.#deps;
    if (isApiStatus(this.#lastError, 401, 403)) {
      return `the API server does not let the controller hold its Lease ${leaseName} in the namespace ${namespace}: apply the rules of charts/keyframe/files/lease-rules.yaml to its account, as a Role in that namespace`;
    }
    if (isApiStatus(this.#lastError, 404)) {
      return `the controller cannot make its Lease: there is no namespace ${namespace}; make it, or set KEYFRAME_NAMESPACE to the one that the controller runs in`;
    }
    return this.#wasAnswered ? undefined : `the Lease ${leaseName} has not been read from the API server yet`;
  }

  /**
   * The same client with this rule: it writes only while this process leads, and what it is writing when that ends is cut.
   * Throws ApiError with the reason NotLeading.
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

  /** Tries once; answers after how many milliseconds to try again. */
  async #attempt(): Promise<number> {
    const { random = Math.random } = this.#deps;
    // A fifth to either side, so that several do not always ask at the same time.
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

  #held({ sinceMs, isNew }: Extract<LeaseAttempt, { kind: 'held' }>): void {
    this.#holder = undefined;
    // Another process may have led in between.
    if (isNew) this.#lose('the Lease was taken and given back');
    const untilMs = sinceMs + renewDeadlineMs;
    // The answer came too late: the next try finds the Lease ours.
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
    this.#deps.logger.info('this controller leads');
    this.#deps.onLead();
  }

  #standBy({ holder }: Extract<LeaseAttempt, { kind: 'taken' }>): void {
    this.#lose('another controller holds the Lease');
    if (this.#holder === holder) return;
    this.#holder = holder;
    this.#deps.logger.info({ leader: holder }, 'this controller stands by');
  }

  #fail(error: unknown): void {
    const isKnown =
      this.#lastError instanceof Error && error instanceof Error && this.#lastError.message === error.message;
    this.#lastError = error;
    const level = isKnown ? 'debug' : 'warn';
    this.#deps.logger[level](errorFields(error), 'the Lease could not be asked for; it is tried again');
  }

  #watchEnd(term: Term): void {
    term.cancelTimer();
    const leftMs = term.untilMs - this.#deps.steadyNow();
    term.cancelTimer = this.#deps.clock.after(leftMs, () => {
      if (this.#term === term && this.#presentTerm() !== undefined) this.#watchEnd(term);
    });
  }

  /** The term, if it has not run out; the look itself ends one that has, should its timer be late. */
  #presentTerm(): Term | undefined {
    if (this.#term !== undefined && this.#term.untilMs <= this.#deps.steadyNow())
      this.#lose('the Lease could not be renewed in time');
    return this.#term;
  }

  #lose(why: string): void {
    const term = this.#term;
    if (term === undefined) return;
    this.#term = undefined;
    term.cancelTimer();
    this.#deps.logger.info({ why }, 'this controller leads no more');
    this.#deps.onLose();
    term.cut.abort();
  }
}
