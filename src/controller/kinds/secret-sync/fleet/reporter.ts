import type { RefusedReports, SyncStateReport } from '../../../../domain/fleet.ts';
import { DomainError } from '../../../../domain/errors/domain-error.ts';
import { limits } from '../../../../domain/limits.ts';
import { type BackoffOptions, backoffMs } from '../../../../lib/backoff.ts';
import type { Clock } from '../../../../lib/clock.ts';
import { type Logger, errorFields } from '../../../../observability/logger.ts';
import type { SyncStatesBackend } from '../../../backend/fleet.ts';
import { absentUids, type KnownResources } from '../../../frame/absent-resources.ts';
import type { Namespaces } from '../../../frame/namespaces.ts';
import type { Metrics } from '../../../../observability/metrics.ts';
import { statesNotReported, statesRefused, statesReportedAgain } from '../source-messages.ts';

export interface SyncReporterDeps extends KnownResources {
  readonly states: SyncStatesBackend;
  /** Whether no other cluster has this name. Throws DomainError store_unavailable. */
  readonly hasName: () => Promise<boolean>;
  /** Whether a namespace is known to be being deleted, and whether it is known to be deleted or being deleted. */
  readonly namespaces: Pick<Namespaces, 'isEnding' | 'isGone'>;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly metrics: Pick<Metrics, 'syncStatesReported'>;
}

const intervalMs = 1000;
const seenIntervalMs = 60_000;
// Deletions that wait. A sweep finds the rest.
const maxGone = 10_000;
const backoff: BackoffOptions = { initialMs: 1000, maxMs: 30_000 };

/**
 * Reports the states of the SecretSyncs to the database, at most once a second, while this process leads. Only the newest
 * state of each SecretSync waits. No reconcile waits for it, and a failure only delays the reports. Once a minute it records
 * that everything was reported.
 */
export class SyncReporter {
  readonly #deps: SyncReporterDeps;
  /** The newest reports that are not stored yet, by uid; as many as there are SecretSyncs at most. */
  readonly #waiting = new Map<string, readonly SyncStateReport[]>();
  /** The uids of SecretSyncs that are gone and may be stored. */
  readonly #gone = new Set<string>();
  /** The uids of SecretSyncs of which a limit refused the newest report. */
  readonly #refused = new Set<string>();
  #isLeading = false;
  #isSweepDue = false;
  #seenAt = -Infinity;
  /** How many runs failed in a row. */
  #failures = 0;
  #timer: { readonly dueAt: number; readonly cancel: () => void } | undefined;
  #running: Promise<void> | undefined;

  constructor(deps: SyncReporterDeps) {
    this.#deps = deps;
  }

  /** Call it when this process starts to lead, and all SecretSyncs are listed. */
  startLeading(): void {
    this.#isLeading = true;
    this.#isSweepDue = true;
    this.#seenAt = -Infinity;
    this.#wake(0);
  }

  /** Drops everything that waits, because the next leader reports it again. */
  stopLeading(): void {
    this.#isLeading = false;
    this.#failures = 0;
    this.#waiting.clear();
    this.#gone.clear();
    this.#refused.clear();
    this.#timer?.cancel();
    this.#timer = undefined;
  }

