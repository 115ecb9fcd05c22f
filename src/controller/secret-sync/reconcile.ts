import { randomUUID } from 'node:crypto';
import { DomainError } from '../../domain/domain-error.ts';
import { type ErrorCode, type ErrorEffect, errorCatalogue } from '../../domain/error-catalogue.ts';
import { ApiError, isApiStatus } from '../../kube/api-error.ts';
import { patchStatus } from '../../kube/custom-resources.ts';
import type { KubeClient } from '../../kube/client.ts';
import { type EventDeps, recordEvent } from '../../kube/events.ts';
import type { ObjectMeta } from '../../kube/objects.ts';
import type { SecretsClient } from '../../kube/secrets.ts';
import type { Clock } from '../../lib/clock.ts';
import { type Logger, errorFields } from '../../lib/logger.ts';
import type { Metrics } from '../../lib/metrics.ts';
import type { Progress, ReadyClaim } from '../conditions.ts';
import type { SecretSync, SecretSyncStatus } from '../generated/secret-sync.ts';
import type { Next } from '../work-queue.ts';
import { act } from './act.ts';
import { nextAfter, toDomainError } from './failure.ts';
import { type GatherDeps, type Gathered, gather } from './gather.ts';
import { type SourceFacts, judge } from './judge.ts';
import { type Round, tokenKeyOf } from './read.ts';
import { secretSyncKind, targetKeyOf, targetOf } from './resource.ts';
import { type Outcome, nextStatus, readyReason, statusPatch } from './status.ts';

export interface ReconcilerDeps extends GatherDeps {
  readonly client: Pick<KubeClient, 'request'>;
  readonly secretsClient: Pick<SecretsClient, 'find' | 'check' | 'create' | 'replace' | 'delete'>;
  /** A SecretSync by `namespace/name`, as the watch shows it. */
  readonly watchedSync: (key: string) => SecretSync | undefined;
  /** Makes a SecretSync follow these Secrets, by `namespace/name`, and no others. */
  readonly follow: (key: string, secrets: ReadonlySet<string>) => void;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly metrics: Pick<Metrics, 'reconciled' | 'secretWrite'>;
  readonly events: Omit<EventDeps, 'client'>;
}

/** An outcome with what it means for the next time. */
interface Result extends Outcome {
  readonly next: Next;
}

// Between a look and a write someone else can always come; three times in a row someone else is busy there.
const mostLooks = 3;
// The database's clock ends a token; ours may be a little ahead of it.
const expirySlackMs = 1000;

// No environment's event mends these; their own events do.
const waitsForOthers: ReadonlySet<ErrorCode> = new Set([
  'unauthenticated',
  'token_secret_not_found',
  'target_not_owned',
]);
const waitsForEnvironment: ReadonlySet<ErrorCode> = new Set(['not_found', 'forbidden']);

const progressOf: Readonly<Record<ErrorEffect, Progress>> = {
  stall: 'stalled',
  wait: 'reconciling',
  retry: 'reconciling',
};

/** Brings one SecretSync's Secret in step with its environment: gather, judge, act, one status patch. */
export class SecretSyncReconciler {
  readonly #deps: ReconcilerDeps;

  constructor(deps: ReconcilerDeps) {
    this.#deps = deps;
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
    const next = await this.#report(round, result);
    this.#deps.metrics.reconciled(secretSyncKind.kind, result.claim.reason, this.#deps.clock.now() - beganAt);
    return next;
  }

