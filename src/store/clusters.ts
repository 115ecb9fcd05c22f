import type pg from 'pg';
import type { ClusterState } from '../domain/cluster-ceiling.ts';
import type { PortProgram, Hello } from '../domain/clusters.ts';
import { clusterState } from './cluster-ceilings.ts';
import { queryRows } from './database.ts';
import type { ClusterModel } from './generated/models.ts';
import type { ServedClusterRecord } from './served-clusters.ts';
import { raw, type Sql, sql } from './sql.ts';
import type { Transaction } from './transaction.ts';

/** Who leads under the name of a cluster. */
export interface ClusterHolder {
  /** Null if no cluster has the name. */
  readonly uid: ClusterModel['uid'] | null;
  readonly seenAt: ClusterModel['seenAt'] | null;
  readonly state: ClusterState;
  readonly isHome: boolean;
  /** The database's time. */
  readonly now: Date;
}

/**
 * Takes a cluster's name unless another cluster was seen under it in the last 10 minutes, or always for a registered one,
 * whose uid was checked before. Makes the row of a home cluster, and keeps what its controller
 * says of itself. Returns who has the name then.
 */
export async function claimCluster(
  pool: pg.Pool,
  name: string,
  {
    uid,
    release,
    protocol: { min, max },
    kinds,
    isRegistered,
  }: Hello & PortProgram & { readonly isRegistered: boolean },
): Promise<ClusterHolder> {
  const [claimed] = await queryRows<ClusterHolder>(
    pool,
    sql`
      WITH served AS (
        INSERT INTO served_cluster (name) SELECT ${name} WHERE NOT EXISTS (SELECT FROM served_cluster WHERE name = ${name})
        ON CONFLICT DO NOTHING)
      INSERT INTO cluster (name, uid, seen_at, hello_at, release, protocol_min, protocol_max, kinds)
    SELECT ${name}, ${uid}, at, at, ${release}, ${min}::int, ${max}::int, ${kinds}::text[]
    FROM (SELECT clock_timestamp() AS at) AS present
    ON CONFLICT (name) DO UPDATE SET uid = excluded.uid, seen_at = excluded.seen_at, hello_at = excluded.hello_at,
      release = excluded.release, protocol_min = excluded.protocol_min, protocol_max = excluded.protocol_max,
      kinds = excluded.kinds
    WHERE ${isRegistered} OR cluster.uid = excluded.uid OR cluster.seen_at < clock_timestamp() - interval '10 minutes'
    RETURNING uid, seen_at AS "seenAt", ${stateOf(name)} AS state, ${isHome(name)} AS "isHome",
      clock_timestamp() AS now`,
  );
  return claimed ?? (await findCluster(pool, name));
}

/** Who has the name of a cluster. */
export async function findCluster(pool: pg.Pool, name: string): Promise<ClusterHolder> {
  const [found] = await queryRows<ClusterHolder>(
    pool,
    sql`
      SELECT cluster.uid, cluster.seen_at AS "seenAt", ${stateOf(name)} AS state, ${isHome(name)} AS "isHome",
      clock_timestamp() AS now
    FROM (SELECT 1) AS always LEFT JOIN cluster ON name = ${name}`,
  );
  if (found === undefined) throw new Error('a query without a condition has one row');
  return found;
}

const homeClusters = 'cluster c LEFT JOIN served_cluster sc ON sc.name = c.name WHERE coalesce(sc.is_home, true)';

/** The home clusters whose controllers have led, with their states. */
export async function listHomeClusters(
  tx: Transaction,
): Promise<readonly Pick<ServedClusterRecord, 'name' | 'isHome' | 'state'>[]> {
  return tx.rows`SELECT c.name, true AS "isHome", ${raw(clusterState)} AS state FROM ${raw(homeClusters)}`;
}

/** How many there are of them. */
export async function countHomeClusters(pool: pg.Pool): Promise<number> {
  const [counted] = await queryRows<{ readonly count: number }>(
    pool,
    sql`SELECT count(*)::int AS count FROM ${raw(homeClusters)}`,
  );
  return counted?.count ?? 0;
}

// A cluster without a row has changed nothing yet.
function stateOf(name: string): Sql {
  return sql`coalesce((SELECT ${raw(clusterState)} FROM served_cluster sc WHERE sc.name = ${name}), 'enabled')`;
}

function isHome(name: string): Sql {
  return sql`coalesce((SELECT sc.is_home FROM served_cluster sc WHERE sc.name = ${name}), true)`;
}
