import { ApiError, isApiStatus } from '../../kube/api-error.ts';
import type { KubeClient } from '../../kube/client.ts';
import { objectKey } from '../../kube/objects.ts';
import type { Clock } from '../../lib/clock.ts';
import { parseDurationMs } from '../../lib/duration.ts';
import { type Logger, errorFields } from '../../lib/logger.ts';
import type { Condition, ConditionClaim } from '../conditions.ts';
import type { SecretSync } from '../generated/secret-sync.ts';
import { syncedRevisionIdOf } from '../secret-sync/status.ts';
import { type Next, WorkQueue } from '../work-queue.ts';
import { type HeldData, type RolloutPlan, isMarkedFor, markOf, planRollout } from './converge.ts';
import { restartWorkload } from './restart.ts';
import { RolloutMemory } from './rollout-memory.ts';
import { type WorkloadRow, nameOf } from './targets.ts';
import { WorkloadWatches } from './workload-watches.ts';

/** What the status shall tell of a SecretSync's workloads; without a claim there is no condition Converged. */
export interface RolloutOutcome {
  readonly claim: ConditionClaim | undefined;
  readonly workloads: readonly WorkloadRow[] | undefined;
}

export interface RolloutsDeps {
  readonly client: Pick<KubeClient, 'request' | 'watch'>;
  readonly clock: Clock;
  readonly logger: Logger;
  /** Whether the installation allows restarts at all. */
  readonly isAllowed: boolean;
  /** A SecretSync as it is now. */
  readonly current: (key: string) => SecretSync | undefined;
  /** Has the status told anew; answers whether that could be done, which it cannot while the SecretSync is reconciled. */
  readonly tell: (key: string) => Promise<Next | 'busy'>;
}

// While pods come and go the status follows no quicker than this, unless the reason changes.
const tellPauseMs = 1000;
const defaultTimeoutMs = 600_000;

/**
 * Restarts the workloads of SecretSyncs when their Secret's data has changed, and tells how far their pods are. It works
 * beside the reconcile of the Secret, which only lets it know what the Secret holds; all else it reads from the workloads
 * themselves, so that it goes on wherever another controller left off.
 */
export class Rollouts {
  readonly #deps: RolloutsDeps;
  readonly #queue: WorkQueue;
  readonly #watches: WorkloadWatches;
  readonly #memories = new Map<string, RolloutMemory>();
  /** Those whose status could not be told because they were being reconciled. */
  readonly #untold = new Set<string>();

  constructor(deps: RolloutsDeps) {
    this.#deps = deps;
    const { client, clock, logger } = deps;
    this.#queue = new WorkQueue({ clock, logger, process: async (key) => await this.#process(key) });
    this.#watches = new WorkloadWatches({ client, clock, logger, wake: (key) => this.#queue.add(key) });
  }

  get queueLength(): number {
    return this.#queue.length;
  }

