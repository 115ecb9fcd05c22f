import { setTimeout as pause } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { limits } from '../../src/domain/limits.ts';
import type { ApiEnvironment } from '../support/api-client.ts';
import { MemoryLimit } from '../support/memory-limit.ts';
import type { ServerProcess } from '../support/server-process.ts';
import { Stack } from '../support/stack.ts';
import { type SyncSite, parentOf } from '../support/sync-site.ts';
import { waitFor } from '../support/wait-for.ts';

/**
 * One namespace reads as much as its resources let it, while the process has the memory that the chart gives by default. The
 * process goes on, and another namespace is served. The large form runs with KEYFRAME_TEST_SCALE=full.
 */

const isFull = process.env['KEYFRAME_TEST_SCALE'] === 'full';
const scale = isFull ? { syncs: 16, templates: 100 } : { syncs: 8, templates: 12 };
const limitBytes = 512 * 1024 * 1024;
const sourcesOfSync = 8;
const syncedMs = 120_000;
const largeValue = 'v'.repeat(limits.valueBytes);
const largeKeys = Array.from({ length: limits.environmentBytes / limits.valueBytes - 1 }, (_, index) => `KEY_${index}`);

const resources = new AsyncDisposableStack();
let stack: Stack;
/** Its environment is full. */
let busy: SyncSite;
let quiet: SyncSite;
let server: ServerProcess;
let commits: Commits;

beforeAll(async () => {
  stack = await Stack.start(resources, { namespaces: 2 });
  busy = await stack.makeSite({ withoutSync: true, values: { TICK: '0' } });
  quiet = await stack.makeSite({ values: { KEY: 'first' } });
  await fill(busy.environment);
  for (let made = 0; made < scale.syncs; made += 1) await createSync(`many-${made}`, { sources: sources(made) });
  for (let made = 0; made < scale.templates; made += 1) await createSync(`large-${made}`, largeTemplate(made));
  const memory = MemoryLimit.create(resources, `keyframe-test-${process.pid}`, limitBytes);
  commits = new Commits(busy.environment);
  resources.defer(() => commits.stop());
  commits.start();
  // The API goes down with the controller where both are one process.
  server = await stack.spawnController({ role: 'all', memory });
  await server.ready();
});

afterAll(() => resources.disposeAsync());

/** Fills the environment up to its limit. */
async function fill(environment: ApiEnvironment): Promise<void> {
  for (let from = 0; from < largeKeys.length; from += 21) {
    const keys = largeKeys.slice(from, from + 21);
    await environment.change(Object.fromEntries(keys.map((key) => [key, largeValue])));
  }
}

async function createSync(name: string, spec: Readonly<Record<string, unknown>>): Promise<void> {
  const body = { apiVersion: 'keyframe.dev/v1alpha1', kind: 'SecretSync', metadata: { name }, spec };
  await busy.kube.json({ method: 'POST', path: parentOf(busy.syncPath), body });
}

/** Sources that name the full environment, each of which gives one small key. */
function sources(salt: number): unknown[] {
  return Array.from({ length: sourcesOfSync }, (_, index) => ({
    name: `source-${index}`,
    environmentRef: busy.environment.ref,
    tokenSecretRef: { name: busy.tokenSecretName },
    keys: { include: ['TICK'], rename: [{ from: 'TICK', to: `TICK_${salt}_${index}` }] },
  }));
}

/** 32 values of 768 KiB each, which no Secret can hold. */
function largeTemplate(salt: number): Readonly<Record<string, unknown>> {
  const [first = '', second = ''] = [largeKeys[salt % largeKeys.length], largeKeys[(salt + 1) % largeKeys.length]];
  const text = `$(${first})$(${second})$(${first})`;
  return {
    environmentRef: busy.environment.ref,
    tokenSecretRef: { name: busy.tokenSecretName },
    keys: { include: [first, second] },
    template: { data: Object.fromEntries(Array.from({ length: 32 }, (_, index) => [`LARGE_${index}`, text])) },
  };
}

/** Commits to an environment twice a second. */
class Commits {
  /** The value of the newest commit. */
  newest = '0';
  readonly #environment: ApiEnvironment;
  #isStopped = false;
  #running: Promise<void> = Promise.resolve();

  constructor(environment: ApiEnvironment) {
    this.#environment = environment;
  }

  start(): void {
    this.#running = this.#run();
  }

  async stop(): Promise<void> {
    this.#isStopped = true;
    await this.#running;
  }

  async #run(): Promise<void> {
    while (!this.#isStopped) {
      const value = `${Number(this.newest) + 1}`;
      await this.#environment.change({ TICK: value });
      this.newest = value;
      await pause(500);
    }
  }
}

async function reasonOf(name: string): Promise<string | undefined> {
  const path = `${parentOf(busy.syncPath)}/${name}`;
  const sync = await busy.kube.json<{ status?: { conditions?: { type: string; reason: string }[] } }>({ path });
  return sync.status?.conditions?.find(({ type }) => type === 'Ready')?.reason;
}

async function valuesOf(name: string): Promise<string[]> {
  const secret = await busy.kube.find<{ data?: Record<string, string> }>({ path: busy.secretPath(name) });
  return Object.values(secret?.data ?? {}).map((value) => Buffer.from(value, 'base64').toString());
}

function expectAlive(): void {
  if (!server.captured.isRunning) throw new Error(`the server has ended:\n${server.outputTail()}`);
}

describe('a server with the memory of the chart', () => {
  test(
    'syncs every SecretSync of a namespace that names a full environment many times',
    async () => {
      for (let name = 0; name < scale.syncs; name += 1) {
        await waitFor(`Secret many-${name}`, async () => (expectAlive(), (await valuesOf(`many-${name}`)).length > 0), {
          timeoutMs: syncedMs,
        });
      }
    },
    2 * syncedMs,
  );

  test(
    'refuses templates that are too large for a Secret',
    async () => {
      for (let name = 0; name < scale.templates; name += 1) {
        await waitFor(
          `SecretSync large-${name} to be refused`,
          async () => (expectAlive(), (await reasonOf(`large-${name}`)) === 'TooLarge'),
          { timeoutMs: syncedMs },
        );
      }
    },
    2 * syncedMs,
  );

  test('serves another namespace meanwhile', async () => {
    for (let change = 0; change < 5; change += 1) {
      await quiet.environment.change({ KEY: `change ${change}` });
      await quiet.waitForValues({ KEY: `change ${change}` });
    }
    expectAlive();
  });

  test(
    'is still the same process when the commits end, and every Secret holds the last one',
    async () => {
      await commits.stop();
      for (let name = 0; name < scale.syncs; name += 1) {
        await waitFor(
          `Secret many-${name} to hold the last commit`,
          async () => {
            expectAlive();
            expect(await valuesOf(`many-${name}`)).toEqual(Array.from({ length: sourcesOfSync }, () => commits.newest));
            return true;
          },
          { timeoutMs: syncedMs },
        );
      }
      expect(server.captured.isRunning).toBe(true);
      expect(server.captured.output.toString()).not.toContain('heap out of memory');
    },
    2 * syncedMs,
  );
});
