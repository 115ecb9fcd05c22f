import type pg from 'pg';

/** What a database holds. */
export interface DatabaseFigures {
  /** With indexes and dead rows. */
  readonly bytes: number;
  /** Sessions of clients, the one that asks among them. */
  readonly connections: number;
}

/** Reads the figures of the database that a client is connected to. */
export async function databaseFigures(database: pg.Client): Promise<DatabaseFigures> {
  const { rows } = await database.query<DatabaseFigures>(
    `SELECT pg_database_size(current_database())::float8 AS bytes, count(*)::float8 AS connections
      FROM pg_stat_activity WHERE backend_type = 'client backend'`,
  );
  const [figures] = rows;
  if (figures === undefined) throw new Error('PostgreSQL returned no figures');
  return figures;
}
