import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs';
import { type IncomingMessage, request } from 'node:http';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { afterAll, afterEach, beforeAll, describe, expect, test } from '@jest/globals';
import { checkoutDirectory } from '../../../scripts/checkout.ts';
import { CapturedProcess, type ProcessEnd } from '../../support/captured-process.ts';
import { HttpClient } from '../../support/http.ts';
import { type TestDatabase, createEmptyDatabase, createTestDatabase } from '../../support/postgres.ts';
import { newRootKey } from '../../support/services.ts';

const program = join(checkoutDirectory, 'src', 'main.ts');
const rootKey = newRootKey();
const unreachable = 'postgresql://keyframe:canary@127.0.0.1:1/keyframe';
const started: CapturedProcess[] = [];
let database: TestDatabase;
let folder: string;

beforeAll(async () => {
  database = await createTestDatabase();
  folder = mkdtempSync(join(tmpdir(), 'keyframe-process-'));
});

afterEach(async () => {
  await Promise.all(started.splice(0).map((server) => server.end('SIGKILL')));
});

afterAll(async () => {
  await database.drop();
  rmSync(folder, { recursive: true });
});

/** Starts the program; `env` is without the prefix. Ports are free ones unless told. */
function spawn(
  args: readonly string[],
  env: Readonly<Record<string, string>> = {},
  nodeArgs: readonly string[] = [],
): CapturedProcess {
  const variables = Object.entries({ HOST: '127.0.0.1', PORT: '0', METRICS_PORT: '0', ...env });
  const server = new CapturedProcess({
    name: args.join(' '),
    program: process.execPath,
    args: [...nodeArgs, program, ...args],
    env: Object.fromEntries(variables.map(([name, value]) => [`KEYFRAME_${name}`, value])),
  });
  started.push(server);
  return server;
}

interface Running {
  readonly server: CapturedProcess;
  readonly port: number;
  readonly metricsPort: number;
}

/** Starts an API and waits until it says that it has. */
async function startApi(
  env: Readonly<Record<string, string>> = {},
  nodeArgs: readonly string[] = [],
): Promise<Running> {
  const server = spawn(['api'], { DATABASE_URL: database.url, ROOT_KEY: rootKey, ...env }, nodeArgs);
  const line = await logLine(server, 'started');
  return { server, port: Number(line['port']), metricsPort: Number(line['metricsPort']) };
}

async function logLine(server: CapturedProcess, message: string): Promise<Record<string, unknown>> {
  for (;;) {
    const lines = server.output
      .toString()
      .split('\n')
      .filter((line) => line.startsWith('{'));
    const found = lines.map((line) => JSON.parse(line) as Record<string, unknown>).find(({ msg }) => msg === message);
    if (found !== undefined) return found;
    if (!server.isRunning) throw new Error(`it ended: ${server.output.toString()}`);
    await pause(10);
  }
}

/** What a process that cannot start says, and how it ends. */
async function refusal(
  args: readonly string[],
  env: Readonly<Record<string, string>> = {},
): Promise<[ProcessEnd['code'], string]> {
  const server = spawn(args, env);
  const { code } = await server.ended;
  const output = server.output.toString();
  expect(output).not.toMatch(/canary|^ +at /m);
  return [code, output];
}