  async #converge(round: Round): Promise<Result> {
    const { sync, memory, key } = round;
    memory.failure = undefined;
    if (sync.spec.suspend) return this.#suspended(key);
    try {
      return await this.#look(round);
    } catch (error) {
      return this.#failed(round, error, undefined);
    } finally {
      // The token Secret always; what changed there since it was read, the watch tells as soon as it is open. The target
      // only while it is in our way: once it is ours, the watch of all targets shows it.
      this.#follow(round, memory.failure === 'target_not_owned');
    }
  }

  async #look(round: Round): Promise<Result> {
    for (let looks = 1; looks <= mostLooks; looks += 1) {
      const gathered = await gather(this.#deps, round, { fresh: looks > 1 });
      const result = await this.#carryOut(round, gathered);
      if (result !== undefined) return result;
    }
    const { name } = targetOf(round.sync);
    const detail = `Secret ${name} was changed by someone else again and again while it was to be written; the controller tries again.`;
    throw new DomainError('conflict', detail);
  }

  /** Judges and acts; undefined where the target has to be looked at again. */
  async #carryOut(round: Round, { facts, data, existing, tokenExpiresAt }: Gathered): Promise<Result | undefined> {
    const decision = judge(facts);
    const source = facts.source instanceof DomainError ? undefined : facts.source;
    if (decision.action === 'refrain') return this.#failed(round, decision.error, source);
    if (source === undefined || data === undefined) throw new Error('a decision to write or keep needs an environment');
    if (decision.action === 'keep') {
      if (existing === undefined) throw new Error('a decision to keep needs a target');
      return this.#succeeded(round, existing, source, tokenExpiresAt);
    }
    try {
      const written = await act(this.#deps, { decision, sync: round.sync, data, existing });
      if (written === undefined) return undefined;
      round.memory.target.record(existing?.resourceVersion, { metadata: written });
      return this.#succeeded(round, written, source, tokenExpiresAt);
    } catch (error) {
      return this.#failed(round, error, source);
    }
  }

  #succeeded(
    { sync, memory }: Round,
    target: ObjectMeta,
    source: SourceFacts,
    tokenExpiresAt: Date | null | undefined,
  ): Result {
    const { uid, resourceVersion } = target;
    const { environmentId, revision, revisionId, count, fingerprint } = source;
    memory.verified = { uid, resourceVersion, type: sync.spec.target.type, fingerprint };
    const { name } = targetOf(sync);
    const keys = count === 1 ? '1 key' : `${count} keys`;
    return {
      claim: { progress: 'done', reason: 'Synced', message: `Secret ${name} holds revision ${revision} with ${keys}.` },
      wanted: { environmentId, revision, revisionId },
      synced: { revision, revisionId, secretCount: count, target: { name, uid, resourceVersion } },
      next: this.#untilExpiry(tokenExpiresAt),
    };
  }

  #untilExpiry(expiresAt: Date | null | undefined): Next {
    if (expiresAt === null || expiresAt === undefined) return { kind: 'done' };
    const leftMs = expiresAt.getTime() - this.#deps.clock.now();
    return { kind: 'after', delayMs: Math.max(leftMs, 0) + expirySlackMs };
  }

  #failed({ key, memory }: Round, error: unknown, source: SourceFacts | undefined): Result {
    const failure = toDomainError(error);
    if (failure.code === 'internal') this.#deps.logger.error({ key, ...errorFields(error) }, 'a reconcile failed');
    memory.failure = failure.code;
    if (waitsForOthers.has(failure.code)) this.#deps.memories.markUnconcerned(key);
    else if (waitsForEnvironment.has(failure.code)) this.#deps.memories.markUnresolved(key);
    const { reason, effect } = failure.description;
    const claim: ReadyClaim = { progress: progressOf[effect], reason, message: sentence(failure.detail) };
    return { claim, wanted: source, synced: undefined, next: nextAfter(failure) };
  }

  #suspended(key: string): Result {
    this.#deps.memories.markUnconcerned(key);
    this.#deps.follow(key, new Set());
    const message = 'spec.suspend is true: nothing is read, and the Secret is left as it is.';
    return {
      claim: { progress: 'suspended', reason: 'Suspended', message },
      wanted: undefined,
      synced: undefined,
      next: { kind: 'done' },
    };
  }

  #follow({ key, sync, memory }: Round, withTarget: boolean): void {
    // Deleted meanwhile: its watches are closed already.
    if (this.#deps.memories.find(key) !== memory) return;
    this.#deps.follow(key, new Set([tokenKeyOf(sync), ...(withTarget ? [targetKeyOf(sync)] : [])]));
  }

  /** Writes the status where it differs; answers when to come back. */
  async #report({ key, sync, memory }: Round, result: Result): Promise<Next> {
    const status = nextStatus(sync, memory.status, result, this.#deps.clock.now());
    const reasonBefore = readyReason(memory.status ?? sync.status);
    this.#log(key, result, memory.reason ?? reasonBefore);
    memory.reason = result.claim.reason;
    try {
      await this.#patch({ sync, memory }, status);
    } catch (error) {
      return this.#statusFailed(key, error, result);
    }
    memory.status = status;
    memory.reconciled = { uid: sync.metadata.uid, generation: sync.metadata.generation ?? 0 };
    if (reasonBefore !== result.claim.reason) this.#recordEvent(sync, result.claim);
    return result.next;
  }

  async #patch({ sync, memory }: Pick<Round, 'sync' | 'memory'>, status: SecretSyncStatus): Promise<void> {
    const patch = statusPatch(sync.status, status);
    if (patch === undefined) return;
    const { namespace = '', name, resourceVersion } = sync.metadata;
    const patched = await patchStatus(this.#deps.client, secretSyncKind, {
      resource: { namespace, name },
      resourceVersion,
      status: patch,
    });
    memory.resource.record(resourceVersion, {
      ...sync,
      metadata: { ...sync.metadata, resourceVersion: patched.resourceVersion },
      status,
    });
  }

  #statusFailed(key: string, error: unknown, { next, claim }: Result): Next {
    // Deleted meanwhile.
    if (isApiStatus(error, 404)) return next;
    // A conflict heals itself; of an API server that fails the reconcile has told already.
    // The comparison after an outage shall find it.
    const memory = this.#deps.memories.find(key);
    if (memory !== undefined && !isApiStatus(error, 409)) memory.failure ??= 'cluster_unavailable';
    const isKnown = isApiStatus(error, 409) || claim.reason === errorCatalogue.cluster_unavailable.reason;
    this.#deps.logger[isKnown ? 'debug' : 'warn'](
      { key, ...errorFields(error) },
      'the status could not be written; it is tried again',
    );
    const minDelayMs = error instanceof ApiError ? error.retryAfterMs : undefined;
    return { kind: 'retry', ...(minDelayMs === undefined ? {} : { minDelayMs }) };
  }

  #log(key: string, { claim: { progress, reason, message } }: Result, reasonBefore: string | undefined): void {
    const level =
      reason === reasonBefore ? 'debug' : progress === 'reconciling' || progress === 'stalled' ? 'warn' : 'info';
    this.#deps.logger[level]({ kind: secretSyncKind.kind, key, reason }, message);
  }

  // Best effort, and nothing waits for it: the status tells the same.
  #recordEvent(sync: SecretSync, { progress, reason, message }: ReadyClaim): void {
    const { client, events, clock, logger } = this.#deps;
    const type = progress === 'done' || progress === 'suspended' ? 'Normal' : 'Warning';
    const event = { type, reason, action: 'Sync', note: message, at: clock.now() } as const;
    recordEvent({ client, ...events }, secretSyncKind, sync, event).catch((error: unknown) => {
      logger.debug(
        { key: `${sync.metadata.namespace}/${sync.metadata.name}`, ...errorFields(error) },
        'an Event was not recorded',
      );
    });
  }
}

/** A detail as a sentence of its own. */
function sentence(detail: string): string {
  const text = detail.charAt(0).toUpperCase() + detail.slice(1);
  return /[.!?]$/.test(text) ? text : `${text}.`;
}
