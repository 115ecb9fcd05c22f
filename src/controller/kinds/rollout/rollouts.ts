import { ApiError, isApiStatus } from '../../../kube/client/api-error.ts';
import type { KubeClient } from '../../../kube/client/client.ts';
import { objectKey } from '../../../kube/client/objects.ts';
import type { Clock } from '../../../lib/clock.ts';
import { type Logger, errorFields } from '../../../observability/logger.ts';
import type { Condition, ConditionClaim } from '../../frame/conditions.ts';
import type { NamespaceShares } from '../../frame/namespace-shares.ts';
import type { SecretSync } from '../../generated/secret-sync.ts';
import { type Next, WorkQueue } from '../../frame/work-queue.ts';
import { type RolloutPlan, type Task, planRollout } from './plan.ts';
import { type FactSources, convergedOf, factsOf, observeTargets } from './facts.ts';
import * as messages from './messages.ts';
import { observePods } from './pods.ts';
import { markAnnotation } from './restart-mark.ts';
import { restartWorkload } from './restart.ts';
import { RolloutMemory } from './memory.ts';
import type { AbandonedData } from './stuck.ts';
import { nameOf, templateAnnotations } from './targets.ts';
import { WorkloadWatches, type WorkloadWatchesDeps } from './workload-watches.ts';
import { syncedRevisionIdOf, type HeldData, type RolloutOutcome } from './model.ts';

/** What a reconcile found. */
export interface Learnt {
  /** What the Secret holds; undefined if that is not known. */
  readonly held: HeldData | undefined;
  /** Why the Secret was not rolled back although its data was abandoned, as a clause. */
  readonly rollbackRefusal?: string | undefined;
}

export interface RolloutsDeps extends Pick<WorkloadWatchesDeps, 'fingerprint'> {
  readonly client: Pick<KubeClient, 'request' | 'watch'>;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly shares?: NamespaceShares | undefined;
  /** Whether the installation allows restarts in a namespace. */
  readonly mayRestartIn: (namespace: string) => boolean;
  /** A SecretSync as it is now. */
  readonly current: (key: string) => SecretSync | undefined;
  /** Reports the state of the workloads in the status. */
  readonly refreshStatus: (key: string) => void;
  /** Reconciles a SecretSync whose data was abandoned; see `abandoned`. */
  readonly onAbandoned: (key: string) => void;
}

// While pods change, the status is reported no more often than this, unless the reason changes.
const minReportIntervalMs = 1000;

/**
 * Restarts the workloads of SecretSyncs when their Secret's data has changed, and reports the progress of their pods. It
 * runs beside the reconcile of the Secret and takes from it only what the Secret holds. It reads all other state from the
 * workloads themselves, so a new leader continues where the former one stopped.
 */
export class Rollouts {
  readonly #deps: RolloutsDeps;
  readonly #queue: WorkQueue;
  readonly #watches: WorkloadWatches;
  readonly #memories = new Map<string, RolloutMemory>();

  constructor(deps: RolloutsDeps) {
    this.#deps = deps;
    const { client, clock, logger, fingerprint, shares } = deps;
    this.#queue = new WorkQueue({ clock, logger, shares, process: async (key) => await this.#process(key) });
    this.#watches = new WorkloadWatches({ client, clock, logger, fingerprint, enqueue: (key) => this.#queue.add(key) });
  }

  get queueLength(): number {
    return this.#queue.length;
  }

