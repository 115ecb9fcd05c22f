import { errorCatalogue } from '../../../domain/errors/catalogue.ts';
import { DomainError } from '../../../domain/errors/domain-error.ts';
import type { KubeClient } from '../../../kube/client/client.ts';
import type { ObjectMeta } from '../../../kube/client/objects.ts';
import type { SecretsClient } from '../../../kube/client/secrets.ts';
import type { Clock } from '../../../lib/clock.ts';
import type { Metrics } from '../../../observability/metrics.ts';
import { kubeTime } from '../../frame/conditions.ts';
import { failureClaim, isInternal, nextAfter, toDomainError } from '../../frame/failure.ts';
import type { ReconcileContext } from '../../frame/kind-rules.ts';
import { type DeferredOutcome, isTransient } from '../../frame/outcome.ts';
import type { Next } from '../../frame/work-queue.ts';
import type { SecretSync } from '../../generated/secret-sync.ts';
import type { ServiceToken } from '../../generated/service-token.ts';
import type { HeldData } from '../rollout/model.ts';
import type { Rollouts } from '../rollout/rollouts.ts';
import { isForeign, judge } from './judge/judge.ts';
import type { SyncMemories } from './memory.ts';
import type {
  Decision,
  MergeObstacle,
  SourceState,
  SyncContext,
  SyncOutcome,
  TargetFacts,
  WantedFacts,
} from './model.ts';
import { changedMeanwhile, suspended } from './messages.ts';
import { isSpecOutdated } from './outdated-spec.ts';
import type { SecretData } from './data/secret-data.ts';
import type { SecretClaims } from '../secret-claims/claims.ts';
import type { ReadMemory } from './read/bounded-reads.ts';
import type { ReadDeps } from './read/read-sources.ts';
import { checkMetadata } from './target/target-metadata.ts';
import { isMerge, targetKeyOf, targetOf } from './spec/resource.ts';
import { heldData, syncedClaim } from './synced.ts';
import { repairOf } from '../secret-claims/drift.ts';
import { driftRepaired } from '../secret-claims/messages.ts';
import { type Write, act } from './target/act.ts';
import { claimantOf, observe } from './target/claims.ts';
import { type ObserveDeps, type ObservedDrift, type ObservedTarget, digestOf } from './target/observe.ts';
import { sourceTokens } from './tokens/token-place.ts';
import { type Wanted, readWanted, selectWanted } from './wanted.ts';

export interface ReconcilerDeps extends ObserveDeps, ReadDeps {
  readonly memories: SyncMemories;
  /** A ServiceToken by `namespace/name`. */
  readonly serviceToken: (key: string) => ServiceToken | undefined;
  /** Bounds what is read at the same time. */
  readonly readMemory: ReadMemory;
  /** Beginnings of the labels and annotations that a spec may set on a Secret; empty for all. */
  readonly metadataPrefixes: readonly string[];
  readonly client: Pick<KubeClient, 'request'>;
  readonly secretsClient: Pick<SecretsClient, 'find' | 'check' | 'create' | 'replace' | 'apply' | 'delete'>;
  readonly rollouts: Pick<Rollouts, 'abandoned' | 'learn'>;
  readonly claims: ObserveDeps['claims'] & Pick<SecretClaims, 'found'>;
  /** Records an Event about what a write has repaired. */
  readonly onRepaired: (sync: SecretSync, note: string) => void;
  readonly clock: Clock;
  /** The time by the database's clock. */
  readonly serverNow: () => number;
  readonly metrics: Pick<Metrics, 'secretWrite'>;
}

/** An outcome with what the workloads need to know. */
interface Result extends SyncOutcome {
  readonly next: Next;
  /** What the Secret holds, if known. */
  readonly held?: HeldData | undefined;
  readonly rollbackRefusal?: string | undefined;
}

/** Nothing is reported yet: the observed state is about to end. */
const unsettled: DeferredOutcome = { isDeferred: true, next: { kind: 'retry' } };

/** A decision and the facts that it was made for. */
interface Judged {
  readonly decision: Decision;
  readonly observed: ObservedTarget;
  readonly selected: Wanted;
}

// A value is activated as soon as its Secret is written, and a ServiceToken reports as soon as its token is suspended or
// lost. An error that lasts longer is reported.
const unsettledLimitMs = 3_000;
// Another client may write between an observation and a write. Three times in a row, it writes all the time.
const maxAttempts = 3;
// The controller knows the database's clock to within a second.
const expirySlackMs = 1000;

/** Syncs the Secret of one SecretSync with its environments. */
export class SecretSyncReconciler {
  readonly #deps: ReconcilerDeps;

