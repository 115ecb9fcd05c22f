import { randomBytes } from 'node:crypto';
import { renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { Client } from 'pg';
import { freePort } from '../../tools/free-port.ts';
import { type PostgresHome, postgresHome } from '../../tools/devcluster/postgres/home.ts';
import { ownerMark } from '../../tools/devcluster/postgres/postmaster.ts';
import { type PostgresServer, startPostgres } from '../../tools/devcluster/postgres/server.ts';
import { ownIdentity } from '../../tools/process-identity.ts';
import { createLogger } from '../../src/observability/logger.ts';
import { migrate } from '../../src/store/migrate.ts';
import { copyRunning } from '../support/database/base-backup.ts';
import { waitFor } from '../support/fixtures/wait-for.ts';

interface Given {
  readonly name: string;
  readonly port: number;
  readonly home: PostgresHome;
  readonly server: PostgresServer;
}

// To the end of the backup; there is no archive to go on from.
const recovery = { restore_command: 'false', recovery_target: 'immediate', recovery_target_action: 'promote' };

/**
 * A migrated PostgreSQL of a test's own. A base backup is made of it while it runs, by its own functions and a copy of its
 * files, and it is recovered to the end of that backup, on a new timeline, as after a disaster.
 */
export class RecoverablePostgres {
  readonly #given: Given;
  #server: PostgresServer;

  private constructor(given: Given) {
    this.#given = given;
    this.#server = given.server;
  }

  /** It goes with `resources`. */
  static async start(resources: AsyncDisposableStack): Promise<RecoverablePostgres> {
    // The mark lets a later run remove the data, should this process not come to it.
    const name = `temporary-${ownerMark(ownIdentity())}-recoverable-${randomBytes(4).toString('hex')}`;
    const port = await freePort();
    const server = await startPostgres({ name, port, durable: false });
    const postgres = new RecoverablePostgres({ name, port, home: postgresHome(), server });
    resources.defer(() => postgres.#stop());
    await migrate({ url: postgres.url, logger: createLogger('silent') });
    return postgres;
  }

  get url(): string {
    return this.#server.urlOf('postgres');
  }

  /** Makes the backup that `recover` goes back to. */
  async backUp(): Promise<void> {
    await copyRunning({ url: this.url, data: this.#data }, this.#backup, 'recovery.signal');
  }

  /** Loses all that was written since the backup: stops the server, and starts it on the backup, at the same address. */
  async recover(): Promise<void> {
    await this.#server.stop();
    rmSync(this.#data, { recursive: true });
    renameSync(this.#backup, this.#data);
    const { name, port } = this.#given;
    this.#server = await startPostgres({ name, port, durable: false, settings: recovery });
    await this.#untilPromoted();
  }

  /** The server answers queries before it has replayed the log and takes writes. */
  async #untilPromoted(): Promise<void> {
    await waitFor('the recovered server to take writes', async () => {
      const client = new Client({ connectionString: this.url });
      await client.connect();
      try {
        const { rows } = await client.query<{ isReplaying: boolean }>('SELECT pg_is_in_recovery() AS "isReplaying"');
        return rows[0]?.isReplaying === false;
      } finally {
        await client.end();
      }
    });
  }

  /** Which timeline the server writes: the second after a recovery. */
  async timeline(): Promise<number> {
    const client = new Client({ connectionString: this.url });
    await client.connect();
    try {
      const { rows } = await client.query<{ timeline: number }>(
        `SELECT ('x' || left(pg_walfile_name(pg_current_wal_lsn()), 8))::bit(32)::int AS timeline`,
      );
      return rows[0]?.timeline ?? 0;
    } finally {
      await client.end();
    }
  }

  get #folder(): string {
    return join(this.#given.home.directory, this.#given.name);
  }

  get #data(): string {
    return join(this.#folder, 'data');
  }

  get #backup(): string {
    return join(this.#folder, 'backup');
  }

  async #stop(): Promise<void> {
    await this.#server.stop();
    rmSync(this.#folder, { recursive: true, force: true });
  }
}
