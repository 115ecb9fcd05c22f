import { randomUUID } from 'node:crypto';
import { DomainError } from '../../../domain/domain-error.ts';
import type { ErrorCode } from '../../../domain/error-catalogue.ts';
import type { KubeClient } from '../../../kube/client.ts';
import type { EventDeps } from '../../../kube/events.ts';
import { secretSyncKind } from '../../../kube/keyframe-kinds.ts';
import { type ObjectMeta, objectKey } from '../../../kube/objects.ts';
import type { SecretsClient } from '../../../kube/secrets.ts';
import type { Clock } from '../../../lib/clock.ts';
import { type Logger, errorFields } from '../../../lib/logger.ts';
import type { Metrics } from '../../../lib/metrics.ts';
import { failureClaim, nextAfter, toDomainError } from '../../frame/failure.ts';
import type { SecretSync } from '../../generated/secret-sync.ts';
import type { Rollouts } from '../rollout/rollouts.ts';
import { StatusReporter } from '../../frame/status-report.ts';
import type { Next } from '../../frame/work-queue.ts';
import { act } from './target/act.ts';
import { type GatherDeps, type Gathered, gather } from './gather.ts';
import { judge } from './judge/judge.ts';
import { isSpecOutdated } from './outdated-spec.ts';
import type { Round } from './read/read.ts';
import { askedBy, isForced, isMerge, isReconciled, targetKeyOf, targetOf } from './spec/resource.ts';
import type { TokenPlace } from './tokens/service-token.ts';
import { viewOf } from './tokens/service-token-view.ts';
import { sourceKeyOf, sourcesOf } from './spec/source.ts';
import { convergedClaim, nextStatus } from './status.ts';
import { heldData, syncedClaim } from './synced.ts';
import type { TokenSource } from './tokens/token-source.ts';
import { type BoundedReads, runBounded } from './read/bounded-reads.ts';
import type { ByteBudget } from '../../../lib/byte-budget.ts';
import { type SourceState, type WantedFacts, type Outcome } from './model.ts';
import type { HeldData } from '../rollout/model.ts';

export interface ReconcilerDeps extends GatherDeps {
  readonly tokens: TokenSource;
  /** What is read at once; each namespace is an owner. */
  readonly readBudget: ByteBudget;
  readonly client: Pick<KubeClient, 'request'>;
  readonly secretsClient: Pick<SecretsClient, 'find' | 'check' | 'create' | 'replace' | 'apply' | 'delete'>;
  /** A SecretSync by `namespace/name`, as the watch shows it. */
  readonly watchedSync: (key: string) => SecretSync | undefined;
  /** Makes a SecretSync follow these Secrets, by `namespace/name`, and no others. */
  readonly follow: (key: string, secrets: ReadonlySet<string>) => void;
  readonly rollouts: Pick<Rollouts, 'givenUp' | 'learn' | 'outcome'>;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly metrics: Pick<Metrics, 'reconciled' | 'secretWrite'>;
  readonly events: Omit<EventDeps, 'client'>;
}

/** An outcome with what it means for the next time. */
interface Result extends Omit<Outcome, 'rollout'> {
  readonly next: Next;
  /** What the Secret holds, where that is known. */
  readonly held?: HeldData | undefined;
  readonly rollbackRefusal?: string | undefined;
}

/** Nothing is told yet: the status stays as it is. */
interface Untold {
  readonly isUntold: true;
  readonly next: Next;
}

const untold: Untold = { isUntold: true, next: { kind: 'retry' } };

// A value is activated as soon as its Secret is written, and a ServiceToken has its say as soon as its token is suspended
// or lost; what takes longer is worth telling.
const unsettledLimitMs = 3_000;
// Between a look and a write someone else can always come; three times in a row someone else is busy there.
const mostLooks = 3;
// The database's clock ends a token; ours may be a little ahead of it.
const expirySlackMs = 1000;

// No environment's event mends these; their own events do.
const waitsForOthers: ReadonlySet<ErrorCode> = new Set([
  'unauthenticated',
  'token_secret_not_found',
  'service_token_not_found',
  'service_token_not_ready',
  'service_token_denied',
  'service_token_place_not_found',
  'service_token_revoked',
  'service_token_not_owned',
  'target_not_owned',
  'target_not_found',
  'merge_refused',
]);

/** Brings one SecretSync's Secret in step with its environment: gather, judge, act, one status patch. */
export class SecretSyncReconciler {
  readonly #deps: ReconcilerDeps;
  readonly #reporter: StatusReporter<SecretSync>;

  constructor(deps: ReconcilerDeps) {
    this.#deps = deps;
    this.#reporter = new StatusReporter({ ...deps, kind: secretSyncKind, action: 'Sync' });
  }

