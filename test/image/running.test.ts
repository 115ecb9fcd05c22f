import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { chmodSync, chownSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { type AddressInfo, type Server, type Socket, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { checkoutDirectory } from '../../tools/checkout.ts';
import { roleNames } from '../../src/config/role-names.ts';
import type { CapturedProcess, ProcessEnd } from '../support/faults/captured-process.ts';
import { type ContainerOptions, runImage } from '../support/node/image-site.ts';
import { type TestDatabase, createEmptyDatabase } from '../support/database/postgres.ts';
import { logLine } from '../support/api/program.ts';
import { waitFor } from '../support/fixtures/wait-for.ts';

const { version } = JSON.parse(readFileSync(join(checkoutDirectory, 'package.json'), 'utf8')) as { version: string };
const user = 65532;
const node = '/app/bin/node';

describe('A container of the image, without a shell and with a root that can only be read', () => {
  let volume: string;
  let database: TestDatabase;
  let started: CapturedProcess[];
  let listener: Server | undefined;

  beforeEach(async () => {
    // The only place where the process may write.
    volume = mkdtempSync(join(tmpdir(), 'keyframe-volume-'));
    chownSync(volume, user, user);
    database = await createEmptyDatabase();
    started = [];
  });

  afterEach(async () => {
    await Promise.all(started.map((container) => container.end('SIGKILL')));
    listener?.close();
    rmSync(volume, { recursive: true });
    await database.drop();
  });

  test('has neither a shell nor a root to write to, nor rights to get them', async () => {
    const shell = await ended({ command: ['/bin/sh', '-c', 'true'] });
    expect(shell).toMatchObject({ code: 127, output: expect.stringContaining('/bin/sh') });
    const script = `
      const fs = require('fs');
      const attempt = (path) => { try { fs.writeFileSync(path, ''); return 'written'; } catch (error) { return error.code; } };
      const status = fs.readFileSync('/proc/self/status', 'utf8');
      const line = (name) => status.match(new RegExp(name + ':\\\\s*(.*)'))[1];
      console.log(JSON.stringify({
        ids: [process.getuid(), process.geteuid(), process.getgid(), ...process.getgroups()],
        capabilities: [line('CapEff'), line('CapPrm'), line('CapInh')],
        noNewPrivileges: line('NoNewPrivs'),
        writes: [attempt('/app/dist/x'), attempt('/tmp/x'), attempt('/mnt/x')],
      }));`;
    const { code, output } = await ended({ command: [node, '-e', script] });
    expect(code).toBe(0);
    const none = '0'.repeat(16);
    expect(JSON.parse(output)).toEqual({
      ids: [user, user, user, user],
      capabilities: [none, none, none],
      noNewPrivileges: '1',
      writes: ['EROFS', 'EROFS', 'written'],
    });
  });

  test('knows its release as the server and as the command', async () => {
    expect(await ended({ args: ['--version'] })).toEqual({ code: 0, signal: null, output: `${version}\n` });
    expect(await ended({ command: ['keyframe', '--version'] })).toMatchObject({ code: 0, output: `${version}\n` });
    expect(await ended({ args: ['no-such-role'] })).toMatchObject({ code: 64 });
  });

  test('has every role, which without a configuration says what it lacks', async () => {
    const required: Readonly<Record<string, string>> = {
      init: 'KEYFRAME_INIT_ROOT_KEY_SECRET',
      'pre-delete': 'KEYFRAME_KUBECONFIG_FILE',
      'smoke-test': 'KEYFRAME_SMOKE_TEST_URL',
    };
    const help = await ended({ args: ['--help'] });
    const file = ['--token-file', '/tmp/token'];
    const options: Readonly<Record<string, readonly string[]>> = { recovered: file, 'admin-token': file };
    for (const role of roleNames) {
      const args = options[role] ?? [];
      expect(help.output).toMatch(new RegExp(`^  ${role} `, 'm'));
      const { code, output } = await ended({ args: [role, ...args] });
      expect({ role, code, output }).toEqual({
        role,
        code: 78,
        output: expect.stringContaining(required[role] ?? 'KEYFRAME_DATABASE_URL'),
      });
    }
  });

  test('migrates a database, serves the API and its page, and stops at a signal', async () => {
    const env = serverEnvironment();
    const migrated = await ended({ args: ['migrate'], env: { KEYFRAME_DATABASE_URL: database.url } });
    expect(migrated).toMatchObject({ code: 0 });
    const server = run({ args: ['api'], env });
    const { port, metricsPort } = await logLine(server, 'started');
    const readiness = await waitFor('readiness', async () => {
      const answer = await fetch(`http://127.0.0.1:${String(metricsPort)}/readyz`);
      return answer.status === 200 && answer;
    });
    expect(readiness.status).toBe(200);
    for (const path of [
      '/healthz',
      '/readyz',
      '/openapi.json',
      '/',
      '/sign-in',
      '/docs/README.md',
      '/docs/resources/secret-sync.md',
      '/docs/pages.css',
      '/docs/api',
      '/docs/swagger-ui-bundle.js',
      '/docs/swagger-ui.css',
      '/cli',
      '/cli.sha256',
    ]) {
      const { status } = await fetch(`http://127.0.0.1:${String(port)}${path}`);
      expect({ path, status }).toEqual({ path, status: 200 });
    }
    expect(await server.end('SIGTERM')).toEqual({ code: 0, signal: null });
  });

  test('keeps a secret by its own command', async () => {
    await ended({ args: ['migrate'], env: { KEYFRAME_DATABASE_URL: database.url } });
    const server = run({ args: ['api'], env: serverEnvironment() });
    const { port } = await logLine(server, 'started');
    const env = {
      KEYFRAME_URL: `http://127.0.0.1:${String(port)}`,
      KEYFRAME_TOKEN: readFileSync(join(volume, 'token'), 'utf8').trim(),
    };
    const at = ['-o', 'acme', '-p', 'web', '-e', 'production'];
    for (const args of [
      ['org', 'create', 'acme'],
      ['project', 'create', 'web', '-o', 'acme'],
      ['env', 'create', 'production', '-o', 'acme', '-p', 'web'],
      ['set', 'GREETING=hello', ...at],
    ]) {
      expect(await ended({ command: ['keyframe', ...args], env })).toMatchObject({ code: 0 });
    }
    const { output } = await ended({ command: ['keyframe', 'get', 'GREETING', ...at], env });
    expect(output.trim()).toBe('hello');
  });

  test('asks the cluster that is configured, as the controller', async () => {
    await ended({ args: ['migrate'], env: { KEYFRAME_DATABASE_URL: database.url } });
    listener = createServer().listen(0, '127.0.0.1');
    const greeted = greeting(listener);
    await once(listener, 'listening');
    const { port } = listener.address() as AddressInfo;
    writeFileSync(join(volume, 'kubeconfig'), kubeconfigOf(port));
    chmodSync(join(volume, 'kubeconfig'), 0o644);
    const env = { ...serverEnvironment(), KEYFRAME_KUBECONFIG_FILE: '/mnt/kubeconfig' };
    const server = run({ args: ['all'], env });
    // A handshake of TLS, of which this listener knows no more.
    expect(await greeted).toBe(0x16);
    expect(server.isRunning).toBe(true);
  });

  function serverEnvironment(): Record<string, string> {
    return {
      KEYFRAME_DATABASE_URL: database.url,
      KEYFRAME_ROOT_KEY: `test:${randomBytes(32).toString('base64')}`,
      KEYFRAME_HOST: '127.0.0.1',
      KEYFRAME_PORT: '0',
      KEYFRAME_METRICS_PORT: '0',
      KEYFRAME_BOOTSTRAP_ADMIN_EMAIL: 'admin@example.com',
      KEYFRAME_BOOTSTRAP_TOKEN_FILE: '/mnt/token',
    };
  }

  function run(options: Omit<ContainerOptions, 'volume'>): CapturedProcess {
    const container = runImage({ ...options, volume });
    started.push(container);
    return container;
  }

  async function ended(options: Omit<ContainerOptions, 'volume'>): Promise<ProcessEnd & { output: string }> {
    const container = run(options);
    const end = await container.ended;
    return { ...end, output: container.output.toString() };
  }
});

/** The first byte that a client sends. */
async function greeting(listener: Server): Promise<number | undefined> {
  const [socket] = (await once(listener, 'connection')) as [Socket];
  socket.on('error', () => undefined);
  const [data] = (await once(socket, 'data')) as [Buffer];
  socket.destroy();
  return data[0];
}

function kubeconfigOf(port: number): string {
  return `apiVersion: v1
kind: Config
current-context: none
contexts: [{ name: none, context: { cluster: none, user: none } }]
clusters: [{ name: none, cluster: { server: 'https://127.0.0.1:${port}' } }]
users: [{ name: none, user: {} }]
`;
}