  constructor(deps: ReconcilerDeps) {
    this.#deps = deps;
  }

  /** Reconciles a SecretSync. Throws DomainError and ApiError. */
  async reconcile(reconciled: ReconcileContext<SecretSync>): Promise<SyncOutcome | DeferredOutcome> {
    const context = this.#contextOf(reconciled);
    const { resource: sync, memory } = context;
    memory.isTargetFollowed = isMerge(sync);
    memory.isTooLarge = false;
    const result = await this.#converge(context);
    memory.isTooLarge = 'claim' in result && result.claim.reason === errorCatalogue.target_too_large.reason;
    return 'isDeferred' in result ? result : this.#learnt(sync, result);
  }

  /** The steps: tokens, reserve, observe, read, select, judge, write. A step whose error must be reported returns it. */
  async #converge(context: SyncContext): Promise<Result | DeferredOutcome> {
    const { resource: sync, seen, isForced } = context;
    const deps = this.#deps;
    checkMetadata(sync, deps.metadataPrefixes);
    const tokens = sourceTokens(deps.serviceToken, sync, seen);
    // Once, and before anything is observed: no observation gets old while it waits.
    return await deps.readMemory.reserve(context, async (beginReads) => {
      for (let attempt = 1; attempt <= maxAttempts; attempt += 1) {
        seen.restart();
        const observed = await observe(deps, context, isForced || attempt > 1);
        // Reads begin after the observation that the write is bound to, in each attempt. With earlier reads, an older state
        // could replace a newer one.
        const plan = { tokens, target: observed.target, reads: beginReads() };
        const asked = await readWanted(deps, context, plan);
        const selected = await selectWanted(deps, context, plan, asked);
        if (this.#isUnsettled(context, selected)) return unsettled;
        const facts = { sync, target: observed.target, wanted: selected.wanted };
        if (await isSpecOutdated(deps.client, context, { facts, existing: observed.existing })) return unsettled;
        const result = await this.#write(context, { decision: judge(facts), observed, selected });
        if (result !== undefined) return result;
      }
      throw changedMeanwhile(sync, maxAttempts);
    });
  }

