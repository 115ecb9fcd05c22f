import type pg from 'pg';

/** The rows of all tables but the history of migrations, as JSON that PostgreSQL made. */
export type Rows = Readonly<Record<string, string>>;

/** Reads all rows. */
export async function takeRows(pool: pg.Pool): Promise<Rows> {
  const rows: Record<string, string> = {};
  for (const table of await tableNames(pool)) {
    const text = `SELECT coalesce(json_agg(t), '[]')::text AS rows FROM "${table}" t`;
    const found = await pool.query<{ rows: string }>(text);
    rows[table] = found.rows[0]?.rows ?? '[]';
  }
  return rows;
}

/** Puts rows into a migrated database in place of its own. A column that the rows do not have gets its default. */
export async function putRows(pool: pg.Pool, rows: Rows): Promise<void> {
  const client = await pool.connect();
  try {
    await client.query('BEGIN');
    // References are complete only at the end.
    await client.query('SET LOCAL session_replication_role = replica');
    const tables = await tableNames(client);
    await client.query(`TRUNCATE ${tables.map((table) => `"${table}"`).join(', ')}`);
    for (const [table, json] of Object.entries(rows)) {
      const [first] = JSON.parse(json) as readonly object[];
      const columns = Object.keys(first ?? {}).map((name) => `"${name}"`);
      if (columns.length === 0) continue;
      await client.query(
        `INSERT INTO "${table}" (${columns.join(', ')}) OVERRIDING SYSTEM VALUE
         SELECT ${columns.join(', ')} FROM json_populate_recordset(NULL::"${table}", $1::json)`,
        [json],
      );
    }
    await client.query(`SELECT setval(pg_get_serial_sequence('audit_entry', 'id'), (SELECT max(id) FROM audit_entry))`);
    await client.query('COMMIT');
  } finally {
    client.release();
  }
}

async function tableNames(client: Pick<pg.ClientBase, 'query'>): Promise<string[]> {
  const { rows } = await client.query<{ name: string }>(
    `SELECT tablename AS name FROM pg_tables WHERE schemaname = 'public' AND tablename <> '_prisma_migrations' ORDER BY 1`,
  );
  return rows.map(({ name }) => name);
}
