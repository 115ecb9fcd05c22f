import { randomBytes } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type PostgresServer, startPostgres } from '../../tools/devcluster/postgres/server.ts';
import { createLogger } from '../../src/observability/logger.ts';
import { migrate } from '../../src/store/migrate.ts';
import { ApiClient, type ApiEnvironment } from '../support/api/api-client.ts';
import { ServerProcess } from '../support/api/server-process.ts';

/** What the benches of the API stand on: it runs as users run it, in a process of its own on a durable PostgreSQL. */
export interface BenchApi {
  readonly url: string;
  readonly databaseUrl: string;
  readonly adminToken: string;
  readonly admin: ApiClient;
  readonly server: ServerProcess;
  readonly postgres: PostgresServer;
}

export interface BenchApiOptions {
  /** Further variables, as `ServerProcess` takes them. */
  readonly env?: Readonly<Record<string, string>>;
  /** For node, before the program. */
  readonly nodeArgs?: readonly string[];
}

/** Starts both, to be ended with `resources`. Its limits on requests are off: one client asks more than many would. */
export async function startBenchApi(
  resources: AsyncDisposableStack,
  { env = {}, nodeArgs }: BenchApiOptions = {},
): Promise<BenchApi> {
  const folder = mkdtempSync(join(tmpdir(), 'keyframe-bench-'));
  resources.defer(() => rmSync(folder, { recursive: true, force: true }));
  const postgres = await startPostgres({});
  resources.defer(() => postgres.stop());
  const databaseUrl = postgres.urlOf('postgres');
  await migrate({ url: databaseUrl, logger: createLogger('warn') });
  const rootKeyFile = join(folder, 'root-key');
  const tokenFile = join(folder, 'admin-token');
  writeFileSync(rootKeyFile, `bench:${randomBytes(32).toString('base64')}\n`, { mode: 0o600 });
  const server = await ServerProcess.start(resources, {
    role: 'api',
    nodeArgs,
    env: {
      DATABASE_URL: databaseUrl,
      ROOT_KEY_FILE: rootKeyFile,
      BOOTSTRAP_ADMIN_EMAIL: 'admin@example.com',
      BOOTSTRAP_TOKEN_FILE: tokenFile,
      LOG_LEVEL: 'warn',
      RATE_LIMIT_REQUESTS: '0',
      RATE_LIMIT_TRAFFIC_MIB: '0',
      ...env,
    },
  });
  const { url } = server;
  const adminToken = readFileSync(tokenFile, 'utf8').trim();
  return { url, databaseUrl, adminToken, admin: new ApiClient({ url, token: adminToken }), server, postgres };
}

/** Keys `KEY_0001` and so on, each with a value of 32 hexadecimal digits. */
export function benchSecrets(count: number): Record<string, string> {
  const keys = Array.from({ length: count }, (_, index) => `KEY_${String(index + 1).padStart(5, '0')}`);
  return Object.fromEntries(keys.map((key) => [key, randomBytes(16).toString('hex')]));
}

/** A new environment with so many secrets. */
export async function benchEnvironment(admin: ApiClient, count: number): Promise<ApiEnvironment> {
  const environment = await admin.makeEnvironment();
  await environment.change(benchSecrets(count));
  return environment;
}
