import { createHash, createHmac, pbkdf2Sync, randomBytes } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import pg from 'pg';
import { DomainError } from '../domain/errors/domain-error.ts';
import { errorFields, type Logger } from '../observability/logger.ts';
import { addressFault } from './address-fault.ts';
import { connect } from './connect.ts';
import { describedError, sqlState, storeError } from './store-error.ts';
import { tlsFault } from './tls-fault.ts';

/** The role as which servers connect: it can use the tables, but neither alter them nor change what is append-only. */

export interface RunRoleOptions {
  /** The address as which the servers connect. Role and password are read from it. */
  readonly runUrl: string;
  /** As of DatabaseAddress, for that address too. */
  readonly caFile: string | undefined;
  /** Whether `init` generated that address: its password may then be given to a role that was created here. */
  readonly isGenerated: boolean;
  readonly logger: Logger;
  /** How long to wait for a role that another system creates, or gives its password; 0 for not at all. */
  readonly waitMs: number;
}

interface TableRights {
  readonly name: string;
  readonly is_append_only: boolean;
  readonly is_read_only: boolean;
  readonly granted: string;
}

const insufficientPrivilege = '42501';
const invalidPassword = '28P01';
const pauseMs = 500;
const verifierIterations = 4_096;
// What RFC 4013 leaves as it is.
const printableAscii = /^[\x20-\x7e]+$/;

/**
 * Gives the role the rights of a server on the tables of the client's schema, creates it if it is missing, and connects
 * as it. The client is the owner of the tables and holds the lock of migrations.
 *
 * A role that exists keeps its password, unless it was created here, PostgreSQL refuses the password of the address, and
 * `init` generated the address. Then the Secret with the former password was lost.
 *
 * Throws DomainError conflict if the owner may not create the role, with the statement for a role that may, and if
 * PostgreSQL refuses the role's address: after waiting for `waitMs`. An address that cannot be reached from here is only
 * logged, because the servers may reach it through a proxy that runs beside them.
 */
export async function prepareRunRole(client: pg.Client, options: RunRoleOptions): Promise<void> {
  const { logger, waitMs } = options;
  const untilMs = performance.now() + waitMs;
  let isReported = false;
  for (;;) {
    try {
      await grantRunRole(client, options);
      await signIn(client, options);
      return;
    } catch (error) {
      const failure = storeError(error);
      const mayEnd = failure instanceof DomainError && failure.code === 'conflict';
      if (!mayEnd || performance.now() + pauseMs >= untilMs) throw failure;
      if (!isReported) logger.info(errorFields(failure), 'the role of the servers is not ready yet: waiting for it');
      isReported = true;
      await pause(pauseMs);
    }
  }
}

function roleOf(runUrl: string): string {
  return decodeURIComponent(new URL(runUrl).username);
}

async function signIn(client: pg.Client, options: RunRoleOptions): Promise<void> {
  const { runUrl, caFile, isGenerated, logger } = options;
  const role = roleOf(runUrl);
  try {
    await tryAddress({ runUrl, caFile });
    // A role that was restored from a dump has no mark. Only its own password opens a generated address.
    if (isGenerated) await mark(client, role);
  } catch (error) {
    if (tlsFault(error) !== undefined) throw error;
    const fault = addressFault(error);
    if (fault === undefined) {
      logger.warn({ ...errorFields(describedError(error)), role }, 'the address of the servers could not be tried');
      return;
    }
    if (isGenerated && sqlState(error) === invalidPassword && (await replacePassword(client, runUrl))) {
      logger.warn({ role }, 'the role of the servers got the password of its new Secret: restart the servers');
      return tryAddress({ runUrl, caFile });
    }
    const detail = `the role ${role} of the servers cannot connect. ${fault}: correct KEYFRAME_DATABASE_RUN_URL (in the chart, the Secret of database.existingSecret or postgres.runSecret), or the role in PostgreSQL`;
    throw new DomainError('conflict', detail, { cause: error });
  }
}

