import { chownSync, mkdtempSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { Client } from 'pg';
import { postgresHome } from '../../tools/devcluster/postgres/home.ts';

/**
 * All rows of a database at one moment, as pg_dump takes them: by COPY, in one REPEATABLE READ transaction. The package of
 * PostgreSQL that the tests run has no pg_dump in it. The schema is not in it: what it is loaded into was migrated.
 */
export class LogicalDump {
  readonly #folder: string;
  readonly #tables: readonly string[];

  private constructor(folder: string, tables: readonly string[]) {
    this.#folder = folder;
    this.#tables = tables;
  }

  /** Dumps a database into files, which go with `resources`. */
  static async take(url: string, resources: AsyncDisposableStack): Promise<LogicalDump> {
    const { directory, account } = postgresHome();
    const folder = mkdtempSync(join(directory, 'dump-'));
    resources.defer(() => rmSync(folder, { recursive: true, force: true }));
    // The server itself writes and reads the files.
    if (account !== undefined) chownSync(folder, account.uid, account.gid);
    return await withClient(url, async (client) => {
      await client.query('BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY');
      const tables = await tablesOf(client);
      const dump = new LogicalDump(folder, tables);
      for (const table of tables) await client.query(`COPY "${table}" TO '${dump.#fileOf(table)}' (FORMAT binary)`);
      await client.query('COMMIT');
      return dump;
    });
  }

  /** Loads it into an empty database of the same schema, maybe on another server of this machine. */
  async load(url: string): Promise<void> {
    await withClient(url, async (client) => {
      await client.query('BEGIN');
      // References are complete at the end alone.
      await client.query('SET LOCAL session_replication_role = replica');
      for (const table of this.#tables) {
        await client.query(`COPY "${table}" FROM '${this.#fileOf(table)}' (FORMAT binary)`);
      }
      await client.query(
        `SELECT setval(pg_get_serial_sequence('audit_entry', 'id'), (SELECT max(id) FROM audit_entry))`,
      );
      await client.query('COMMIT');
    });
  }

  #fileOf(table: string): string {
    return join(this.#folder, table);
  }
}

/** All but the migrations' own bookkeeping, which the new database has already. */
async function tablesOf(client: Client): Promise<string[]> {
  const { rows } = await client.query<{ name: string }>(
    `SELECT tablename AS name FROM pg_tables WHERE schemaname = 'public' AND tablename <> '_prisma_migrations'`,
  );
  return rows.map(({ name }) => name);
}

async function withClient<T>(url: string, work: (client: Client) => Promise<T>): Promise<T> {
  const client = new Client({ connectionString: url });
  await client.connect();
  try {
    return await work(client);
  } finally {
    await client.end();
  }
}
