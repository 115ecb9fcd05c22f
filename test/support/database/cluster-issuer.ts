import { randomUUID } from 'node:crypto';
import type pg from 'pg';

/** Stores who signs the ServiceAccount tokens of a cluster, and reports that, as the hello of its controller does. */
export async function putClusterIssuer(
  database: Pick<pg.Pool, 'query'>,
  cluster: string,
  {
    iss = 'https://kubernetes.default.svc',
    keys = [],
  }: { readonly iss?: string; readonly keys?: readonly object[] } = {},
): Promise<void> {
  await database.query(
    `INSERT INTO trusted_issuer (id, cluster, preset, iss, keys, algorithms, max_age_seconds)
     VALUES ($1, $2, 'kubernetes', $3, $4, '{RS256,ES256}', 86400)`,
    [randomUUID(), cluster, iss, JSON.stringify({ keys })],
  );
  await database.query(`SELECT pg_notify('keyframe', $1)`, [JSON.stringify({ c: cluster, q: 'enabled' })]);
}
