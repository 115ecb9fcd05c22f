import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { HttpClient } from './http.ts';
import { type TestDatabase, createTestDatabase } from '../database/postgres.ts';
import { Programs, type RunningProgram } from './program.ts';
import { newRootKey } from './services.ts';

/** API servers as separate processes, on one database with an environment in it. */
export class ApiServers {
  readonly database: TestDatabase;
  /** The administrator's. */
  readonly token: string;
  readonly #programs: Programs;
  readonly #env: Readonly<Record<string, string>>;

  private constructor(given: {
    database: TestDatabase;
    token: string;
    programs: Programs;
    env: Record<string, string>;
  }) {
    this.database = given.database;
    this.token = given.token;
    this.#programs = given.programs;
    this.#env = given.env;
  }

  /** Makes the database, its first administrator and the environment acme/web/prod; no server runs then. */
  static async make(resources: AsyncDisposableStack): Promise<ApiServers> {
    const database = await createTestDatabase();
    resources.defer(() => database.drop());
    const folder = await mkdtemp(join(tmpdir(), 'keyframe-servers-'));
    resources.defer(() => rm(folder, { recursive: true }));
    const programs = new Programs();
    resources.defer(() => programs.endAll());
    const env = { DATABASE_URL: database.url, ROOT_KEY: newRootKey() };
    const tokenFile = join(folder, 'token');
    const bootstrap = { BOOTSTRAP_ADMIN_EMAIL: 'admin@example.test', BOOTSTRAP_TOKEN_FILE: tokenFile };
    const { server, port } = await programs.start({ args: ['api'], env: { ...env, ...bootstrap } });
    const token = (await readFile(tokenFile, 'utf8')).trim();
    const client = new HttpClient(`http://127.0.0.1:${port}`, token);
    await client.expectStatus(201, 'POST', '/organizations', { slug: 'acme' });
    await client.expectStatus(201, 'POST', '/projects/acme', { slug: 'web' });
    await client.expectStatus(201, 'POST', '/environments/acme/web', { slug: 'prod' });
    await server.end();
    return new ApiServers({ database, token, programs, env });
  }

  /** Starts a server; `env` are further variables, without the prefix. */
  start(env: Readonly<Record<string, string>> = {}): Promise<RunningProgram> {
    return this.#programs.start({ args: ['api'], env: { ...this.#env, ...env } });
  }

  /** Runs the program in a role to its end; answers its exit code and what it wrote. */
  async run(role: 'api' | 'migrate'): Promise<[code: number | null, output: string]> {
    const server = await this.#programs.spawn({ args: [role], env: this.#env });
    const { code } = await server.ended;
    return [code, server.output.toString()];
  }

  /** Speaks to a server as the administrator. */
  client({ port }: Pick<RunningProgram, 'port'>): HttpClient {
    return new HttpClient(`http://127.0.0.1:${port}`, this.token);
  }
}
