import { isDeepStrictEqual } from 'node:util';
import { type BackoffOptions, backoffMs } from '../../../lib/backoff.ts';
import type { Condition } from '../../frame/conditions.ts';
import type { Next } from '../../frame/work-queue.ts';
import { judgeWorkload } from './judge-workload.ts';
import { newestMarkAt } from './plan.ts';
import { PodLooks } from './pod-looks.ts';
import { type Target, type Workload, nameOf } from './targets.ts';
import type { HeldData } from './model.ts';

// So long nothing may have been written before a restart, so that a burst of changes costs one; but changes that do not
// end put it off for no longer than the second.
export const settleMs = 2000;
export const mostSettleMs = 30_000;

// A tool that takes the annotation away each time would else restart the workload without end: the first loss is made good
// at once, each further one after twice as long. What stood for the longest of these pauses was left alone.
const undonePauseMs = 600_000;
const longestUndonePauseMs = 6 * 3_600_000;

const retryBackoff: BackoffOptions = { initialMs: 500, maxMs: 300_000 };

interface TargetMemory {
  rollingSince: number | undefined;
  restartedAt: number;
  refusal: string | undefined;
  /** Restarts that failed in a row, and when the next one is tried at the earliest. */
  failures: number;
  retryAt: number;
  restart: LastRestart | undefined;
}

/** A restart, as long as the workload and the data that it was for are the same. */
interface LastRestart {
  readonly uid: string;
  readonly change: number;
  /** How often it was made since the mark last stood. */
  readonly times: number;
  /** When its mark was found to be gone. */
  undoneAt?: number | undefined;
}

/** What is remembered of one SecretSync's workloads. After a loss the settle time begins again, and nothing else. */
export class RolloutMemory {
  held: HeldData | undefined;
  /** When the status was last told because of a workload, and the reason that it told. */
  told: { readonly at: number; readonly reason: string } | undefined;
  /** Why the Secret cannot be taken back from what it holds, as a clause. */
  rollbackRefusal: string | undefined;
  /** What was given up last, so that each restart's failure is told once. */
  givenUp: string | undefined;
  readonly looks: PodLooks;
  #changedAt = -Infinity;
  /** Counts the changes of the data. */
  #change = 0;
  #dataSince: number | undefined;
  /** How often in a row the status could not be told. */
  #untold = 0;
  /** When the first of the changes came that followed each other before they had settled. */
  #burstSince = -Infinity;
  readonly #targets = new Map<string, TargetMemory>();

  constructor(syncName: string) {
    this.looks = new PodLooks(syncName);
  }

