import type { PodsVerdict } from './pods.ts';
import { markAnnotation } from './restart-mark.ts';
import { type Target, type Workload, nameOf, templateAnnotations } from './targets.ts';

// A pod that cannot be started proves nothing about the data: it is observed again with exponential backoff.
const initialPauseMs = 10_000;
const maxPauseMs = 300_000;

interface PodObservation {
  /** The restart whose pods were observed. */
  readonly of: string;
  readonly count: number;
  readonly at: number;
  readonly verdict: PodsVerdict | undefined;
}

/** The last verdict on the pods of each stuck workload. If it is lost, the pods are observed again. */
export class PodObservations {
  readonly #syncName: string;
  readonly #observations = new Map<string, PodObservation>();

  constructor(syncName: string) {
    this.#syncName = syncName;
  }

  /** The verdict on the pods of a workload's last restart; undefined if they were not observed. */
  verdict(target: Target, workload: Workload): PodsVerdict | undefined {
    return this.#find(target, workload)?.verdict;
  }

  /** When to observe again, in milliseconds since the epoch; Infinity if the verdict is final. */
  nextAt(target: Target, workload: Workload): number {
    const observation = this.#find(target, workload);
    if (observation === undefined) return -Infinity;
    if (observation.verdict?.kind === 'failing') return Infinity;
    return observation.at + Math.min(initialPauseMs * 2 ** (observation.count - 1), maxPauseMs);
  }

  /** Notes an observation. An undefined verdict means that it failed: the last verdict stays. */
  note(target: Target, workload: Workload, verdict: PodsVerdict | undefined, now: number): void {
    const before = this.#find(target, workload);
    this.#observations.set(nameOf(target), {
      of: this.#restartOf(workload),
      count: (before?.count ?? 0) + 1,
      at: now,
      verdict: verdict ?? before?.verdict,
    });
  }

  /** Forgets all workloads but these. */
  keep(names: ReadonlySet<string>): void {
    for (const name of this.#observations.keys()) if (!names.has(name)) this.#observations.delete(name);
  }

  #find(target: Target, workload: Workload): PodObservation | undefined {
    const observation = this.#observations.get(nameOf(target));
    return observation?.of === this.#restartOf(workload) ? observation : undefined;
  }

  /** Identifies a workload's restart, with the pod template that it used. */
  #restartOf(workload: Workload): string {
    const mark = templateAnnotations(workload)[markAnnotation(this.#syncName)];
    return [workload.metadata.uid, mark, workload.templateDigest].join(' ');
  }
}
