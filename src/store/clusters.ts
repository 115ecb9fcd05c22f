import type pg from 'pg';
import { queryRows, type Statement } from './database.ts';

/** Who leads under the name of a cluster. */
export interface ClusterHolder {
  /** The uid of its namespace kube-system. */
  readonly uid: string;
  /** By the database's clock. */
  readonly seenAt: Date;
}

const claimStatement: Statement = {
  name: 'cluster-claim',
  text: `INSERT INTO cluster (name, uid, seen_at) VALUES ($1, $2, clock_timestamp())
    ON CONFLICT (name) DO UPDATE SET uid = excluded.uid, seen_at = excluded.seen_at
    WHERE cluster.uid = excluded.uid OR cluster.seen_at < clock_timestamp() - interval '10 minutes'
    RETURNING uid, seen_at AS "seenAt"`,
};

const findStatement: Statement = {
  name: 'cluster-find',
  text: 'SELECT uid, seen_at AS "seenAt" FROM cluster WHERE name = $1',
};

/** Takes a cluster's name unless another cluster was seen under it in the last 10 minutes. Returns who has it then. */
export async function claimCluster(pool: pg.Pool, name: string, uid: string): Promise<ClusterHolder> {
  const [claimed] = await queryRows<ClusterHolder>(pool, claimStatement, [name, uid]);
  if (claimed !== undefined) return claimed;
  const [holder] = await queryRows<ClusterHolder>(pool, findStatement, [name]);
  if (holder === undefined) throw new Error('a cluster that was refused its name has another one in its place');
  return holder;
}
