import type pg from 'pg';

const query = {
  name: 'floor-credential',
  text: `SELECT c.token_hash, c.expires_at, t.id, t.name, t.organization_id, t.project_id, t.environment_id, t.scope,
      t.permission, c.last_used_at IS NULL OR c.last_used_at < clock_timestamp() - interval '1 minute' AS use_due, CASE
        WHEN c.revoked_at IS NOT NULL OR t.revoked_at IS NOT NULL THEN 'revoked'
        WHEN o.deleted_at IS NOT NULL OR (t.scope <> 'organization' AND p.id IS NULL)
          OR (t.scope = 'environment' AND e.id IS NULL) THEN 'scope_deleted'
        WHEN c.state = 'pending' THEN 'pending'
        WHEN c.expires_at <= clock_timestamp() THEN 'expired' END AS fault
    FROM service_token_credential c
    JOIN service_token t ON t.id = c.service_token_id
    JOIN organization o ON o.id = t.organization_id
    LEFT JOIN project p ON p.id = t.project_id AND p.organization_id = o.id AND p.deleted_at IS NULL
    LEFT JOIN environment e ON e.id = t.environment_id AND e.project_id = p.id AND e.deleted_at IS NULL
    WHERE c.id = $1`,
};

/** The least that authenticates a service token: one statement, which judges what the API's judges, for one request. */
export async function requireCredential(pool: pg.Pool, id: string): Promise<void> {
  const { rows } = await pool.query<{ fault: string | null }>({ ...query, values: [id] });
  if (rows[0]?.fault !== null) throw new Error('the credential is not there or opens nothing');
}
