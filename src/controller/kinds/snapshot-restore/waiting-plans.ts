import { DomainError } from '../../../domain/errors/domain-error.ts';
import type { Clock } from '../../../lib/clock.ts';
import type { Logger } from '../../../observability/logger.ts';
import type { WaitingRestoresBackend } from '../../backend/fleet.ts';
import { absentUids, type KnownResources } from '../../frame/absent-resources.ts';
import { type Next, WorkQueue } from '../../frame/work-queue.ts';

export interface WaitingPlansDeps extends KnownResources {
  readonly plans: WaitingRestoresBackend;
  /** Whether no other cluster has this name. Throws DomainError store_unavailable. */
  readonly hasName: () => Promise<boolean>;
  readonly clock: Clock;
  readonly logger: Logger;
}

// The queue's other keys are uids.
const all = 'all';

/**
 * Drops the plans of SnapshotRestores that wait no more. Planning stores them, for those who look without kubectl; the
 * status of the SnapshotRestore takes precedence.
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

  /** Drops the plan of a SnapshotRestore that does not wait any more. */
  async end(uid: string): Promise<void> {
    await this.#deps.plans.forget([uid]);
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
    const { plans, hasName } = this.#deps;
    if (!(await hasName())) return;
    const absent = await absentUids(async (after) => await plans.reported(after), this.#deps);
    if (absent.length > 0) await plans.forget(absent);
  }
}