async function tryAddress({ runUrl, caFile }: Pick<RunRoleOptions, 'runUrl' | 'caFile'>): Promise<void> {
  const client = await connect({ url: runUrl, caFile });
  await client.end();
}

async function grantRunRole(client: pg.Client, { runUrl, logger }: RunRoleOptions): Promise<void> {
  const { password } = new URL(runUrl);
  const role = roleOf(runUrl);
  await client.query('BEGIN');
  try {
    if (!(await exists(client, role))) {
      await create(client, role, decodeURIComponent(password));
      logger.info({ role }, 'the role of the servers was created');
    }
    const changed = await grant(client, role);
    await client.query('COMMIT');
    if (changed > 0) logger.info({ role, tables: changed }, 'the role of the servers got its rights');
  } catch (error) {
    await client.query('ROLLBACK').catch(() => {});
    throw error;
  }
  if (await mayAlterTables(client, role))
    logger.warn({ role }, 'the role of the servers owns the tables or is a superuser, so it can change the audit');
}

// It names the database, because roles belong to the whole server and another installation may have one of this name.
// Only a role that may change the password of a role may comment on it.
const markStatement = `SELECT 'Role of the servers, created by keyframe-server migrate for the database '
  || current_database() AS mark`;

async function ownMark(client: pg.Client): Promise<string> {
  const { rows } = await client.query<{ mark: string }>(markStatement);
  return rows[0]?.mark ?? '';
}

/** Marks a role as created here, if its owner may: without the mark, its password is never replaced. */
async function mark(client: pg.Client, role: string): Promise<void> {
  if (await isCreatedHere(client, role)) return;
  const text = pg.escapeLiteral(await ownMark(client));
  try {
    await client.query(`COMMENT ON ROLE ${pg.escapeIdentifier(role)} IS ${text}`);
  } catch (error) {
    if (sqlState(error) !== insufficientPrivilege) throw error;
  }
}

/** Whether a role has the mark and no more power than it was created with. */
async function isCreatedHere(client: pg.Client, role: string): Promise<boolean> {
  const { rows } = await client.query(
    `SELECT FROM pg_roles WHERE rolname = $1 AND shobj_description(oid, 'pg_authid') = $2
       AND NOT (rolsuper OR rolcreaterole OR rolcreatedb OR rolreplication OR rolbypassrls)`,
    [role, await ownMark(client)],
  );
  return rows.length > 0;
}

/** False if the role was not created here, or its owner may no longer change it. */
async function replacePassword(client: pg.Client, runUrl: string): Promise<boolean> {
  const role = roleOf(runUrl);
  const password = decodeURIComponent(new URL(runUrl).password);
  if (!printableAscii.test(password) || !(await isCreatedHere(client, role))) return false;
  try {
    const verifier = pg.escapeLiteral(passwordVerifier(password));
    await client.query(`ALTER ROLE ${pg.escapeIdentifier(role)} PASSWORD ${verifier}`);
    return true;
  } catch (error) {
    if (sqlState(error) !== insufficientPrivilege) throw error;
    return false;
  }
}

async function exists(client: pg.Client, role: string): Promise<boolean> {
  const { rows } = await client.query('SELECT FROM pg_roles WHERE rolname = $1', [role]);
  return rows.length > 0;
}

async function create(client: pg.Client, role: string, password: string): Promise<void> {
  const advice = `run CREATE ROLE ${pg.escapeIdentifier(role)} LOGIN PASSWORD '…' as a superuser, with the password of KEYFRAME_DATABASE_RUN_URL`;
  if (!printableAscii.test(password)) {
    const detail = `the role ${role} does not exist, and KEYFRAME_DATABASE_RUN_URL has no password of printable ASCII characters: ${advice}`;
    throw new DomainError('conflict', detail);
  }
  try {
    // Not the password itself: PostgreSQL may log statements.
    const verifier = pg.escapeLiteral(passwordVerifier(password));
    await client.query(`CREATE ROLE ${pg.escapeIdentifier(role)} LOGIN PASSWORD ${verifier}`);
    await mark(client, role);
  } catch (error) {
    if (sqlState(error) !== insufficientPrivilege) throw error;
    const detail = `the role ${role} does not exist, and the role that migrates may not create it: ${advice}`;
    throw new DomainError('conflict', detail, { cause: error });
  }
}