  /** Notes what the Secret holds since just now. */
  hold(held: HeldData, now: number): void {
    if (this.held?.data !== held.data) {
      this.#dataSince = this.held === undefined ? undefined : now;
      this.#change += 1;
      if (now >= this.#changedAt + settleMs) this.#burstSince = now;
      this.#changedAt = now;
      for (const target of this.#targets.values()) target.retryAt = -Infinity;
    }
    if (!isDeepStrictEqual(this.held, held)) this.held = held;
  }

  /** Since when the Secret holds its data, where it was seen to hold other data before; milliseconds since the epoch. */
  get dataSince(): number | undefined {
    return this.#dataSince;
  }

  /** Another controller may have been at work meanwhile: what the Secret holds has to be learnt anew. */
  loseHold(): void {
    this.held = undefined;
  }

  /** Forgets all workloads but these. */
  keep(targets: readonly Target[]): void {
    const names = new Set(targets.map(nameOf));
    for (const name of this.#targets.keys()) if (!names.has(name)) this.#targets.delete(name);
    this.looks.keep(names);
  }

  /** When a workload may be restarted at the earliest. */
  restartFrom(target: Target): number {
    const { restartedAt, retryAt, restart } = this.#of(target);
    const settled = Math.min(this.#changedAt + settleMs, Math.max(this.#burstSince, restartedAt) + mostSettleMs);
    const pauseMs = restart?.undoneAt === undefined ? 0 : pauseAfter(restart.times);
    return Math.max(settled, restartedAt + Math.max(settleMs, pauseMs), retryAt);
  }

  /** Notes whether a workload carries the mark of what is held; answers how many restarts for just that were undone in a row. */
  timesUndone(target: Target, { metadata: { uid } }: Workload, isMarked: boolean, now: number): number {
    const memory = this.#of(target);
    const { restart, restartedAt } = memory;
    if (restart === undefined || isMarked) {
      if (restart !== undefined) restart.undoneAt = undefined;
      return 0;
    }
    restart.undoneAt ??= now;
    const isSame = restart.uid === uid && restart.change === this.#change;
    if (isSame && restart.undoneAt - restartedAt < longestUndonePauseMs) return restart.times;
    memory.restart = undefined;
    return 0;
  }

  refusalOf(target: Target): string | undefined {
    return this.#of(target).refusal;
  }

  restarted(target: Target, { metadata: { uid } }: Workload, now: number): void {
    const memory = this.#of(target);
    const times = (memory.restart?.times ?? 0) + 1;
    const restart: LastRestart = { uid, change: this.#change, times };
    Object.assign(memory, { restartedAt: now, refusal: undefined, failures: 0, retryAt: -Infinity, restart });
  }

  /** Notes a restart that failed, and how the API server refused it if it did; it asks for no less than `minDelayMs`. */
  failed(target: Target, now: number, { refusal, minDelayMs = 0 }: FailedRestart): void {
    const memory = this.#of(target);
    memory.failures += 1;
    memory.refusal = refusal ?? memory.refusal;
    memory.retryAt = now + Math.max(minDelayMs, backoffMs(memory.failures, retryBackoff));
  }

  /**
   * What telling the status came to. One that fails is told again with a backoff of its own, as a delay: a queue's would put
   * off the restarts as well.
   */
  afterTelling(next: Next): Next {
    this.#untold = next.kind === 'retry' ? this.#untold + 1 : 0;
    if (next.kind !== 'retry') return next;
    return { kind: 'after', delayMs: Math.max(next.minDelayMs ?? 0, backoffMs(this.#untold, retryBackoff)) };
  }

  /**
   * Since when a workload's rollout is under way; `now` where none is. After a loss of the memory the restart's own time
   * tells, and that of the condition, if it said already that not all is converged.
   */
  rollingSince(target: Target, workload: Workload | undefined, context: RollingContext): number {
    const { now, converged } = context;
    const memory = this.#of(target);
    if (workload === undefined || judgeWorkload(target.kind, workload).state !== 'rolling') {
      memory.rollingSince = undefined;
      return now;
    }
    memory.rollingSince ??= underWay.has(converged?.reason) ? timeOf(converged, now) : now;
    memory.rollingSince = Math.min(Math.max(memory.rollingSince, newestMarkAt(workload)), now);
    return memory.rollingSince;
  }

  #of(target: Target): TargetMemory {
    const name = nameOf(target);
    const known = this.#targets.get(name);
    if (known !== undefined) return known;
    const fresh: TargetMemory = {
      rollingSince: undefined,
      restartedAt: -Infinity,
      refusal: undefined,
      failures: 0,
      retryAt: -Infinity,
      restart: undefined,
    };
    this.#targets.set(name, fresh);
    return fresh;
  }
}

export interface FailedRestart {
  readonly refusal?: string | undefined;
  readonly minDelayMs?: number | undefined;
}

/** How long after so many restarts of a workload for the same data, of which each was undone, the next may come. */
function pauseAfter(times: number): number {
  return times < 2 ? 0 : Math.min(undonePauseMs * 2 ** (times - 2), longestUndonePauseMs);
}

// The reasons of a condition that began to be false with, or before, the rollout that is under way.
const underWay: ReadonlySet<string | undefined> = new Set([
  'RolloutPending',
  'RollingOut',
  'RolloutBlocked',
  'RolloutStuck',
  'RollbackImpossible',
]);

function timeOf(condition: Condition | undefined, otherwise: number): number {
  const at = Date.parse(condition?.lastTransitionTime ?? '');
  return Number.isNaN(at) ? otherwise : at;
}

export interface RollingContext {
  readonly now: number;
  /** As the resource has it. */
  readonly converged: Condition | undefined;
}
