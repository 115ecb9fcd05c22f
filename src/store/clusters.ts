import type pg from 'pg';
import { queryRows } from './database.ts';
import type { ClusterModel } from './generated/models.ts';
import { sql } from './sql.ts';

/** Who leads under the name of a cluster. */
export type ClusterHolder = Readonly<Pick<ClusterModel, 'uid' | 'seenAt'>>;

/** Takes a cluster's name unless another cluster was seen under it in the last 10 minutes. Returns who has it then. */
export async function claimCluster(pool: pg.Pool, name: string, uid: string): Promise<ClusterHolder> {
  const [claimed] = await queryRows<ClusterHolder>(
    pool,
    sql`
      INSERT INTO cluster (name, uid, seen_at) VALUES (${name}, ${uid}, clock_timestamp())
    ON CONFLICT (name) DO UPDATE SET uid = excluded.uid, seen_at = excluded.seen_at
    WHERE cluster.uid = excluded.uid OR cluster.seen_at < clock_timestamp() - interval '10 minutes'
    RETURNING uid, seen_at AS "seenAt"`,
  );
  if (claimed !== undefined) return claimed;
  const [holder] = await queryRows<ClusterHolder>(
    pool,
    sql`SELECT uid, seen_at AS "seenAt" FROM cluster WHERE name = ${name}`,
  );
  if (holder === undefined) throw new Error('a cluster that was refused its name has another one in its place');
  return holder;
}
