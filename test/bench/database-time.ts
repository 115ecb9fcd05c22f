import { readdirSync, readFileSync } from 'node:fs';
import type pg from 'pg';
import { openProcessTable } from '../../tools/test-run/process-table.ts';

/** What a PostgreSQL server has used since its start. */
export interface DatabaseTime {
  /** Of all its processes, and of those that have ended. */
  readonly processorMs: number;
  /** How long sessions of the database executed statements, with the waits for the disk, for locks and for a core. */
  readonly activeMs: number;
  /** Transactions; a statement alone is one. */
  readonly transactions: number;
}

/** Reads the time of a server by the process id of its first process, and of the database that a client is connected to. */
export async function databaseTime(pid: number, database: pg.Client): Promise<DatabaseTime> {
  const { rows } = await database.query<Omit<DatabaseTime, 'processorMs'>>(
    `SELECT active_time AS "activeMs", (xact_commit + xact_rollback)::float8 AS transactions
      FROM pg_stat_database WHERE datname = current_database()`,
  );
  const [row] = rows;
  if (row === undefined) throw new Error('PostgreSQL returned no figures');
  const endedMs = openProcessTable()?.one(pid)?.endedChildrenMs ?? 0;
  const processes = [pid, ...childrenOf(pid)];
  return { ...row, processorMs: processes.reduce((sum, one) => sum + processorTime(one), endedMs) };
}

/** Milliseconds of the processors that a process has used with all its threads; 0 if it has ended. */
export function processorTime(pid: number): number {
  try {
    return readdirSync(`/proc/${pid}/task`).reduce((sum, thread) => sum + threadTime(`/proc/${pid}/task/${thread}`), 0);
  } catch {
    return 0;
  }
}

function threadTime(folder: string): number {
  const [nanoseconds] = readFileSync(`${folder}/schedstat`, 'utf8').split(' ');
  return Number(nanoseconds) / 1e6;
}

function childrenOf(pid: number): number[] {
  return readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8')
    .split(' ')
    .filter((text) => text !== '')
    .map(Number);
}