describe('the command line', () => {
  test('tells its help and its version', async () => {
    const [code, help] = await refusal(['--help']);
    expect([code, help.split('\n')[0]]).toEqual([0, 'keyframe-server: secrets with a memory']);
    const { version } = JSON.parse(readFileSync(join(checkoutDirectory, 'package.json'), 'utf8')) as {
      version: string;
    };
    expect(await refusal(['--version'])).toEqual([0, `${version}\n`]);
  });

  test.each([[[]], [['canary']], [['api', 'all']], [['api', '--canary']]])(
    '%j is refused with advice',
    async (args) => {
      const advice = 'keyframe-server: give one of the roles all, api, controller or migrate; --help tells more\n';
      expect(await refusal(args)).toEqual([64, advice]);
    },
  );
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
      ...['keyframe-server', '  KEYFRAME_LOGLEVEL', '  KEYFRAME_DATABASE_URL', '  KEYFRAME_ROOT_KEY'],
      ...['  KEYFRAME_PORT', '  KEYFRAME_KUBECONFIG_FILE', ''],
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

  test('without a kubeconfig that can be used', async () => {
    const env = { DATABASE_URL: database.url, ROOT_KEY: rootKey, KUBECONFIG_FILE: program };
    const [code, output] = await refusal(['controller'], env);
    expect([code, output]).toEqual([
      78,
      expect.stringMatching(/^keyframe-server: the kubeconfig file \S+ cannot be read as one\n$/),
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
      `keyframe-server: cannot listen on 127.0.0.1, port ${port}: the port is taken; stop what uses it or set KEYFRAME_${variable}\n`,
    ]);
    holder.close();
  });

  test('without the schema, which migrate makes', async () => {
    const empty = await createEmptyDatabase();
    const env = { DATABASE_URL: empty.url, ROOT_KEY: rootKey };
    const [code, output] = await refusal(['api'], env);
    expect(code).toBe(78);
    expect(output).toMatch(/^keyframe-server: the database lacks migration \d+_init: run keyframe-server migrate\n$/);
    for (const applied of [1, 0]) {
      const migration = spawn(['migrate'], env);
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
    const me = await new HttpClient(`http://127.0.0.1:${first.port}`, token).expect(200, 'GET', '/me');
    expect(me).toMatchObject({ name: 'admin@example.test', instanceAdmin: true });
    expect(first.server.output.toString()).not.toContain(token);
    await first.server.end();
    const second = await startApi(env);
    expect(readFileSync(tokenFile, 'utf8').trim()).toBe(token);
    await second.server.end();
    await own.drop();
  });
});

describe('a signal', () => {
  /** A request whose body is not complete yet. */
  async function beginRequest(port: number): Promise<{ finish(): Promise<IncomingMessage> }> {
    const { token } = await adminToken();
    const outgoing = request({
      host: '127.0.0.1',
      port,
      method: 'POST',
      path: '/api/v1/organizations',
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json', 'transfer-encoding': 'chunked' },
    });
    outgoing.write('{"slug":');
    await pause(200);
    return {
      async finish() {
        const answered = once(outgoing, 'response');
        outgoing.end(`"o-${Date.now()}"}`);
        const [response] = (await answered) as [IncomingMessage];
        response.resume();
        return response;
      },
    };
  }

  let token: string | undefined;

  async function adminToken(): Promise<{ token: string }> {
    if (token === undefined) {
      const tokenFile = join(folder, 'signals');
      const env = { BOOTSTRAP_ADMIN_EMAIL: 'signals@example.test', BOOTSTRAP_TOKEN_FILE: tokenFile };
      const { server } = await startApi(env);
      await server.end();
      token = readFileSync(tokenFile, 'utf8').trim();
    }
    return { token };
  }

  test.each(['SIGTERM', 'SIGINT'] as const)(
    '%s ends it in order: not ready, no new request, those under way answered',
    async (signal) => {
      await adminToken();
      const { server, port, metricsPort } = await startApi();
      const begun = await beginRequest(port);
      server.signal(signal);
      await logLine(server, 'stopping');
      const ready = await fetch(`http://127.0.0.1:${metricsPort}/readyz`);
      expect([ready.status, await ready.json()]).toEqual([
        503,
        { status: 'unavailable', reason: 'this process is shutting down' },
      ]);
      await expect(fetch(`http://127.0.0.1:${port}/healthz`)).rejects.toThrow();
      const response = await begun.finish();
      expect(response.statusCode).toBe(201);
      expect(response.headers.connection).toBe('close');
      expect(await server.ended).toEqual({ code: 0, signal: null });
      expect(server.output.toString()).toContain('"msg":"stopped"');
    },
  );

  test('a second one ends it at once', async () => {
    await adminToken();
    const { server, port } = await startApi();
    await beginRequest(port);
    server.signal('SIGTERM');
    await logLine(server, 'stopping');
    const sentAt = performance.now();
    server.signal('SIGTERM');
    expect((await server.ended).code).toBe(143);
    expect(performance.now() - sentAt).toBeLessThan(2000);
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
