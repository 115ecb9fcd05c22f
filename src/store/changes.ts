import type pg from 'pg';
import type { PresentState, StateQuestion } from '../domain/changes.ts';
import type { ClusterState } from '../domain/cluster-ceiling.ts';
import { allowsSomething, clusterState, letsKnow } from './cluster-ceilings.ts';
import { liveServiceCredentials, liveTokens } from './credentials.ts';
import { queryRows, type Statement } from './database.ts';
import type { ClusterRulesModel, EnvironmentModel } from './generated/models.ts';
import { hasDestroyed } from './revisions.ts';
import { raw, sql } from './sql.ts';

const presentState: Statement = {
  name: 'changes-present-state',
  text: `SELECT found.id, found."revisionId", found.kind, NULL::int AS version, NULL::text AS state
    FROM (
      SELECT e.id, p.organization_id, e.revision_id AS "revisionId", 'environment' AS kind
      FROM environment e
      JOIN project p ON p.id = e.project_id AND p.deleted_at IS NULL
      JOIN organization o ON o.id = p.organization_id AND o.deleted_at IS NULL
      WHERE e.id = ANY($1::uuid[]) AND e.deleted_at IS NULL
      UNION ALL SELECT live.id, live.organization_id, NULL, 'credential' FROM (${liveServiceCredentials('$2::uuid[]')}) live
      UNION ALL SELECT r.id, p.organization_id, NULL, 'kept' FROM environment_revision r
        JOIN environment e ON e.id = r.environment_id JOIN project p ON p.id = e.project_id
        WHERE r.id = ANY($3::uuid[]) AND NOT ${hasDestroyed('r.environment_id', 'r.number')}
      UNION ALL SELECT n.id, p.organization_id, NULL, 'kept' FROM snapshot n
        JOIN environment e ON e.id = n.environment_id JOIN project p ON p.id = e.project_id
        WHERE n.id = ANY($3::uuid[]) AND NOT EXISTS (
          SELECT FROM snapshot_entry entry JOIN secret_version lost ON lost.id = entry.version_id
          WHERE entry.snapshot_id = n.id AND lost.destroyed_at IS NOT NULL)
      UNION ALL SELECT live.id, live.organization_id, NULL, 'token' FROM (${liveTokens('$4::uuid[]')}) live
    ) found
    LEFT JOIN served_cluster sc ON sc.name = $5
    LEFT JOIN cluster_rules cr ON cr.cluster = $5 AND cr.organization_id = found.organization_id
    WHERE ${letsKnow}
    UNION ALL SELECT cr.organization_id, NULL, 'rules', cr.version, NULL FROM cluster_rules cr
      WHERE cr.cluster = $5 AND cr.organization_id = ANY($6::uuid[])
    UNION ALL SELECT NULL, NULL, 'cluster', NULL, ${clusterState} FROM served_cluster sc WHERE sc.name = $5`,
};

interface Row {
  readonly kind: 'environment' | 'credential' | 'kept' | 'token' | 'rules' | 'cluster';
  /** Of rules the id of the organization; null of a cluster. */
  readonly id: string;
  /** Only of an environment. */
  readonly revisionId: EnvironmentModel['revisionId'];
  /** Only of rules. */
  readonly version: ClusterRulesModel['version'];
  /** Only of a cluster. */
  readonly state: ClusterState;
}

/**
 * Looks up, with one statement and so at one moment, environments, credentials, service tokens, revisions, snapshots, and
 * what a cluster may do. What the cluster may not know of is absent. A personal token or a session is no credential of a
 * cluster.
 */
export async function findPresentState(pool: pg.Pool, question: StateQuestion, cluster: string): Promise<PresentState> {
  const { environmentIds = [], credentialIds = [], keptIds = [], serviceTokenIds = [], rulesOf = [] } = question;
  const asked = [environmentIds, credentialIds, keptIds, serviceTokenIds, cluster, rulesOf];
  const rows = await queryRows<Row>(pool, presentState, asked);
  const idsOf = (wanted: Row['kind']): string[] => rows.filter(({ kind }) => kind === wanted).map(({ id }) => id);
  return {
    environments: new Map(rows.filter(({ kind }) => kind === 'environment').map((row) => [row.id, row.revisionId])),
    liveCredentials: new Set(idsOf('credential')),
    liveTokens: new Set(idsOf('token')),
    kept: new Set(idsOf('kept')),
    clusterState: rows.find(({ kind }) => kind === 'cluster')?.state ?? 'enabled',
    clusterRules: new Map(rows.filter(({ kind }) => kind === 'rules').map(({ id, version }) => [id, version])),
  };
}

/** Which organizations a cluster may know of, if it is enabled: all or none, except these. */
export interface KnownOrganizations {
  readonly state: ClusterState;
  readonly isHome: boolean;
  /** Those that allow a home cluster nothing, or another cluster something. */
  readonly exceptions: readonly string[];
}

/** Which organizations a cluster may know of, as committed now. */
export async function findKnownOrganizations(pool: pg.Pool, cluster: string): Promise<KnownOrganizations> {
  const [found] = await queryRows<KnownOrganizations>(
    pool,
    sql`
      SELECT ${raw(clusterState)} AS state, coalesce(sc.is_home, true) AS "isHome", ARRAY(
        SELECT cr.organization_id FROM cluster_rules cr
        WHERE cr.cluster = asked.cluster AND (${raw(allowsSomething)}) <> coalesce(sc.is_home, true)
      ) AS exceptions
      FROM (SELECT ${cluster}::text AS cluster) asked LEFT JOIN served_cluster sc ON sc.name = asked.cluster`,
  );
  if (found === undefined) throw new Error('a SELECT from one row returned no row');
  return found;
}
