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
import { lookAtPods } from './pods.ts';
import { markAnnotation } from './restart-mark.ts';
import { restartWorkload } from './restart.ts';
import { RolloutMemory } from './memory.ts';
import type { GiveUp } from './stuck.ts';
import { nameOf, templateAnnotations } from './targets.ts';
import { WorkloadWatches, type WorkloadWatchesDeps } from './workload-watches.ts';
import { syncedRevisionIdOf, type HeldData, type RolloutOutcome } from './model.ts';

/** What a reconcile found. */
export interface Learnt {
  /** What the Secret holds; undefined where it could not tell. */
  readonly held: HeldData | undefined;
  /** Why the Secret was not taken back though its data was given up, as a clause. */
  readonly rollbackRefusal?: string | undefined;
}

export interface RolloutsDeps extends Pick<WorkloadWatchesDeps, 'fingerprint'> {
  readonly client: Pick<KubeClient, 'request' | 'watch'>;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly shares?: NamespaceShares | undefined;
  /** Whether the installation allows restarts at all. */
  readonly isAllowed: boolean;
  /** A SecretSync as it is now. */
  readonly current: (key: string) => SecretSync | undefined;
  /** Has the status report what the workloads have come to. */
  readonly refreshStatus: (key: string) => void;
  /** Has a SecretSync reconciled whose data was given up: see `givenUp`. */
  readonly giveUp: (key: string) => void;
}

// While pods come and go the status follows no quicker than this, unless the reason changes.
const tellPauseMs = 1000;

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

  constructor(deps: RolloutsDeps) {
    this.#deps = deps;
    const { client, clock, logger, fingerprint, shares } = deps;
    this.#queue = new WorkQueue({ clock, logger, shares, process: async (key) => await this.#process(key) });
    this.#watches = new WorkloadWatches({ client, clock, logger, fingerprint, wake: (key) => this.#queue.add(key) });
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
   * Takes what a reconcile found. What is to be done is done later.
   */
  learn(sync: SecretSync, { held, rollbackRefusal }: Learnt): void {
    const key = objectKey(sync.metadata);
    const { rollout } = sync.spec;
    // Deleted meanwhile: nothing is to be opened that nobody would close.
    const isGone = this.#deps.current(key)?.metadata.uid !== sync.metadata.uid;
    if (rollout === undefined || !this.#deps.isAllowed || isGone) {
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
    this.#watches.follow(key, sync.metadata.namespace ?? '', targets);
    this.#queue.add(key);
  }

  /** What the status shall say of a SecretSync's workloads now. */
  outcome(sync: SecretSync): RolloutOutcome {
    const { rollout, suspend } = sync.spec;
    if (rollout === undefined) return { claim: undefined, workloads: undefined };
    if (!this.#deps.isAllowed)
      return { claim: unknown('RolloutsDisabled', messages.rolloutsDisabled), workloads: undefined };
    const { workloads } = sync.status ?? {};
    if (suspend) return { claim: unknown('Suspended', messages.suspended), workloads };
    const plan = this.#plan(sync);
    if (plan === undefined) return { claim: unknown('SecretNotSynced', messages.secretNotSynced), workloads };
    const { claim, workloads: rows, converged } = plan;
    return this.#stillTrue(sync) ?? { claim, workloads: rows, converged };
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
    this.#giveUp(key, memory, judged.giveUp);
    const after = this.#plan(sync) ?? judged;
    // A timer may fire a little early: what has become due only since the first plan has no other time to wake at.
    const tried = new Set(judged.restarts.map(({ target }) => nameOf(target)));
    const isDue = after.restarts.some(({ target }) => !tried.has(nameOf(target)));
    return soonest(this.#refreshStatus(key, memory, after), this.#untilMs(isDue ? 0 : after.wakeAt));
  }

  /** The plan, once the pods of those that are stuck were looked at: what they tell may hold back another one. */
  async #judge(sync: SecretSync, memory: RolloutMemory): Promise<RolloutPlan | undefined> {
    const plan = this.#plan(sync);
    if (plan === undefined || plan.looks.length === 0) return plan;
    for (const look of plan.looks) await this.#lookAtPods(sync, memory, look);
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
   * What of a SecretSync's data was given up, because a workload fails with it and the spec wants it taken back; undefined
   * where nothing was. Asked anew at each reconcile: it is seen from the workloads.
   */
  givenUp(sync: SecretSync): GiveUp | undefined {
    return isAtRest(sync) ? undefined : this.#plan(sync)?.giveUp;
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

  /** Looks why a workload is stuck. */
  async #lookAtPods(sync: SecretSync, memory: RolloutMemory, { target, workload }: Task): Promise<void> {
    const { client, clock, logger } = this.#deps;
    const { name: syncName, namespace = '' } = sync.metadata;
    const name = markAnnotation(syncName);
    const mark = { name, text: templateAnnotations(workload)[name] ?? '' };
    const about = { key: `${namespace}/${syncName}`, workload: nameOf(target) };
    try {
      const verdict = await lookAtPods(client, { namespace, workload, mark });
      memory.looks.note(target, workload, verdict, clock.now());
      logger.info(
        { ...about, verdict: verdict.kind, reason: verdict.reason },
        'the pods of a stuck workload were looked at',
      );
    } catch (error) {
      memory.looks.note(target, workload, undefined, clock.now());
      logger.warn(
        { ...about, ...errorFields(error) },
        'the pods of a stuck workload could not be looked at; it is tried again',
      );
    }
  }

  /** Has the SecretSync reconciled, once for each restart that failed. */
  #giveUp(key: string, memory: RolloutMemory, giveUp: GiveUp | undefined): void {
    const what =
      giveUp === undefined ? undefined : [giveUp.held.data, giveUp.held.since, nameOf(giveUp.target)].join(' ');
    if (what !== undefined && what !== memory.givenUp) this.#deps.giveUp(key);
    memory.givenUp = what;
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

  #refreshStatus(key: string, memory: RolloutMemory, { claim: { reason } }: RolloutPlan): Next {
    const now = this.#deps.clock.now();
    const { told } = memory;
    const pauseMs = told?.reason === reason ? told.at + tellPauseMs - now : 0;
    if (pauseMs > 0) return { kind: 'after', delayMs: pauseMs };
    memory.told = { at: now, reason };
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