  /** Reconciles the SecretSync `namespace/name`, if it is there. Never throws for what the world does. */
  async reconcile(key: string): Promise<Next> {
    const { memories, watchedSync } = this.#deps;
    const memory = memories.find(key);
    const sync = memory?.resource.current(watchedSync(key));
    if (memory === undefined || sync === undefined || sync.metadata.deletionTimestamp !== undefined)
      return { kind: 'done' };
    const beganAt = this.#deps.clock.now();
    const round: Round = { key, sync, memory, requestId: randomUUID() };
    const result = await this.#converge(round);
    if ('isUntold' in result) return result.next;
    const next = await this.#report(round, result);
    this.#deps.metrics.reconciled(secretSyncKind.kind, result.claim.reason, this.#deps.clock.now() - beganAt);
    return next;
  }

  async #converge(round: Round): Promise<Result | Untold> {
    const { sync, memory } = round;
    memory.failure = undefined;
    const sourceKeys = sourcesOf(sync).map((source) => sourceKeyOf(round.key, source));
    this.#deps.memories.keepSources(round.key, sourceKeys);
    if (sync.spec.suspend) return this.#suspended(round);
    // Their first list wakes it.
    if (!this.#deps.tokens.isKnown(sync)) return { isUntold: true, next: { kind: 'done' } };
    try {
      return await this.#lookBounded(round);
    } catch (error) {
      return this.#failed(round, error, undefined);
    } finally {
      // The token Secret always; what changed there since it was read, the watch tells as soon as it is open. The target
      // only while it is in our way, for once it is ours, the watch of all targets shows it; and always where it never is.
      this.#follow(round, memory.failure === 'target_not_owned' || isMerge(sync));
    }
  }

