import type pg from 'pg';
import { limits } from '../domain/limits.ts';
import { queryRows } from './database.ts';
import type { LoginRequestModel, SessionModel } from './generated/models.ts';
import { raw, sql } from './sql.ts';
import type { Transaction } from './transaction.ts';

/** Sign-ins of the command that a user approves in a browser (docs/interface.md, "Sign-in of the command"). */

/** The sign-in of a device, as the user sees it before the approval. */
export type WaitingDevice = Readonly<Pick<LoginRequestModel, 'id' | 'sourceAddress' | 'createdAt' | 'expiresAt'>>;

export interface NewLoginRequest {
  readonly id: string;
  readonly codeHash: Uint8Array;
  readonly codeChallenge: Uint8Array;
  readonly isDevice: boolean;
  readonly sourceAddress: string | null;
  readonly sessionId: string | null;
}

// Any number that nothing else of this database locks.
const insertLock = 72_707_373;

/** SQL: the network of a source address, and the larger network that one site may have; null for an unknown address. */
const networkOf = (v4Bits: number, v6Bits: number): string => `network(set_masklen(source_address::inet,
        CASE family(source_address::inet) WHEN 4 THEN ${v4Bits} ELSE ${v6Bits} END))`;

/**
 * Inserts a request, and returns when its code ends. Deletes requests that ended a day ago. If more devices wait than
 * `limits.waitingDeviceLogins`, it deletes the oldest of the network that has most of them: a client with many addresses
 * displaces its own requests, not those of others.
 */
export async function insertLoginRequest(tx: Transaction, request: NewLoginRequest): Promise<Date> {
  const { id, codeHash, codeChallenge, isDevice, sourceAddress, sessionId } = request;
  if (isDevice) {
    // The count and the insertion belong together.
    await tx.run`SELECT pg_advisory_xact_lock(${insertLock}::bigint)`;
    await tx.run`DELETE FROM login_request WHERE expires_at < clock_timestamp() - interval '1 day'`;
  }
  const row = await tx.row<{ expiresAt: Date }>`
    INSERT INTO login_request (id, code_hash, code_challenge, is_device, source_address, session_id, created_at, expires_at)
    VALUES (${id}::uuid, ${codeHash}, ${codeChallenge}, ${isDevice}::boolean, ${sourceAddress}, ${sessionId}::uuid,
      clock_timestamp(), clock_timestamp() + make_interval(mins => ${limits.loginCodeMinutes}::int))
    RETURNING expires_at AS "expiresAt"`;
  if (row === undefined) throw new Error('an INSERT of one row returns it');
  if (isDevice) await displaceDevice(tx);
  return row.expiresAt;
}

async function displaceDevice(tx: Transaction): Promise<void> {
  await tx.run`
    DELETE FROM login_request WHERE id = (
      SELECT id FROM (
        SELECT id, created_at, count(*) OVER () AS waiting,
          count(*) OVER (PARTITION BY ${raw(networkOf(24, 48))}) AS of_site,
          count(*) OVER (PARTITION BY ${raw(networkOf(32, 64))}) AS of_network
        FROM login_request WHERE is_device AND session_id IS NULL AND expires_at > clock_timestamp()
      ) w WHERE waiting > ${limits.waitingDeviceLogins}::int
      ORDER BY of_site DESC, of_network DESC, created_at LIMIT 1)`;
}

/** The request that the code of a device stands for, if it waits for an approval. Holds it until the commit. */
export async function holdWaitingDevice(tx: Transaction, codeHash: Uint8Array): Promise<WaitingDevice | undefined> {
  return tx.row<WaitingDevice>`
    SELECT id, source_address AS "sourceAddress", created_at AS "createdAt", expires_at AS "expiresAt"
    FROM login_request
    WHERE is_device AND code_hash = ${codeHash} AND session_id IS NULL AND finished_at IS NULL
      AND expires_at > clock_timestamp() FOR UPDATE`;
}

/** Stores that a session approved a request, which is held. */
export async function approveDevice(tx: Transaction, id: string, sessionId: string): Promise<void> {
  await tx.run`UPDATE login_request SET session_id = ${sessionId}::uuid WHERE id = ${id}::uuid`;
}

/** Counts a wrong code in a session. */
export async function countWrongCode(tx: Transaction, sessionId: string): Promise<void> {
  await tx.run`UPDATE session SET wrong_codes = wrong_codes + 1 WHERE id = ${sessionId}::uuid`;
}

/** How many wrong codes were typed in a session. Others wait until the commit. */
export async function wrongCodesOf(tx: Transaction, sessionId: string): Promise<number> {
  const row = await tx.row<{ count: number }>`
    SELECT wrong_codes AS count FROM session WHERE id = ${sessionId}::uuid FOR UPDATE`;
  return row?.count ?? 0;
}

/** What names a request: the id of a device's, or the hash of the code that the browser passed on. */
export type LoginName = { readonly id: string } | { readonly codeHash: Uint8Array };

/** A request whose command may get its token. */
export interface OpenLoginRequest extends Readonly<
  Pick<LoginRequestModel, 'id' | 'codeChallenge' | 'isDevice' | 'sessionId' | 'createdAt'>
> {
  /** Where the browser of the session that approved it was when it signed in; null until the approval. */
  readonly browserAddress: SessionModel['sourceAddress'];
}

/** A request that has neither ended nor got its token. */
export async function findLoginRequest(pool: pg.Pool, name: LoginName): Promise<OpenLoginRequest | undefined> {
  const { id, codeHash } = { id: null, codeHash: null, ...name };
  const [row] = await queryRows<OpenLoginRequest>(
    pool,
    sql`
      SELECT r.id, r.code_challenge AS "codeChallenge", r.is_device AS "isDevice", r.session_id AS "sessionId",
      s.source_address AS "browserAddress", r.created_at AS "createdAt"
    FROM login_request r LEFT JOIN session s ON s.id = r.session_id
    WHERE r.finished_at IS NULL AND r.expires_at > clock_timestamp()
      AND CASE WHEN r.is_device THEN r.id = ${id}::uuid ELSE r.code_hash = ${codeHash}::bytea END`,
  );
  return row;
}

/** Ends a request, and returns whether it had not ended. */
export async function finishLoginRequest(tx: Transaction, id: string): Promise<boolean> {
  const row = await tx.row<{ id: string }>`
    UPDATE login_request SET finished_at = clock_timestamp()
    WHERE id = ${id}::uuid AND finished_at IS NULL AND expires_at > clock_timestamp() RETURNING id`;
  return row !== undefined;
}
