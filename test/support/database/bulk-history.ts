import type pg from 'pg';

/** How much an environment is to be filled with. */
export interface BulkAmounts {
  readonly secrets: number;
  /** Of each secret, each in a revision of its own with those of the others. */
  readonly versions: number;
  /** Each of all secrets. */
  readonly snapshots: number;
  readonly serviceTokens: number;
}

/**
 * Fills an environment with history past the services, by set-based statements. It must hold one secret already: the
 * content of one of its versions serves them all, so they cannot be decrypted.
 */
export async function fillEnvironment(pool: pg.Pool, environmentId: string, amounts: BulkAmounts): Promise<void> {
  const { secrets, versions, snapshots, serviceTokens } = amounts;
  const by = `gen_random_uuid(), 'user'::actor_type, 'bulk'`;
  await pool.query(
    `WITH made AS (
       INSERT INTO environment_revision (id, environment_id, number, actor_id, actor_type, actor_name)
       SELECT gen_random_uuid(), $1, 1000 + n, ${by} FROM generate_series(1, $3::int) n RETURNING id, number
     ), planned AS (
       SELECT gen_random_uuid() AS secret_id, 'BULK_' || s AS key FROM generate_series(1, $2::int) s
     ), version AS (
       SELECT gen_random_uuid() AS id, p.secret_id, made.number - 1000 AS number, made.id AS revision_id,
         made.number AS revision_number
       FROM planned p CROSS JOIN made
     ), secret AS (
       INSERT INTO secret (id, environment_id, key, version, current_version_id, updated_at)
       SELECT p.secret_id, $1, p.key, $3, v.id, now()
       FROM planned p JOIN version v ON v.secret_id = p.secret_id AND v.number = $3
     ), inserted AS (
       INSERT INTO secret_version (id, secret_id, version, change_type, changed_by_id, changed_by_type, changed_by_name,
         ciphertext, data_key_id, value_mac, value_bytes)
       SELECT v.id, v.secret_id, v.number, 'updated', ${by}, m.ciphertext, m.data_key_id, m.value_mac, m.value_bytes
       FROM version v CROSS JOIN (
         SELECT x.* FROM secret_version x JOIN public.secret s ON s.id = x.secret_id
         WHERE s.environment_id = $1 AND octet_length(x.ciphertext) > 0 LIMIT 1
       ) m
     )
     INSERT INTO secret_change (revision_id, secret_id, revision_number, version_id)
     SELECT revision_id, secret_id, revision_number, id FROM version`,
    [environmentId, secrets, versions],
  );
  await pool.query(
    `WITH made AS (
       INSERT INTO snapshot (id, environment_id, revision_id, secret_count, created_by_id, created_by_type, created_by_name)
       SELECT gen_random_uuid(), $1, r.id, $3, ${by}
       FROM generate_series(1, $2::int) CROSS JOIN (
         SELECT id FROM environment_revision WHERE environment_id = $1 ORDER BY number DESC LIMIT 1
       ) r RETURNING id
     )
     INSERT INTO snapshot_entry (snapshot_id, secret_id, version_id)
     SELECT made.id, s.id, s.current_version_id FROM made CROSS JOIN secret s WHERE s.environment_id = $1`,
    [environmentId, snapshots, secrets],
  );
  await pool.query(
    `WITH made AS (
       INSERT INTO service_token (id, organization_id, name, scope, project_id, environment_id, permission,
         created_by_id, created_by_type, created_by_name)
       SELECT gen_random_uuid(), p.organization_id, 'bulk', 'environment', p.id, e.id, 'read', ${by}
       FROM generate_series(1, $2::int), environment e JOIN project p ON p.id = e.project_id WHERE e.id = $1
       RETURNING id
     )
     INSERT INTO service_token_credential (id, service_token_id, serial, token_hash)
     SELECT gen_random_uuid(), id, 1, decode(repeat('00', 32), 'hex') FROM made`,
    [environmentId, serviceTokens],
  );
}
