import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Plaintext } from '../../../src/domain/plaintext.ts';
import type { BearerPrincipal } from '../../../src/domain/principal.ts';
import { createLogger } from '../../../src/observability/logger.ts';
import { recover, type RecoverOptions, type Recovery } from '../../../src/services/tokens/recovery.ts';
import { type Database, openDatabase } from '../../../src/store/database.ts';
import { createTestDatabase } from '../database/postgres.ts';
import { PostgresProxy } from '../faults/postgres-proxy.ts';
import { createWorld, newRootKey, startServices, type TestServices, type World } from './services.ts';

/** A database of a test's own with a world in it, to be recovered through a proxy. */
export class RecoverSite {
  readonly proxy: PostgresProxy;
  /** The way through the proxy. */
  readonly database: Database;
  /** Past the proxy. */
  readonly services: TestServices;
  readonly world: World;
  readonly folder: string;
  readonly rootKeys: string;
  /** What the recoveries logged. */
  logged = '';
  readonly #resources: AsyncDisposableStack;
  readonly #logger = createLogger('debug', { write: (line) => void (this.logged += line) });

  private constructor(given: Given, resources: AsyncDisposableStack) {
    this.proxy = given.proxy;
    this.database = given.database;
    this.services = given.services;
    this.world = given.world;
    this.folder = given.folder;
    this.rootKeys = given.rootKeys;
    this.#resources = resources;
  }

  static async make(): Promise<RecoverSite> {
    const resources = new AsyncDisposableStack();
    const server = await createTestDatabase();
    resources.defer(() => server.drop());
    const proxy = await PostgresProxy.start(server.url);
    const database = openDatabase({ url: proxy.url, poolSize: 4 });
    const rootKeys = newRootKey();
    const services = await startServices(server.url, { rootKeys });
    resources.defer(() => services.close());
    resources.defer(() => database.close());
    resources.defer(() => proxy.close());
    const world = await createWorld(services);
    const folder = await mkdtemp(join(tmpdir(), 'keyframe-recover-'));
    resources.defer(() => rm(folder, { recursive: true }));
    return new RecoverSite({ proxy, database, services, world, folder, rootKeys }, resources);
  }

  /** Where the new token goes unless a test says otherwise. */
  get tokenFile(): string {
    return join(this.folder, 'token');
  }

  /** Recovers everything, through the proxy unless another way is given. */
  run(
    options: Partial<RecoverOptions> = {},
    database: Pick<Database, 'transactionPool'> = this.database,
  ): Promise<Recovery> {
    const all = { tokenFile: this.tokenFile, admin: null, before: null, newInstance: false, ...options };
    return recover({ database, logger: this.#logger }, all);
  }

  /** `opens`, or why authentication refuses a token. */
  answerTo({ token }: { readonly token: Plaintext }): Promise<string> {
    return this.services.authentication.authenticate(token.reveal()).then(
      () => 'opens',
      ({ fault }: { fault: string }) => fault,
    );
  }

  /** Whom the token in a file stands for. */
  async admitted(file = this.tokenFile): Promise<BearerPrincipal> {
    return this.services.authentication.authenticate((await readFile(file, 'utf8')).trim());
  }

  /** What the recoveries left in a chain of the audit; null for the instance's own. */
  async auditOf(organizationId: string | null): Promise<Record<string, unknown>[]> {
    const { rows } = await this.services.database.pool.query<Record<string, unknown>>(
      `SELECT action, actor_type, actor_name, target, label FROM audit_entry
       WHERE organization_id IS NOT DISTINCT FROM $1 AND actor_type = 'system' ORDER BY id`,
      [organizationId],
    );
    return rows;
  }

  async databaseTime(): Promise<Date> {
    const { rows } = await this.services.database.pool.query<{ now: Date }>('SELECT clock_timestamp() AS now');
    return rows[0]?.now ?? new Date(0);
  }

  close(): Promise<void> {
    return this.#resources.disposeAsync();
  }
}

interface Given {
  readonly proxy: PostgresProxy;
  readonly database: Database;
  readonly services: TestServices;
  readonly world: World;
  readonly folder: string;
  readonly rootKeys: string;
}
