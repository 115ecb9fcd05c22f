/** `npm run test:fuzz`: schemathesis against the started server, with reports/fuzz.json as its result. */
import { spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { closeSync, mkdirSync, mkdtempSync, openSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { buildServer } from '../build/server.ts';
import { checkoutDirectory } from '../checkout.ts';
import { freePort } from '../free-port.ts';
import { startPostgres } from '../devcluster/postgres/server.ts';
import { Api } from '../start/api.ts';
import { KeyframeServer } from '../start/keyframe-server.ts';
import { publicRouteTable, routeTable } from '../../src/http/routes/table.ts';
import { sessionActions } from '../../src/domain/policy.ts';
import { judgeReport } from './fuzz-report.ts';
import { type FuzzDocument, narrowDocument } from './narrow-document.ts';
import { FuzzerMissing, findSchemathesis } from './python.ts';
import { beyondRequests } from './beyond.ts';
import { makeWorld, slugsOf } from './world.ts';

const reports = join(checkoutDirectory, 'reports');
const log = join(reports, 'fuzz.log');
// Of each operation beyond those that the document itself suggests.
const examples = process.env['KEYFRAME_TEST_SCALE'] === 'full' ? 300 : 20;
// As tools/fuzz/schemathesis.toml has them.
const checks = [
  'not_a_server_error',
  'response_schema_conformance',
  'negative_data_rejection',
  'ignored_auth',
  'status_code_conformance',
  'content_type_conformance',
] as const;

interface Target {
  readonly url: string;
  readonly token: string;
  readonly databaseUrl: string;
}

/** Starts the server on an empty database of its own; `resources` ends both. */
async function startTarget(resources: AsyncDisposableStack, folder: string): Promise<Target> {
  await buildServer();
  const postgres = await startPostgres({ durable: false });
  resources.defer(() => postgres.stop());
  const database = { KEYFRAME_DATABASE_URL: postgres.urlOf('postgres') };
  await new KeyframeServer({ role: 'migrate', env: database, logFile: join(folder, 'migrate.log') }).finished();
  const [port, metricsPort] = [await freePort(), await freePort()];
  const tokenFile = join(folder, 'token');
  const server = new KeyframeServer({
    role: 'api',
    env: {
      ...database,
      KEYFRAME_ROOT_KEY: `fuzz:${randomBytes(32).toString('base64')}`,
      KEYFRAME_HOST: '127.0.0.1',
      KEYFRAME_PORT: String(port),
      KEYFRAME_PUBLIC_URL: `http://localhost:${port}`,
      KEYFRAME_METRICS_PORT: String(metricsPort),
      KEYFRAME_BOOTSTRAP_ADMIN_EMAIL: 'admin@example.test',
      KEYFRAME_BOOTSTRAP_TOKEN_FILE: tokenFile,
      KEYFRAME_RATE_LIMIT_REQUESTS: '0',
      KEYFRAME_RATE_LIMIT_FAILED_AUTHENTICATIONS: '0',
      KEYFRAME_RATE_LIMIT_TRAFFIC_MIB: '0',
    },
    logFile: join(reports, 'fuzz-server.log'),
  });
  resources.defer(() => server.stop());
  await server.ready(metricsPort);
  return {
    url: `http://127.0.0.1:${port}`,
    token: readFileSync(tokenFile, 'utf8').trim(),
    databaseUrl: postgres.urlOf('postgres'),
  };
}

/** Operations that only a page of the server may do: with a session, or to begin one. */
const pageOperations: ReadonlySet<string> = new Set(
  [
    ...routeTable.filter(({ action }) => (sessionActions as ReadonlySet<string>).has(action)),
    ...publicRouteTable.filter(({ ownPagesOnly }) => ownPagesOnly === true),
  ].map(({ method, path }) => `${method} /api/v1${path}`),
);

async function fuzz(program: string): Promise<{ passed: number; failed: number }> {
  await using resources = new AsyncDisposableStack();
  const folder = mkdtempSync(join(tmpdir(), 'keyframe-fuzz-'));
  resources.defer(() => rmSync(folder, { recursive: true, force: true }));
  const { url, token, databaseUrl } = await startTarget(resources, folder);
  const world = await makeWorld(new Api(url, token), beyondRequests(databaseUrl));
  const document = (await (await fetch(`${url}/openapi.json`)).json()) as FuzzDocument;
  narrowDocument(document, world);
  const documentFile = join(folder, 'openapi.json');
  writeFileSync(documentFile, JSON.stringify(document));
  const reportFile = join(reports, 'fuzz.ndjson');
  rmSync(reportFile, { force: true });
  const args = ['--config-file', join(import.meta.dirname, 'schemathesis.toml'), 'run', documentFile];
  const reporting = ['--report', 'ndjson', '--report-ndjson-path', reportFile];
  await runProgram(program, [...args, '--url', url, '--max-examples', String(examples), ...reporting], {
    cwd: folder,
    env: {
      ...process.env,
      KEYFRAME_FUZZ_TOKEN: token,
      KEYFRAME_FUZZ_SLUGS: slugsOf(world).join(','),
      SCHEMATHESIS_HOOKS: join(import.meta.dirname, 'hooks.py'),
    },
  });
  const operations = Object.entries(document.paths).flatMap(([path, item]) =>
    Object.keys(item).map((method) => `${method.toUpperCase()} ${path}`),
  );
  const result = judgeReport(readFileSync(reportFile, 'utf8'), { operations, checks, refused: pageOperations });
  for (const fault of result.faults) console.log(`  ${fault}`);
  if (result.failed > 0) console.log(`How to repeat each is in ${log}.`);
  return result;
}

/** Runs it to its end, its output in the log. Its exit code says nothing that its report does not. */
async function runProgram(
  program: string,
  args: readonly string[],
  options: { cwd: string; env: NodeJS.ProcessEnv },
): Promise<void> {
  const output = openSync(log, 'w', 0o600);
  const child = spawn(program, args, { ...options, stdio: ['ignore', output, output] });
  closeSync(output);
  const stop = (): void => void child.kill('SIGTERM');
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.once(signal, stop);
  await once(child, 'exit');
}

async function main(): Promise<number> {
  mkdirSync(reports, { recursive: true });
  const resultFile = join(reports, 'fuzz.json');
  rmSync(resultFile, { force: true });
  try {
    const { passed, failed } = await fuzz(await findSchemathesis(process.env));
    writeFileSync(resultFile, `${JSON.stringify({ passed, failed })}\n`);
    console.log(`fuzz: ${passed} passed, ${failed} failed`);
    return failed === 0 ? 0 : 1;
  } catch (error) {
    if (!(error instanceof FuzzerMissing)) throw error;
    writeFileSync(resultFile, `${JSON.stringify({ missing: error.message })}\n`);
    console.log(`fuzz not run: ${error.message}`);
    return 1;
  }
}

process.exitCode = await main();
