import type pg from 'pg';
import { liveCredentialIds } from './credentials.ts';
import { queryRows, type Statement } from './database.ts';

export interface PresentState {
  /** The newest revision's id of each environment that exists. */
  readonly environments: Map<string, string>;
  /** Those of the credentials asked for that open something now. */
  readonly liveCredentials: Set<string>;
}

const presentState: Statement = {
  name: 'changes-present-state',
  text: `SELECT e.id, e.revision_id
    FROM environment e
    JOIN project p ON p.id = e.project_id AND p.deleted_at IS NULL
    JOIN organization o ON o.id = p.organization_id AND o.deleted_at IS NULL
    WHERE e.id = ANY($1::uuid[]) AND e.deleted_at IS NULL
    UNION ALL SELECT live.id, NULL FROM (${liveCredentialIds('$2::uuid[]')}) AS live`,
};

/** Looks up, with one statement and so at one moment, environments and credentials by their ids. */
export async function findPresentState(
  pool: pg.Pool,
  environmentIds: readonly string[],
  credentialIds: readonly string[],
): Promise<PresentState> {
  const rows = await queryRows<{ id: string; revision_id: string | null }>(pool, presentState, [
    environmentIds,
    credentialIds,
  ]);
  const environments = new Map<string, string>();
  const liveCredentials = new Set<string>();
  for (const { id, revision_id: revisionId } of rows) {
    if (revisionId === null) liveCredentials.add(id);
    else environments.set(id, revisionId);
  }
  return { environments, liveCredentials };
}