  startLeading(): void {
    // Another controller may have led since: no workload is restarted for what the Secrets held then.
    for (const memory of this.#memories.values()) memory.loseHold();
    this.#queue.start();
  }

  stopLeading(): void {
    this.#queue.pause();
  }

  async drain(limitMs: number): Promise<void> {
    await this.#queue.stop(limitMs);
  }

  async close(): Promise<void> {
    await this.#watches.stop();
  }

  /** Takes what a reconcile found. What follows from it is done later. */
  learn(sync: SecretSync, { held, rollbackRefusal }: Learnt): void {
    const key = objectKey(sync.metadata);
    const { rollout } = sync.spec;
    // It was deleted meanwhile: a watch that is opened now would never be closed.
    const isGone = this.#deps.current(key)?.metadata.uid !== sync.metadata.uid;
    if (rollout === undefined || !this.#mayRestart(sync) || isGone) {
      this.forget(key);
      return;
    }
    const memory = this.#memories.get(key) ?? new RolloutMemory(sync.metadata.name);
    this.#memories.set(key, memory);
    if (held !== undefined) {
      memory.hold(held, this.#deps.clock.now());
      memory.rollbackRefusal = rollbackRefusal;
    }
    const targets = sync.spec.suspend ? [] : rollout.targets;
    memory.keep(targets);
    // Before the Secret's data is known, nothing is judged. The digests of templates need the cluster's name, as the data does.
    this.#watches.follow(key, sync.metadata.namespace ?? '', memory.held === undefined ? [] : targets);
    this.#queue.add(key);
  }

  /** What the status must report of a SecretSync's workloads now. */
  outcome(sync: SecretSync): RolloutOutcome {
    const { rollout, suspend } = sync.spec;
    if (rollout === undefined) return { claim: undefined, workloads: undefined };
    if (!this.#mayRestart(sync))
      return { claim: unknown('RolloutsDisabled', messages.rolloutsDisabled), workloads: undefined };
    const { workloads } = sync.status ?? {};
    if (suspend) return { claim: unknown('Suspended', messages.suspended), workloads };
    const plan = this.#plan(sync);
    if (plan === undefined) return { claim: unknown('SecretNotSynced', messages.secretNotSynced), workloads };
    const { claim, workloads: rows, converged } = plan;
    return this.#reportedBefore(sync) ?? { claim, workloads: rows, converged };
  }

  #mayRestart({ metadata }: SecretSync): boolean {
    return this.#deps.mayRestartIn(metadata.namespace ?? '');
  }

  /** Drops all that is kept of a SecretSync. */
  forget(key: string): void {
    if (!this.#memories.delete(key)) return;
    this.#queue.forget(key);
    this.#watches.follow(key, '', []);
  }

  async #process(key: string): Promise<Next> {
    const sync = this.#deps.current(key);
    const memory = this.#memories.get(key);
    if (memory === undefined || sync === undefined || isAtRest(sync)) return { kind: 'done' };
    observeTargets(this.#sources(sync, memory));
    const judged = await this.#judge(sync, memory);
    if (judged === undefined) return { kind: 'done' };
    for (const restart of judged.restarts) await this.#restart(sync, memory, restart);
    this.#reportAbandoned(key, memory, judged.abandoned);
    const after = this.#plan(sync) ?? judged;
    // A timer may fire early: a restart that became due since the first plan has no other timer.
    const tried = new Set(judged.restarts.map(({ target }) => nameOf(target)));
    const isDue = after.restarts.some(({ target }) => !tried.has(nameOf(target)));
    return soonest(this.#refreshStatus(key, memory, after), this.#untilMs(isDue ? 0 : after.dueAt));
  }

  /** The plan after the pods of stuck workloads were observed. Their state may block the restart of other workloads. */
  async #judge(sync: SecretSync, memory: RolloutMemory): Promise<RolloutPlan | undefined> {
    const plan = this.#plan(sync);
    if (plan === undefined || plan.podChecks.length === 0) return plan;
    for (const check of plan.podChecks) await this.#observePods(sync, memory, check);
    return this.#plan(sync) ?? plan;
  }

  /** What is to be done about a SecretSync's workloads. Pure. */
  #plan(sync: SecretSync): RolloutPlan | undefined {
    const memory = this.#memories.get(objectKey(sync.metadata));
    const facts = memory && factsOf(this.#sources(sync, memory));
    return facts && planRollout(facts);
  }

  #sources(sync: SecretSync, memory: RolloutMemory): FactSources {
    return { sync, memory, watches: this.#watches, now: this.#deps.clock.now() };
  }

  /**
   * The data of a SecretSync that was abandoned because a workload fails with it and the spec asks for a rollback; undefined
   * if none was. It is computed from the workloads at each reconcile.
   */
  abandoned(sync: SecretSync): AbandonedData | undefined {
    return isAtRest(sync) ? undefined : this.#plan(sync)?.abandoned;
  }

  /**
   * The outcome that the status already reports, until the workloads are known. After a start they are listed a moment later
   * than the SecretSync, and the status must not change for that.
   */
  #reportedBefore(sync: SecretSync): RolloutOutcome | undefined {
    const { metadata, status = {} } = sync;
    const held = this.#memories.get(objectKey(metadata))?.held;
    const reported = convergedOf(status.conditions);
    const isOfNow =
      reported?.observedGeneration === metadata.generation && syncedRevisionIdOf(status) === held?.revisionId;
    if (reported === undefined || !isOfNow || !this.#isUnobserved(sync)) return undefined;
    return { claim: claimAgain(reported), workloads: status.workloads };
  }

  /** Whether a workload has not been listed yet, although the API server allows it. */
  #isUnobserved({ metadata, spec }: SecretSync): boolean {
    const workloads =
      spec.rollout?.targets.map((target) => this.#watches.observe(metadata.namespace ?? '', target)) ?? [];
    return workloads.some(({ isSeen, isForbidden }) => !isSeen && !isForbidden);
  }

  /** Observes the pods of a stuck workload to find the cause. */
  async #observePods(sync: SecretSync, memory: RolloutMemory, { target, workload }: Task): Promise<void> {
    const { client, clock, logger } = this.#deps;
    const { name: syncName, namespace = '' } = sync.metadata;
    const name = markAnnotation(syncName);
    const mark = { name, text: templateAnnotations(workload)[name] ?? '' };
    const about = { key: `${namespace}/${syncName}`, workload: nameOf(target) };
    try {
      const verdict = await observePods(client, { namespace, workload, mark });
      memory.pods.note(target, workload, verdict, clock.now());
      logger.info({ ...about, verdict: verdict.kind, reason: verdict.reason }, messages.podsInspected);
    } catch (error) {
      memory.pods.note(target, workload, undefined, clock.now());
      logger.warn({ ...about, ...errorFields(error) }, messages.podsNotInspected);
    }
  }

  /** Reconciles the SecretSync once for each failed restart. */
  #reportAbandoned(key: string, memory: RolloutMemory, abandoned: AbandonedData | undefined): void {
    const what =
      abandoned === undefined
        ? undefined
        : [abandoned.held.data, abandoned.held.since, nameOf(abandoned.target)].join(' ');
    if (what !== undefined && what !== memory.abandoned) this.#deps.onAbandoned(key);
    memory.abandoned = what;
  }

  async #restart(
    sync: SecretSync,
    memory: RolloutMemory,
    { target, workload, isAhead }: RolloutPlan['restarts'][number],
  ): Promise<void> {
    const { client, clock, logger } = this.#deps;
    const { name: syncName, namespace = '' } = sync.metadata;
    const { held } = memory;
    if (held === undefined) return;
    const about = { key: `${namespace}/${syncName}`, workload: nameOf(target), revision: held.revision };
    try {
      const mark = { revision: held.revision, data: held.data, at: clock.now(), isAhead };
      const restarted = await restartWorkload(client, { syncName, namespace, target, workload, mark });
      this.#watches.record(target.kind, workload, restarted);
      memory.restarted(target, workload, clock.now());
      logger.info(about, messages.restarted);
    } catch (error) {
      // It is gone: the watch will show that.
      if (isApiStatus(error, 404)) return;
      const refusal = isRefusal(error) ? `${error.status} ${error.reason}` : undefined;
      const minDelayMs = error instanceof ApiError ? error.retryAfterMs : undefined;
      memory.failed(target, clock.now(), { refusal, minDelayMs });
      const level = isApiStatus(error, 409) ? 'debug' : 'warn';
      logger[level]({ ...about, ...errorFields(error) }, messages.notRestarted);
    }
  }

