import type pg from 'pg';

interface Server {
  readonly database: string;
  readonly encoding: string;
  readonly version: string;
  readonly version_number: number;
}

// Older ones cannot end the statement of a client that is gone (client_connection_check_interval).
const oldestMajor = 14;

const selectServer = `SELECT current_database() AS database, current_setting('server_encoding') AS encoding,
  current_setting('server_version') AS version, current_setting('server_version_num')::int AS version_number`;

/**
 * Why Keyframe cannot use a database, whatever its tables are, with what to do: undefined if it can. Throws what pg
 * throws.
 */
export async function fitnessFault(client: Pick<pg.ClientBase | pg.Pool, 'query'>): Promise<string | undefined> {
  const { rows } = await client.query<Server>(selectServer);
  const [server] = rows;
  if (server === undefined) return undefined;
  const { database, encoding, version, version_number: number } = server;
  if (number < oldestMajor * 10_000) {
    return `this PostgreSQL is ${version}, and Keyframe needs ${oldestMajor} or newer: upgrade PostgreSQL`;
  }
  if (encoding !== 'UTF8') {
    return `the database ${database} has the encoding ${encoding}, and Keyframe needs UTF8: run \`CREATE DATABASE keyframe_utf8 ENCODING 'UTF8' TEMPLATE template0 LOCALE 'C'\`, copy the data with pg_dump and pg_restore if there are any, and name that database in KEYFRAME_DATABASE_URL`;
  }
  return undefined;
}
