import { setTimeout as pause } from 'node:timers/promises';
import { expect } from '@jest/globals';
import { KeepAliveClient, type Reply } from '../../support/api/keep-alive-client.ts';
import { Programs, type RunningProgram } from '../../support/api/program.ts';
import { newRootKey, startServices, type TestServices } from '../../support/api/services.ts';
import { MortalPostgres } from '../../support/database/mortal-postgres.ts';
import { prismaOf } from '../../support/database/prisma.ts';
import { PostgresProxy, runs } from '../../support/faults/postgres-proxy.ts';
import { waitFor } from '../../support/fixtures/wait-for.ts';

/** Statements that each change sends, from its lock to its commit. */
export const statements = {
  lock: /FOR NO KEY UPDATE/,
  notice: /pg_notify/,
  audit: /INSERT INTO audit_entry/,
  commit: /^COMMIT/,
} as const;

/** Which process is killed, and when: at a statement of the server, or so many milliseconds after the request. */
export interface Kill {
  readonly victim: 'postgres' | 'server';
  readonly moment:
    { readonly statement: keyof typeof statements; readonly when: 'before' | 'after' } | { readonly afterMs: number };
}

export interface SentRequest {
  readonly path: string;
  readonly body?: object;
  readonly idempotencyKey?: string;
}

/** An API server as a process, which reaches its durable PostgreSQL through a proxy; both can be killed by force. */
export class KillSite {
  /** Past the proxy, in this process. */
  readonly services: TestServices;
  readonly #postgres: MortalPostgres;
  readonly #proxy: PostgresProxy;
  readonly #programs = new Programs();
  readonly #rootKeys: string;
  #api: RunningProgram | undefined;
  #client: KeepAliveClient | undefined;

  private constructor(given: { postgres: MortalPostgres; proxy: PostgresProxy; services: TestServices; keys: string }) {
    this.#postgres = given.postgres;
    this.#proxy = given.proxy;
    this.services = given.services;
    this.#rootKeys = given.keys;
  }

  static async start(): Promise<KillSite> {
    const keys = newRootKey();
    const postgres = await MortalPostgres.start();
    const proxy = await PostgresProxy.start(postgres.url);
    const services = await startServices(postgres.url, { rootKeys: keys });
    const site = new KillSite({ postgres, proxy, services, keys });
    await site.#startServer();
    return site;
  }

  async stop(): Promise<void> {
    this.#client?.close();
    await this.#programs.endAll();
    await this.services.close();
    await this.#proxy.close();
    await this.#postgres.stop();
  }

  /** What PostgreSQL is set to. */
  settings(): ReturnType<MortalPostgres['settings']> {
    return this.#postgres.settings();
  }

  /** Sends a POST. Undefined without an answer, and for the answer that the database is away. */
  async send({ path, body, idempotencyKey }: SentRequest, token: string): Promise<Reply | undefined> {
    const headers = idempotencyKey === undefined ? {} : { 'idempotency-key': idempotencyKey };
    const asked = { method: 'POST', path, authorization: `Bearer ${token}`, headers, ...(body && { body }) };
    const reply = await this.#client?.ask(asked).catch(() => undefined);
    if (reply === undefined || reply.status === 503) return undefined;
    if (reply.status >= 300) throw new Error(`${path} was answered ${reply.status}: ${reply.text}`);
    return reply;
  }

  /** Sends a request, and kills at a moment of it. The killed process runs again when this returns. */
  async sendUnder({ victim, moment }: Kill, request: SentRequest, token: string): Promise<Reply | undefined> {
    const point = 'statement' in moment ? this.#pointAt(moment) : undefined;
    const sending = this.send(request, token);
    if ('afterMs' in moment) await pause(moment.afterMs);
    else await Promise.race([point?.reached, sending]);
    if (victim === 'postgres') await this.#postgres.kill();
    else await this.#api?.server.end('SIGKILL');
    point?.end();
    if (victim === 'postgres') await this.#postgres.restart();
    const reply = await sending;
    await this.#settle();
    if (victim === 'server') await this.#startServer();
    return reply;
  }

  #pointAt({ statement, when }: Extract<Kill['moment'], { statement: string }>): {
    readonly reached: Promise<unknown>;
    readonly end: () => void;
  } {
    const match = runs(statements[statement]);
    if (when === 'after') return { reached: this.#proxy.cut(match, when).arrived(), end: () => undefined };
    const hold = this.#proxy.hold(match);
    return { reached: hold.arrived(), end: () => hold.cut() };
  }

  /** Waits until no transaction is under way: one of a killed server may still commit what was sent. */
  async #settle(): Promise<void> {
    const busy = `SELECT count(*)::int AS busy FROM pg_stat_activity
      WHERE backend_type = 'client backend' AND state IS DISTINCT FROM 'idle' AND pid <> pg_backend_pid()`;
    await waitFor('the transactions to end', async () => {
      const { rows } = await this.services.database.pool.query<{ busy: number }>(busy);
      expect(rows).toEqual([{ busy: 0 }]);
      await prismaOf(this.services.database).$queryRaw`SELECT 1`;
      return true;
    });
  }

  async #startServer(): Promise<void> {
    await waitFor('the connections of the last server to end', () => this.#proxy.connections.length === 0);
    this.#client?.close();
    const env = { DATABASE_URL: this.#proxy.url, ROOT_KEY: this.#rootKeys };
    this.#api = await this.#programs.start({ args: ['api'], env });
    this.#client = new KeepAliveClient(this.#api.port);
  }
}