  /** Looks once the memory for the values is free; it waits before anything is seen that could be outdated then. */
  async #lookBounded(round: Round): Promise<Result | Untold> {
    const { sync, memory } = round;
    const { readBudget: budget, services } = this.#deps;
    // What a Secret is taken back to is read beside what its spec asks for.
    const states = sourcesOf(sync).length * (sync.spec.rollout?.onFailure === 'Rollback' ? 2 : 1);
    const { namespace } = targetOf(sync);
    return await runBounded(
      { budget, reader: services.secretReader, namespace, states, needed: memory.needed },
      async (beginReads) => await this.#look(round, beginReads),
      (needed) => {
        memory.needed = needed;
      },
    );
  }

  async #look(round: Round, beginReads: () => BoundedReads): Promise<Result | Untold> {
    const places = await this.#prepareTokens(round);
    for (let looks = 1; looks <= mostLooks; looks += 1) {
      const gathered = await gather(this.#deps, round, {
        fresh: looks > 1 || isForced(round.sync, round.memory),
        places,
        // What is written is bound to the target as it is seen now: the environments are read after that.
        reads: beginReads(),
      });
      if (this.#isUnsettled(round, gathered)) return untold;
      if (await isSpecOutdated(this.#deps.client, round, gathered)) return untold;
      const result = await this.#carryOut(round, gathered);
      if (result !== undefined) return result;
    }
    const detail = `Secret ${targetOf(round.sync).name} was changed by someone else again and again while it was to be written; the controller tries again.`;
    throw new DomainError('conflict', detail);
  }

  /** Whether the trouble with a token will be over or explained at any moment, as at each rotation: no reason to be not ready yet. */
  #isUnsettled({ memory }: Round, { facts: { wanted }, isUnsettled }: Gathered): boolean {
    if (!(wanted instanceof DomainError) || !isUnsettled) {
      memory.unsettledSince = undefined;
      return false;
    }
    const now = this.#deps.clock.now();
    memory.unsettledSince ??= now;
    memory.failure = wanted.code;
    return now - memory.unsettledSince < unsettledLimitMs;
  }

  /** Where the tokens of the sources are; ServiceTokens of the SecretSync's own are seen to first. */
  async #prepareTokens({ key, sync, memory }: Round): Promise<readonly TokenPlace[]> {
    const { tokens, memories } = this.#deps;
    const facts = tokens.facts(sync);
    memory.tokenView = viewOf(facts);
    for (const source of memory.sources.values()) source.tokenSecret = undefined;
    const places = await tokens.prepare(facts);
    for (const [index, { source }] of facts.sources.entries()) {
      const place = places[index];
      if (place === undefined || place instanceof DomainError) continue;
      memories.sourceOf(sourceKeyOf(key, source)).tokenSecret = objectKey(place);
    }
    return places.map((place) => {
      if (place instanceof DomainError) throw place;
      return place;
    });
  }

  /** Judges and acts; undefined where the target has to be looked at again. */
  async #carryOut(round: Round, gathered: Gathered): Promise<Result | undefined> {
    const { facts, data, existing } = gathered;
    const decision = judge(facts);
    const wanted = facts.wanted instanceof DomainError ? undefined : facts.wanted;
    if (decision.action === 'refrain') return this.#failed(round, decision.error, wanted);
    if (wanted === undefined || data === undefined) throw new Error('a decision to write or keep needs an environment');
    if (decision.action === 'keep') {
      if (existing === undefined) throw new Error('a decision to keep needs a target');
      return this.#succeeded(round, existing, wanted, gathered);
    }
    try {
      const written = await act(this.#deps, { decision, sync: round.sync, data, record: wanted.record, existing });
      if (written === undefined) return undefined;
      round.memory.target.record(existing?.resourceVersion, { metadata: written });
      return this.#succeeded(round, written, wanted, gathered);
    } catch (error) {
      return this.#failed(round, error, wanted);
    }
  }

  #succeeded(
    { sync, memory }: Round,
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

  #failed({ key, memory }: Round, error: unknown, wanted: WantedFacts | undefined): Result {
    const failure = toDomainError(error);
    if (failure.code === 'internal') this.#deps.logger.error({ key, ...errorFields(error) }, 'a reconcile failed');
    memory.failure = failure.code;
    if (waitsForOthers.has(failure.code)) this.#deps.memories.markUnconcerned(key);
    return {
      claim: failureClaim(failure),
      sources: (wanted?.asked ?? wanted?.sources)?.map(stateOf),
      synced: undefined,
      next: nextAfter(failure),
    };
  }

  #suspended({ key, memory }: Round): Result {
    this.#deps.memories.markUnconcerned(key);
    memory.tokenView = undefined;
    this.#deps.follow(key, new Set());
    const message = 'spec.suspend is true: nothing is read, and the Secret is left as it is.';
    return {
      claim: { progress: 'suspended', reason: 'Suspended', message },
      sources: undefined,
      synced: undefined,
      next: { kind: 'done' },
    };
  }

  #follow({ key, sync, memory }: Round, withTarget: boolean): void {
    // Deleted meanwhile: its watches are closed already.
    if (this.#deps.memories.find(key) !== memory) return;
    const tokens = [...memory.sources.values()].flatMap(({ tokenSecret = [] }) => tokenSecret);
    this.#deps.follow(key, new Set([...tokens, ...(withTarget ? [targetKeyOf(sync)] : [])]));
  }

  /** Writes the status where it differs; answers when to come back. */
  async #report(round: Round, { next, held, rollbackRefusal, ...result }: Result): Promise<Next> {
    const { sync, memory } = round;
    // Two patches at once would be in each other's way.
    await memory.telling;
    memory.outcome = { ...result, rollout: this.#deps.rollouts.learn(sync, { held, rollbackRefusal }) };
    return await this.#tell(round, memory.outcome, {
      next,
      onTold: () => {
        memory.reconciled = askedBy(sync);
      },
    });
  }

  /**
   * Tells the status again with what the SecretSync's workloads have come to, without looking at anything else. Nothing
   * is told of a spec that has not been reconciled yet. Never throws for what the world does.
   */
  async retell(key: string): Promise<Next> {
    const { memories, watchedSync, rollouts } = this.#deps;
    const memory = memories.find(key);
    const sync = memory?.resource.current(watchedSync(key));
    if (memory?.outcome === undefined || sync === undefined || !isReconciled(sync, memory)) return { kind: 'done' };
    const outcome = { ...memory.outcome, rollout: rollouts.outcome(sync) };
    const telling = this.#tell({ key, sync, memory }, outcome, { next: { kind: 'done' }, onTold: () => {} });
    memory.telling = telling;
    return await telling.finally(() => {
      memory.telling = undefined;
    });
  }

  async #tell(
    { key, sync, memory }: Pick<Round, 'key' | 'sync' | 'memory'>,
    outcome: Outcome,
    { next, onTold }: { readonly next: Next; readonly onTold: () => void },
  ): Promise<Next> {
    const newest = memory.resource.current(this.#deps.watchedSync(key));
    // Of the same spec, so what was found is true of it; its status may have been told since because of a workload.
    const isSame =
      newest?.metadata.uid === sync.metadata.uid && newest.metadata.generation === sync.metadata.generation;
    const resource = isSame ? newest : sync;
    const status = nextStatus(resource, memory.status, outcome, this.#deps.clock.now());
    const also = convergedClaim(outcome.rollout.claim);
    return await this.#reporter.report({ key, resource, memory }, { claim: outcome.claim, status, next, also, onTold });
  }
}

/** What is remembered of a source: not all the keys of its environment. */
function stateOf({ name, environmentId, revision, revisionId }: SourceState): SourceState {
  return { name, environmentId, revision, revisionId };
}
