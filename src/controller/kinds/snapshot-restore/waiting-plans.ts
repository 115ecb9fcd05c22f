import { DomainError } from '../../../domain/errors/domain-error.ts';
import type { Clock } from '../../../lib/clock.ts';
import type { Logger } from '../../../observability/logger.ts';
import type { ReportedPlan, WaitingRestores } from '../../../services/fleet/waiting-restores.ts';
import type { Namespaces } from '../../frame/namespaces.ts';
import { type Next, WorkQueue } from '../../frame/work-queue.ts';

export interface WaitingPlansDeps {
  readonly plans: Pick<WaitingRestores, 'report' | 'forget' | 'reported'>;
  /** The cluster's name in the database. Throws DomainError cluster_unavailable if it is unknown. */
  readonly cluster: () => string;
  /** Whether no other cluster has this name. Throws DomainError store_unavailable. */
  readonly hasName: () => Promise<boolean>;
  /** The uids of all SnapshotRestores that the watch shows. */
  readonly knownUids: () => Iterable<string>;
  /** Whether the API server has listed the SnapshotRestores of a namespace. */
  readonly isListed: (namespace: string) => boolean;
  readonly namespaces: Pick<Namespaces, 'isGone'>;
  readonly clock: Clock;
  readonly logger: Logger;
}

// The queue's other keys are uids.
const all = 'all';

/**
 * Reports to the database which plans wait for an approval, for those who look without kubectl. The status of the
 * SnapshotRestore takes precedence.
 */
export class WaitingPlans {
  readonly #deps: WaitingPlansDeps;
  /** Drops plans; retried until it succeeds, while this process leads. */
  readonly #drops: WorkQueue;

  constructor(deps: WaitingPlansDeps) {
    this.#deps = deps;
    const { clock, logger } = deps;
    this.#drops = new WorkQueue({ clock, logger, workers: 1, process: async (key) => await this.#tryDrop(key) });
  }

  /** Call it when this process starts to lead, and all SnapshotRestores are listed. */
  startLeading(): void {
    this.#drops.add(all);
    this.#drops.start();
  }

  stopLeading(): void {
    this.#drops.pause();
  }

  /** Stops, and waits for a statement in progress, for at most `limitMs`. */
  async drain(limitMs: number): Promise<void> {
    await this.#drops.stop(limitMs);
  }

  /** Stores the newest plan of a SnapshotRestore. Throws DomainError store_unavailable. */
  async report(plan: ReportedPlan): Promise<void> {
    const { plans, cluster } = this.#deps;
    await plans.report(cluster(), plan);
  }

  /** Drops the plan of a SnapshotRestore that does not wait any more. */
  async end(uid: string): Promise<void> {
    const { plans, cluster } = this.#deps;
    await plans.forget(cluster(), [uid]);
  }

  /** Like `end`, later and with retries: the SnapshotRestore is gone. */
  forget(uid: string): void {
    this.#drops.add(uid);
  }

  /** Drops the plans of SnapshotRestores that do not exist: deletions that this process did not see. */
  sweep(): void {
    this.#drops.add(all);
  }

  async #tryDrop(key: string): Promise<Next> {
    try {
      await (key === all ? this.#dropAbsent() : this.end(key));
      return { kind: 'done' };
    } catch (error) {
      // An outage, which the reconciles report.
      if (error instanceof DomainError) return { kind: 'retry' };
      throw error;
    }
  }

  async #dropAbsent(): Promise<void> {
    const { plans, cluster, hasName, knownUids, isListed, namespaces } = this.#deps;
    if (!(await hasName())) return;
    const stored = await plans.reported(cluster());
    const known = new Set(knownUids());
    // A namespace that is not listed proves nothing: it may not be watched, or another installation watches it.
    const absent = stored.filter(
      ({ uid, namespace }) => !known.has(uid) && (isListed(namespace) || namespaces.isGone(namespace)),
    );
    if (absent.length > 0) {
      await plans.forget(
        cluster(),
        absent.map(({ uid }) => uid),
      );
    }
  }
}
