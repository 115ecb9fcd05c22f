import { randomUUID } from 'node:crypto';
import pg from 'pg';
import type { ApiEnvironment } from '../support/api/api-client.ts';

/** What a statement of the floor is filled in with. */
interface Ids {
  readonly environmentId: string;
  readonly organizationId: string;
  readonly actorId: string;
}

const lockSql = 'SELECT revision_number AS number, revision_id FROM environment WHERE id = $1 FOR NO KEY UPDATE';

const snapshotSql = `INSERT INTO snapshot
    (id, environment_id, revision_id, secret_count, created_by_id, created_by_type, created_by_name)
  SELECT $1, $2, $3, count(*), $4, 'user', 'floor' FROM secret WHERE environment_id = $2 AND deleted_at IS NULL`;

const entriesSql = `INSERT INTO snapshot_entry (snapshot_id, secret_id, version_id)
  SELECT $1, id, current_version_id FROM secret WHERE environment_id = $2 AND deleted_at IS NULL`;

const revisionSql = `INSERT INTO environment_revision
    (id, environment_id, number, actor_id, actor_type, actor_name, comment)
  VALUES ($1, $2, $3, $4, 'user', 'floor', 'restored')`;

const restoreSql = `WITH written AS (
    INSERT INTO secret_version (id, secret_id, version, change_type, changed_by_id, changed_by_type, changed_by_name,
      comment, ciphertext, content_version_id, data_key_id, value_mac, value_bytes)
    SELECT gen_random_uuid(), s.id, s.version + 1, 'rolled_back', $4, 'user', 'floor', 'restored', '',
      coalesce(v.content_version_id, v.id), v.data_key_id, v.value_mac, v.value_bytes
    FROM snapshot_entry n JOIN secret s ON s.id = n.secret_id JOIN secret_version v ON v.id = n.version_id
    WHERE n.snapshot_id = $1 AND s.deleted_at IS NULL
    RETURNING id, secret_id, version
  ), current AS (
    UPDATE secret SET version = written.version, current_version_id = written.id, updated_at = now()
    FROM written WHERE secret.id = written.secret_id
  )
  INSERT INTO secret_change (revision_id, secret_id, revision_number, version_id)
  SELECT $2, secret_id, $3, id FROM written`;

const currentRevisionSql = 'UPDATE environment SET revision_number = $2, revision_id = $3 WHERE id = $1';

const auditSql = `INSERT INTO audit_entry
    (organization_id, actor_type, actor_id, actor_name, action, target, outcome, request_id, source_address)
  VALUES ($1, 'user', $2, 'floor', $3, $4, 'success', $5, '127.0.0.1')`;

/**
 * The floor of snapshots and restores: the rows that Keyframe writes, by statements over whole sets on one connection of
 * pg, as a developer would write them who knows that every key is to be restored. No authorisation, no plan, no answer that
 * names the keys.
 */
export class BareSnapshots {
  readonly #client: pg.Client;
  readonly #ids: Ids;

  private constructor(client: pg.Client, ids: Ids) {
    this.#client = client;
    this.#ids = ids;
  }

  /** On an environment of its own; `resources` end the connection. */
  static async open(
    resources: AsyncDisposableStack,
    databaseUrl: string,
    environment: ApiEnvironment,
  ): Promise<BareSnapshots> {
    const client = new pg.Client({ connectionString: databaseUrl });
    await client.connect();
    resources.defer(() => client.end());
    const { rows } = await client.query<{ organization_id: string }>(
      'SELECT p.organization_id FROM environment e JOIN project p ON p.id = e.project_id WHERE e.id = $1',
      [environment.id],
    );
    const organizationId = rows[0]?.organization_id;
    if (organizationId === undefined) throw new Error('the environment of the floor is not there');
    return new BareSnapshots(client, { environmentId: environment.id, organizationId, actorId: randomUUID() });
  }

  /** Makes a snapshot and answers its id. */
  async create(): Promise<string> {
    const { environmentId, actorId } = this.#ids;
    const id = randomUUID();
    await this.#transaction(async ({ revisionId }) => {
      await this.#client.query(snapshotSql, [id, environmentId, revisionId, actorId]);
      await this.#client.query(entriesSql, [id, environmentId]);
      await this.#audit('snapshot.create', { snapshotId: id });
    });
    return id;
  }

  /** Writes a version of every key with the snapshot's value, as one revision. */
  async restore(snapshotId: string): Promise<void> {
    const { organizationId, environmentId, actorId } = this.#ids;
    const revisionId = randomUUID();
    await this.#transaction(async (before) => {
      const number = before.number + 1;
      await this.#client.query(revisionSql, [revisionId, environmentId, number, actorId]);
      await this.#client.query(restoreSql, [snapshotId, revisionId, number, actorId]);
      await this.#client.query(currentRevisionSql, [environmentId, number, revisionId]);
      await this.#client.query(`SELECT pg_notify('keyframe', $1)`, [
        JSON.stringify({ o: organizationId, e: environmentId, r: revisionId }),
      ]);
      await this.#audit('snapshot.restore', { snapshotId, revisionId });
    });
  }

  async #transaction(work: (before: { number: number; revisionId: string }) => Promise<void>): Promise<void> {
    await this.#client.query('BEGIN');
    const { rows } = await this.#client.query<{ number: number; revision_id: string }>(lockSql, [
      this.#ids.environmentId,
    ]);
    const [before] = rows;
    if (before === undefined) throw new Error('the environment of the floor is not there');
    await work({ number: before.number, revisionId: before.revision_id });
    await this.#client.query('COMMIT');
  }

  async #audit(action: string, target: object): Promise<void> {
    const { organizationId, actorId } = this.#ids;
    await this.#client.query(auditSql, [organizationId, actorId, action, JSON.stringify(target), randomUUID()]);
  }
}
