import type pg from 'pg';

// The driver, Prisma's adapter and this folder read and write as text. Under other settings, which a database or a role
// may have, the text of times, bytes, fractions, arrays with nulls and constants with backslashes means something else.
const textSettings = `SET client_encoding = 'UTF8';
  SET DateStyle = 'ISO, MDY';
  SET IntervalStyle = 'postgres';
  SET TimeZone = 'UTC';
  SET bytea_output = 'hex';
  SET extra_float_digits = 1;
  SET array_nulls = on;
  SET standard_conforming_strings = on`;

/** The SQLSTATE of a write that is refused because the server takes none. */
export const readOnlyState = '25006';

/** Why nothing can be written, without what to do. */
export const readOnlyFault =
  'PostgreSQL is read-only here: this address leads to a standby, or default_transaction_read_only is on';

/**
 * Prepares a new connection, with the caller's settings too. They are no start-up parameters: poolers refuse those they
 * do not know. Throws an error of `readOnlyState` if the server takes no writes, as libpq does for
 * `target_session_attrs=read-write`. So nothing is read from a standby, whose data may be old.
 */
export async function setUpSession(client: pg.ClientBase, settings = ''): Promise<void> {
  await client.query(`${textSettings};${settings}`);
  if (await isReadOnly(client)) throw Object.assign(new Error(readOnlyFault), { code: readOnlyState });
}

/** Whether the server takes no writes. The statement uses no table and waits for no lock. */
export async function isReadOnly(client: Pick<pg.ClientBase | pg.Pool, 'query'>): Promise<boolean> {
  const { rows } = await client.query<{ transaction_read_only: string }>('SHOW transaction_read_only');
  return rows[0]?.transaction_read_only === 'on';
}
