import pg from 'pg';

/** What the database holds of custom resources, read past all of the program. */

export interface CredentialRow {
  readonly serial: number;
  readonly state: 'pending' | 'active';
  /** Whether nothing has revoked it, nor its token. */
  readonly isLive: boolean;
}

export interface TokenRow {
  readonly id: string;
  readonly isRevoked: boolean;
  readonly isSuspended: boolean;
  /** By serial. */
  readonly credentials: readonly CredentialRow[];
}

/** Every service token that a resource ever made, whatever claims what. */
export async function tokensMadeBy(databaseUrl: string, uid: string): Promise<readonly TokenRow[]> {
  const rows = await query<{ id: string; revoked: boolean; suspended: boolean; credentials: CredentialRow[] }>(
    databaseUrl,
    `SELECT t.id, t.revoked_at IS NOT NULL AS revoked, t.suspended_at IS NOT NULL AS suspended,
       coalesce(json_agg(json_build_object('serial', c.serial, 'state', c.state,
         'isLive', c.revoked_at IS NULL AND t.revoked_at IS NULL) ORDER BY c.serial)
         FILTER (WHERE c.id IS NOT NULL), '[]') AS credentials
     FROM service_token t LEFT JOIN service_token_credential c ON c.service_token_id = t.id
     WHERE t.created_by_id = $1 GROUP BY t.id`,
    [uid],
  );
  return rows.map(({ id, revoked, suspended, credentials }) => ({
    id,
    isRevoked: revoked,
    isSuspended: suspended,
    credentials,
  }));
}

/** The ids of the snapshots that a resource took and that are there. */
export async function snapshotsTakenBy(databaseUrl: string, uid: string): Promise<readonly string[]> {
  const rows = await query<{ id: string }>(databaseUrl, 'SELECT id FROM snapshot WHERE created_by_id = $1', [uid]);
  return rows.map(({ id }) => id);
}

/** The revisions that a resource made, and how many restores of it the audit has. */
export async function restoresMadeBy(
  databaseUrl: string,
  uid: string,
): Promise<{ readonly revisionIds: readonly string[]; readonly audited: number }> {
  const revisions = await query<{ id: string }>(
    databaseUrl,
    'SELECT id FROM environment_revision WHERE actor_id = $1',
    [uid],
  );
  const restores = await query(
    databaseUrl,
    `SELECT FROM audit_entry WHERE actor_id = $1 AND action = 'snapshot.restore' AND outcome = 'success'
       AND NOT target ?| array['replayed', 'dryRun']`,
    [uid],
  );
  return { revisionIds: revisions.map(({ id }) => id), audited: restores.length };
}

/** What is remembered as made by a schedule: name and uid of each, by time. */
export async function runsOf(
  databaseUrl: string,
  scheduleUid: string,
): Promise<readonly { readonly name: string; readonly uid: string }[]> {
  const text = 'SELECT child_name AS name, child_uid AS uid FROM schedule_run WHERE schedule_uid = $1 ORDER BY due_at';
  return await query<{ name: string; uid: string }>(databaseUrl, text, [scheduleUid]);
}

/** Makes the newest value of a resource's token older, as if it had been made so much earlier: the shortest interval is a minute. */
export async function ageToken(databaseUrl: string, uid: string, seconds: number): Promise<void> {
  await query(
    databaseUrl,
    `UPDATE service_token_credential c
     SET created_at = c.created_at - make_interval(secs => $2), expires_at = c.expires_at - make_interval(secs => $2)
     FROM service_token t WHERE t.id = c.service_token_id AND t.created_by_id = $1`,
    [uid, seconds],
  );
}

/** Runs one statement on a connection of its own. */
export async function query<Row extends pg.QueryResultRow>(
  databaseUrl: string,
  sql: string,
  parameters: readonly unknown[] = [],
): Promise<Row[]> {
  const client = new pg.Client({ connectionString: databaseUrl });
  await client.connect();
  try {
    return (await client.query<Row>(sql, [...parameters])).rows;
  } finally {
    await client.end();
  }
}

/** Takes away what the database knows of a resource's restore, as a recovery to the state before would. */
export async function forgetRestore(databaseUrl: string, uid: string): Promise<void> {
  await query(databaseUrl, "DELETE FROM resource_claim WHERE uid = $1 AND operation = 'restore'", [uid]);
}

/** As if the leader under a cluster's name had ended long ago: another cluster may take the name. */
export async function forgetLeader(databaseUrl: string, cluster: string): Promise<void> {
  await query(databaseUrl, "UPDATE cluster SET seen_at = now() - interval '10 minutes' WHERE name = $1", [cluster]);
}

/** Makes a resource's token so old that nothing takes it for one that is being made. */
export async function makeTokenOld(databaseUrl: string, uid: string): Promise<void> {
  const sql = "UPDATE service_token SET created_at = created_at - interval '6 minutes' WHERE created_by_id = $1";
  await query(databaseUrl, sql, [uid]);
}

/** Fills the write budget of an environment, so that it stays full for so many seconds. */
export async function fillWriteBudget(databaseUrl: string, environmentId: string, seconds: number): Promise<void> {
  const sql = `UPDATE environment SET write_budget_empty_at = clock_timestamp() + interval '1 day' + make_interval(secs => $2)
    WHERE id = $1`;
  await query(databaseUrl, sql, [environmentId, seconds]);
}
