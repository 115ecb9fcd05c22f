import type pg from 'pg';
import type { ShownTokenCreator } from '../domain/impersonation.ts';
import type { Actor, ActorType } from '../domain/principal.ts';
import { queryRows, type Statement } from './database.ts';
import type { AuditEntryModel } from './generated/models.ts';
import type { Transaction } from './transaction.ts';

/** Slugs, keys and ids of what was acted on; never a value or a token. */
export type AuditTarget = Readonly<
  Record<string, string | number | boolean | null | readonly string[] | readonly AuditedSecretSync[]>
>;

/** One of the SecretSyncs of an entry of several reads. */
export interface AuditedSecretSync {
  /** `namespace/name` */
  readonly name: string;
  readonly uid: string;
  /** The name of its source, if that has one. */
  readonly source?: string;
  /** Of its reconcile. */
  readonly requestId: string;
}

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
  /** The token that was presented; null for a custom resource and for the server itself. */
  readonly credential: AuditedCredential | null;
  /** The cluster that vouched for the actor, or for the SecretSync that read with the token; null for other callers. */
  readonly cluster: string | null;
}

export interface AuditedCredential {
  readonly id: string;
  /** Who else created the personal token; null for the user's own and for service tokens. */
  readonly createdBy: ShownTokenCreator | null;
}

// Arrays and unnest: one statement text, prepared once, for any number of rows.
const insertBatch = {
  name: 'audit-insert-batch',
  text: `INSERT INTO audit_entry
      (organization_id, actor_type, actor_id, actor_name, action, target, outcome, request_id, source_address, label,
        credential_id, credential_creator, cluster)
    SELECT organization_id, actor_type, actor_id, actor_name, action, target, outcome, request_id, source_address, label,
      credential_id, credential_creator, cluster
    FROM unnest($1::uuid[], $2::actor_type[], $3::uuid[], $4::text[], $5::text[], $6::jsonb[], $7::text[], $8::uuid[],
        $9::text[], $10::text[], $11::uuid[], $12::jsonb[], $13::text[])
        WITH ORDINALITY
      AS record (organization_id, actor_type, actor_id, actor_name, action, target, outcome, request_id,
        source_address, label, credential_id, credential_creator, cluster, position)
    ORDER BY position`,
};

/** Writes a mutation's audit row in its own transaction. */
export async function appendAudit(tx: Transaction, record: AuditRecord): Promise<void> {
  const { actor, credential } = record;
  await tx.run`
    INSERT INTO audit_entry
      (organization_id, actor_type, actor_id, actor_name, action, target, outcome, request_id, source_address, label,
        credential_id, credential_creator, cluster)
    VALUES (${record.organizationId}::uuid, ${actor.type}::actor_type, ${actor.id}::uuid, ${actor.name},
      ${record.action}, ${JSON.stringify(record.target)}::jsonb, ${record.outcome}, ${record.requestId}::uuid,
      ${record.sourceAddress}, ${record.label}, ${credential?.id ?? null}::uuid, ${creatorJson(record)}::jsonb,
      ${record.cluster})`;
}

/** Writes many audit rows with one statement and one commit: all of them or, when it throws, none. */
export async function appendAuditBatch(pool: pg.Pool, records: readonly AuditRecord[]): Promise<void> {
  await queryRows(pool, insertBatch, columnsOf(records));
}

// The arrays of a statement stay small however many rows a change writes.
const rowsAtOnce = 1000;

/** Writes the audit rows of a mutation that concerns many things, in its own transaction. */
export async function appendAudits(tx: Transaction, records: readonly AuditRecord[]): Promise<void> {
  for (let begin = 0; begin < records.length; begin += rowsAtOnce) {
    await tx.rowsUnprepared(insertBatch.text, ...columnsOf(records.slice(begin, begin + rowsAtOnce)));
  }
}

function columnsOf(records: readonly AuditRecord[]): unknown[][] {
  const column = <T>(pick: (record: AuditRecord) => T): T[] => records.map(pick);
  return [
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
    column((record) => record.credential?.id ?? null),
    column(creatorJson),
    column((record) => record.cluster),
  ];
}

