import { execFileSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { Client } from 'pg';
import { freePort } from '../../../tools/free-port.ts';
import { postgresHome } from '../../../tools/devcluster/postgres/home.ts';
import { ownerMark } from '../../../tools/devcluster/postgres/postmaster.ts';
import { type PostgresServer, startPostgres } from '../../../tools/devcluster/postgres/server.ts';
import { findProcess, isRunning, ownIdentity, type ProcessIdentity } from '../../../tools/process-identity.ts';
import { createLogger } from '../../../src/observability/logger.ts';
import { migrate } from '../../../src/store/migrate.ts';
import { waitFor } from '../fixtures/wait-for.ts';

/** The settings on which it depends that what is committed stays, each `on` by default. */
export const durabilitySettings = ['fsync', 'full_page_writes', 'synchronous_commit'] as const;

/**
 * A durable, migrated PostgreSQL of a test's own that can be killed by force, all of its processes at once, and started
 * again on the same data and port.
 */
export class MortalPostgres {
  readonly #name: string;
  readonly #port: number;
  #server: PostgresServer;

  private constructor(given: { name: string; port: number; server: PostgresServer }) {
    this.#name = given.name;
    this.#port = given.port;
    this.#server = given.server;
  }

  static async start(): Promise<MortalPostgres> {
    // The mark lets a later run remove the data, should this process not come to it.
    const name = `temporary-${ownerMark(ownIdentity())}-mortal-${randomBytes(4).toString('hex')}`;
    const port = await freePort();
    const postgres = new MortalPostgres({ name, port, server: await startPostgres({ name, port }) });
    await migrate({ url: postgres.url, logger: createLogger('silent') });
    return postgres;
  }

  get url(): string {
    return this.#server.urlOf('postgres');
  }

  /** Kills all of its processes as `kill -9` does, and waits until none is left. */
  async kill(): Promise<void> {
    const { pid } = this.#server;
    // Stopped, it starts no more children while they are counted; left alone, they would hold the shared memory.
    process.kill(pid, 'SIGSTOP');
    const doomed = [pid, ...childrenOf(pid)].map(findProcess).filter((found) => found !== undefined);
    for (const { pid: one } of doomed) killIfThere(one);
    await waitFor('PostgreSQL to be dead', () => !doomed.some((one: ProcessIdentity) => isRunning(one)), { pollMs: 5 });
    await this.#server.crash();
  }

  /** Starts it on the data that the kill left; answers when it has recovered. */
  async restart(): Promise<void> {
    this.#server = await startPostgres({ name: this.#name, port: this.#port });
  }

  /** What the server and new sessions are set to. */
  async settings(): Promise<Record<(typeof durabilitySettings)[number], string>> {
    const client = new Client({ connectionString: this.url });
    await client.connect();
    try {
      const columns = durabilitySettings.map((name) => `current_setting('${name}') AS ${name}`);
      const { rows } = await client.query(`SELECT ${columns.join(', ')}`);
      return rows[0] as Record<(typeof durabilitySettings)[number], string>;
    } finally {
      await client.end();
    }
  }

  /** Ends it and removes its data. */
  async stop(): Promise<void> {
    await this.#server.stop();
    rmSync(join(postgresHome().directory, this.#name), { recursive: true, force: true });
  }
}

function childrenOf(parent: number): number[] {
  const lines = execFileSync('ps', ['-A', '-o', 'pid=,ppid='], { encoding: 'utf8' }).trim().split('\n');
  return lines
    .map((line) => line.trim().split(/\s+/).map(Number))
    .filter(([, ppid]) => ppid === parent)
    .map(([pid = 0]) => pid);
}

function killIfThere(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
  }
}
