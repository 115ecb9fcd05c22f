import { once } from 'node:events';
import { mkdtempSync, readFileSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { type Socket, connect, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, test } from '@jest/globals';
import { checkoutDirectory } from '../../../tools/checkout.ts';
import type { ProcessEnd } from '../../support/faults/captured-process.ts';
import { HttpClient } from '../../support/api/http.ts';
import { type TestDatabase, createEmptyDatabase, createTestDatabase } from '../../support/database/postgres.ts';
import { Programs, type RunningProgram, logLine } from '../../support/api/program.ts';
import { newRootKey } from '../../support/api/services.ts';
import { execute } from '../../support/api/test-server.ts';
import { waitFor } from '../../support/fixtures/wait-for.ts';

const rootKey = newRootKey();
const unreachable = 'postgresql://keyframe:canary@127.0.0.1:1/keyframe';
const programs = new Programs();
let database: TestDatabase;
let folder: string;

beforeAll(async () => {
  database = await createTestDatabase();
  folder = mkdtempSync(join(tmpdir(), 'keyframe-process-'));
});

afterEach(() => programs.endAll());

afterAll(async () => {
  await database.drop();
  rmSync(folder, { recursive: true });
});

/** Starts an API on the database of these tests. */
function startApi(
  env: Readonly<Record<string, string>> = {},
  nodeArgs: readonly string[] = [],
): Promise<RunningProgram> {
  return programs.start({ args: ['api'], env: { DATABASE_URL: database.url, ROOT_KEY: rootKey, ...env }, nodeArgs });
}

/** What a process that cannot start says, and how it ends. */
async function refusal(
  args: readonly string[],
  env: Readonly<Record<string, string>> = {},
): Promise<[ProcessEnd['code'], string]> {
  const server = await programs.spawn({ args, env });
  const { code } = await server.ended;
  const output = server.output.toString();
  expect(output).not.toMatch(/canary|^ +at /m);
  return [code, output];
}

describe('the command line', () => {
  test('prints its help and its version', async () => {
    const [code, help] = await refusal(['--help']);
    expect([code, help.split('\n')[0]]).toEqual([
      0,
      'keyframe-server: stores versioned secrets and syncs them to Kubernetes',
    ]);
    const { version } = JSON.parse(readFileSync(join(checkoutDirectory, 'package.json'), 'utf8')) as {
      version: string;
    };
    expect(await refusal(['--version'])).toEqual([0, `${version}\n`]);
  });

  test('is one role; anything else is refused with advice', async () => {
    const advice =
      'keyframe-server: give one of the roles all, api, controller, migrate, init, pre-delete, smoke-test, recovered or admin-token; see --help\n';
    const wrong = [[], ['canary'], ['api', 'all'], ['api', '--canary']];
    expect(await Promise.all(wrong.map((args) => refusal(args)))).toEqual(wrong.map(() => [64, advice]));
  });
});

describe('a start that cannot succeed says why in one message', () => {
  test('with every fault of the configuration', async () => {
    const [code, output] = await refusal(['all'], {
      PORT: 'canary',
      DATABASE_URL: 'canary',
      ROOT_KEY: 'canary',
      LOGLEVEL: 'canary',
    });
    expect(code).toBe(78);
    expect(output.split('\n').map((line) => line.split(':')[0])).toEqual([
      'keyframe-server',
      '  KEYFRAME_LOGLEVEL',
      '  KEYFRAME_DATABASE_URL',
      '  KEYFRAME_ROOT_KEY',
      '  KEYFRAME_PORT',
      '  KEYFRAME_KUBECONFIG_FILE',
      '',
    ]);
  });

  test.each(['api', 'controller', 'migrate'])('without the database: %s', async (role) => {
    const kubeconfig = { KUBECONFIG_FILE: join(checkoutDirectory, 'package.json') };
    const [code, output] = await refusal([role], { DATABASE_URL: unreachable, ROOT_KEY: rootKey, ...kubeconfig });
    expect([code, output]).toEqual([
      69,
      'keyframe-server: the database cannot be reached (ECONNREFUSED): check KEYFRAME_DATABASE_URL, and that PostgreSQL runs and lets this user in\n',
    ]);
  });

  test.each([
    ['password', '28P01', 'PostgreSQL refuses the password, or does not know the user'],
    ['pathname', '3D000', 'PostgreSQL does not have this database'],
    ['hostname', 'ENOTFOUND', 'the host name of PostgreSQL does not resolve'],
  ] as const)('with a wrong %s of the database', async (part, code, fault) => {
    const url = new URL(database.url);
    url[part] = 'canary.invalid';
    const advice =
      'correct KEYFRAME_DATABASE_URL (in the chart, the Secret of database.existingSecret; for the Job migrate, that of ' +
      'database.migration; for its own PostgreSQL, that of postgres.existingSecret), or PostgreSQL';
    expect(await refusal(['migrate'], { DATABASE_URL: url.href })).toEqual([
      69,
      `keyframe-server: ${fault} (${code}): ${advice}\n`,
    ]);
  });

  test.each([
    ['api', []],
    ['recovered', ['--token-file', '/nowhere/token']],
    ['admin-token', ['--token-file', '/nowhere/token']],
  ])('as a role without the rights of a server: %s', async (role, options) => {
    const url = new URL(database.url);
    url.username = `without_rights_${role.replace('-', '_')}`;
    url.password = 'x';
    await execute(database.url, `CREATE ROLE ${url.username} LOGIN PASSWORD 'x'`);
    expect(await refusal([role, ...options], { DATABASE_URL: url.href, ROOT_KEY: rootKey })).toEqual([
      78,
      'keyframe-server: PostgreSQL denies the role of KEYFRAME_DATABASE_URL a right on the database or its tables (42501): as their owner, run `keyframe-server migrate` with this role in KEYFRAME_DATABASE_RUN_URL (in the chart, set database.migration)\n',
    ]);
    await execute(database.url, `DROP ROLE ${url.username}`);
  });

  test('migrate as a role that may not create tables', async () => {
    const empty = await createEmptyDatabase();
    const url = new URL(empty.url);
    url.username = 'without_create';
    url.password = 'x';
    await execute(database.url, `CREATE ROLE without_create LOGIN PASSWORD 'x'`);
    const [code, output] = await refusal(['migrate'], { DATABASE_URL: url.href });
    expect([code, output]).toEqual([
      78,
      expect.stringMatching(/^keyframe-server: the role "without_create" may not create tables .*: run `GRANT .*\n$/),
    ]);
    await empty.drop();
    await execute(database.url, 'DROP ROLE without_create');
  });

  test('without a free connection', async () => {
    const url = new URL(database.url);
    url.username = 'without_connection';
    url.password = 'x';
    await execute(database.url, `CREATE ROLE without_connection LOGIN PASSWORD 'x' CONNECTION LIMIT 0`);
    expect(await refusal(['api'], { DATABASE_URL: url.href, ROOT_KEY: rootKey })).toEqual([
      69,
      'keyframe-server: PostgreSQL takes no more connections (53300): raise max_connections or the limit of the role or the database, or end other sessions\n',
    ]);
    await execute(database.url, 'DROP ROLE without_connection');
  });

  test('without a kubeconfig that can be used', async () => {
    const env = { DATABASE_URL: database.url, ROOT_KEY: rootKey, KUBECONFIG_FILE: import.meta.filename };
    const [code, output] = await refusal(['controller'], env);
    expect([code, output]).toEqual([
      78,
      expect.stringMatching(/^keyframe-server: the kubeconfig file \S+ cannot be read or is invalid\n$/),
    ]);
  });

  test('with another root key than the database knows', async () => {
    const { server } = await startApi();
    await server.end();
    const [code, output] = await refusal(['api'], { DATABASE_URL: database.url, ROOT_KEY: newRootKey() });
    expect(code).toBe(78);
    expect(output).toMatch(/^keyframe-server: Root key "test" does not open the stored key/);
    const missing = newRootKey().replace('test:', 'other:');
    expect((await refusal(['api'], { DATABASE_URL: database.url, ROOT_KEY: missing }))[1]).toMatch(
      /^keyframe-server: Root key "test" is missing/,
    );
  });

  test.each(['PORT', 'METRICS_PORT'])('with a taken %s', async (variable) => {
    const holder = createServer().listen(0, '127.0.0.1');
    await once(holder, 'listening');
    const { port } = holder.address() as { port: number };
    const [code, output] = await refusal(['api'], {
      DATABASE_URL: database.url,
      ROOT_KEY: rootKey,
      [variable]: String(port),
    });
    expect([code, output]).toEqual([
      69,
      `keyframe-server: cannot listen on 127.0.0.1, port ${port}: the port is in use; stop the other program or set KEYFRAME_${variable}\n`,
    ]);
    holder.close();
  });

  test('without the schema, which migrate makes', async () => {
    const empty = await createEmptyDatabase();
    const env = { DATABASE_URL: empty.url, ROOT_KEY: rootKey };
    const [code, output] = await refusal(['api'], env);
    expect(code).toBe(78);
    expect(output).toMatch(/^keyframe-server: the database lacks migration \d+_init: run keyframe-server migrate\n$/);
    const migrations = readdirSync(join(checkoutDirectory, 'prisma', 'migrations'), { withFileTypes: true });
    for (const applied of [migrations.filter((entry) => entry.isDirectory()).length, 0]) {
      const migration = await programs.spawn({ args: ['migrate'], env });
      expect((await migration.ended).code).toBe(0);
      expect(
        await logLine(migration, 'the database has the schema of this release').catch(() =>
          migration.output.toString(),
        ),
      ).toMatchObject({ applied });
    }
    const { server } = await startApi(env);
    await server.end();
    await empty.drop();
  });
});

describe('the first administrator', () => {
  test('is made once, and the token in the file opens the API', async () => {
    const own = await createTestDatabase();
    const tokenFile = join(folder, 'token');
    const env = { DATABASE_URL: own.url, BOOTSTRAP_ADMIN_EMAIL: 'admin@example.test', BOOTSTRAP_TOKEN_FILE: tokenFile };
    const first = await startApi(env);
    const token = readFileSync(tokenFile, 'utf8').trim();
    expect(statSync(tokenFile).mode & 0o777).toBe(0o600);
    const me = await new HttpClient(`http://127.0.0.1:${first.port}`, token).expectStatus(200, 'GET', '/me');
    expect(me).toMatchObject({ name: 'admin@example.test', instanceAdmin: true });
    expect(first.server.output.toString()).not.toContain(token);
    await first.server.end();
    const second = await startApi(env);
    expect(readFileSync(tokenFile, 'utf8').trim()).toBe(token);
    await second.server.end();
    await own.drop();
  });

  test('is not made with a token that is none: the server says so and does not start', async () => {
    const own = await createTestDatabase();
    const tokenFile = join(folder, 'canary-token');
    writeFileSync(tokenFile, 'canary');
    const env = { DATABASE_URL: own.url, ROOT_KEY: rootKey, BOOTSTRAP_ADMIN_EMAIL: 'admin@example.test' };
    const server = await programs.spawn({ args: ['api'], env: { ...env, BOOTSTRAP_TOKEN_FILE: tokenFile } });
    expect((await server.ended).code).toBe(78);
    expect(server.output.toString()).toContain(`keyframe-server: ${tokenFile} holds no personal token`);
    await own.drop();
  });
});

describe('its HTTP servers', () => {
  test('have the documented limits in the process that serves', async () => {
    const look = `process.on("SIGUSR2",()=>{for(const server of process._getActiveHandles()) if(server.headersTimeout !== undefined)
      console.log(JSON.stringify([server.headersTimeout,server.requestTimeout,server.keepAliveTimeout,server.connectionsCheckingInterval,server.maxHeaderSize]))})`;
    const { server } = await startApi({}, ['--import', `data:text/javascript,${encodeURIComponent(look)}`]);
    server.signal('SIGUSR2');
    const limits = '[15000,60000,65000,1000,16384]';
    await waitFor('both servers to be listed', () => server.output.toString().split(limits).length === 3);
    await server.end();
  });

  test('keep to the configured number of connections of one address', async () => {
    const { server, port } = await startApi({ MAX_CONNECTIONS_PER_ADDRESS: '2' });
    const trusting = await startApi({ MAX_CONNECTIONS_PER_ADDRESS: '2', TRUSTED_PROXIES: '127.0.0.1' });
    const openThree = async (to: number): Promise<Socket[]> => {
      const sockets: Socket[] = [];
      for (let count = 0; count < 3; count += 1) {
        const socket = connect(to, '127.0.0.1').on('error', () => undefined);
        // A closed connection is noticed only by one that reads.
        socket.resume();
        await once(socket, 'connect');
        sockets.push(socket);
      }
      return sockets;
    };
    const [first, second, third] = await openThree(port);
    await waitFor('the oldest to be closed', () => first?.destroyed === true);
    expect([second?.destroyed, third?.destroyed]).toEqual([false, false]);
    const ofProxy = await openThree(trusting.port);
    // Answered after the third was taken in.
    expect((await fetch(`http://127.0.0.1:${trusting.port}/healthz`)).status).toBe(200);
    expect(ofProxy.map(({ destroyed }) => destroyed)).toEqual([false, false, false]);
    for (const socket of [second, third, ...ofProxy]) socket?.destroy();
    await server.end();
    await trusting.server.end();
  });
});

test('an uncaught error ends it with 1, and its message is not logged', async () => {
  for (const fault of ['throw new TypeError("canary")', 'Promise.reject(new TypeError("canary"))']) {
    const preload = `data:text/javascript,process.on("SIGUSR2",()=>{${encodeURIComponent(fault)}})`;
    const { server } = await startApi({}, ['--import', preload]);
    server.signal('SIGUSR2');
    expect((await server.ended).code).toBe(1);
    const output = server.output.toString();
    expect(output).toContain('"error":"TypeError"');
    expect(output).toContain('"msg":"uncaught error"');
    expect(output).not.toContain('"canary');
    expect(output).not.toContain('Error: canary');
  }
});
