import { DomainError } from '../domain/errors/domain-error.ts';
import { backoffMs } from '../lib/backoff.ts';
import type { Database } from './database.ts';
import { Prisma } from './generated/client.ts';
import { isWriteConflict, storeError } from './prisma-errors.ts';

/**
 * SQL inside a transaction, on a connection of pg (`inSqlTransaction`) or inside a transaction of Prisma
 * (`inTransaction`). Both take and return the same values, except bigint and numeric: a statement must cast those to
 * int or float8.
 */
export interface Transaction {
  /** The rows of a statement. */
  rows<Row extends object>(parts: TemplateStringsArray, ...values: readonly unknown[]): Promise<Row[]>;
  /** The first row of a statement; undefined if it has none. */
  row<Row extends object>(parts: TemplateStringsArray, ...values: readonly unknown[]): Promise<Row | undefined>;
  /** Runs a statement and returns how many rows it changed or found. */
  run(parts: TemplateStringsArray, ...values: readonly unknown[]): Promise<number>;
  /** The rows of a statement whose text is a constant. PostgreSQL plans it for its values each time. */
  rowsUnprepared<Row extends object>(text: string, ...values: readonly unknown[]): Promise<Row[]>;
  /**
   * Waits for statements that were begun together, and returns their results in the same order. A connection of pg
   * sends them together, which saves a round trip for each statement after the first. PostgreSQL still runs them one
   * after another: if the first waits for a lock, the second starts after the first has it, and sees what was committed
   * by then. If one of the functions waits for something else before its statement, that statement is sent later.
   *
   * If a statement fails, PostgreSQL refuses the ones after it and the transaction cannot commit. Of several failures
   * the first in the given order is thrown, even if a later one is known earlier. If the function of the first
   * statement throws because of what it found, the statements after it may have run: the transaction must be rolled
   * back.
   */
  pipeline<const Results extends readonly unknown[]>(statements: {
    readonly [Index in keyof Results]: Promise<Results[Index]>;
  }): Promise<Results>;
}

/** The models of the Prisma schema, without Prisma's own methods for SQL. */
type Models = Omit<Prisma.TransactionClient, `$${string}`>;

/** A transaction of Prisma: its models, and SQL through the methods of every transaction. */
export interface PrismaTransaction extends Transaction {
  readonly models: Models;
}

/** The default time of a transaction, with its waits for locks. */
export const transactionTimeoutMs = 30_000;

const attempts = 4;
const options = {
  isolationLevel: Prisma.TransactionIsolationLevel.ReadCommitted,
  // For a connection: a little longer than the pool waits, because the pool's error says more.
  maxWait: 6_000,
};

/**
 * Runs `work` in one READ COMMITTED transaction, with the models of Prisma: committed when it returns, rolled back when
 * it throws. After a deadlock or a serialization failure `work` runs again from the start, so it must change nothing
 * outside the transaction. The default limit is 30 seconds, with waits for locks. Throws what `work` throws and the
 * database's errors as `storeError` makes them. Throws DomainError overloaded if conflicts rolled it back each time, or
 * if a lock or a connection took too long.
 */
export async function inTransaction<T>(
  database: Pick<Database, 'prisma'>,
  work: (tx: PrismaTransaction) => Promise<T>,
  timeoutMs = transactionTimeoutMs,
): Promise<T> {
  return runAgainAfterConflicts(() =>
    database.prisma.$transaction((client) => work(transactionOf(client)), { ...options, timeout: timeoutMs }),
  );
}

/** Runs a whole transaction, and again if a conflict rolled it back. Throws what `inTransaction` throws. */
export async function runAgainAfterConflicts<T>(transaction: () => Promise<T>): Promise<T> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await transaction();
    } catch (error) {
      if (!isWriteConflict(error)) throw storeError(error);
      if (attempt === attempts) {
        throw new DomainError('overloaded', 'too many changes at once collided; try again', { cause: error });
      }
    }
    await pause(backoffMs(attempt, { initialMs: 20, maxMs: 200 }));
  }
}

/** `Transaction.pipeline`, which is the same for every kind of transaction. */
export async function pipeline<const Results extends readonly unknown[]>(statements: {
  readonly [Index in keyof Results]: Promise<Results[Index]>;
}): Promise<Results> {
  const begun: readonly Promise<unknown>[] = statements;
  // Each is awaited below, unless one before it fails.
  for (const statement of begun) statement.catch(() => undefined);
  const results: unknown[] = [];
  for (const statement of begun) results.push(await statement);
  return results as unknown as Results;
}

function transactionOf(client: Prisma.TransactionClient): PrismaTransaction {
  const rows: Transaction['rows'] = (parts, ...values) => client.$queryRaw(parts, ...values);
  return {
    models: client,
    rows,
    row: async <Row extends object>(parts: TemplateStringsArray, ...values: readonly unknown[]) => {
      const [first] = await rows<Row>(parts, ...values);
      return first;
    },
    run: (parts, ...values) => client.$executeRaw(parts, ...values),
    rowsUnprepared: (text, ...values) => client.$queryRawUnsafe(text, ...values),
    pipeline,
  };
}

function pause(delayMs: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, delayMs));
}
