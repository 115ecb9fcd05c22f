import { DomainError } from '../domain/errors/domain-error.ts';
import { backoffMs } from '../lib/backoff.ts';
import type { Database } from './database.ts';
import { Prisma } from './generated/client.ts';
import { isWriteConflict, storeError } from './prisma-errors.ts';

/** The Prisma client inside a transaction. */
export type PrismaTransaction = Prisma.TransactionClient;

/**
 * What runs SQL inside a transaction, be it Prisma's (`inTransaction`) or a bare connection's (`inSqlTransaction`). Both
 * answer alike, but for bigint and numeric, which a statement must cast to int or float8.
 */
export interface Transaction {
  /** The rows of a statement. */
  $queryRaw<T>(parts: TemplateStringsArray, ...values: readonly unknown[]): Promise<T>;
  /** How many rows a statement changed. */
  $executeRaw(parts: TemplateStringsArray, ...values: readonly unknown[]): Promise<number>;
  /** The rows of a statement that stands in a constant, planned anew for its values each time. */
  $queryRawUnsafe<T>(text: string, ...values: readonly unknown[]): Promise<T>;
}

/** A transaction has so long unless told, with its waits for locks. */
export const transactionTimeoutMs = 30_000;

const attempts = 4;
const options = {
  isolationLevel: Prisma.TransactionIsolationLevel.ReadCommitted,
  // Waiting for a connection, a little longer than the pool does, whose error tells more.
  maxWait: 6_000,
};

/**
 * Runs `work` in one READ COMMITTED transaction: committed when it answers, rolled back when it throws. After a
 * deadlock or a serialization failure it is run again from the start, so it must change nothing outside the
 * transaction. It has 30 seconds with its waits for locks, unless told. Throws what `work` throws, the database's errors as `storeError` makes them, and
 * DomainError overloaded when it was rolled back by conflicts each time, or waited too long for a lock or connection.
 */
export async function inTransaction<T>(
  database: Pick<Database, 'prisma'>,
  work: (tx: PrismaTransaction) => Promise<T>,
  timeoutMs = transactionTimeoutMs,
): Promise<T> {
  return runAgainAfterConflicts(() => database.prisma.$transaction(work, { ...options, timeout: timeoutMs }));
}

/** Runs a whole transaction, and again when others' made the database roll it back; throws what `inTransaction` throws. */
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

function pause(delayMs: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, delayMs));
}
