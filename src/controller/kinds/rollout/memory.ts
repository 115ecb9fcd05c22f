import { isDeepStrictEqual } from 'node:util';
import { type BackoffOptions, backoffMs } from '../../../lib/backoff.ts';
import type { Condition } from '../../frame/conditions.ts';
import { judgeWorkload } from './judge-workload.ts';
import { newestMarkAt } from './plan.ts';
import { PodObservations } from './pod-observations.ts';
import { type Target, type Workload, nameOf } from './targets.ts';
import type { HeldData } from './model.ts';

// A restart waits until the data has not changed for the first time, so that a burst of changes costs one restart. Changes
// that do not end delay it by at most the second.
export const settleMs = 2000;
export const maxSettleMs = 30_000;

// Otherwise a tool that always removes the annotation would restart the workload without end. The first loss is repaired
// immediately, each further one after twice the pause. A mark that stayed for the longest pause counts as accepted.
const undonePauseMs = 600_000;
const maxUndonePauseMs = 6 * 3_600_000;

const retryBackoff: BackoffOptions = { initialMs: 500, maxMs: 300_000 };

interface TargetMemory {
  rollingSince: number | undefined;
  restartedAt: number;
  refusal: string | undefined;
  /** Restarts that failed in a row, and the earliest time of the next one. */
  failures: number;
  retryAt: number;
  restart: LastRestart | undefined;
}

const freshTarget: Readonly<TargetMemory> = {
  rollingSince: undefined,
  restartedAt: -Infinity,
  refusal: undefined,
  failures: 0,
  retryAt: -Infinity,
  restart: undefined,
};

/** A restart. It counts as long as the workload and the data are the same. */
interface LastRestart {
  readonly uid: string;
  readonly change: number;
  /** How often it was repeated since the mark was last present. */
  readonly times: number;
  /** When its mark was found missing. */
  readonly undoneAt?: number | undefined;
}

/** What is remembered of one SecretSync's workloads. If it is lost, only the settle time starts again. */
export class RolloutMemory {
  held: HeldData | undefined;
  /** When a workload last caused a status report, and the reason that was reported. */
  reported: { readonly at: number; readonly reason: string } | undefined;
  /** Why the Secret cannot be rolled back from its data, as a clause. */
  rollbackRefusal: string | undefined;
  /** What was abandoned last, so that each failed restart is reported once. */
  abandoned: string | undefined;
  readonly pods: PodObservations;
  #changedAt = -Infinity;
  /** Counts the changes of the data. */
  #change = 0;
  #dataSince: number | undefined;
  /** The time of the first change in the current burst. */
  #burstSince = -Infinity;
  readonly #targets = new Map<string, TargetMemory>();

  constructor(syncName: string) {
    this.pods = new PodObservations(syncName);
  }

  /** Notes what the Secret holds from now on. */
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

  /** Since when the Secret holds its data, if the change was observed; milliseconds since the epoch. */
  get dataSince(): number | undefined {
    return this.#dataSince;
  }

  /** Forgets what the Secret holds: another controller may have changed it meanwhile. */
  loseHold(): void {
    this.held = undefined;
  }

