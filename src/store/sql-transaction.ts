import { createHash } from 'node:crypto';
import type pg from 'pg';
import { DomainError } from '../domain/errors/domain-error.ts';
import type { Database } from './database.ts';
import { Prisma } from './generated/client.ts';
import { isStalePlan } from './prisma-errors.ts';
import { pipeline, runAgainAfterConflicts, type Transaction, transactionTimeoutMs } from './transaction.ts';

/**
 * Like `inTransaction`, for work that is only SQL. It runs on a connection of pg, where a statement costs a fraction of
 * what it costs through Prisma, and a template without arrays is prepared once for each connection.
 *
 * Statements begun together are sent together (`Transaction.pipeline`). A transaction in which a statement failed is
 * never committed, even if the work goes on. If a prepared statement is stale, the transaction runs again without
 * prepared statements. If the connection is lost at the COMMIT, the outcome is unknown: it is not run again. Throws
 * what `inTransaction` throws.
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
      return await tx.complete(work);
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
    const { text, values: flat } = Prisma.sql(parts, ...values);
    // With a name PostgreSQL may keep one plan for all values. Arrays must not have one: a plan for one row takes
    // minutes with ten thousand.
    const name = !this.#isPrepared || flat.some(Array.isArray) ? {} : { name: nameOf(text) };
    return this.#query({ ...name, text, values: flat });
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

// Each connection prepares a text at its first use. The templates of the store are a fixed number of texts: no value
// becomes part of one.
const names = new Map<string, string>();
// PostgreSQL keeps 63 bytes of a name.
const nameDigits = 40;

// By the text alone: a pooler may share a server's connections among processes without keeping their prepared
// statements apart. A name must never mean another process's statement.
function nameOf(text: string): string {
  const name = names.get(text) ?? `tx-${createHash('sha256').update(text).digest('hex').slice(0, nameDigits)}`;
  names.set(text, name);
  return name;
}

function tookTooLong(): DomainError {
  return new DomainError('overloaded', 'the change took too long and was undone; try again');
}
