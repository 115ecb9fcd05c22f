import { writeFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { request } from 'node:http';
import { request as requestTls } from 'node:https';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text as textOf } from 'node:stream/consumers';
import { setTimeout as pause } from 'node:timers/promises';
import { afterAll, afterEach, beforeAll, describe, expect, test } from '@jest/globals';
import { limits } from '../../../src/domain/limits.ts';
import { Plaintext } from '../../../src/domain/plaintext.ts';
import { publicRouteTable } from '../../../src/http/routes/table.ts';
import { checkoutDirectory } from '../../../tools/checkout.ts';
import { ServerProcess } from '../../support/api/server-process.ts';
import { createEnvironment, createWorld, newRootKey, startServices } from '../../support/api/services.ts';
import { createTestDatabase } from '../../support/database/postgres.ts';
import { CapturedProcess } from '../../support/faults/captured-process.ts';
import type { LoadGroup, LoadPlan, LoadReport, LoadRequest } from '../../support/faults/http-load.ts';
import { MemoryLimit } from '../../support/faults/memory-limit.ts';
import { isFull } from '../../support/fixtures/test-size.ts';
import { waitFor } from '../../support/fixtures/wait-for.ts';
import { makeAuthority } from '../../support/fixtures/certificate.ts';

/**
 * The API in a control group with the memory that the chart gives it: requests of any number and size do not end it, and
 * another caller is served meanwhile. In the full size each load is tried by itself too, for a minute each.
 */

const loadMs = isFull ? 60_000 : 4_000;
// The clients have low priority, so they may take long to connect beside other tests.
const connectMs = 180_000;
// Beside other tests, PostgreSQL may take longer to answer than a request waits for it or for a connection to it. This caller
// then tries again.
const timedOut = /"code":"store_unavailable"|no database connection was free in time/;
const minServed = 5;
const patienceMs = 60_000;
const testMs = loadMs + patienceMs + connectMs + 120_000;
const mebibyte = 1024 * 1024;
const limitBytes = 512 * mebibyte;
const loadProgram = join(checkoutDirectory, 'test', 'support', 'faults', 'http-load.ts');

const resources = new AsyncDisposableStack();
const authority = makeAuthority();
let perTest = new AsyncDisposableStack();
let folder: string;
let env: Readonly<Record<string, string>>;
let tls: Readonly<Record<string, string>>;
/** Reads and writes of the callers: each has one of a few full environments. */
let reads: LoadRequest[];
let writes: LoadRequest[];
let probeToken: string;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'keyframe-memory-'));
  resources.defer(() => rm(folder, { recursive: true }));
  const database = await createTestDatabase();
  resources.defer(() => database.drop());
  const rootKeys = newRootKey();
  const services = await startServices(database.url, { rootKeys });
  resources.defer(() => services.close());
  const world = await createWorld(services);
  const worlds = [world];
  for (const slug of ['second', 'third', 'fourth']) worlds.push(await createEnvironment(services, world, slug));
  const value = new Plaintext('v'.repeat(limits.valueBytes));
  for (const one of worlds) {
    const access = await one.onEnvironment(one.owner.caller, 'secret.write');
    for (let from = 0; from < 63; from += 21) {
      const keys = Array.from({ length: 21 }, (_, index) => `KEY_${from + index}`);
      await services.secrets.patch(access, { set: new Map(keys.map((key) => [key, value])) });
    }
  }
  // The text of such a body takes twice as much memory as its bytes.
  const wide = `é${'\u{1F511}'.repeat(65_530)}`;
  const set = Object.fromEntries(Array.from({ length: 30 }, (_, index) => [`WIDE_${index}`, wide]));
  const bodyFile = file('wide.json', JSON.stringify({ set }));
  const callers = Array.from({ length: 100 }, (_, index) => worlds[index % worlds.length] ?? world);
  reads = [];
  writes = [];
  for (const caller of callers) {
    const { slugs } = caller;
    const token = (await caller.serviceToken()).token.reveal();
    const path = `/api/v1/secrets/${slugs.organization}/${slugs.project}/${slugs.environment}`;
    reads.push({ method: 'GET', path, token });
    writes.push({ method: 'PATCH', path, token, bodyFile });
  }
  probeToken = world.owner.token.reveal();
  env = { DATABASE_URL: database.url, ROOT_KEY: rootKeys };
  const { certificate, key } = authority.issue({ names: ['localhost'], addresses: ['127.0.0.1'] });
  tls = { TLS_CERTIFICATE_FILE: file('tls.crt', certificate), TLS_KEY_FILE: file('tls.key', key) };
}, 240_000);

