import type { PodsVerdict } from './pods.ts';
import { markAnnotation } from './restart-mark.ts';
import { type Target, type Workload, nameOf, templateAnnotations } from './targets.ts';

// A pod that cannot be started tells nothing of the data until it is: it is looked at again, ever more rarely.
const firstPauseMs = 10_000;
const longestPauseMs = 300_000;

interface PodLook {
  /** The restart that was looked at. */
  readonly of: string;
  readonly looks: number;
  readonly at: number;
  readonly verdict: PodsVerdict | undefined;
}

/** What the pods of stuck workloads told when they were looked at last. After a loss they are looked at once more. */
export class PodLooks {
  readonly #syncName: string;
  readonly #looks = new Map<string, PodLook>();

  constructor(syncName: string) {
    this.#syncName = syncName;
  }

  /** What the pods of a workload's last restart told; undefined where they were not looked at. */
  verdict(target: Target, workload: Workload): PodsVerdict | undefined {
    return this.#find(target, workload)?.verdict;
  }

  /** When another look is worth it, in milliseconds since the epoch; Infinity where what is known is for good. */
  nextAt(target: Target, workload: Workload): number {
    const look = this.#find(target, workload);
    if (look === undefined) return -Infinity;
    if (look.verdict?.kind === 'failing') return Infinity;
    return look.at + Math.min(firstPauseMs * 2 ** (look.looks - 1), longestPauseMs);
  }

  /** Notes a look, with an undefined verdict one that failed: what was known stays. */
  note(target: Target, workload: Workload, verdict: PodsVerdict | undefined, now: number): void {
    const before = this.#find(target, workload);
    this.#looks.set(nameOf(target), {
      of: this.#restartOf(workload),
      looks: (before?.looks ?? 0) + 1,
      at: now,
      verdict: verdict ?? before?.verdict,
    });
  }

  /** Forgets all workloads but these. */
  keep(names: ReadonlySet<string>): void {
    for (const name of this.#looks.keys()) if (!names.has(name)) this.#looks.delete(name);
  }

  #find(target: Target, workload: Workload): PodLook | undefined {
    const look = this.#looks.get(nameOf(target));
    return look?.of === this.#restartOf(workload) ? look : undefined;
  }

  /** Tells a workload's restart, and the template that it was made with, from others. */
  #restartOf(workload: Workload): string {
    const mark = templateAnnotations(workload)[markAnnotation(this.#syncName)];
    return [workload.metadata.uid, mark, workload.templateDigest].join(' ');
  }
}
