import { Client } from 'pg';

/** A database session of the test's own, in which it holds locks. */
export class LockSession {
  readonly #client: Client;

  private constructor(client: Client) {
    this.#client = client;
  }

  /** Opens a session and begins a transaction. */
  static async begin(url: string): Promise<LockSession> {
    const client = new Client({ connectionString: url });
    await client.connect();
    await client.query('BEGIN');
    return new LockSession(client);
  }

  /** Runs a statement, waiting for whatever locks it needs. */
  async run(sql: string, values: readonly unknown[] = []): Promise<void> {
    await this.#client.query(sql, [...values]);
  }

  /** The rows of a statement. */
  async rows<Row extends object>(sql: string, values: readonly unknown[] = []): Promise<Row[]> {
    return (await this.#client.query<Row>(sql, [...values])).rows;
  }

  /** Comes back when so many other sessions of this database wait for a lock; throws after 10 s. */
  async waitForBlocked(count: number): Promise<void> {
    const deadline = Date.now() + 10_000;
    for (;;) {
      const { rows } = await this.#client.query<{ blocked: number }>(
        `SELECT count(*)::int AS blocked FROM pg_stat_activity
         WHERE datname = current_database() AND wait_event_type = 'Lock'`,
      );
      if ((rows[0]?.blocked ?? 0) >= count) return;
      if (Date.now() > deadline) throw new Error(`no ${count} sessions came to wait for a lock`);
      await new Promise((resolve) => setTimeout(resolve, 10));
      // Within one transaction the view shows what it showed first.
      await this.#client.query('SELECT pg_stat_clear_snapshot()');
    }
  }

  /** Commits, which lets go of the locks, and ends the session. */
  async commit(): Promise<void> {
    await this.#client.query('COMMIT');
    await this.#client.end();
  }
}
