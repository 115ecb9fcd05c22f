import { randomBytes } from 'node:crypto';
import { chmodSync, copyFileSync, mkdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { Client } from 'pg';
import { freePort } from '../../../tools/free-port.ts';
import { postgresHome } from '../../../tools/devcluster/postgres/home.ts';
import { ownerMark } from '../../../tools/devcluster/postgres/postmaster.ts';
import { type PostgresServer, startPostgres } from '../../../tools/devcluster/postgres/server.ts';
import { ownIdentity } from '../../../tools/process-identity.ts';
import { createLogger } from '../../../src/observability/logger.ts';
import { migrate } from '../../../src/store/migrate.ts';
import { PostgresProxy } from '../faults/postgres-proxy.ts';
import { waitFor } from '../fixtures/wait-for.ts';
import { copyRunning } from './base-backup.ts';

interface Instance {
  readonly folder: string;
  readonly server: PostgresServer;
}

/** A migrated primary with a synchronous standby, behind a switch that leads to one of them. */
export class ReplicatedPostgres {
  readonly #resources: AsyncDisposableStack;
  readonly #switch: PostgresProxy;
  #primary: Instance;
  #standby: Instance | undefined;

  private constructor(given: { resources: AsyncDisposableStack; primary: Instance; proxy: PostgresProxy }) {
    this.#resources = given.resources;
    this.#primary = given.primary;
    this.#switch = given.proxy;
  }

  /** It goes with `resources`. */
  static async start(resources: AsyncDisposableStack): Promise<ReplicatedPostgres> {
    const primary = await startInstance(resources, newFolder());
    await migrate({ url: addressOf(primary), logger: createLogger('silent') });
    const proxy = await PostgresProxy.start(addressOf(primary));
    resources.defer(() => proxy.close());
    const postgres = new ReplicatedPostgres({ resources, primary, proxy });
    await postgres.addStandby();
    return postgres;
  }

  /** The address of the switch. */
  get url(): string {
    return this.#switch.url;
  }

  /** The present primary's own address. */
  get primaryUrl(): string {
    return addressOf(this.#primary);
  }

  /** Adds a new standby. Later commits are on it before they are acknowledged. */
  async addStandby(): Promise<void> {
    const folder = newFolder();
    const path = pathOf(folder);
    mkdirSync(path);
    // The server's account has to pass through.
    chmodSync(path, 0o711);
    copyFileSync(join(pathOf(this.#primary.folder), 'password'), join(path, 'password'));
    const from = { url: this.primaryUrl, data: join(pathOf(this.#primary.folder), 'data') };
    this.#resources.defer(() => rmSync(path, { recursive: true, force: true }));
    await copyRunning(from, join(path, 'data'), 'standby.signal');
    const { hostname, port, username, password } = new URL(this.primaryUrl);
    this.#standby = await startInstance(this.#resources, folder, {
      primary_conninfo: `host=${hostname} port=${port} user=${username} password=${password}`,
    });
    // After the copy: a standby with this setting would commit nothing when it is promoted.
    await run(this.primaryUrl, `ALTER SYSTEM SET synchronous_standby_names = '*'`);
    await run(this.primaryUrl, 'SELECT pg_reload_conf()');
    await waitFor('the standby to be synchronous', async () => {
      const found = await run(this.primaryUrl, `SELECT FROM pg_stat_replication WHERE sync_state = 'sync'`);
      return found.length > 0;
    });
  }

  /** Ends the primary as a crash does. The switch then leads to the standby, which takes no writes yet. */
  async failOver(): Promise<void> {
    const standby = this.#standbyNow();
    await this.#primary.server.crash();
    this.#switch.lead(addressOf(standby));
  }

  /** Leads to the standby, or to the primary again, while both run. The connections through the switch break if `kill`. */
  lead(to: 'standby' | 'primary', { kill }: { readonly kill: boolean }): void {
    this.#switch.lead(addressOf(to === 'primary' ? this.#primary : this.#standbyNow()));
    if (kill) this.#switch.kill();
  }

  /** Makes the standby the primary. It has no standby of its own then. */
  async promote(): Promise<void> {
    const standby = this.#standbyNow();
    await run(addressOf(standby), 'SELECT pg_promote()');
    this.#primary = standby;
    this.#standby = undefined;
  }

  #standbyNow(): Instance {
    if (this.#standby === undefined) throw new Error('there is no standby: call addStandby');
    return this.#standby;
  }
}

/** The mark lets a later run remove the data, should this process not come to it. */
function newFolder(): string {
  return `temporary-${ownerMark(ownIdentity())}-replicated-${randomBytes(4).toString('hex')}`;
}

function pathOf(folder: string): string {
  return join(postgresHome().directory, folder);
}

async function startInstance(
  resources: AsyncDisposableStack,
  folder: string,
  settings: Readonly<Record<string, string>> = {},
): Promise<Instance> {
  const server = await startPostgres({ name: folder, port: await freePort(), durable: false, settings });
  resources.defer(async () => {
    await server.stop();
    rmSync(pathOf(folder), { recursive: true, force: true });
  });
  return { folder, server };
}

function addressOf({ server }: Instance): string {
  return server.urlOf('postgres');
}

async function run(url: string, sql: string): Promise<unknown[]> {
  const client = new Client({ connectionString: url });
  client.on('error', () => undefined);
  await client.connect();
  try {
    return (await client.query(sql)).rows;
  } finally {
    await client.end();
  }
}
