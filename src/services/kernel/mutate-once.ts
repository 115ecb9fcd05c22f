import { DomainError } from '../../domain/errors/domain-error.ts';
import type { Database } from '../../store/database.ts';
import { claimIdempotencyKey, type IdempotencyClaim, keepIdempotencyResult } from '../../store/idempotency.ts';
import type { Transaction } from '../../store/transaction.ts';
import type { EnvironmentAccess, OrganizationAccess } from '../access/access.ts';
import type { AuditTarget } from '../audit/audit-log.ts';
import { successRecord } from '../audit/audited.ts';
import { mutate, type Mutated } from './mutation.ts';

/** What a caller sent with a change so that it is made once, however often it is sent (docs/interface.md section 4). */
export interface IdempotencyRequest {
  /** 1 to 255 visible ASCII characters. */
  readonly key: string;
  /** SHA-256 of all that the request asks for: another one under the same key is refused. */
  readonly requestHash: Uint8Array;
}

/** How a change is made once: `keep` tells what to remember of it, `recall` makes the answer of a repetition from that. */
export interface Once<T, Kept extends object, Replay> {
  /** Without it the change is made each time. */
  readonly request: IdempotencyRequest | undefined;
  /** Names, ids and numbers; never a value or a token. */
  readonly keep: (result: T) => Kept;
  /** What the audit says of the thing that was kept. */
  readonly target: (kept: Kept) => AuditTarget;
  /** Answers what is there now. Throws DomainError conflict (`goneReplay`) where it is no more. */
  readonly recall: (kept: Kept) => Promise<Replay>;
}

export type OnceOutcome<T, Replay> =
  { readonly replayed: false; readonly result: T } | { readonly replayed: true; readonly result: Replay };

type OnceAccess = OrganizationAccess | EnvironmentAccess;

/**
 * Like `mutate`, but a change whose key was used in the last 24 hours, by the same principal for the same action on the
 * same target, is not made again. The key is claimed in the change's own transaction, so that of two at once one waits
 * for the other, and what fails leaves the key free. A repetition is authorised and audited like the change itself.
 * Throws DomainError idempotency_key_reused where the key stood for another request.
 */
export async function mutateOnce<T, Kept extends object, Replay>(
  deps: { readonly database: Pick<Database, 'transactionPool'> },
  access: OnceAccess,
  { request, keep, target, recall }: Once<T, Kept, Replay>,
  work: (tx: Transaction) => Promise<Mutated<T>>,
): Promise<OnceOutcome<T, Replay>> {
  if (request === undefined) return { replayed: false, result: await mutate(deps, access, work) };
  const claim = claimOf(access, request);
  return mutate<OnceOutcome<T, Replay>>(deps, access, async (tx) => {
    const earlier = await claimIdempotencyKey(tx, claim);
    if (earlier === undefined) {
      const { result, audit } = await work(tx);
      await keepIdempotencyResult(tx, claim, keep(result));
      return { result: { replayed: false, result }, audit };
    }
    if (Buffer.compare(earlier.requestHash, request.requestHash) !== 0) throw reusedKey();
    // Written by `keep`, in this release or one before it.
    const kept = earlier.result as Kept;
    const result = await recall(kept);
    return { result: { replayed: true, result }, audit: successRecord(access, { ...target(kept), replayed: true }) };
  });
}

/** The error of a repetition where what was made is no more. */
export function goneReplay(thing: string): DomainError {
  return new DomainError(
    'conflict',
    `the ${thing} that was made under this Idempotency-Key is there no more; to make another, use a new key`,
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
    'this Idempotency-Key was sent with another request; send each new request with a key of its own',
  );
}
