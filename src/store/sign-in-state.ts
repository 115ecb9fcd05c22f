import type pg from 'pg';
import { readModels } from './models.ts';
import type { Transaction } from './transaction.ts';

/** Whether users can sign in with more than a personal token (docs/interface.md 4, "Sessions"). */

interface OpenState {
  readonly isOpen: boolean;
}

/** Whether sign-in is open. */
export async function readSignInIsOpen(pool: pg.Pool): Promise<boolean> {
  const closed = await readModels(pool, ({ signInState }) =>
    signInState.findFirst({ where: { closedAt: { not: null } }, select: { id: true } }),
  );
  return closed === null;
}

/** Whether sign-in is open, in a transaction that begins a session. */
export async function isSignInOpen(tx: Transaction): Promise<boolean> {
  const row = await tx.row<OpenState>`
    SELECT NOT EXISTS (SELECT FROM sign_in_state WHERE closed_at IS NOT NULL) AS "isOpen"`;
  return row?.isOpen === true;
}

/** Opens or closes sign-in, and returns whether that changed anything. */
export async function setSignInOpen(tx: Transaction, isOpen: boolean): Promise<boolean> {
  if (!isOpen) return closeSignIn(tx, null);
  const rows = await tx.rows`
    UPDATE sign_in_state SET closed_at = NULL, opened_at = clock_timestamp()
    WHERE closed_at IS NOT NULL RETURNING id`;
  return rows.length > 0;
}

/**
 * Closes sign-in, unless an instance admin opened it at or after a moment, and returns whether it was open. With null
 * it is closed in any case.
 */
export async function closeSignIn(tx: Transaction, before: Date | null): Promise<boolean> {
  const rows = await tx.rows`
    INSERT INTO sign_in_state AS state (closed_at) VALUES (clock_timestamp())
    ON CONFLICT (id) DO UPDATE SET closed_at = EXCLUDED.closed_at
    WHERE state.closed_at IS NULL
      AND (${before}::timestamptz IS NULL OR state.opened_at IS NULL OR state.opened_at < ${before}::timestamptz)
    RETURNING id`;
  return rows.length > 0;
}