afterEach(async () => {
  await perTest.disposeAsync();
  perTest = new AsyncDisposableStack();
});

afterAll(() => resources.disposeAsync());

function file(name: string, text: string): string {
  const path = join(folder, name);
  writeFileSync(path, text);
  return path;
}

/** Each group has its own address, because the connections of one address have a limit. */
function anonymousBodies(): LoadGroup[] {
  const files = [8 * mebibyte, 64 * 1024].map((bytes) => {
    return file(`${bytes}.json`, JSON.stringify({ deviceCode: 'x'.repeat(bytes - 40) }));
  });
  const requests = publicRouteTable
    .filter(({ method }) => method === 'POST')
    .flatMap(({ method, path }) => files.map((bodyFile) => ({ method, path: `/api/v1${path}`, bodyFile })));
  return [{ kind: 'send', from: '127.0.0.2', clients: 200, requests }];
}

function tinyChunks(): LoadGroup[] {
  const bodyFile = file('tiny.json', 'x'.repeat(64 * 1024));
  const requests = [{ method: 'POST', path: '/api/v1/login-tokens', bodyFile, isChunked: true }];
  return [{ kind: 'send', from: '127.0.0.3', clients: 40, requests }];
}

const largeBodies = (): LoadGroup[] => [{ kind: 'send', from: '127.0.0.4', clients: 100, requests: writes }];
const heldBodies = (): LoadGroup[] => [{ kind: 'hold', from: '127.0.0.5', clients: 100, requests: writes }];
const fullReads = (): LoadGroup[] => [{ kind: 'send', from: '127.0.0.6', clients: 50, requests: reads }];
const sleepingReads = (): LoadGroup[] => [{ kind: 'read-nothing', from: '127.0.0.7', clients: 100, requests: reads }];

function sleepingVisitors(): LoadGroup[] {
  const paths = ['/docs/swagger-ui-bundle.js', '/docs/swagger-ui.css', '/openapi.json'];
  const requests = paths.map((path) => ({ method: 'GET', path, times: 8 }));
  return [{ kind: 'read-nothing', from: '127.0.0.8', clients: 1_000, requests }];
}

function everything(): LoadGroup[] {
  return [anonymousBodies, tinyChunks, largeBodies, heldBodies, fullReads, sleepingReads, sleepingVisitors].flatMap(
    (groups) => groups(),
  );
}

interface Target {
  readonly server: ServerProcess;
  readonly memory: MemoryLimit;
  readonly port: number;
  readonly ca: string | undefined;
}

async function start(isTls: boolean): Promise<Target> {
  const memory = MemoryLimit.create(perTest, `keyframe-test-${process.pid}`, limitBytes);
  const server = await ServerProcess.start(perTest, {
    role: 'api',
    env: isTls ? { ...env, ...tls } : env,
    memory,
  });
  const port = Number(new URL(server.url).port);
  return { server, memory, port, ca: isTls ? authority.certificate : undefined };
}

/** The answer to GET /me of a caller who has no part in the load: 200, or the status and the problem. */
function probe({ port, ca }: Target): Promise<string> {
  const headers = { authorization: `Bearer ${probeToken}` };
  const options = { host: '127.0.0.1', port, path: '/api/v1/me', agent: false, headers };
  const { promise, resolve, reject } = Promise.withResolvers<string>();
  const sent = ca === undefined ? request(options) : requestTls({ ...options, ca, servername: 'localhost' });
  sent.on('response', (response) => {
    textOf(response).then(
      (body) => resolve(response.statusCode === 200 ? '200' : `${response.statusCode} ${body}`),
      reject,
    );
  });
  sent.on('error', reject).end();
  return promise;
}

