import { randomUUID } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import type pg from 'pg';
import { sha256 } from '../lib/digest.ts';
import { DomainError } from '../domain/errors/domain-error.ts';
import type { Logger } from '../observability/logger.ts';
import { isOlderRelease, ownRelease } from '../lib/release.ts';
import type { DatabaseAddress } from './address.ts';
import { connectPatiently } from './connect.ts';
import { fitnessFault } from './database-fitness.ts';
import type { Database } from './database.ts';
import { migrationFault } from './migration-fault.ts';
import { sqlState, storeError } from './store-error.ts';
import { prepareRunRole } from './run-role.ts';

/** Its address is a direct one: the lock that keeps runners apart belongs to the session. */
export interface MigrateOptions extends DatabaseAddress {
  readonly logger: Logger;
  /** For tests; default the server's own migrations. */
  readonly directory?: string;
  /** For tests; default the server's own release. */
  readonly release?: string;
  /** How long a migration may wait for the locks of others; default 5 minutes. */
  readonly lockPatienceMs?: number;
  /** How long to wait for a database that does not answer yet, and for the role of `runUrl`; default not at all. */
  readonly waitMs?: number;
  /** As which the servers connect: its role gets the rights of a server, and is created if it is missing. It must be able to connect. */
  readonly runUrl?: string | undefined;
  /** Whether `init` generated `runUrl`; default false. */
  readonly isRunUrlGenerated?: boolean;
  /** Also applies what servers of the previous release cannot work with: none of them will run again. Default false. */
  readonly finishUpgrade?: boolean;
}

interface Migration {
  readonly name: string;
  readonly sql: string;
  readonly checksum: string;
}

interface AppliedMigration {
  readonly migration_name: string;
  readonly checksum: string;
  readonly finished_at: Date | null;
}

// The same from src/store and from dist/server.
const ownDirectory = fileURLToPath(new URL('../../prisma/migrations', import.meta.url));
// Prisma's own: its engine and this runner keep out of each other's way.
const migrationLock = 72_707_369;
const lockWait = '300s';
const undefinedTable = '42P01';
// A statement after a migration that waits for a table waits as well, and no server waits longer than 5 s.
const tableLockWait = '2s';
const tableLockPauseMs = 1_000;
const defaultLockPatienceMs = 300_000;
// The end of a migration's name, by which servers that do not have its file know whether they can work with it.
const oldestServer = /_since_(\d+)_(\d+)_(\d+)$/;
// The same of one that waits until an upgrade is finished.
const waitsForFinish = /_finish_since_\d+_\d+_\d+$/;

// Limits that a database or a role may set for all its sessions. Not every PostgreSQL knows each of them.
const unlimited = `SELECT set_config(name, '0', false) FROM pg_settings
  WHERE name IN ('statement_timeout', 'transaction_timeout', 'idle_in_transaction_session_timeout')`;

// As Prisma writes it, so that `prisma migrate deploy` can go on where this stopped, and the other way round.
const createHistory = `CREATE TABLE IF NOT EXISTS _prisma_migrations (
  id VARCHAR(36) PRIMARY KEY NOT NULL,
  checksum VARCHAR(64) NOT NULL,
  finished_at TIMESTAMPTZ,
  migration_name VARCHAR(255) NOT NULL,
  logs TEXT,
  rolled_back_at TIMESTAMPTZ,
  started_at TIMESTAMPTZ NOT NULL DEFAULT now(),
  applied_steps_count INTEGER NOT NULL DEFAULT 0
)`;
const selectHistory =
  'SELECT migration_name, checksum, finished_at FROM _prisma_migrations WHERE rolled_back_at IS NULL';

/**
 * Brings a database to the server's schema: every migration it lacks, in the order of their names and each in one
 * transaction. Those that wait until the upgrade is finished are applied to a new database, with `finishUpgrade`, and by
 * a later minor release. Of runners that start at once, one works and the others wait (5 minutes at most). Returns the
 * names it applied. Migrations of a newer server are left alone. Throws DomainError store_unavailable without the database,
 * conflict when the history is not ours or too new for this release and for what an administrator of PostgreSQL must
 * correct, overloaded when others hold a table for too long, internal naming the migration that failed, of which nothing
 * is left.
 */
