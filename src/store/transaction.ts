import type pg from 'pg';
import { DomainError } from '../domain/errors/domain-error.ts';
import { backoffMs } from '../lib/backoff.ts';
import type { Database } from './database.ts';
import { inShare } from './pool-shares.ts';
import { isStalePlan, isWriteConflict, storeError } from './store-error.ts';
import { sql } from './sql.ts';

/**
 * SQL inside a transaction. A bigint and a numeric come as texts, so a statement casts those to int or float8. A template
 * without arrays is prepared once for each connection.
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
   * Waits for statements that were begun together, and returns their results in the same order. They
   * are sent together, which saves a round trip for each statement after the first. PostgreSQL still runs them one after
   * another: if the first waits for a lock, the second starts after the first has it, and sees what was committed
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

/** The default time of a transaction, with its waits for locks. */
const defaultTimeoutMs = 30_000;
const attempts = 4;

/**
 * Runs `work` in one READ COMMITTED transaction: committed when it returns, rolled back when it throws or when a
 * statement failed, even if the work goes on. After a deadlock or a serialization failure `work` runs again from the
 * start, so it must change nothing outside the transaction. If a prepared statement is stale, it runs again without
 * prepared statements. If the connection is lost at the COMMIT, the outcome is unknown, and it does not run again. The
 * default limit is 30 seconds, with waits for locks.
 *
 * Throws what `work` throws and the database's errors as `storeError` makes them. Throws DomainError overloaded if
 * conflicts rolled it back each time, or if a lock or a connection took too long.
 */
export async function inTransaction<T>(
  { transactionPool }: Pick<Database, 'transactionPool'>,
  work: (tx: Transaction) => Promise<T>,
  timeoutMs = defaultTimeoutMs,
): Promise<T> {
  const attempt = async (isPrepared: boolean): Promise<T> =>
    await inShare(transactionPool, async () => {
      const tx = new ClientTransaction(await transactionPool.connect(), isPrepared);
      const timer = setTimeout(() => tx.expire(), timeoutMs);
      try {
        return await tx.complete(work);
      } finally {
        clearTimeout(timer);
      }
    });
  return runAgainAfterConflicts(async () => {
    try {
      return await attempt(true);
    } catch (error) {
      // Every connection of the pool may be as stale as this one.
      if (isStalePlan(error)) return await attempt(false);
      throw error;
    }
  });
}

/** Runs a whole transaction, and again if a conflict rolled it back. Throws what `inTransaction` throws. */
async function runAgainAfterConflicts<T>(transaction: () => Promise<T>): Promise<T> {
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

/** `Transaction.pipeline`. */
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

/** One transaction on a connection. It returns the connection to the pool at its end. */
class ClientTransaction implements Transaction {
  readonly #client: pg.PoolClient;
  readonly #isPrepared: boolean;
  #state: 'open' | 'expired' | 'ended' = 'open';
  /** The failure of the first statement that failed. */
  #failure: { readonly error: unknown } | undefined;

  constructor(client: pg.PoolClient, isPrepared: boolean) {
    this.#client = client;
    this.#isPrepared = isPrepared;
  }

  /** Runs the work between BEGIN and COMMIT. */
  async complete<T>(work: (tx: Transaction) => Promise<T>): Promise<T> {
    try {
      // Waited for: if it failed, each statement sent with it would run as a transaction by itself.
      await this.#query({ text: 'BEGIN ISOLATION LEVEL READ COMMITTED' });
      const result = await work(this);
      await this.#commit();
      this.#client.release();
      return result;
    } catch (error) {
      // Without the cause, which may ask for another run: that is too late.
      const cause = this.#state === 'expired' ? tookTooLong() : error;
      await this.#rollBack();
      throw cause;
    }
  }

  /** Rolls back when the current statement is done. The next statement fails, and so does `complete`. */
  expire(): void {
    if (this.#state !== 'open') return;
    this.#state = 'expired';
    this.#client.query('ROLLBACK').catch(() => undefined);
  }

  async rows<Row extends object>(parts: TemplateStringsArray, ...values: readonly unknown[]): Promise<Row[]> {
    return (await this.#prepared(parts, values)).rows as Row[];
  }

  async row<Row extends object>(parts: TemplateStringsArray, ...values: readonly unknown[]): Promise<Row | undefined> {
    return (await this.#prepared(parts, values)).rows[0] as Row | undefined;
  }

  async run(parts: TemplateStringsArray, ...values: readonly unknown[]): Promise<number> {
    return (await this.#prepared(parts, values)).rowCount ?? 0;
  }

  async rowsUnprepared<Row extends object>(text: string, ...values: readonly unknown[]): Promise<Row[]> {
    return (await this.#query({ text, values: [...values] })).rows as Row[];
  }

  readonly pipeline = pipeline;

  #prepared(parts: TemplateStringsArray, values: readonly unknown[]): Promise<pg.QueryResult> {
    const { text, name, values: flat } = sql(parts, ...values);
    return this.#query({ text, values: [...flat], ...(this.#isPrepared && name !== undefined && { name }) });
  }

  async #query(query: pg.QueryConfig): Promise<pg.QueryResult> {
    if (this.#state !== 'open') throw new Error(`the transaction is ${this.#state}`);
    try {
      return await this.#client.query(query);
    } catch (error) {
      // The statements after a failure fail because of it, but their own errors do not say so.
      this.#failure ??= { error };
      throw this.#failure.error;
    }
  }

  async #commit(): Promise<void> {
    // The work may have gone on after a failure. If the driver failed, for example over a value that it cannot write,
    // the database does not know of it and would commit the rest.
    this.#refuseFailed();
    const committed = this.#query({ text: 'COMMIT' });
    // Too late to expire.
    if (this.#state === 'open') this.#state = 'ended';
    const { command } = await committed;
    // PostgreSQL returns ROLLBACK to the COMMIT of a transaction in which a statement failed that was not awaited.
    if (command === 'COMMIT') return;
    this.#refuseFailed();
    throw new Error(`a COMMIT was answered with ${command}`);
  }

  #refuseFailed(): void {
    if (this.#failure !== undefined) throw this.#failure.error;
  }

  async #rollBack(): Promise<void> {
    this.#state = 'ended';
    try {
      await this.#client.query('ROLLBACK');
      this.#client.release();
    } catch {
      // The state of this connection is unknown.
      this.#client.release(true);
    }
  }
}

function tookTooLong(): DomainError {
  return new DomainError('overloaded', 'the change took too long and was undone; try again');
}

function pause(delayMs: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, delayMs));
}
