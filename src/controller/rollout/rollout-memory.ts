import { isDeepStrictEqual } from 'node:util';
import type { Condition } from '../conditions.ts';
import { judgeWorkload } from './judge-workload.ts';
import { type HeldData, newestMarkAt } from './converge.ts';
import { type Target, type Workload, nameOf } from './targets.ts';

// So long nothing may have been written before a restart, so that a burst of changes costs one; but changes that do not
// end put it off for no longer than the second.
export const settleMs = 2000;
export const mostSettleMs = 30_000;

interface TargetMemory {
  rollingSince: number | undefined;
  restartedAt: number;
  refusal: string | undefined;
}

/** What is remembered of one SecretSync's workloads. After a loss the settle time begins again, and nothing else. */
export class RolloutMemory {
  held: HeldData | undefined;
  /** When the status was last told because of a workload, and the reason that it told. */
  told: { readonly at: number; readonly reason: string } | undefined;
  #changedAt = 0;
  /** When the first change came that a workload waits for. */
  #pendingSince: number | undefined;
  readonly #targets = new Map<string, TargetMemory>();

  /** Notes what the Secret holds since just now. */
  hold(held: HeldData, now: number): void {
    if (this.held?.data !== held.data) {
      this.#changedAt = now;
      this.#pendingSince ??= now;
    }
    if (!isDeepStrictEqual(this.held, held)) this.held = held;
  }

  /** Forgets all workloads but these. */
  keep(targets: readonly Target[]): void {
    const names = new Set(targets.map(nameOf));
    for (const name of this.#targets.keys()) if (!names.has(name)) this.#targets.delete(name);
  }

  /** When a workload may be restarted at the earliest. */
  restartFrom(target: Target): number {
    const settled = Math.min(this.#changedAt + settleMs, (this.#pendingSince ?? Infinity) + mostSettleMs);
    return Math.max(settled, this.#of(target).restartedAt + settleMs);
  }

  refusalOf(target: Target): string | undefined {
    return this.#of(target).refusal;
  }

  restarted(target: Target, now: number): void {
    Object.assign(this.#of(target), { restartedAt: now, refusal: undefined });
  }

  refused(target: Target, refusal: string): void {
    this.#of(target).refusal = refusal;
  }

  /** Nothing waits for a restart any more: the next change begins a settle time of its own. */
  settled(): void {
    this.#pendingSince = undefined;
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
    const fresh: TargetMemory = { rollingSince: undefined, restartedAt: -Infinity, refusal: undefined };
    this.#targets.set(name, fresh);
    return fresh;
  }
}

// The reasons of a condition that began to be false with, or before, the rollout that is under way.
const underWay: ReadonlySet<string | undefined> = new Set(['RolloutPending', 'RollingOut', 'RolloutStuck']);

function timeOf(condition: Condition | undefined, otherwise: number): number {
  const at = Date.parse(condition?.lastTransitionTime ?? '');
  return Number.isNaN(at) ? otherwise : at;
}

export interface RollingContext {
  readonly now: number;
  /** As the resource has it. */
  readonly converged: Condition | undefined;
}
