import pg from 'pg';
import { DomainError } from '../domain/errors/domain-error.ts';
import { addressAdvice, addressFault } from './address-fault.ts';
import { resourceSentence } from './resource-fault.ts';
import { readOnlyState } from './session.ts';
import { sqlState } from './store-error.ts';

/**
 * The conflict for a failure of migrating that only an administrator of PostgreSQL ends, with a sentence that says what
 * to do; undefined for another failure. `client` is the connection on which it failed, outside a transaction; undefined
 * if there was none.
 */
export async function migrationFault(error: unknown, client: pg.Client | undefined): Promise<DomainError | undefined> {
  const state = sqlState(error);
  const isPassed = error instanceof DomainError && error.code !== 'store_unavailable';
  if (state === undefined || isPassed) return undefined;
  const sentence = client === undefined ? connectionFault(state, error) : await statementFault(state, client);
  return sentence === undefined ? undefined : new DomainError('conflict', sentence, { cause: error });
}

// Other faults of an address may pass: another system may be creating the role or the database.
const lastingFaults: ReadonlySet<string> = new Set(['42501', readOnlyState]);

function connectionFault(state: string, error: unknown): string | undefined {
  return lastingFaults.has(state) ? `${addressFault(error)}: ${addressAdvice}` : resourceSentence(state);
}

async function statementFault(state: string, client: pg.Client): Promise<string | undefined> {
  if (state === '42501' || state === '3F000') return rightsSentence(state, await readRights(client));
  if (state === '42P07' || state === '42710') {
    return `the schema of the database has objects of another program with the names of Keyframe's (${state}): give Keyframe a database that nothing else uses`;
  }
  if (state === '22P05' || state === '22021') {
    return `the database cannot store a character that Keyframe writes (${state}): create it again with ENCODING 'UTF8'`;
  }
  return resourceSentence(state);
}

interface Rights {
  readonly role: string;
  readonly database: string;
  readonly search_path: string;
  /** Null if no schema of the search path exists and may be used. */
  readonly schema: string | null;
  readonly may_create: boolean;
  /** Who owns the tables of Keyframe, if the role does not have that owner's rights. */
  readonly owner: string | null;
}

const selectRights = `
  SELECT current_user AS role, current_database() AS database, current_setting('search_path') AS search_path,
    current_schema() AS schema, coalesce(has_schema_privilege(current_schema(), 'CREATE'), false) AS may_create,
    (
      SELECT pg_get_userbyid(relowner)::text FROM pg_class
      WHERE oid = to_regclass('_prisma_migrations') AND NOT pg_has_role(relowner, 'USAGE')
    ) AS owner`;

async function readRights(client: pg.Client): Promise<Rights | undefined> {
  try {
    return (await client.query<Rights>(selectRights)).rows[0];
  } catch {
    return undefined;
  }
}

function rightsSentence(state: string, rights: Rights | undefined): string {
  if (rights === undefined) return `PostgreSQL denies the role that migrates a right (${state}): its log names it`;
  const { schema, owner, may_create: mayCreate, search_path: searchPath } = rights;
  const role = pg.escapeIdentifier(rights.role);
  const [who, where] = [`the role ${role}`, `the database ${pg.escapeIdentifier(rights.database)}`];
  if (schema === null) {
    return `${who} has no schema for tables in ${where} (${state}), because none of its search_path (${searchPath}) exists or may be used: run \`CREATE SCHEMA IF NOT EXISTS public; GRANT USAGE, CREATE ON SCHEMA public TO ${role}\` there as a superuser, or correct search_path`;
  }
  if (owner !== null) {
    return `${who} does not own the tables in ${where}, which belong to ${pg.escapeIdentifier(owner)} (${state}): migrate as that role (KEYFRAME_DATABASE_URL; in the chart, the Secret of database.migration)`;
  }
  const name = pg.escapeIdentifier(schema);
  if (!mayCreate) {
    return `${who} may not create tables in the schema ${name} of ${where} (${state}): run \`GRANT USAGE, CREATE ON SCHEMA ${name} TO ${role}\` there as the owner of the database or a superuser`;
  }
  return `${who} lacks a right in ${where} (${state}): the log of PostgreSQL names it; grant it, or migrate as the owner of the database`;
}
