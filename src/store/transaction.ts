import { DomainError } from '../domain/domain-error.ts';
import { backoffMs } from '../lib/backoff.ts';
import type { Database } from './database.ts';
import { Prisma } from './generated/client.ts';
import { isWriteConflict, storeError } from './prisma-errors.ts';

/** The Prisma client inside a transaction. */
export type Transaction = Prisma.TransactionClient;

const attempts = 4;
const defaultTimeoutMs = 30_000;
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
  work: (tx: Transaction) => Promise<T>,
  timeoutMs = defaultTimeoutMs,
): Promise<T> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await database.prisma.$transaction(work, { ...options, timeout: timeoutMs });
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
