import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { Commits, fill, largeTemplate, manySources, sourcesOfSync } from '../support/cluster/full-environment.ts';
import { MemoryLimit } from '../support/faults/memory-limit.ts';
import type { ServerProcess } from '../support/api/server-process.ts';
import { Stack } from '../support/cluster/stack.ts';
import { type SyncSite, parentOf } from '../support/cluster/sync-site.ts';
import { waitFor } from '../support/fixtures/wait-for.ts';

/**
 * One namespace reads as much as its resources let it, while the process has the memory that the chart gives by default. The
 * process goes on, and another namespace is served. The large form runs with KEYFRAME_TEST_SCALE=full.
 */

const isFull = process.env['KEYFRAME_TEST_SCALE'] === 'full';
const scale = isFull ? { syncs: 16, templates: 100 } : { syncs: 8, templates: 12 };
const limitBytes = 512 * 1024 * 1024;
const syncedMs = 120_000;

const resources = new AsyncDisposableStack();
let stack: Stack;
/** Its environment is full. */
let busy: SyncSite;
let quiet: SyncSite;
let server: ServerProcess;
let commits: Commits;

beforeAll(async () => {
  stack = await Stack.start(resources, { namespaces: 2 });
  busy = await stack.makeSite({ withoutSync: true });
  quiet = await stack.makeSite({ values: { KEY: 'first' } });
  await fill(busy.environment);
  for (let made = 0; made < scale.syncs; made += 1) await createSync(`many-${made}`, manySources(busy, made));
  for (let made = 0; made < scale.templates; made += 1) await createSync(`large-${made}`, largeTemplate(busy, made));
  const memory = MemoryLimit.create(resources, `keyframe-test-${process.pid}`, limitBytes);
  commits = new Commits(busy.environment);
  resources.defer(() => commits.stop());
  commits.start();
  // The API goes down with the controller where both are one process.
  server = await stack.spawnController({ role: 'all', memory });
  await server.ready();
});

afterAll(() => resources.disposeAsync());

async function createSync(name: string, spec: Readonly<Record<string, unknown>>): Promise<void> {
  const body = { apiVersion: 'keyframe.dev/v1alpha1', kind: 'SecretSync', metadata: { name }, spec };
  await busy.kube.json({ method: 'POST', path: parentOf(busy.syncPath), body });
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
