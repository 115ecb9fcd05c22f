import { randomUUID } from 'node:crypto';
import type pg from 'pg';
import { queryRows } from './database.ts';
import type { ClusterModel, TrustedIssuerModel } from './generated/models.ts';
import { sql } from './sql.ts';
import type { Transaction } from './transaction.ts';

/** What a cluster says of its issuer. */
export interface ReportedIssuer extends Readonly<Pick<TrustedIssuerModel, 'iss' | 'algorithms'>> {
  readonly cluster: ClusterModel['name'];
  readonly uid: ClusterModel['uid'];
  /** A JSON Web Key Set of public keys. */
  readonly keySet: { readonly keys: readonly object[] };
}

// The longest lifetime that an issuer may have.
const maxAgeSeconds = 86_400;

/** Whether the same was reported before. */
export async function isReported(pool: pg.Pool, { cluster, iss, keySet }: ReportedIssuer): Promise<boolean> {
  const found = await queryRows(
    pool,
    sql`SELECT 1 AS found FROM trusted_issuer
      WHERE cluster = ${cluster} AND iss = ${iss} AND keys = ${JSON.stringify(keySet)}::jsonb`,
  );
  return found.length > 0;
}

/**
 * Keeps the issuer that a home cluster reports, if it has its name and is enabled. Returns whether something changed. The
 * generation counts changes by people alone.
 */
export async function keepReported(
  tx: Transaction,
  { cluster, uid, iss, keySet, algorithms }: ReportedIssuer,
): Promise<boolean> {
  const kept = await tx.run`
    INSERT INTO trusted_issuer (id, cluster, preset, iss, keys, algorithms, max_age_seconds)
    SELECT ${randomUUID()}::uuid, c.name, 'kubernetes', ${iss}, ${JSON.stringify(keySet)}::jsonb,
      ${algorithms}::text[], ${maxAgeSeconds}::int
    FROM cluster c LEFT JOIN served_cluster sc ON sc.name = c.name
    WHERE c.name = ${cluster} AND c.uid = ${uid}
      AND coalesce(sc.is_home, true) AND sc.disabled_at IS NULL AND sc.forgotten_at IS NULL
    ON CONFLICT (cluster) DO UPDATE SET iss = excluded.iss, keys = excluded.keys, algorithms = excluded.algorithms,
      keys_version = trusted_issuer.keys_version + 1, changed_at = clock_timestamp()
    WHERE (trusted_issuer.iss, trusted_issuer.keys) IS DISTINCT FROM (excluded.iss, excluded.keys)`;
  return kept > 0;
}
