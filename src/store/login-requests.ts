import type pg from 'pg';
import { limits } from '../domain/limits.ts';
import { queryRows, type Statement } from './database.ts';
import type { Transaction } from './transaction.ts';

/** Sign-ins of the command that a user approves in a browser (docs/interface.md, "Sign-in of the command"). */

/** The sign-in of a device, as the user sees it before the approval. */
export interface WaitingDevice {
  readonly id: string;
  /** Of the command. */
  readonly sourceAddress: string | null;
  readonly createdAt: Date;
  readonly expiresAt: Date;
}

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

/**
 * Inserts a request, and returns when its code ends; undefined if as many wait as docs/interface.md section 8 allows.
 * Deletes requests that ended a day ago.
 */
export async function insertLoginRequest(tx: Transaction, request: NewLoginRequest): Promise<Date | undefined> {
  const { id, codeHash, codeChallenge, isDevice, sourceAddress, sessionId } = request;
  if (isDevice) {
    // The count and the insertion belong together.
    await tx.run`SELECT pg_advisory_xact_lock(${insertLock}::bigint)`;
    await tx.run`DELETE FROM login_request WHERE expires_at < clock_timestamp() - interval '1 day'`;
  }
  const row = await tx.row<{ expiresAt: Date }>`
    INSERT INTO login_request (id, code_hash, code_challenge, is_device, source_address, session_id, created_at, expires_at)
    SELECT ${id}::uuid, ${codeHash}, ${codeChallenge}, ${isDevice}::boolean, ${sourceAddress}, ${sessionId}::uuid,
      clock_timestamp(), clock_timestamp() + make_interval(mins => ${limits.loginCodeMinutes}::int)
    WHERE NOT ${isDevice}::boolean OR (
      SELECT count(*) < ${limits.waitingDeviceLogins}::int
        AND count(*) FILTER (WHERE source_address IS NOT DISTINCT FROM ${sourceAddress}::text)
          < ${limits.waitingDeviceLoginsPerAddress}::int
      FROM login_request
      WHERE is_device AND session_id IS NULL AND expires_at > clock_timestamp())
    RETURNING expires_at AS "expiresAt"`;
  return row?.expiresAt;
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
export interface OpenLoginRequest {
  readonly id: string;
  /** SHA-256 of the secret of the command. */
  readonly codeChallenge: Uint8Array;
  readonly isDevice: boolean;
  /** The session that approved it; null until then. */
  readonly sessionId: string | null;
  /** Where the browser of that session was when it signed in. */
  readonly browserAddress: string | null;
  readonly createdAt: Date;
}

const findStatement: Statement = {
  name: 'login-request-find',
  text: `SELECT r.id, r.code_challenge AS "codeChallenge", r.is_device AS "isDevice", r.session_id AS "sessionId",
      s.source_address AS "browserAddress", r.created_at AS "createdAt"
    FROM login_request r LEFT JOIN session s ON s.id = r.session_id
    WHERE r.finished_at IS NULL AND r.expires_at > clock_timestamp()
      AND CASE WHEN r.is_device THEN r.id = $1::uuid ELSE r.code_hash = $2::bytea END`,
};

/** A request that has neither ended nor got its token. */
export async function findLoginRequest(pool: pg.Pool, name: LoginName): Promise<OpenLoginRequest | undefined> {
  const values = ['id' in name ? name.id : null, 'codeHash' in name ? name.codeHash : null];
  const [row] = await queryRows<OpenLoginRequest>(pool, findStatement, values);
  return row;
}

/** Ends a request, and returns whether it had not ended. */
export async function finishLoginRequest(tx: Transaction, id: string): Promise<boolean> {
  const row = await tx.row<{ id: string }>`
    UPDATE login_request SET finished_at = clock_timestamp()
    WHERE id = ${id}::uuid AND finished_at IS NULL AND expires_at > clock_timestamp() RETURNING id`;
  return row !== undefined;
}