export async function migrate(options: MigrateOptions): Promise<string[]> {
  const {
    url,
    caFile,
    logger,
    directory = ownDirectory,
    waitMs = 0,
    runUrl,
    isRunUrlGenerated: isGenerated = false,
  } = options;
  const migrations = await readMigrations(directory);
  let client: pg.Client | undefined;
  try {
    client = await connectPatiently({ url, caFile, logger, waitMs });
    await client.query(unlimited);
    const fault = await fitnessFault(client);
    if (fault !== undefined) throw new DomainError('conflict', fault);
    await client.query(`SET lock_timeout = '${lockWait}'`);
    await client.query('SELECT pg_advisory_lock($1)', [migrationLock]);
    await client.query('RESET lock_timeout');
    const applied = await applyLacking(client, migrations, options);
    // After the migrations, which may bring tables.
    if (runUrl !== undefined) await prepareRunRole(client, { runUrl, caFile, isGenerated, logger, waitMs });
    return applied;
  } catch (error) {
    throw (await migrationFault(error, client)) ?? storeError(error);
  } finally {
    await client?.end().catch(() => {});
  }
}

/**
 * What keeps this server from working with the database's schema: undefined, or a sentence that says what to do. A
 * newer server's migrations do not, unless one says by its name that this release is too old for it. Throws DomainError
 * store_unavailable without the database.
 */
export async function schemaFault(
  { pool }: Pick<Database, 'pool'>,
  { directory = ownDirectory, release = ownRelease() }: Pick<MigrateOptions, 'directory' | 'release'> = {},
): Promise<string | undefined> {
  const migrations = await readMigrations(directory);
  try {
    const unfit = await fitnessFault(pool);
    if (unfit !== undefined) return unfit;
    const history = await readHistory(pool);
    refuseTooNew(history, migrations, release);
    const [lacking] = lackingMigrations(migrations, history).filter(({ name }) => !isHeldBack(name, release));
    if (lacking === undefined) return undefined;
    return `the database lacks migration ${lacking.name}: run keyframe-server migrate`;
  } catch (error) {
    const failure = storeError(error);
    if (failure instanceof DomainError && failure.code === 'conflict') return failure.detail;
    throw failure;
  }
}

async function readMigrations(directory: string): Promise<Migration[]> {
  const entries = await readdir(directory, { withFileTypes: true });
  const names = entries.filter((entry) => entry.isDirectory()).map((entry) => entry.name);
  return Promise.all(
    names.sort().map(async (name) => {
      const sql = await readFile(join(directory, name, 'migration.sql'), 'utf8');
      return { name, sql, checksum: sha256(sql) };
    }),
  );
}

async function readHistory(pool: pg.Pool): Promise<AppliedMigration[]> {
  try {
    return (await pool.query<AppliedMigration>(selectHistory)).rows;
  } catch (error) {
    if (sqlState(error) === undefinedTable) return [];
    throw error;
  }
}

/** Throws conflict if a newer server has taken away what this release still uses. This release has its own files. */
function refuseTooNew(history: readonly AppliedMigration[], own: readonly Migration[], release: string): void {
  const known = new Set(own.map(({ name }) => name));
  for (const { migration_name: name } of history) {
    const oldest = oldestServerOf(name);
    if (oldest === undefined || known.has(name) || !isOlderRelease(release, oldest)) continue;
    throw new DomainError(
      'conflict',
      `a newer server has changed the database for servers from ${oldest} on (migration ${name}), and this one is ${release}: run ${oldest} or a later release`,
    );
  }
}

/** The oldest release that works after a migration; undefined if its name says none. */
function oldestServerOf(name: string): string | undefined {
  const numbers = oldestServer.exec(name)?.slice(1);
  return numbers?.join('.');
}

/**
 * Whether a migration waits until the upgrade is finished. One minor release later it does not wait: the servers beside
 * that one are new enough for it.
 */
function isHeldBack(name: string, release: string): boolean {
  const oldest = waitsForFinish.test(name) ? oldestServerOf(name) : undefined;
  const [major, minor] = release.split('.');
  return oldest !== undefined && !isOlderRelease(oldest, `${major}.${minor}.0`);
}

