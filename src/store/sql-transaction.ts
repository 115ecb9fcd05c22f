import { createHash } from 'node:crypto';
import type pg from 'pg';
import { DomainError } from '../domain/errors/domain-error.ts';
import type { Database } from './database.ts';
import { Prisma } from './generated/client.ts';
import { isStalePlan } from './prisma-errors.ts';
import { runAgainAfterConflicts, type Transaction, transactionTimeoutMs } from './transaction.ts';

/**
 * Like `inTransaction`, for work that is SQL alone: on a bare connection, where a statement costs a fraction of what it
 * costs through Prisma, and a template without arrays is prepared once. Statements begun together are sent together and
 * run in that order, each seeing what those before it did and what others committed by then. A transaction in which a
 * statement failed is never committed, even where the work goes on; one that met a stale prepared statement is run again
 * without prepared ones. Throws what `inTransaction` throws; after a
 * connection that was lost at the COMMIT nobody knows whether it was done, and it is not run again.
 */
export async function inSqlTransaction<T>(
  { transactionPool }: Pick<Database, 'transactionPool'>,
  work: (tx: Transaction) => Promise<T>,
  timeoutMs = transactionTimeoutMs,
): Promise<T> {
  const attempt = async (isPrepared: boolean): Promise<T> => {
    const tx = new ClientTransaction(await transactionPool.connect(), isPrepared);
    const timer = setTimeout(() => tx.expire(), timeoutMs);
    try {
      return await tx.run(work);
    } finally {
      clearTimeout(timer);
    }
  };
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

/** One transaction on a connection, which it gives back to the pool at its end. */
class ClientTransaction implements Transaction {
  readonly #client: pg.PoolClient;
  readonly #isPrepared: boolean;
  #state: 'open' | 'expired' | 'ended' = 'open';
  /** The first statement's that failed. */
  #failure: { readonly error: unknown } | undefined;

  constructor(client: pg.PoolClient, isPrepared: boolean) {
    this.#client = client;
    this.#isPrepared = isPrepared;
  }

  async run<T>(work: (tx: Transaction) => Promise<T>): Promise<T> {
    try {
      // Waited for: what is sent with it would stand alone, each statement for itself, if it failed.
      await this.#query({ text: 'BEGIN ISOLATION LEVEL READ COMMITTED' });
      const result = await work(this);
      await this.#commit();
      this.#client.release();
      return result;
    } catch (error) {
      // Without the cause: one that says «run it again» is no more to be followed.
      const cause = this.#state === 'expired' ? tookTooLong() : error;
      await this.#rollBack();
      throw cause;
    }
  }

  /** Rolls back once the statement under way is done. The next one fails, and so does `run`. */
  expire(): void {
    if (this.#state !== 'open') return;
    this.#state = 'expired';
    this.#client.query('ROLLBACK').catch(() => undefined);
  }

  async $queryRaw<T>(parts: TemplateStringsArray, ...values: readonly unknown[]): Promise<T> {
    return (await this.#prepared(parts, values)).rows as T;
  }

  async $executeRaw(parts: TemplateStringsArray, ...values: readonly unknown[]): Promise<number> {
    return (await this.#prepared(parts, values)).rowCount ?? 0;
  }

  async $queryRawUnsafe<T>(text: string, ...values: readonly unknown[]): Promise<T> {
    return (await this.#query({ text, values: [...values] })).rows as T;
  }

  #prepared(parts: TemplateStringsArray, values: readonly unknown[]): Promise<pg.QueryResult> {
    const { text, values: flat } = Prisma.sql(parts, ...values);
    // With a name PostgreSQL may keep one plan for all values. For arrays that must not be: a plan for one row does not
    // end with ten thousand.
    const name = !this.#isPrepared || flat.some(Array.isArray) ? {} : { name: nameOf(text) };
    return this.#query({ ...name, text, values: flat });
  }

  async #query(query: pg.QueryConfig): Promise<pg.QueryResult> {
    if (this.#state !== 'open') throw new Error(`the transaction is ${this.#state}`);
    try {
      return await this.#client.query(query);
    } catch (error) {
      // What comes after a failure fails because of it, which PostgreSQL does not say.
      this.#failure ??= { error };
      throw this.#failure.error;
    }
  }

  async #commit(): Promise<void> {
    // The work may have gone on after it. Where the driver failed, as over a value it cannot write, the database knows
    // nothing of it and would commit the rest.
    this.#refuseFailed();
    const committed = this.#query({ text: 'COMMIT' });
    // Too late to expire.
    if (this.#state === 'open') this.#state = 'ended';
    const { command } = await committed;
    // PostgreSQL answers ROLLBACK to the COMMIT of a transaction in which a statement failed that nobody waited for.
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
      this.#client.release(isStalePlan(this.#failure?.error));
    } catch {
      // Nobody knows what state this connection is in.
      this.#client.release(true);
    }
  }
}

// Each connection prepares a text when it first comes there. The templates of the store are a fixed number of texts: no
// value gets into one.
const names = new Map<string, string>();
// PostgreSQL keeps 63 bytes of a name.
const nameDigits = 40;

// By the text alone: behind a pooler that shares a server's connections among processes and does not keep their prepared
// statements apart, a name must never stand for another process's statement.
function nameOf(text: string): string {
  const name = names.get(text) ?? `tx-${createHash('sha256').update(text).digest('hex').slice(0, nameDigits)}`;
  names.set(text, name);
  return name;
}

function tookTooLong(): DomainError {
  return new DomainError('overloaded', 'the change took too long and was undone; try again');
}