  #refreshStatus(key: string, memory: RolloutMemory, { claim: { reason } }: RolloutPlan): Next {
    const now = this.#deps.clock.now();
    const { reported } = memory;
    const pauseMs = reported?.reason === reason ? reported.at + minReportIntervalMs - now : 0;
    if (pauseMs > 0) return { kind: 'after', delayMs: pauseMs };
    memory.reported = { at: now, reason };
    this.#deps.refreshStatus(key);
    return { kind: 'done' };
  }

  #untilMs(at: number | undefined): Next {
    return at === undefined ? { kind: 'done' } : { kind: 'after', delayMs: Math.max(at - this.#deps.clock.now(), 0) };
  }
}

/** The claim if nothing can be known of the workloads. */
function unknown(reason: string, message: string): ConditionClaim {
  return { type: 'Converged', status: 'Unknown', reason, message };
}

function claimAgain({ type, status, reason, message }: Condition): ConditionClaim {
  return { type, status, reason, message };
}

/** Whether a SecretSync is suspended or being deleted: its workloads are left alone. */
function isAtRest({ metadata, spec }: SecretSync): boolean {
  return spec.suspend || metadata.deletionTimestamp !== undefined;
}

/** Whether the API server refused a request in a way that a retry does not change. */
function isRefusal(error: unknown): error is ApiError {
  return error instanceof ApiError && error.status >= 400 && error.status < 500 && ![409, 429].includes(error.status);
}

/** The first of these to come. */
function soonest(...nexts: readonly Next[]): Next {
  const delays = nexts.flatMap((next) => (next.kind === 'after' ? [next.delayMs] : []));
  return delays.length === 0 ? { kind: 'done' } : { kind: 'after', delayMs: Math.min(...delays) };
}