interface Seen {
  readonly refusals: ReadonlySet<string>;
  /** Of the answers that are 200. */
  readonly durationsMs: readonly number[];
  readonly load: LoadReport;
}

/** Loads the server, while another caller asks again and again. Throws if a request of that caller fails. */
async function during(target: Target, groups: readonly LoadGroup[]): Promise<Seen> {
  const plan: LoadPlan = { port: target.port, ca: target.ca, groups };
  // With low priority: clients have their own machines.
  const args = ['-n', '10', process.execPath, loadProgram, JSON.stringify(plan)];
  const load = new CapturedProcess({ name: 'load', program: 'nice', args, env: { PATH: process.env['PATH'] ?? '' } });
  perTest.defer(async () => void (await load.end('SIGKILL')));
  const reported = (): LoadReport | undefined => {
    const line = load.output.toString().split('\n').at(-2);
    return line === undefined ? undefined : (JSON.parse(line) as LoadReport);
  };
  const clients = groups.reduce((sum, group) => sum + group.clients, 0);
  // Over TLS, there are fewer places than clients of all loads together.
  await waitFor('the load', () => (reported()?.connected ?? 0) >= clients / 2, { timeoutMs: connectMs });
  const refusals = new Set<string>();
  const durationsMs: number[] = [];
  const untilMs = Date.now() + loadMs;
  for (; Date.now() < untilMs || durationsMs.length < minServed; await pause(20)) {
    const startedMs = performance.now();
    const answer = await probe(target);
    if (answer === '200') durationsMs.push(performance.now() - startedMs);
    else if (!timedOut.test(answer) || Date.now() > untilMs + patienceMs) refusals.add(answer);
    if (refusals.size > 0 && Date.now() > untilMs) break;
  }
  await load.end('SIGKILL');
  return { refusals, durationsMs, load: reported() ?? { connected: 0, statuses: {} } };
}

/** For the pages that name figures. */
function report(name: string, { memory }: Target, { durationsMs, load }: Seen): void {
  if (process.env['KEYFRAME_TEST_FIGURES'] === undefined) return;
  const sorted = durationsMs.toSorted((one, other) => one - other);
  const at = (share: number): number => Math.round(sorted[Math.floor((sorted.length - 1) * share)] ?? 0);
  const peak = Math.round((memory.peakBytes() ?? 0) / mebibyte);
  process.stderr.write(
    `${name}: peak ${peak} MiB, ${sorted.length} probes: median ${at(0.5)} ms, 99 of 100 ${at(0.99)} ms, ` +
      `longest ${at(1)} ms; load ${JSON.stringify(load)}\n`,
  );
}

// The last one has all others in it.
const loads = [
  ['200 clients without a token that send bodies', anonymousBodies],
  ['clients without a token whose bodies have chunks of one byte', tinyChunks],
  ['100 callers who write 8 MiB each', largeBodies],
  ['100 callers who send half of 8 MiB', heldBodies],
  ['50 callers who each read a full environment', fullReads],
  ['100 callers who read nothing of a full environment', sleepingReads],
  ['1,000 visitors who read nothing of pages', sleepingVisitors],
  ['all of them together', everything],
] as const;

describe.each([
  ['plain HTTP', false],
  ['TLS', true],
])('over %s', (protocol, isTls) => {
  test.each(isFull ? loads : loads.slice(-1))(
    'the process survives %s',
    async (name, groups) => {
      const target = await start(isTls);
      const seen = await during(target, groups()).catch((error: unknown) => {
        throw new Error(`the load was not survived; the end of the output:\n${target.server.outputTail()}`, {
          cause: error,
        });
      });
      report(`${protocol}, ${name}`, target, seen);
      expect(target.server.captured.isRunning).toBe(true);
      // Neither 503 nor 429: the others cannot use up what this caller needs.
      expect([...seen.refusals]).toEqual([]);
    },
    testMs,
  );
});
