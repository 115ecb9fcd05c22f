import { errorCatalogue } from '../../../domain/errors/catalogue.ts';
import { DomainError } from '../../../domain/errors/domain-error.ts';
import type { KubeClient } from '../../../kube/client/client.ts';
import type { ObjectMeta } from '../../../kube/client/objects.ts';
import type { SecretsClient } from '../../../kube/client/secrets.ts';
import type { MemoryBudget } from '../../../lib/memory-budget.ts';
import type { Clock } from '../../../lib/clock.ts';
import type { Metrics } from '../../../observability/metrics.ts';
import { kubeTime } from '../../frame/conditions.ts';
import { Seen } from '../../frame/dependencies.ts';
import { failureClaim, isInternal, nextAfter, toDomainError } from '../../frame/failure.ts';
import type { ReconcileContext } from '../../frame/kind-rules.ts';
import { type DeferredOutcome, isTransient } from '../../frame/outcome.ts';
import type { Next } from '../../frame/work-queue.ts';
import type { SecretSync } from '../../generated/secret-sync.ts';
import type { ServiceToken } from '../../generated/service-token.ts';
import type { HeldData } from '../rollout/model.ts';
import type { Rollouts } from '../rollout/rollouts.ts';
import { type GatherDeps, type Gathered, gather } from './gather.ts';
import { judge } from './judge/judge.ts';
import type { SyncMemories } from './memory.ts';
import type { MergeObstacle, SourceState, SyncContext, SyncOutcome, TargetFacts, WantedFacts } from './model.ts';
import { changedMeanwhile, suspended } from './messages.ts';
import { isSpecOutdated } from './outdated-spec.ts';
import type { SecretClaims } from '../secret-claims/claims.ts';
import { type BoundedReads, runBounded } from './read/bounded-reads.ts';
import { checkMetadata } from './target/target-metadata.ts';
import { isMerge, targetKeyOf, targetOf } from './spec/resource.ts';
import { sourcesOf } from './spec/source.ts';
import { heldData, syncedClaim } from './synced.ts';
import { act } from './target/act.ts';
import { claimantOf } from './target/claims.ts';
import { sourceTokens } from './tokens/token-place.ts';

export interface ReconcilerDeps extends GatherDeps {
  readonly memories: SyncMemories;
  /** A ServiceToken by `namespace/name`. */
  readonly serviceToken: (key: string) => ServiceToken | undefined;
  /** Bounds what is read at the same time; each namespace is an owner. */
  readonly readBudget: MemoryBudget;
  /** Beginnings of the labels and annotations that a spec may set on a Secret; empty for all. */
  readonly metadataPrefixes: readonly string[];
  readonly client: Pick<KubeClient, 'request'>;
  readonly secretsClient: Pick<SecretsClient, 'find' | 'check' | 'create' | 'replace' | 'apply' | 'delete'>;
  readonly rollouts: Pick<Rollouts, 'abandoned' | 'learn'>;
  readonly claims: GatherDeps['claims'] & Pick<SecretClaims, 'found'>;
  readonly clock: Clock;
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
const deferred: DeferredOutcome = { isDeferred: true, next: { kind: 'retry' } };

// A value is activated as soon as its Secret is written, and a ServiceToken reports as soon as its token is suspended or
// lost. An error that lasts longer is reported.
const unsettledLimitMs = 3_000;
// Another client may write between an observation and a write. Three times in a row, it writes all the time.
const maxAttempts = 3;
// A token expires by the database's clock; the controller's may be slightly ahead of it.
const expirySlackMs = 1000;

/** Syncs the Secret of one SecretSync with its environments: gather, judge, act. */
export class SecretSyncReconciler {
  readonly #deps: ReconcilerDeps;

  constructor(deps: ReconcilerDeps) {
    this.#deps = deps;
  }

  /** Reconciles a SecretSync. Throws DomainError and ApiError. */
  async reconcile(reconciled: ReconcileContext<SecretSync>): Promise<SyncOutcome | DeferredOutcome> {
    const context = this.#contextOf(reconciled);
    const { resource, memory, seen } = context;
    seen.expect('target', targetKeyOf(resource), memory.target);
    memory.isTargetFollowed = isMerge(resource);
    memory.isTooLarge = false;
    const result = await this.#observeBounded(context);
    memory.isTooLarge = 'claim' in result && result.claim.reason === errorCatalogue.target_too_large.reason;
    return 'isDeferred' in result ? result : this.#learnt(resource, result);
  }