  start(): void {
    // Another controller may have led since: nobody is restarted for what the Secrets held then.
    for (const memory of this.#memories.values()) memory.loseHold();
    this.#queue.start();
  }

  pause(): void {
    this.#queue.pause();
  }

  async drain(limitMs: number): Promise<void> {
    await this.#queue.stop(limitMs);
  }

  async close(): Promise<void> {
    await this.#watches.stop();
  }

  /**
   * Takes what a reconcile found the Secret to hold, undefined where it could not tell, and answers what the status shall
   * say of the workloads. Asks nobody: what is to be done is done later.
   */
  learn(sync: SecretSync, held: HeldData | undefined): RolloutOutcome {
    const key = objectKey(sync.metadata);
    const { rollout } = sync.spec;
    // Deleted meanwhile: nothing is to be opened that nobody would close.
    const isGone = this.#deps.current(key)?.metadata.uid !== sync.metadata.uid;
    if (rollout === undefined || !this.#deps.isAllowed || isGone) {
      this.forget(key);
      return this.outcome(sync);
    }
    const memory = this.#memories.get(key) ?? new RolloutMemory();
    this.#memories.set(key, memory);
    if (held !== undefined) memory.hold(held, this.#deps.clock.now());
    const targets = sync.spec.suspend ? [] : rollout.targets;
    memory.keep(targets);
    this.#watches.follow(key, sync.metadata.namespace ?? '', targets);
    this.#queue.add(key);
    return this.outcome(sync);
  }

  /** What the status shall say of a SecretSync's workloads now. */
  outcome(sync: SecretSync): RolloutOutcome {
    const { rollout, suspend } = sync.spec;
    if (rollout === undefined) return { claim: undefined, workloads: undefined };
    if (!this.#deps.isAllowed) return { claim: unknown('RolloutsDisabled', disabledMessage), workloads: undefined };
    const { workloads } = sync.status ?? {};
    if (suspend) return { claim: unknown('Suspended', suspendedMessage), workloads };
    const plan = this.#plan(sync);
    if (plan === undefined) return { claim: unknown('SecretNotSynced', notSyncedMessage), workloads };
    return this.#stillTrue(sync) ?? { claim: plan.claim, workloads: plan.workloads };
  }

  /** Drops all that is kept of a SecretSync. */
  forget(key: string): void {
    if (!this.#memories.delete(key)) return;
    this.#queue.forget(key);
    this.#untold.delete(key);
    this.#watches.follow(key, '', []);
  }

  /** Call in the moment in which a SecretSync is no longer being reconciled. */
  afterReconcile(key: string): void {
    if (this.#untold.delete(key)) this.#queue.add(key);
  }

  async #process(key: string): Promise<Next> {
    const sync = this.#deps.current(key);
    const memory = this.#memories.get(key);
    if (memory === undefined || sync === undefined || isAtRest(sync)) return { kind: 'done' };
    const plan = this.#plan(sync);
    if (plan === undefined) return { kind: 'done' };
    for (const restart of plan.restarts) await this.#restart(sync, memory, restart);
    const after = this.#plan(sync) ?? plan;
    // A timer may fire a little early: what has become due only since the first plan has no other time to wake at.
    const tried = new Set(plan.restarts.map(({ target }) => nameOf(target)));
    const isDue = after.restarts.some(({ target }) => !tried.has(nameOf(target)));
    return soonest(await this.#tell(key, memory, after), this.#untilMs(isDue ? 0 : after.wakeAt));
  }

  #plan(sync: SecretSync): RolloutPlan | undefined {
    const { metadata, spec, status } = sync;
    const memory = this.#memories.get(objectKey(metadata));
    if (memory?.held === undefined || spec.rollout === undefined) return undefined;
    const now = this.#deps.clock.now();
    const { targets, timeout } = spec.rollout;
    const converged = convergedOf(status?.conditions);
    const held = { ...memory.held, since: memory.dataSince };
    return planRollout({
      syncName: metadata.name,
      held,
      timeout,
      timeoutMs: parseDurationMs(timeout) ?? defaultTimeoutMs,
      now,
      targets: targets.map((target) => {
        const look = this.#watches.look(metadata.namespace ?? '', target);
        const { workload } = look;
        const rollingSince = memory.rollingSince(target, workload, { now, converged });
        const isMarked = workload !== undefined && isMarkedFor(held, markOf(workload, metadata.name));
        const timesUndone = workload === undefined ? 0 : memory.timesUndone(target, workload, isMarked, now);
        const [restartFrom, refusal] = [memory.restartFrom(target), memory.refusalOf(target)];
        return { ...look, target, rollingSince, restartFrom, refusal, timesUndone };
      }),
    });
  }

  /**
   * What the status says already, as long as nothing is known to be otherwise: after a start the workloads come a moment
   * later than the SecretSync, and nothing is to be written for that.
   */
  #stillTrue(sync: SecretSync): RolloutOutcome | undefined {
    const { metadata, status = {} } = sync;
    const held = this.#memories.get(objectKey(metadata))?.held;
    const told = convergedOf(status.conditions);
    const isOfNow = told?.observedGeneration === metadata.generation && syncedRevisionIdOf(status) === held?.revisionId;
    if (told === undefined || !isOfNow || !this.#isBlind(sync)) return undefined;
    return { claim: claimAgain(told), workloads: status.workloads };
  }

  /** Whether a workload has not come from the API server yet, though it would let us look. */
  #isBlind({ metadata, spec }: SecretSync): boolean {
    const looks = spec.rollout?.targets.map((target) => this.#watches.look(metadata.namespace ?? '', target)) ?? [];
    return looks.some(({ isSeen, isForbidden }) => !isSeen && !isForbidden);
  }

  async #restart(
    sync: SecretSync,
    memory: RolloutMemory,
    { target, workload }: RolloutPlan['restarts'][number],
  ): Promise<void> {
    const { client, clock, logger } = this.#deps;
    const { name: syncName, namespace = '' } = sync.metadata;
    const { held } = memory;
    if (held === undefined) return;
    const about = { key: `${namespace}/${syncName}`, workload: nameOf(target), revision: held.revision };
    try {
      const mark = { revision: held.revision, data: held.data, at: clock.now() };
      const restarted = await restartWorkload(client, { syncName, namespace, target, workload, mark });
      this.#watches.record(target.kind, workload, restarted);
      memory.restarted(target, workload, clock.now());
      logger.info(about, 'a workload was restarted, for its Secret has other data');
    } catch (error) {
      // Gone: the watch tells.
      if (isApiStatus(error, 404)) return;
      const refusal = isRefusal(error) ? `${error.status} ${error.reason}` : undefined;
      const minDelayMs = error instanceof ApiError ? error.retryAfterMs : undefined;
      memory.failed(target, clock.now(), { refusal, minDelayMs });
      const level = isApiStatus(error, 409) ? 'debug' : 'warn';
      logger[level]({ ...about, ...errorFields(error) }, 'a workload could not be restarted; it is tried again');
    }
  }

  async #tell(key: string, memory: RolloutMemory, { claim: { reason } }: RolloutPlan): Promise<Next> {
    const now = this.#deps.clock.now();
    const { told } = memory;
    const pauseMs = told?.reason === reason ? told.at + tellPauseMs - now : 0;
    if (pauseMs > 0) return { kind: 'after', delayMs: pauseMs };
    memory.told = { at: now, reason };
    const result = await this.#deps.tell(key);
    if (result !== 'busy') return memory.afterTelling(result);
    this.#untold.add(key);
    memory.told = told;
    return { kind: 'done' };
  }

  #untilMs(at: number | undefined): Next {
    return at === undefined ? { kind: 'done' } : { kind: 'after', delayMs: Math.max(at - this.#deps.clock.now(), 0) };
  }
}

const disabledMessage =
  'spec.rollout asks for restarts, which this installation does not allow; the Secret is kept in step all the same. ' +
  'Set KEYFRAME_ROLLOUTS=true for the controller and give its account the rules of ' +
  'charts/keyframe/files/rollout-rules.yaml, or take spec.rollout away.';
const suspendedMessage = 'spec.suspend is true: no workload is watched or restarted.';
const notSyncedMessage =
  'What the Secret holds is not known yet: the workloads are looked at once the condition Ready is true.';

function unknown(reason: string, message: string): ConditionClaim {
  return { type: 'Converged', status: 'Unknown', reason, message };
}

function convergedOf(conditions: readonly Condition[] | undefined): Condition | undefined {
  return conditions?.find(({ type }) => type === 'Converged');
}

function claimAgain({ type, status, reason, message }: Condition): ConditionClaim {
  return { type, status, reason, message };
}

/** Whether nothing is to be done for a SecretSync, whatever it asks for. */
function isAtRest({ metadata, spec }: SecretSync): boolean {
  return spec.suspend || metadata.deletionTimestamp !== undefined;
}

/** Whether the API server said no, as it will the next time, too. */
function isRefusal(error: unknown): error is ApiError {
  return error instanceof ApiError && error.status >= 400 && error.status < 500 && ![409, 429].includes(error.status);
}

/** The first of these to come. */
function soonest(...nexts: readonly Next[]): Next {
  const delays = nexts.flatMap((next) => (next.kind === 'after' ? [next.delayMs] : []));
  return delays.length === 0 ? { kind: 'done' } : { kind: 'after', delayMs: Math.min(...delays) };
}
