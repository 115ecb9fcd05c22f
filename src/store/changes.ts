import type pg from 'pg';
import type { PresentState, StateQuestion } from '../domain/changes.ts';
import type { ClusterState } from '../domain/cluster-ceiling.ts';
import { clusterState } from './cluster-ceilings.ts';
import { liveCredentialIds, liveTokenIds } from './credentials.ts';
import { queryRows, type Statement } from './database.ts';
import type { ClusterRulesModel, EnvironmentModel } from './generated/models.ts';
import { hasDestroyed } from './revisions.ts';

const presentState: Statement = {
  name: 'changes-present-state',
  text: `SELECT e.id, e.revision_id AS "revisionId", 'environment' AS kind, NULL::int AS version, NULL::text AS state
    FROM environment e
    JOIN project p ON p.id = e.project_id AND p.deleted_at IS NULL
    JOIN organization o ON o.id = p.organization_id AND o.deleted_at IS NULL
    WHERE e.id = ANY($1::uuid[]) AND e.deleted_at IS NULL
    UNION ALL SELECT live.id, NULL, 'credential', NULL, NULL FROM (${liveCredentialIds('$2::uuid[]')}) AS live
    UNION ALL SELECT r.id, NULL, 'kept', NULL, NULL FROM environment_revision r
      WHERE r.id = ANY($3::uuid[]) AND NOT ${hasDestroyed('r.environment_id', 'r.number')}
    UNION ALL SELECT n.id, NULL, 'kept', NULL, NULL FROM snapshot n
      WHERE n.id = ANY($3::uuid[]) AND NOT EXISTS (
        SELECT FROM snapshot_entry entry JOIN secret_version lost ON lost.id = entry.version_id
        WHERE entry.snapshot_id = n.id AND lost.destroyed_at IS NOT NULL)
    UNION ALL SELECT live.id, NULL, 'token', NULL, NULL FROM (${liveTokenIds('$4::uuid[]')}) AS live
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
 * what a cluster may do.
 */
export async function findPresentState(
  pool: pg.Pool,
  question: StateQuestion,
  cluster: string | null,
): Promise<PresentState> {
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
