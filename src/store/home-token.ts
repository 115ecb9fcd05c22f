import type pg from 'pg';
import { queryRows } from './database.ts';
import type { HomeTokenModel } from './generated/models.ts';
import { sql } from './sql.ts';
import type { Transaction } from './transaction.ts';

/** A home token that counts: the present one, or the one before for an hour. */
export interface HomeTokenRecord extends Readonly<Pick<HomeTokenModel, 'hash'>> {
  /** Null for the present one. */
  readonly acceptedUntil: Date | null;
  /** Whether the cluster is known as one that is not a home cluster. */
  readonly isRemote: boolean;
  /** Whether a controller has led under the name of the cluster. */
  readonly isHeld: boolean;
}

/**
 * The home tokens that count now, by the database's clock, and whether they count for a cluster: not for one that is known
 * and no home cluster.
 */
export async function findHomeTokens(pool: pg.Pool, cluster: string): Promise<HomeTokenRecord[]> {
  return queryRows<HomeTokenRecord>(
    pool,
    sql`
      SELECT hash, "acceptedUntil",
        EXISTS (SELECT FROM served_cluster WHERE name = ${cluster} AND NOT is_home) AS "isRemote",
        EXISTS (SELECT FROM cluster WHERE name = ${cluster}) AS "isHeld"
      FROM (SELECT hash, NULL::timestamptz AS "acceptedUntil" FROM home_token
        UNION ALL SELECT former_hash, former_until FROM home_token WHERE former_until > clock_timestamp()) AS accepted`,
  );
}

/** Makes this the home token, unless it is. The one before counts for another hour. Returns whether it is a new one. */
export async function putHomeToken(tx: Transaction, hash: Uint8Array): Promise<boolean> {
  const put = await tx.run`
    INSERT INTO home_token (hash) VALUES (${hash}) ON CONFLICT (row_id) DO UPDATE
    SET hash = excluded.hash, former_hash = home_token.hash,
      former_until = clock_timestamp() + interval '1 hour', changed_at = clock_timestamp()
    WHERE home_token.hash <> excluded.hash`;
  return put > 0;
}