  /** Forgets all workloads but these. */
  keep(targets: readonly Target[]): void {
    const names = new Set(targets.map(nameOf));
    for (const name of this.#targets.keys()) if (!names.has(name)) this.#targets.delete(name);
    this.pods.keep(names);
  }

  /** What is known of a workload in this state. Pure: `observe` records it. */
  facts(observation: TargetObservation): TargetState {
    const { rollingSince, restart } = this.#next(observation);
    const { restartedAt, retryAt, refusal } = this.#of(observation.target);
    const settled = Math.min(this.#changedAt + settleMs, Math.max(this.#burstSince, restartedAt) + maxSettleMs);
    const pauseMs = restart?.undoneAt === undefined ? 0 : pauseAfter(restart.times);
    return {
      rollingSince: rollingSince ?? observation.now,
      restartFrom: Math.max(settled, restartedAt + Math.max(settleMs, pauseMs), retryAt),
      timesUndone: restart?.undoneAt === undefined ? 0 : restart.times,
      refusal,
    };
  }

  /** Records the state of a workload: since when it rolls out, and whether its last restart was undone. */
  observe(observation: TargetObservation): void {
    Object.assign(this.#noted(observation.target), this.#next(observation));
  }

  restarted(target: Target, { metadata: { uid } }: Workload, now: number): void {
    const memory = this.#noted(target);
    const times = (memory.restart?.times ?? 0) + 1;
    const restart: LastRestart = { uid, change: this.#change, times };
    Object.assign(memory, { restartedAt: now, refusal: undefined, failures: 0, retryAt: -Infinity, restart });
  }

  /** Notes a failed restart, with the API server's refusal if there is one. The next try comes after `minDelayMs` or more. */
  failed(target: Target, now: number, { refusal, minDelayMs = 0 }: FailedRestart): void {
    const memory = this.#noted(target);
    memory.failures += 1;
    memory.refusal = refusal ?? memory.refusal;
    memory.retryAt = now + Math.max(minDelayMs, backoffMs(memory.failures, retryBackoff));
  }

  #next(observation: TargetObservation): Pick<TargetMemory, 'rollingSince' | 'restart'> {
    return { rollingSince: this.#nextRollingSince(observation), restart: this.#nextRestart(observation) };
  }

  /**
   * Since when a workload's rollout is in progress; undefined if none is. If the memory was lost, the time of the restart
   * counts, or that of the condition if it already reported that not all workloads have converged.
   */
  #nextRollingSince({ target, workload, now, converged }: TargetObservation): number | undefined {
    if (workload === undefined || judgeWorkload(target.kind, workload).state !== 'rolling') return undefined;
    const known = this.#of(target).rollingSince ?? (underWay.has(converged?.reason) ? timeOf(converged, now) : now);
    return Math.min(Math.max(known, newestMarkAt(workload)), now);
  }

  /** The last restart, with the time at which its mark was found missing; undefined once it no longer counts. */
  #nextRestart({ target, workload, isMarked, now }: TargetObservation): LastRestart | undefined {
    const { restart, restartedAt } = this.#of(target);
    if (restart === undefined || workload === undefined) return restart;
    if (isMarked) return { ...restart, undoneAt: undefined };
    const undoneAt = restart.undoneAt ?? now;
    const isSame = restart.uid === workload.metadata.uid && restart.change === this.#change;
    return isSame && undoneAt - restartedAt < maxUndonePauseMs ? { ...restart, undoneAt } : undefined;
  }

  #of(target: Target): Readonly<TargetMemory> {
    return this.#targets.get(nameOf(target)) ?? freshTarget;
  }

  #noted(target: Target): TargetMemory {
    const memory = this.#targets.get(nameOf(target)) ?? { ...freshTarget };
    this.#targets.set(nameOf(target), memory);
    return memory;
  }
}

/** The state of a workload at one moment. */
export interface TargetObservation {
  readonly target: Target;
  /** Undefined if it does not exist, or is not known yet. */
  readonly workload: Workload | undefined;
  /** Whether it carries the mark of what the Secret holds. */
  readonly isMarked: boolean;
  /** Milliseconds since the epoch. */
  readonly now: number;
  /** The condition Converged, as the resource has it. */
  readonly converged: Condition | undefined;
}

/** The remembered facts about a workload that a plan depends on. */
export interface TargetState {
  /** Since when its rollout is in progress; now if none is. */
  readonly rollingSince: number;
  /** The earliest time of its next restart. */
  readonly restartFrom: number;
  /** How many restarts for the held data were undone in a row. */
  readonly timesUndone: number;
  /** How the API server refused the last restart. */
  readonly refusal: string | undefined;
}

export interface FailedRestart {
  readonly refusal?: string | undefined;
  readonly minDelayMs?: number | undefined;
}

/** The pause before the next restart, after so many restarts for the same data that were all undone. */
function pauseAfter(times: number): number {
  return times < 2 ? 0 : Math.min(undonePauseMs * 2 ** (times - 2), maxUndonePauseMs);
}

// The reasons of a condition that became false with the current rollout, or before it.
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