/** What PostgreSQL stores of a password (RFC 5803), with a new salt. */
function passwordVerifier(password: string): string {
  const salt = randomBytes(16);
  const salted = pbkdf2Sync(password, salt, verifierIterations, 32, 'sha256');
  const keyOf = (text: string): Buffer => createHmac('sha256', salted).update(text).digest();
  const stored = createHash('sha256').update(keyOf('Client Key')).digest();
  const parts = [salt, stored, keyOf('Server Key')].map((bytes) => bytes.toString('base64'));
  return `SCRAM-SHA-256$${verifierIterations}:${parts[0]}$${parts[1]}:${parts[2]}`;
}

// The rights that the role has by itself, as letters. A migration that changes nothing then writes nothing to the catalog.
const selectRights = `
  SELECT c.relname AS name, c.relname = '_prisma_migrations' AS is_read_only,
    EXISTS (SELECT FROM pg_trigger t WHERE t.tgrelid = c.oid AND t.tgname LIKE '%\\_append\\_only') AS is_append_only,
    coalesce((
      SELECT string_agg(a.privilege_type, ', ' ORDER BY a.privilege_type)
      FROM aclexplode(c.relacl) a JOIN pg_roles r ON r.oid = a.grantee WHERE r.rolname = $1
    ), '') AS granted
  FROM pg_class c
  WHERE c.relnamespace = current_schema()::regnamespace AND c.relkind IN ('r', 'p')
  ORDER BY c.relname`;

/** How many tables had other rights. */
async function grant(client: pg.Client, role: string): Promise<number> {
  const to = pg.escapeIdentifier(role);
  const { rows } = await client.query<TableRights>(selectRights, [role]);
  const wrong = rows.filter((table) => table.granted !== wanted(table));
  for (const table of wrong) {
    const name = pg.escapeIdentifier(table.name);
    await client.query(`REVOKE ALL ON ${name} FROM ${to}; GRANT ${wanted(table)} ON ${name} TO ${to}`);
  }
  if (wrong.length === 0 && (await mayUseSchema(client, role))) return 0;
  const schemaOf = await client.query<{ schema: string }>('SELECT quote_ident(current_schema()) AS schema');
  const schema = schemaOf.rows[0]?.schema ?? 'public';
  await client.query(
    `GRANT USAGE ON SCHEMA ${schema} TO ${to}; GRANT USAGE ON ALL SEQUENCES IN SCHEMA ${schema} TO ${to}`,
  );
  return wrong.length;
}

/** Without the schema, the role would find no table. */
async function mayUseSchema(client: pg.Client, role: string): Promise<boolean> {
  const { rows } = await client.query<{ may: boolean }>(
    "SELECT has_schema_privilege($1, current_schema(), 'USAGE') AS may",
    [role],
  );
  return rows[0]?.may === true;
}

/** In the order of the alphabet, as `granted`. */
function wanted({ is_append_only: isAppendOnly, is_read_only: isReadOnly }: TableRights): string {
  if (isReadOnly) return 'SELECT';
  return isAppendOnly ? 'INSERT, SELECT' : 'DELETE, INSERT, SELECT, UPDATE';
}

async function mayAlterTables(client: pg.Client, role: string): Promise<boolean> {
  const { rows } = await client.query<{ may: boolean }>(
    "SELECT pg_has_role($1, relowner, 'USAGE') AS may FROM pg_class WHERE oid = 'audit_entry'::regclass",
    [role],
  );
  return rows[0]?.may === true;
}
