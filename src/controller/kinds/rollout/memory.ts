import { isDeepStrictEqual } from 'node:util';
import { type BackoffOptions, backoffMs } from '../../../lib/backoff.ts';
import type { Condition } from '../../frame/conditions.ts';
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

const freshTarget: Readonly<TargetMemory> = {
  rollingSince: undefined,
  restartedAt: -Infinity,
  refusal: undefined,
  failures: 0,
  retryAt: -Infinity,
  restart: undefined,
};

/** A restart, as long as the workload and the data that it was for are the same. */
interface LastRestart {
  readonly uid: string;
  readonly change: number;
  /** How often it was made since the mark last stood. */
  readonly times: number;
  /** When its mark was found to be gone. */
  readonly undoneAt?: number | undefined;
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

  /** What is known of a workload that looks so now. Pure: `observe` takes note of it. */
  facts(look: TargetLook): TargetState {
    const { rollingSince, restart } = this.#next(look);
    const { restartedAt, retryAt, refusal } = this.#of(look.target);
    const settled = Math.min(this.#changedAt + settleMs, Math.max(this.#burstSince, restartedAt) + mostSettleMs);
    const pauseMs = restart?.undoneAt === undefined ? 0 : pauseAfter(restart.times);
    return {
      rollingSince: rollingSince ?? look.now,
      restartFrom: Math.max(settled, restartedAt + Math.max(settleMs, pauseMs), retryAt),
      timesUndone: restart?.undoneAt === undefined ? 0 : restart.times,
      refusal,
    };
  }

  /** Takes note of how a workload looks now: since when it rolls out, and whether its last restart was undone. */
  observe(look: TargetLook): void {
    Object.assign(this.#noted(look.target), this.#next(look));
  }

  restarted(target: Target, { metadata: { uid } }: Workload, now: number): void {
    const memory = this.#noted(target);
    const times = (memory.restart?.times ?? 0) + 1;
    const restart: LastRestart = { uid, change: this.#change, times };
    Object.assign(memory, { restartedAt: now, refusal: undefined, failures: 0, retryAt: -Infinity, restart });
  }

  /** Notes a restart that failed, and how the API server refused it if it did; it asks for no less than `minDelayMs`. */
  failed(target: Target, now: number, { refusal, minDelayMs = 0 }: FailedRestart): void {
    const memory = this.#noted(target);
    memory.failures += 1;
    memory.refusal = refusal ?? memory.refusal;
    memory.retryAt = now + Math.max(minDelayMs, backoffMs(memory.failures, retryBackoff));
  }

  #next(look: TargetLook): Pick<TargetMemory, 'rollingSince' | 'restart'> {
    return { rollingSince: this.#nextRollingSince(look), restart: this.#nextRestart(look) };
  }

  /**
   * Since when a workload's rollout is under way; undefined if none is. After a loss of the memory the restart's own time
   * tells, and that of the condition, if it said already that not all is converged.
   */
  #nextRollingSince({ target, workload, now, converged }: TargetLook): number | undefined {
    if (workload === undefined || judgeWorkload(target.kind, workload).state !== 'rolling') return undefined;
    const known = this.#of(target).rollingSince ?? (underWay.has(converged?.reason) ? timeOf(converged, now) : now);
    return Math.min(Math.max(known, newestMarkAt(workload)), now);
  }

  /** The last restart, with the moment in which its mark was found to be gone; undefined once it counts no more. */
  #nextRestart({ target, workload, isMarked, now }: TargetLook): LastRestart | undefined {
    const { restart, restartedAt } = this.#of(target);
    if (restart === undefined || workload === undefined) return restart;
    if (isMarked) return { ...restart, undoneAt: undefined };
    const undoneAt = restart.undoneAt ?? now;
    const isSame = restart.uid === workload.metadata.uid && restart.change === this.#change;
    return isSame && undoneAt - restartedAt < longestUndonePauseMs ? { ...restart, undoneAt } : undefined;
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

/** How a workload looks at one moment. */
export interface TargetLook {
  readonly target: Target;
  /** Undefined if it does not exist, or is not known. */
  readonly workload: Workload | undefined;
  /** Whether it carries the mark of what the Secret holds. */
  readonly isMarked: boolean;
  /** Milliseconds since the epoch. */
  readonly now: number;
  /** The condition Converged, as the resource has it. */
  readonly converged: Condition | undefined;
}

/** What is remembered of a workload, as far as a plan rests on it. */
export interface TargetState {
  /** Since when its rollout is under way; now if none is. */
  readonly rollingSince: number;
  /** When it may be restarted at the earliest. */
  readonly restartFrom: number;
  /** How many restarts for just what is held were undone in a row. */
  readonly timesUndone: number;
  /** How the API server refused the last restart. */
  readonly refusal: string | undefined;
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
