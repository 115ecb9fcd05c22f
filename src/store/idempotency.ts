import type { IdempotencyRecordModel } from './generated/models.ts';
import type { Transaction } from './transaction.ts';

/** A request under an Idempotency-Key: the first four together are what is made once. */
export interface IdempotencyClaim {
  readonly actorId: string;
  readonly action: string;
  /** The environment, or the organization if the action is on that. */
  readonly targetId: string;
  readonly key: string;
  readonly organizationId: string;
  readonly environmentId: string | null;
  /** SHA-256 of the request. */
  readonly requestHash: Uint8Array;
}

/** An earlier request under the same key that was committed. */
export interface IdempotencyRecord extends Readonly<Pick<IdempotencyRecordModel, 'requestHash'>> {
  readonly result: unknown;
}

// Each claim removes more than itself, so that the table holds no more than a day's requests.
const prunedAtOnce = 20;

/**
 * Claims a key for this transaction: undefined if it is free, else the record of the request that had it in the last
 * 24 hours. Waits for another transaction that has claimed it and is not done, at most as long as for any lock. A claim
 * that is rolled back leaves nothing. A caller that gets the key must call `keepIdempotencyResult` before the commit.
 */
export async function claimIdempotencyKey(
  tx: Transaction,
  claim: IdempotencyClaim,
): Promise<IdempotencyRecord | undefined> {
  const { actorId, action, targetId, key } = claim;
  const claimed = await tx.run`
    INSERT INTO idempotency_record AS r
      (actor_id, action, target_id, key, organization_id, environment_id, request_hash, result, created_at)
    VALUES (${actorId}::uuid, ${action}, ${targetId}::uuid, ${key}, ${claim.organizationId}::uuid,
      ${claim.environmentId}::uuid, ${claim.requestHash}, 'null', clock_timestamp())
    ON CONFLICT (actor_id, action, target_id, key) DO UPDATE
      SET request_hash = EXCLUDED.request_hash, result = EXCLUDED.result, created_at = EXCLUDED.created_at
      WHERE r.created_at < clock_timestamp() - interval '24 hours'`;
  if (claimed > 0) {
    await prune(tx);
    return undefined;
  }
  const record = await tx.row<IdempotencyRecord>`
    SELECT request_hash AS "requestHash", result FROM idempotency_record
    WHERE actor_id = ${actorId}::uuid AND action = ${action} AND target_id = ${targetId}::uuid AND key = ${key}`;
  if (record === undefined) throw new Error('the record that holds an idempotency key does not exist');
  return record;
}

/** Writes what the answer can be found again by: names, ids and numbers. */
export async function keepIdempotencyResult(
  tx: Transaction,
  { actorId, action, targetId, key }: IdempotencyClaim,
  result: object,
): Promise<void> {
  await tx.run`
    UPDATE idempotency_record SET result = ${JSON.stringify(result)}::jsonb
    WHERE actor_id = ${actorId}::uuid AND action = ${action} AND target_id = ${targetId}::uuid AND key = ${key}`;
}

// SKIP LOCKED: a record that is being claimed again stays, and nothing waits.
async function prune(tx: Transaction): Promise<void> {
  await tx.run`
    DELETE FROM idempotency_record r USING (
      SELECT actor_id, action, target_id, key FROM idempotency_record
      WHERE created_at < clock_timestamp() - interval '24 hours'
      ORDER BY created_at LIMIT ${prunedAtOnce} FOR UPDATE SKIP LOCKED
    ) AS old
    WHERE r.actor_id = old.actor_id AND r.action = old.action AND r.target_id = old.target_id AND r.key = old.key`;
}
