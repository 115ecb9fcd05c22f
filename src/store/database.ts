import type { Socket } from 'node:net';
import pg from 'pg';
import { type DatabaseAddress, connectionOptions } from './address.ts';
import { inShare } from './pool-shares.ts';
import { isStalePlan, sqlState, storeError } from './store-error.ts';
import { Sql } from './sql.ts';
import { isReadOnly, readOnlyFault, readOnlyState, setUpSession } from './session.ts';
import { endUselessConnections } from './useless-connections.ts';

/** The open database. Outside src/store only `close` is called; the rest is handed to the store's functions. */
export interface Database {
  /** For reads and the audit: `queryRows`, and Prisma through `readModels`. */
  readonly pool: pg.Pool;
  /** For transactions; separate connections, so that writers waiting for a lock stop no read. */
  readonly transactionPool: pg.Pool;
  /** Ends the connections of both pools that are open now: the idle ones at once, the others when they are returned. */
  renewConnections(): void;
  /** Ends every connection once its statement is done. A second call does nothing more. */
  close(): Promise<void>;
}

/** Its address may go through a pooler in transaction mode. */
export interface DatabaseOptions extends DatabaseAddress {
  /** Connections at most, both kinds together: half for transactions, half for reads. At least 2; default 20. */
  readonly poolSize?: number;
  /** How long a read, and a transaction's statement, may leave the connection silent. For tests. */
  readonly silenceMs?: { readonly reads: number; readonly transactions: number };
}

/**
 * A statement that PostgreSQL parses once for each connection: `name` must be unique to its text. It is for parameters
 * that are used in several places, and for arrays; any other statement is a template of `sql`.
 */
export interface Statement {
  readonly name: string;
  readonly text: string;
}

const connectTimeoutMs = 5_000;
const defaultSilenceMs = { reads: 10_000, transactions: 35_000 };
// A process that was cut off keeps its locks no longer than this, however long its TCP connection seems alive.
const idleInTransactionSeconds = 60;
// So that a statement that waits for a lock returns its connection, and its backend ends even if its client is gone.
const lockWaitSeconds = 5;

// Every statement finds its rows by an index. A plan that was made while a table held a few rows would read it from end
// to end, also for the checks of foreign keys, and a connection keeps that plan until the table is analyzed: an import
// of ten thousand keys then takes minutes. Without sequential scans, older releases of PostgreSQL take plans for
// expensive ones that have none to choose from, and would compile them.
const sessionSettings = `SET enable_seqscan = off;
  SET jit = off;
  SET idle_in_transaction_session_timeout = '${idleInTransactionSeconds}s';
  SET lock_timeout = '${lockWaitSeconds}s'`;

/** Opens the pools. Connects at first use, so it never fails itself. */
export function openDatabase({ url, caFile, poolSize = 20, silenceMs = defaultSilenceMs }: DatabaseOptions): Database {
  const transactionConnections = Math.max(1, Math.ceil(poolSize / 2));
  const readConnections = Math.max(1, poolSize - transactionConnections);
  const pool = openPool({ url, caFile, max: readConnections, silenceMs: silenceMs.reads });
  const transactionPool = openPool({
    url,
    caFile,
    max: transactionConnections,
    silenceMs: silenceMs.transactions,
    // What a transaction begins together goes to the server together.
    pipeline: true,
  });
  const renewConnections = endUselessConnections([pool, transactionPool]);
  let closing: Promise<void> | undefined;
  const close = async (): Promise<void> => {
    await Promise.all([pool.end(), transactionPool.end()]);
  };
  return { pool, transactionPool, renewConnections, close: () => (closing ??= close()) };
}

/**
 * Runs a prepared statement and returns its rows; if the connection's own preparation of it is stale, unprepared. A
 * template with arrays is never prepared. Throws DomainError store_unavailable when the database cannot be reached, and
 * what `storeError` makes of other failures.
 */