  /** The outcome of a suspended SecretSync; nothing is read. */
  suspended(reconciled: ReconcileContext<SecretSync>): SyncOutcome {
    // Its target does not matter now. The context drops the expectation of the last write's echo.
    const { resource, memory } = this.#contextOf(reconciled);
    memory.isTargetFollowed = false;
    return this.#learnt(resource, {
      claim: { progress: 'suspended', reason: 'Suspended', message: suspended },
      sources: undefined,
      synced: undefined,
      next: { kind: 'done' },
    });
  }

  /** The outcome of an error. */
  failed(error: unknown, reconciled: ReconcileContext<SecretSync>): SyncOutcome {
    return this.#learnt(reconciled.resource, failedResult(error, undefined));
  }

  #contextOf(reconciled: ReconcileContext<SecretSync>): SyncContext {
    const memory = this.#deps.memories.ensure(reconciled.key);
    reconciled.seen.expect('target', targetKeyOf(reconciled.resource), memory.target);
    return { ...reconciled, memory };
  }

  /** Passes what the Secret holds to the workloads, and whose it is to the claims. */
  #learnt(sync: SecretSync, { held, rollbackRefusal, ...outcome }: Result): SyncOutcome {
    const { rollouts, claims, clock } = this.#deps;
    rollouts.learn(sync, { held, rollbackRefusal });
    const { synced, isTargetLost } = outcome;
    if (synced !== undefined) claims.found(targetKeyOf(sync), claimantOf(sync), kubeTime(clock.now()));
    if (isTargetLost === true) claims.found(targetKeyOf(sync), claimantOf(sync), undefined);
    return outcome;
  }

  /** Whether the error with a token is about to end or to be explained, as during each rotation: then nothing is reported. */
  #isUnsettled({ memory }: SyncContext, { wanted, isUnsettled }: Wanted): boolean {
    if (!(wanted instanceof DomainError) || !isUnsettled) {
      memory.unsettledSince = undefined;
      return false;
    }
    const now = this.#deps.clock.now();
    memory.unsettledSince ??= now;
    return now - memory.unsettledSince < unsettledLimitMs;
  }

  /**
   * Carries out a decision; undefined if the target must be observed again. A write that fails is reported with the states
   * that were read.
   */
  async #write(context: SyncContext, judged: Judged): Promise<Result | undefined> {
    const { decision, observed, selected } = judged;
    if (isForeign(observed.target)) context.memory.expected = undefined;
    if (decision.action === 'skip')
      return { ...failedResult(decision.error, selected.read), isTargetLost: isLost(observed.target) };
    try {
      const target = decision.action === 'keep' ? kept(observed) : await this.#act(context, judged, decision);
      return target === undefined ? undefined : this.#succeeded(context, target, selected);
    } catch (error) {
      if (isInternal(error)) throw error;
      const result = failedResult(error, selected.read);
      // Another SecretSync holds its keys.
      return { ...result, isTargetLost: error instanceof DomainError && error.code === 'merge_conflict' };
    }
  }

  /** Writes the Secret; undefined if it has changed since it was observed. */
  async #act(
    { resource: sync, memory }: SyncContext,
    { observed: { existing, drift }, selected }: Judged,
    decision: Write['decision'],
  ): Promise<ObjectMeta | undefined> {
    const { data, confirm } = selected;
    if (data === undefined) throw new Error('a decision to write needs data');
    confirm();
    const { record } = wantedFacts(selected);
    // If the creation fails after the deletion, no other client deleted the Secret.
    if (decision.action === 'recreate') memory.expected = undefined;
    const written = await act(this.#deps, { decision, sync, data, record, existing, isRepair: drift !== undefined });
    if (written === undefined) return undefined;
    memory.target.record(existing?.resourceVersion, { metadata: written });
    if (drift !== undefined) this.#reportRepair(sync, drift, data);
    return written;
  }

  #reportRepair(sync: SecretSync, drift: ObservedDrift, { data }: SecretData): void {
    const { fingerprint, onRepaired } = this.#deps;
    const isWanted = (key: string): boolean => {
      const [value, held] = [data[key], drift.digests.get(key)];
      return value !== undefined && held?.equals(digestOf(fingerprint, sync, key, value)) === true;
    };
    onRepaired(sync, driftRepaired(targetOf(sync).name, repairOf(drift, isWanted)));
  }

  #succeeded({ resource: sync, memory }: SyncContext, target: ObjectMeta, selected: Wanted): Result {
    const { uid, resourceVersion } = target;
    const { tokenExpiresAt, rollbackRefusal } = selected;
    const wanted = wantedFacts(selected);
    const { sources, names, fingerprint } = wanted;
    memory.rolledBack = wanted.rolledBack;
    const held = { uid, type: sync.spec.target.type, keys: names, fingerprint };
    memory.verified = { ...held, resourceVersion };
    memory.expected = { ...held, generation: sync.metadata.generation };
    const { name } = targetOf(sync);
    return {
      claim: syncedClaim(sync, wanted, target),
      sources: (wanted.asked ?? sources).map(stateOf),
      rolledBack: wanted.rolledBack,
      synced: { sources: sources.map(stateOf), secretCount: names.length, target: { name, uid, resourceVersion } },
      held: heldData(wanted),
      rollbackRefusal,
      next: this.#untilExpiry(tokenExpiresAt),
    };
  }

  #untilExpiry(expiresAt: Date | null | undefined): Next {
    if (expiresAt === null || expiresAt === undefined) return { kind: 'done' };
    const leftMs = expiresAt.getTime() - this.#deps.serverNow();
    return { kind: 'after', delayMs: Math.max(leftMs, 0) + expirySlackMs };
  }
}

function failedResult(error: unknown, read: readonly SourceState[] | undefined): Result {
  const failure = toDomainError(error);
  return {
    claim: failureClaim(failure),
    sources: read?.map(stateOf),
    synced: undefined,
    next: nextAfter(failure),
    isTransient: isTransient(failure),
  };
}

function kept({ existing }: ObservedTarget): ObjectMeta {
  if (existing === undefined) throw new Error('a decision to keep needs a target');
  return existing;
}

function wantedFacts({ wanted }: Wanted): WantedFacts {
  if (wanted === undefined || wanted instanceof DomainError) throw new Error('a decision needs what was read');
  return wanted;
}

/** Whether a target that the SecretSync may have written before belongs to another resource now. */
function isLost(target: TargetFacts): boolean {
  if (target.state === 'claimed') return target.isPresent;
  return target.state === 'mergeForbidden' && lostObstacles.includes(target.obstacle.kind);
}

const lostObstacles: readonly MergeObstacle['kind'][] = ['owned', 'token-secret', 'no-consent'];

/** The remembered state of a source, without the keys of its environment. */
function stateOf({ name, environmentId, revision, revisionId }: SourceState): SourceState {
  return { name, environmentId, revision, revisionId };
}
