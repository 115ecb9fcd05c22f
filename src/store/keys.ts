import type { DataKeyRecord, KeyStore } from '../crypto/key-store.ts';
import type { WrappedKey } from '../crypto/root-keys.ts';
import { DomainError } from '../domain/errors/domain-error.ts';
import { type Database, queryRows, type Statement } from './database.ts';
import type { DataKeyModel, InstanceKeyModel } from './generated/models.ts';
import { raw, type Sql, sql } from './sql.ts';
import { inTransaction, type Transaction } from './transaction.ts';

type InstanceKeyRow = Pick<InstanceKeyModel, 'wrappedKey' | 'rootKeyId'>;
type DataKeyRow = Pick<DataKeyModel, 'id' | 'projectId' | 'wrappedKey' | 'rootKeyId'>;

const keyColumns = 'wrapped_key AS "wrappedKey", root_key_id AS "rootKeyId"';
const dataKeyColumns = `id, project_id AS "projectId", ${keyColumns}`;
const findDataKeys: Statement = {
  name: 'keys-find',
  text: `SELECT ${dataKeyColumns} FROM data_key WHERE id = ANY($1::uuid[])`,
};

/** The keyring's store on PostgreSQL. Every method throws DomainError store_unavailable without the database. */
export class PostgresKeyStore implements KeyStore {
  readonly #database: Pick<Database, 'transactionPool' | 'pool'>;

  constructor(deps: { readonly database: Pick<Database, 'transactionPool' | 'pool'> }) {
    this.#database = deps.database;
  }

  async findInstanceKey(name: string): Promise<WrappedKey | undefined> {
    const [row] = await this.#query<InstanceKeyRow>(
      sql`SELECT ${raw(keyColumns)} FROM instance_key WHERE name = ${name}`,
    );
    return row;
  }

  /** Inserts unless present; returns the row that is there afterwards, so that two replicas agree. */
  async insertInstanceKey(name: string, key: WrappedKey): Promise<WrappedKey> {
    await this.#query(sql`
      INSERT INTO instance_key (name, wrapped_key, root_key_id) VALUES (${name}, ${key.wrappedKey}, ${key.rootKeyId})
      ON CONFLICT (name) DO NOTHING`);
    const present = await this.findInstanceKey(name);
    if (present === undefined) throw new DomainError('internal', `the instance key ${name} vanished after it was made`);
    return present;
  }

  async hasDataKeys(): Promise<boolean> {
    const [row] = await this.#query<{ found: boolean }>(sql`SELECT EXISTS (SELECT FROM data_key) AS found`);
    return row?.found === true;
  }

  async findActiveDataKey(projectId: string): Promise<DataKeyRecord | undefined> {
    const [row] = await this.#query<DataKeyRow>(sql`
      SELECT ${raw(dataKeyColumns)} FROM data_key WHERE project_id = ${projectId} AND retired_at IS NULL`);
    return row;
  }

  async findDataKeys(ids: readonly string[]): Promise<DataKeyRecord[]> {
    return queryRows<DataKeyRow>(this.#database.pool, findDataKeys, [ids]);
  }

  /** Adds to the reserved uses of an unretired key and returns the new total; undefined if it is retired or gone. */
  async reserveUses(id: string, count: number): Promise<bigint | undefined> {
    const [row] = await this.#query<{ usesReserved: string }>(sql`
      UPDATE data_key SET uses_reserved = uses_reserved + ${count} WHERE id = ${id} AND retired_at IS NULL
      RETURNING uses_reserved AS "usesReserved"`);
    return row === undefined ? undefined : BigInt(row.usesReserved);
  }

  /**
   * Under a lock on the project: retires `replaces` and inserts the new key, unless another replica already did;
   * returns the active one. Throws DomainError not_found for a project that is gone.
   */
  async replaceDataKey(projectId: string, key: DataKeyRecord, replaces: string | undefined): Promise<DataKeyRecord> {
    return inTransaction(this.#database, async (tx) => {
      await lockProject(tx, projectId);
      const active = await tx.row<DataKeyRow>`
        SELECT ${raw(dataKeyColumns)} FROM data_key
        WHERE project_id = ${projectId}::uuid AND retired_at IS NULL`;
      if (active !== undefined && active.id !== replaces) return active;
      await tx.run`
        UPDATE data_key SET retired_at = now() WHERE project_id = ${projectId}::uuid AND retired_at IS NULL`;
      await tx.run`
        INSERT INTO data_key (id, project_id, wrapped_key, root_key_id)
        VALUES (${key.id}::uuid, ${projectId}::uuid, ${key.wrappedKey}, ${key.rootKeyId})`;
      return { ...key, projectId };
    });
  }

  #query<Row extends object>(query: Sql): Promise<Row[]> {
    return queryRows<Row>(this.#database.pool, query);
  }
}

async function lockProject(tx: Transaction, projectId: string): Promise<void> {
  const locked = await tx.run`SELECT FROM project WHERE id = ${projectId}::uuid FOR NO KEY UPDATE`;
  if (locked === 0) throw new DomainError('not_found', 'the project does not exist any more');
}
