import type pg from 'pg';
import type { PresentState, StateQuestion } from '../domain/changes.ts';
import { liveCredentialIds, liveTokenIds } from './credentials.ts';
import { queryRows, type Statement } from './database.ts';
import type { EnvironmentModel } from './generated/models.ts';
import { hasDestroyed } from './revisions.ts';

const presentState: Statement = {
  name: 'changes-present-state',
  text: `SELECT e.id, e.revision_id AS "revisionId", 'environment' AS kind
    FROM environment e
    JOIN project p ON p.id = e.project_id AND p.deleted_at IS NULL
    JOIN organization o ON o.id = p.organization_id AND o.deleted_at IS NULL
    WHERE e.id = ANY($1::uuid[]) AND e.deleted_at IS NULL
    UNION ALL SELECT live.id, NULL, 'credential' FROM (${liveCredentialIds('$2::uuid[]')}) AS live
    UNION ALL SELECT r.id, NULL, 'kept' FROM environment_revision r
      WHERE r.id = ANY($3::uuid[]) AND NOT ${hasDestroyed('r.environment_id', 'r.number')}
    UNION ALL SELECT n.id, NULL, 'kept' FROM snapshot n
      WHERE n.id = ANY($3::uuid[]) AND NOT EXISTS (
        SELECT FROM snapshot_entry entry JOIN secret_version lost ON lost.id = entry.version_id
        WHERE entry.snapshot_id = n.id AND lost.destroyed_at IS NOT NULL)
    UNION ALL SELECT live.id, NULL, 'token' FROM (${liveTokenIds('$4::uuid[]')}) AS live`,
};

interface Row {
  readonly kind: 'environment' | 'credential' | 'kept' | 'token';
  readonly id: string;
  /** Only of an environment. */
  readonly revisionId: EnvironmentModel['revisionId'];
}

/**
 * Looks up, with one statement and so at one moment, environments, credentials, service tokens, revisions and
 * snapshots.
 */
export async function findPresentState(pool: pg.Pool, question: StateQuestion): Promise<PresentState> {
  const { environmentIds = [], credentialIds = [], keptIds = [], serviceTokenIds = [] } = question;
  const rows = await queryRows<Row>(pool, presentState, [environmentIds, credentialIds, keptIds, serviceTokenIds]);
  const idsOf = (wanted: Row['kind']): string[] => rows.filter(({ kind }) => kind === wanted).map(({ id }) => id);
  return {
    environments: new Map(rows.filter(({ kind }) => kind === 'environment').map((row) => [row.id, row.revisionId])),
    liveCredentials: new Set(idsOf('credential')),
    liveTokens: new Set(idsOf('token')),
    kept: new Set(idsOf('kept')),
  };
}
