import type pg from 'pg';
import { queryRows, type Statement } from './database.ts';

/** The tables that grow without bound. */
export const growingTables = ['secret_version', 'secret_change', 'snapshot', 'snapshot_entry', 'audit_entry'] as const;

export interface DatabaseSize {
  /** Of the whole database, indexes and dead rows included. */
  readonly bytes: number;
  readonly tables: readonly TableSize[];
}

export interface TableSize {
  readonly table: string;
  /** With its indexes. */
  readonly bytes: number;
  /** By PostgreSQL's statistics: an estimate. */
  readonly rows: number;
}

// Looks at sizes of files and at statistics; no table is read.
const sizeStatement: Statement = {
  name: 'database-size',
  text: `SELECT pg_database_size(current_database())::float8 AS "databaseBytes", relname::text AS "table",
      pg_total_relation_size(relid)::float8 AS bytes, n_live_tup::float8 AS rows
    FROM pg_stat_user_tables WHERE schemaname = current_schema() AND relname = ANY($1::text[])`,
};

/** How large the database and its growing tables are. */
export async function readDatabaseSize(pool: pg.Pool): Promise<DatabaseSize> {
  type Row = TableSize & { readonly databaseBytes: number };
  const found = await queryRows<Row>(pool, sizeStatement, [[...growingTables]]);
  const tables = found.map(({ table, bytes, rows }) => ({ table, bytes, rows }));
  return { bytes: found[0]?.databaseBytes ?? 0, tables };
}