function creatorJson({ credential }: AuditRecord): string | null {
  const createdBy = credential?.createdBy ?? null;
  return createdBy === null ? null : JSON.stringify(createdBy);
}

/** An entry as it is read. */
export interface AuditEntryRecord extends Omit<AuditRecord, 'organizationId'> {
  /** A whole number as text; later entries have greater ones. */
  readonly id: string;
  readonly at: Date;
}

/** Null stands for «any». */
export interface AuditFilter {
  /** An action, or with a dot at its end the beginning of several. */
  readonly action: string | null;
  readonly actor: string | null;
  readonly actorType: ActorType | null;
  readonly since: Date | null;
  /** Entries before the one with this id. */
  readonly before: string | null;
  readonly limit: number;
}

interface EntryRow
  extends
    Readonly<
      Pick<
        AuditEntryModel,
        | 'at'
        | 'actorType'
        | 'actorId'
        | 'actorName'
        | 'action'
        | 'requestId'
        | 'sourceAddress'
        | 'label'
        | 'credentialId'
        | 'cluster'
      >
    >,
    Pick<AuditEntryRecord, 'id' | 'target' | 'outcome'> {
  readonly credentialCreator: ShownTokenCreator | null;
}

// Each filter as a condition on its parameter.
const conditions = {
  action: (value: string) => `(action = ${value} OR (right(${value}, 1) = '.' AND starts_with(action, ${value})))`,
  actor: (value: string) => `actor_id = ${value}`,
  actorType: (value: string) => `actor_type = ${value}::actor_type`,
  since: (value: string) => `at >= ${value}`,
  before: (value: string) => `id < ${value}`,
} as const;

type FilterName = keyof typeof conditions;
const filterNames: readonly FilterName[] = ['action', 'actor', 'actorType', 'since', 'before'];

// Which chain is read, and by how many parameters after the limit.
const chains = {
  organization: { condition: 'organization_id >= $2 AND organization_id <= $2', parameters: 1 },
  instance: { condition: 'organization_id IS NULL', parameters: 0 },
} as const;

type ChainKind = keyof typeof chains;

/**
 * Reads backwards from the newest by the index on (organization_id, id). Only the conditions that are asked for stand
 * in the text: with one text for all of them PostgreSQL expects so few rows that it reads and sorts the whole audit.
 * The organization is a range and a part of the order, though it is one: else the primary key gives the order as well,
 * and may be read through all other organizations' entries.
 */
function listStatement(chain: ChainKind, filters: readonly FilterName[]): Statement {
  const { condition, parameters } = chains[chain];
  const wanted = filters.map((name, index) => `AND ${conditions[name](`$${index + parameters + 2}`)}`);
  return {
    name: ['audit-list', chain, ...filters].join('-'),
    text: `SELECT id, at, actor_type AS "actorType", actor_id AS "actorId", actor_name AS "actorName", action, target,
        outcome, request_id AS "requestId", source_address AS "sourceAddress", label, credential_id AS "credentialId",
        credential_creator AS "credentialCreator", cluster
      FROM audit_entry WHERE ${condition} ${wanted.join(' ')}
      ORDER BY organization_id, id DESC LIMIT $1`,
  };
}

/** Entries of an organization's audit, or with null those of the instance that belong to none, newest first. */
export async function listAuditEntries(
  pool: pg.Pool,
  organizationId: string | null,
  { limit, ...filter }: AuditFilter,
): Promise<AuditEntryRecord[]> {
  const filters = filterNames.filter((name) => filter[name] !== null);
  const given = filters.map((name) => filter[name]);
  const rows =
    organizationId === null
      ? await queryRows<EntryRow>(pool, listStatement('instance', filters), [limit, ...given])
      : await queryRows<EntryRow>(pool, listStatement('organization', filters), [limit, organizationId, ...given]);
  return rows.map(({ actorType: type, actorId, actorName, credentialId, credentialCreator, ...entry }) => ({
    ...entry,
    actor: { type, id: actorId, name: actorName },
    credential: credentialId === null ? null : { id: credentialId, createdBy: credentialCreator },
  }));
}