export async function queryRows<Row extends object>(
  ...[pool, statement, values]: [pg.Pool, Sql] | [pg.Pool, Statement, readonly unknown[]]
): Promise<Row[]> {
  const bound = { text: statement.text, values: [...(statement instanceof Sql ? statement.values : (values ?? []))] };
  const { name } = statement;
  const named = name === undefined ? bound : { ...bound, name };
  try {
    const result = await inShare(pool, () => pool.query<Row>(named).catch(unlessStale(() => pool.query<Row>(bound))));
    return result.rows;
  } catch (error) {
    throw storeError(error);
  }
}

/** Nothing was done when PostgreSQL refuses a stale preparation, and the pool has dropped that connection. */
function unlessStale<T>(again: () => Promise<T>): (error: unknown) => Promise<T> {
  return async (error) => {
    if (isStalePlan(error)) return await again();
    throw error;
  };
}

/**
 * Why nothing can be written, without what to do; undefined if PostgreSQL takes writes. A connection that is to a server
 * without writes is ended, and so are all others. Throws what pg throws without the database.
 */
export async function writeFault(
  database: Pick<Database, 'pool' | 'transactionPool' | 'renewConnections'>,
): Promise<string | undefined> {
  const { pool, transactionPool } = database;
  // All transactions may be waiting for locks, which says nothing of the server.
  const isFull = transactionPool.idleCount === 0 && transactionPool.totalCount >= transactionPool.options.max;
  try {
    if (!(await isReadOnly(isFull ? pool : transactionPool))) return undefined;
    database.renewConnections();
  } catch (error) {
    if (sqlState(error) !== readOnlyState) throw error;
  }
  return readOnlyFault;
}

interface PoolOptions extends DatabaseAddress {
  readonly max: number;
  readonly silenceMs: number;
  readonly pipeline?: boolean;
}

function openPool({ max, silenceMs, pipeline = false, ...address }: PoolOptions): pg.Pool {
  const pool = new pg.Pool({
    ...connectionOptions(address),
    application_name: 'keyframe',
    max,
    pipeline,
    // One stays open, so that the first request after a quiet hour need not connect and prepare again.
    min: 1,
    idleTimeoutMillis: 60_000,
    connectionTimeoutMillis: connectTimeoutMs,
    keepAlive: true,
    keepAliveInitialDelayMillis: 10_000,
    onConnect: (client: pg.ClientBase): unknown => setUpPooled(client, silenceMs),
  });
  // An idle connection that breaks is dropped by the pool; the next use opens another. One in use fails its statements
  // as well: without a listener the event would end the process.
  pool.on('error', () => {});
  pool.on('connect', (client) => void client.on('error', () => {}));
  breakSilentConnections(pool, silenceMs);
  return pool;
}

/** The pool waits for this, though by its types it does not. */
async function setUpPooled(client: pg.ClientBase, silenceMs: number): Promise<void> {
  await setUpSession(client, sessionSettings);
  // A connection that was broken for its silence leaves a backend that works on, and would find no client at its end
  // alone. Not every platform that PostgreSQL runs on can look before; there it is as it was.
  await client.query(`SET client_connection_check_interval = ${silenceMs}`).catch(() => undefined);
}

/**
 * Breaks a connection that is in use and has carried no byte for `silenceMs`. A peer that vanished without a word
 * would else hold its caller for many minutes; the driver's own query timeout instead hands the connection back with
 * its transaction still open.
 */
function breakSilentConnections(pool: pg.Pool, silenceMs: number): void {
  const watched = new WeakSet<object>();
  pool.on('acquire', (client) => {
    const stream = socketOf(client);
    stream.setTimeout(silenceMs);
    if (watched.has(stream)) return;
    watched.add(stream);
    stream.on('timeout', () => stream.destroy(silence()));
  });
  pool.on('release', (_error, client) => void socketOf(client).setTimeout(0));
}

/** A pool's clients are whole clients, over TCP, TLS or a Unix socket. */
function socketOf(client: pg.PoolClient): Socket {
  return (client as pg.PoolClient & Pick<pg.Client, 'connection'>).connection.stream as Socket;
}

function silence(): Error {
  return Object.assign(new Error('the database sent nothing for too long'), {
    code: 'ETIMEDOUT',
    errno: -110,
    syscall: 'read',
  });
}
