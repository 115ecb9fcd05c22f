import { randomBytes } from 'node:crypto';
import { chmodSync, mkdtempSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import pg from 'pg';
import { checkoutDirectory } from '../../../tools/checkout.ts';
import { execute } from '../api/test-server.ts';
import { waitFor } from '../fixtures/wait-for.ts';

const heardWithinMs = 30_000;

/**
 * A wall clock for the processes that are started with it, and for their sessions of PostgreSQL. It is ahead of the
 * machine's and can be put forward and back: a day need not be waited for. Timers that run already are not moved, as on a
 * machine whose clock is set, but for the hello of the controller, which then asks the database for its time.
 */
export class MovedClock {
  readonly #folder = mkdtempSync(join(tmpdir(), 'keyframe-clock-'));
  readonly #schema = `moved_clock_${randomBytes(8).toString('hex')}`;
  readonly #databases = new Set<string>();
  #aheadMs: number;

  constructor(resources: AsyncDisposableStack, aheadMs: number) {
    resources.defer(() => rmSync(this.#folder, { recursive: true, force: true }));
    // PostgreSQL reads it too, as another user.
    chmodSync(this.#folder, 0o755);
    this.#aheadMs = aheadMs;
    this.#write();
  }

  get #file(): string {
    return join(this.#folder, 'offset');
  }

  /** For node, before the program. */
  get nodeArgs(): readonly string[] {
    return ['--import', pathToFileURL(join(checkoutDirectory, 'test/support/faults/moved-clock-preload.ts')).href];
  }

  /** To be added to the process's environment. */
  get env(): Readonly<Record<string, string>> {
    return { MOVED_CLOCK_FILE: this.#file };
  }

  /** What it shows, in milliseconds since the epoch. */
  now(): number {
    return Date.now() + this.#aheadMs;
  }

  /** Puts it forward, or back. A controller learns that a moment later. */
  move(byMs: number): void {
    this.#aheadMs += byMs;
    this.#write();
  }

  /** Puts it forward, and waits until the controller that leads has said hello by it. */
  async pass(byMs: number): Promise<void> {
    this.move(byMs);
    const seenSince = new Date(this.now() - heardWithinMs);
    await waitFor('the hello of the controller', async () => {
      const found = await Promise.all([...this.#databases].map((url) => isSeenSince(url, seenSince)));
      return found.includes(true);
    });
  }

  /**
   * The URL of a database whose sessions have this clock: there `clock_timestamp` is a function that stands before the one
   * of PostgreSQL. `url` may lead through a proxy.
   */
  async databaseUrl(database: string, url: string): Promise<string> {
    this.#databases.add(database);
    await execute(
      database,
      `CREATE SCHEMA IF NOT EXISTS ${this.#schema};
      CREATE OR REPLACE FUNCTION ${this.#schema}.clock_timestamp() RETURNS timestamptz LANGUAGE sql VOLATILE AS $$
        SELECT pg_catalog.clock_timestamp() + make_interval(secs => pg_read_file('${this.#textFile}')::float8 / 1000)
      $$`,
    );
    const moved = new URL(url);
    moved.searchParams.set('options', `-c search_path=${this.#schema},public,pg_catalog`);
    return moved.href;
  }

  get #textFile(): string {
    return join(this.#folder, 'milliseconds');
  }

  #write(): void {
    const offset = Buffer.alloc(8);
    offset.writeDoubleBE(this.#aheadMs);
    // The process looks at the first: PostgreSQL must have the time before that.
    writeFileSync(`${this.#textFile}.new`, String(this.#aheadMs));
    renameSync(`${this.#textFile}.new`, this.#textFile);
    writeFileSync(this.#file, offset);
  }
}

async function isSeenSince(url: string, time: Date): Promise<boolean> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    return ((await client.query('SELECT FROM cluster WHERE seen_at > $1', [time])).rowCount ?? 0) > 0;
  } finally {
    await client.end();
  }
}