  /** Stops, and waits for a statement in progress, for at most `limitMs`. */
  async drain(limitMs: number): Promise<void> {
    this.stopLeading();
    const limit = Promise.withResolvers<void>();
    const cancel = this.#deps.clock.after(limitMs, limit.resolve);
    await Promise.race([this.#running, limit.promise]);
    cancel();
  }

  /** Reports all sources of one SecretSync. */
  report(reports: readonly SyncStateReport[]): void {
    const [first] = reports;
    if (!this.#isLeading || first === undefined) return;
    // Nothing in such a namespace is reconciled any more.
    if (this.#deps.namespaces.isEnding(first.namespace)) return;
    this.#gone.delete(first.uid);
    this.#waiting.set(first.uid, reports);
    this.#wakeSoon();
  }

  /** Drops what is stored of a SecretSync that is gone. */
  forget(uid: string): void {
    if (!this.#isLeading) return;
    this.#waiting.delete(uid);
    this.#refused.delete(uid);
    if (this.#gone.size < maxGone) this.#gone.add(uid);
    else this.#isSweepDue = true;
    this.#wakeSoon();
  }

  /** Drops what is stored of SecretSyncs that do not exist: deletions that this process did not see. */
  sweep(): void {
    if (!this.#isLeading) return;
    this.#isSweepDue = true;
    this.#wakeSoon();
  }

  #wakeSoon(): void {
    // After a failure, the delay of the retry counts.
    if (this.#failures === 0) this.#wake(intervalMs);
  }

  /** Runs after a delay, or earlier if that is due already. */
  #wake(delayMs: number): void {
    const { clock } = this.#deps;
    const dueAt = clock.now() + delayMs;
    if (this.#running !== undefined || (this.#timer !== undefined && this.#timer.dueAt <= dueAt)) return;
    this.#timer?.cancel();
    const cancel = clock.after(delayMs, () => {
      this.#timer = undefined;
      this.#running = this.#run().finally(() => this.#ended());
    });
    this.#timer = { dueAt, cancel };
  }

  #ended(): void {
    this.#running = undefined;
    if (!this.#isLeading) return;
    if (this.#failures > 0) this.#wake(backoffMs(this.#failures, backoff));
    else if (this.#waiting.size > 0 || this.#gone.size > 0 || this.#isSweepDue) this.#wake(intervalMs);
    else this.#wake(Math.max(this.#seenAt + seenIntervalMs - this.#deps.clock.now(), 0));
  }

  async #run(): Promise<void> {
    const { logger, metrics } = this.#deps;
    try {
      await this.#flush();
      if (this.#failures > 0) logger.info(statesReportedAgain);
      this.#failures = 0;
      metrics.syncStatesReported('done');
    } catch (error) {
      this.#failures += 1;
      logger[this.#failures === 1 ? 'warn' : 'debug'](errorFields(error), statesNotReported);
      metrics.syncStatesReported('failed');
    }
  }

  async #flush(): Promise<void> {
    const { states, clock } = this.#deps;
    const batch = [...this.#waiting].slice(0, limits.reportedAtOnce);
    const isAll = batch.length === this.#waiting.size;
    if (batch.length > 0) await this.#store(batch);
    const gone = [...this.#gone];
    if (gone.length > 0) {
      await states.forget(gone);
      for (const uid of gone) this.#gone.delete(uid);
    }
    if (this.#isSweepDue) await this.#sweep();
    const now = clock.now();
    if (!isAll || now < this.#seenAt + seenIntervalMs || !this.#isLeading) return;
    await states.seen();
    this.#seenAt = now;
  }

  /** Stores reports. What fails for a reason that a retry does not change is dropped; the next resync reports it again. */
  async #store(batch: readonly (readonly [string, readonly SyncStateReport[]])[]): Promise<void> {
    let isDone = true;
    try {
      const refused = await this.#deps.states.report(batch.flatMap(([, reports]) => reports));
      this.#noteRefused(batch, refused);
    } catch (error) {
      isDone = !(error instanceof DomainError) || error.description.effect === 'stall';
      throw error;
    } finally {
      for (const [uid, reports] of isDone ? batch : []) {
        // A newer report waits.
        if (this.#waiting.get(uid) === reports) this.#waiting.delete(uid);
      }
    }
  }

  /** Logs the first refusal, and the next one after all SecretSyncs were stored again. */
  #noteRefused(batch: readonly (readonly [string, unknown])[], refused: readonly RefusedReports[]): void {
    const { logger, metrics } = this.#deps;
    const level = this.#refused.size === 0 ? 'warn' : 'debug';
    for (const [uid] of batch) this.#refused.delete(uid);
    for (const { uids, code, detail } of refused) {
      for (const uid of uids) this.#refused.add(uid);
      logger[level]({ code, secretSyncs: uids.length }, statesRefused(detail));
    }
    if (refused.length > 0) metrics.syncStatesReported('refused');
  }

  /** Drops what is stored of SecretSyncs that do not exist. */
  async #sweep(): Promise<void> {
    const { states, hasName } = this.#deps;
    if (!(await hasName())) return;
    const absent = await absentUids(async (after) => await states.reported(after), this.#deps);
    if (absent.length > 0) await states.forget(absent);
    this.#isSweepDue = false;
  }
}
