import { DomainError } from '../../domain/errors/domain-error.ts';
import { claimIdempotencyKey, type IdempotencyClaim, keepIdempotencyResult } from '../../store/idempotency.ts';
import type { Transaction } from '../../store/transaction.ts';
import type { EnvironmentAccess, OrganizationAccess, ProjectAccess } from '../access/access.ts';
import type { AuditTarget } from '../audit/audit-log.ts';
import { successRecord } from '../audit/audited.ts';
import type { Changed } from '../kernel/changed.ts';

/**
 * The Idempotency-Key of a request: the change is made once, however often it is sent (docs/interface.md section 4).
 */
export interface IdempotencyRequest {
  /** 1 to 255 visible ASCII characters. */
  readonly key: string;
  /** SHA-256 of everything that the request asks for. The same key with another hash is refused. */
  readonly requestHash: Uint8Array;
}

/**
 * How a change is made once: `keep` selects what to store of it, `recall` makes the reply to a repetition from that.
 */
export interface Once<T, Kept extends object, Replay> {
  /** Without it the change is made each time. */
  readonly request: IdempotencyRequest | undefined;
  /** Names, ids and numbers; never a value or a token. */
  readonly keep: (result: T) => Kept;
  /** What the audit records of the object that was kept. */
  readonly target: (kept: Kept) => AuditTarget;
  /** Returns the object as it is now. Throws DomainError conflict (`goneReplay`) if it no longer exists. */
  readonly recall: (kept: Kept) => Promise<Replay>;
}

export type OnceOutcome<T, Replay> =
  { readonly replayed: false; readonly result: T } | { readonly replayed: true; readonly result: Replay };

/** An access whose target an Idempotency-Key belongs to. */
export type OnceAccess = OrganizationAccess | ProjectAccess | EnvironmentAccess;

/**
 * Runs `work` under its Idempotency-Key, which it claims first, in the same transaction: of two requests at once the
 * second waits for the first, and a request that fails leaves the key free. A key that the same principal used in the
 * last 24 hours, for the same action on the same target, makes this a repetition: `work` is not run. Throws DomainError
 * idempotency_key_reused if the key was used for another request.
 */
export async function runOnce<T, Kept extends object, Replay>(
  tx: Transaction,
  access: OnceAccess,
  { request, keep, target, recall }: Once<T, Kept, Replay>,
  work: (tx: Transaction) => Promise<Changed<T>>,
): Promise<Changed<OnceOutcome<T, Replay>>> {
  if (request === undefined) return fresh(await work(tx));
  const claim = claimOf(access, request);
  const earlier = await claimIdempotencyKey(tx, claim);
  if (earlier === undefined) {
    const changed = await work(tx);
    await keepIdempotencyResult(tx, claim, keep(changed.result));
    return fresh(changed);
  }
  if (Buffer.compare(earlier.requestHash, claim.requestHash) !== 0) throw reusedKey();
  // Written by `keep`, in this release or an earlier one.
  const kept = earlier.result as Kept;
  const result = await recall(kept);
  return { result: { replayed: true, result }, audit: successRecord(access, { ...target(kept), replayed: true }) };
}

function fresh<T>({ result, audit }: Changed<T>): Changed<{ readonly replayed: false; readonly result: T }> {
  return { result: { replayed: false, result }, audit };
}

/** The error of a repetition if the object that was made no longer exists. */
export function goneReplay(thing: string): DomainError {
  return new DomainError(
    'conflict',
    `the ${thing} that was made under this Idempotency-Key no longer exists; to make another, use a new key`,
  );
}

function claimOf(access: OnceAccess, { key, requestHash }: IdempotencyRequest): IdempotencyClaim {
  const { organizationId, action, caller } = access;
  const environmentId = 'environmentId' in access ? access.environmentId : null;
  const targetId = environmentId ?? organizationId;
  return { actorId: caller.principal.id, action, targetId, key, organizationId, environmentId, requestHash };
}

function reusedKey(): DomainError {
  return new DomainError(
    'idempotency_key_reused',
    'this Idempotency-Key was sent with another request; send each new request with a new key',
  );
}
