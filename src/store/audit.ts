import type pg from 'pg';
import type { Actor } from '../domain/principal.ts';
import { queryRows } from './database.ts';
import type { Transaction } from './transaction.ts';

/** Slugs, keys and ids of what was acted on; never a value or a token. */
export type AuditTarget = Readonly<Record<string, string | number | boolean | null | readonly string[]>>;

export type AuditOutcome = 'success' | 'denied' | 'failed';

/** One line of the audit (docs/interface.md 6.2). */
export interface AuditRecord {
  /** The chain it belongs to: an organization, or null for the instance's own. */
  readonly organizationId: string | null;
  readonly actor: Actor;
  /** What was done, such as `secret.list`. */
  readonly action: string;
  readonly target: AuditTarget;
  readonly outcome: AuditOutcome;
  readonly requestId: string;
  readonly sourceAddress: string | null;
  /** `[Service Token]` for what a service token did or what was done to one, else null. */
  readonly label: string | null;
}

// Arrays and unnest: one statement text, prepared once, for any number of rows.
const insertBatch = {
  name: 'audit-insert-batch',
  text: `INSERT INTO audit_entry
      (organization_id, actor_type, actor_id, actor_name, action, target, outcome, request_id, source_address, label)
    SELECT organization_id, actor_type, actor_id, actor_name, action, target, outcome, request_id, source_address, label
    FROM unnest($1::uuid[], $2::actor_type[], $3::uuid[], $4::text[], $5::text[], $6::jsonb[], $7::text[], $8::uuid[],
        $9::text[], $10::text[]) WITH ORDINALITY
      AS record (organization_id, actor_type, actor_id, actor_name, action, target, outcome, request_id,
        source_address, label, position)
    ORDER BY position`,
};

/** Writes a mutation's audit row in its own transaction. */
export async function appendAudit(tx: Transaction, record: AuditRecord): Promise<void> {
  const { actor } = record;
  await tx.$executeRaw`
    INSERT INTO audit_entry
      (organization_id, actor_type, actor_id, actor_name, action, target, outcome, request_id, source_address, label)
    VALUES (${record.organizationId}::uuid, ${actor.type}::actor_type, ${actor.id}::uuid, ${actor.name},
      ${record.action}, ${JSON.stringify(record.target)}::jsonb, ${record.outcome}, ${record.requestId}::uuid,
      ${record.sourceAddress}, ${record.label})`;
}

/** Writes many audit rows with one statement and one commit: all of them or, when it throws, none. */
export async function appendAuditBatch(pool: pg.Pool, records: readonly AuditRecord[]): Promise<void> {
  const column = <T>(pick: (record: AuditRecord) => T): T[] => records.map(pick);
  await queryRows(pool, insertBatch, [
    column((record) => record.organizationId),
    column((record) => record.actor.type),
    column((record) => record.actor.id),
    column((record) => record.actor.name),
    column((record) => record.action),
    column((record) => JSON.stringify(record.target)),
    column((record) => record.outcome),
    column((record) => record.requestId),
    column((record) => record.sourceAddress),
    column((record) => record.label),
  ]);
}