  /** The outcome of a suspended SecretSync; nothing is read. */
  suspended(reconciled: ReconcileContext<SecretSync>): SyncOutcome {
    const { resource, memory, seen } = this.#contextOf(reconciled);
    // Its state does not matter now; this drops the expectation of the last write's echo.
    seen.expect('target', targetKeyOf(resource), memory.target);
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
    return { ...reconciled, memory: this.#deps.memories.ensure(reconciled.key) };
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

  /** Observes once the memory for the values is free. It waits first, so that no observation is outdated afterwards. */
  async #observeBounded(context: SyncContext): Promise<Result | DeferredOutcome> {
    const { resource, memory, seen } = context;
    const { readBudget: budget, services } = this.#deps;
    // For a rollback, the former state is read in addition to the one that the spec asks for.
    const states = sourcesOf(resource).length * (resource.spec.rollout?.onFailure === 'Rollback' ? 2 : 1);
    const { namespace } = targetOf(resource);
    let last = new Seen();
    try {
      return await runBounded(
        { budget, reader: services.secretReader, namespace, states, needed: memory.needed },
        async (beginReads) => {
          // Observations from before the memory ran out do not count.
          last = new Seen();
          return await this.#observe({ ...context, seen: last }, beginReads);
        },
        (needed) => {
          memory.needed = needed;
        },
      );
    } finally {
      seen.add(last);
    }
  }

  async #observe(context: SyncContext, beginReads: () => BoundedReads): Promise<Result | DeferredOutcome> {
    const { resource, seen } = context;
    checkMetadata(resource, this.#deps.metadataPrefixes);
    const tokens = sourceTokens(this.#deps.serviceToken, resource, seen);
    for (let attempt = 1; attempt <= maxAttempts; attempt += 1) {
      const result = await this.#observeOnce(context, {
        fresh: attempt > 1 || context.isForced,
        tokens,
        reads: beginReads(),
      });
      if (result !== undefined) return result;
    }
    throw changedMeanwhile(resource, maxAttempts);
  }

  /** One observation and what follows from it; undefined if the target must be observed again. */
  async #observeOnce(
    context: SyncContext,
    plan: Parameters<typeof gather>[2],
  ): Promise<Result | DeferredOutcome | undefined> {
    const seen = new Seen();
    let result: Result | DeferredOutcome | undefined = deferred;
    try {
      // The write is bound to the target as observed now: the environments are read after that.
      const gathered = await gather(this.#deps, { ...context, seen }, plan);
      if (isInTheWay(gathered.facts.target)) context.memory.isTargetFollowed = true;
      if (this.#isUnsettled(context, gathered)) return deferred;
      if (await isSpecOutdated(this.#deps.client, context, gathered)) return deferred;
      result = await this.#applied(context, gathered);
      return result;
    } finally {
      // The next observation replaces this one.
      if (result !== undefined) context.seen.add(seen);
    }
  }

  /** Whether the error with a token is about to end or to be explained, as during each rotation: then nothing is reported. */
  #isUnsettled({ memory }: SyncContext, { facts: { wanted }, isUnsettled }: Gathered): boolean {
    if (!(wanted instanceof DomainError) || !isUnsettled) {
      memory.unsettledSince = undefined;
      return false;
    }
    const now = this.#deps.clock.now();
    memory.unsettledSince ??= now;
    return now - memory.unsettledSince < unsettledLimitMs;
  }

  /** Judges and acts. A write that fails is reported with the states that were read. */
  async #applied(context: SyncContext, gathered: Gathered): Promise<Result | undefined> {
    try {
      return await this.#apply(context, gathered);
    } catch (error) {
      if (isInternal(error)) throw error;
      const result = failedResult(error, gathered.read);
      // Another SecretSync holds its keys.
      return { ...result, isTargetLost: error instanceof DomainError && error.code === 'merge_conflict' };
    }
  }

  /** Judges and acts; undefined if the target must be observed again. */
  async #apply(context: SyncContext, gathered: Gathered): Promise<Result | undefined> {
    const { facts, data, existing, confirm } = gathered;
    const decision = judge(facts);
    const wanted = facts.wanted instanceof DomainError ? undefined : facts.wanted;
    if (decision.action === 'skip')
      return { ...failedResult(decision.error, gathered.read), isTargetLost: isLost(facts.target) };
    if (wanted === undefined || data === undefined) throw new Error('a decision to write or keep needs an environment');
    if (decision.action === 'keep') {
      if (existing === undefined) throw new Error('a decision to keep needs a target');
      return this.#succeeded(context, existing, wanted, gathered);
    }
    const { resource: sync, memory } = context;
    confirm();
    const written = await act(this.#deps, { decision, sync, data, record: wanted.record, existing });
    if (written === undefined) return undefined;
    memory.target.record(existing?.resourceVersion, { metadata: written });
    return this.#succeeded(context, written, wanted, gathered);
  }

  #succeeded(
    { resource: sync, memory }: SyncContext,
    target: ObjectMeta,
    wanted: WantedFacts,
    { tokenExpiresAt, rollbackRefusal }: Gathered,
  ): Result {
    const { uid, resourceVersion } = target;
    const { sources, names, fingerprint } = wanted;
    memory.rolledBack = wanted.rolledBack;
    memory.verified = { uid, resourceVersion, type: sync.spec.target.type, keys: names, fingerprint };
    const { name } = targetOf(sync);
    return {
      claim: syncedClaim(sync, wanted),
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
    const leftMs = expiresAt.getTime() - this.#deps.clock.now();
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

/** Whether a Secret of something else has the target's name. The watch of all targets may not show it. */
function isInTheWay(target: TargetFacts): boolean {
  return target.state === 'unmanaged' || (target.state === 'claimed' && target.isPresent);
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