function lackingMigrations(migrations: readonly Migration[], history: readonly AppliedMigration[]): Migration[] {
  const applied = new Map(history.map((row) => [row.migration_name, row]));
  return migrations.filter(({ name, checksum }) => {
    const row = applied.get(name);
    if (row === undefined) return true;
    if (row.finished_at === null) {
      throw new DomainError(
        'conflict',
        `migration ${name} was begun by another tool and did not end: repair the schema, then mark it with "prisma migrate resolve"`,
      );
    }
    if (row.checksum !== checksum) {
      throw new DomainError(
        'conflict',
        `migration ${name} is not the one that was applied to this database (its checksum differs): use the release that belongs to it`,
      );
    }
    return false;
  });
}

/** Applies what the database lacks, under the lock of migrations; returns the names. */
async function applyLacking(
  client: pg.Client,
  migrations: readonly Migration[],
  options: MigrateOptions,
): Promise<string[]> {
  const { logger, release = ownRelease(), finishUpgrade = false } = options;
  // Asked for first: a role that may not create tables is let through if nothing is lacking.
  const { rows } = await client.query<{ table: string | null }>("SELECT to_regclass('_prisma_migrations') AS table");
  if (typeof rows[0]?.table !== 'string') await client.query(createHistory);
  const history = (await client.query<AppliedMigration>(selectHistory)).rows;
  refuseTooNew(history, migrations, release);
  const all = lackingMigrations(migrations, history);
  // No other server has used a database without a history.
  const isFinished = finishUpgrade || history.length === 0;
  const lacking = isFinished ? all : all.filter(({ name }) => !isHeldBack(name, release));
  for (const migration of lacking) {
    await applyPatiently(client, migration, options);
    logger.info({ migration: migration.name }, 'migration applied');
  }
  if (lacking.length < all.length) {
    logger.info(
      { waiting: all.length - lacking.length },
      'some migrations wait until the upgrade is finished: when no server of an earlier release will run again, run keyframe-server migrate --finish-upgrade',
    );
  }
  return lacking.map(({ name }) => name);
}

/** Applies one migration. It gives way to holders of locks on its tables, so that nothing waits for long behind it. */
async function applyPatiently(client: pg.Client, migration: Migration, options: MigrateOptions): Promise<void> {
  const { logger, lockPatienceMs = defaultLockPatienceMs } = options;
  const deadlineMs = performance.now() + lockPatienceMs;
  for (;;) {
    try {
      await apply(client, migration);
      return;
    } catch (error) {
      if (!(error instanceof DomainError) || error.code !== 'overloaded') throw error;
      if (performance.now() >= deadlineMs) {
        const detail = `migration ${migration.name} waits for a table that another session has locked: end that session (pg_stat_activity), and try again`;
        throw new DomainError('overloaded', detail, { cause: error });
      }
    }
    logger.info({ migration: migration.name }, 'a migration waits for a locked table');
    await pause(tableLockPauseMs);
  }
}

/** Applies one migration with its line of history. The script goes as it is: PostgreSQL finds its statements itself. */
async function apply(client: pg.Client, { name, sql, checksum }: Migration): Promise<void> {
  try {
    await client.query(`BEGIN; SET LOCAL lock_timeout = '${tableLockWait}'`);
    await client.query(sql);
    await client.query(
      `INSERT INTO _prisma_migrations (id, checksum, migration_name, started_at, finished_at, applied_steps_count)
       VALUES ($1, $2, $3, now(), clock_timestamp(), 1)`,
      [randomUUID(), checksum, name],
    );
    await client.query('COMMIT');
  } catch (error) {
    await client.query('ROLLBACK').catch(() => {});
    const lasting = await migrationFault(error, client);
    if (lasting !== undefined) {
      throw new DomainError('conflict', `migration ${name} was undone: ${lasting.detail}`, { cause: error });
    }
    const failure = storeError(error);
    // It did not get a lock in time, or a deadlock ended it: undone as a whole, and worth another try.
    const isPassing = failure instanceof DomainError && ['store_unavailable', 'overloaded'].includes(failure.code);
    if (isPassing) throw failure;
    const state = sqlState(error);
    throw new DomainError(
      'internal',
      `migration ${name} failed and was undone${state === undefined ? '' : ` (SQLSTATE ${state})`}; the database is as it was before it`,
      { cause: error },
    );
  }
}
