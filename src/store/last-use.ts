import type pg from 'pg';
import { queryRows, type Statement } from './database.ts';

const lastUse: Statement = {
  name: 'last-use-of-resource',
  text: `SELECT max(c.last_used_at) AS "lastUsedAt"
    FROM service_token_credential c
    JOIN resource_claim r ON r.service_token_id = c.service_token_id AND r.operation = 'token'
    WHERE r.cluster = $1 AND r.uid = $2`,
};

/** When the token of a custom resource was used last, to the minute; null if it never was, or if there is none. */
export async function findLastUse(
  pool: pg.Pool,
  { cluster, uid }: { readonly cluster: string; readonly uid: string },
): Promise<Date | null> {
  const [row] = await queryRows<{ readonly lastUsedAt: Date | null }>(pool, lastUse, [cluster, uid]);
  return row?.lastUsedAt ?? null;
}
