import { randomUUID } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from '@jest/globals';
import { ServerEvents } from '../../../src/agent/events.ts';
import { HttpsTransport } from '../../../src/agent/transport.ts';
import type { ChangeEvent } from '../../../src/domain/changes.ts';
import { systemClock } from '../../../src/lib/clock.ts';
import { createLogger } from '../../../src/observability/logger.ts';
import { notifySnapshots } from '../../../src/store/notify.ts';
import { inTransaction } from '../../../src/store/transaction.ts';
import { startTestApi, type TestApi } from '../../support/api/http.ts';
import { createWorldCalls, type WorldCalls } from '../../support/api/with-services.ts';
import { claimName, newHomeToken } from '../../support/database/cluster-credentials.ts';
import { BreakableProxy } from '../../support/faults/breakable-proxy.ts';
import { waitFor } from '../../support/fixtures/wait-for.ts';

/** How a controller reads the stream of changes over HTTP. */

let api: TestApi;
let tokenFile: string;
let folder: string;
let world: WorldCalls['world'];
let calls: WorldCalls['calls'];
/** What a test has opened. */
let open: AsyncDisposableStack;
/** A home cluster that no other test uses. */
let home: string;

beforeAll(async () => {
  api = await startTestApi();
  api.services.feed.start();
  folder = mkdtempSync(join(tmpdir(), 'cluster-event-readers-'));
  tokenFile = join(folder, 'token');
  writeFileSync(tokenFile, await newHomeToken(api.services.database.pool));
});

afterAll(async () => {
  await api.close();
  rmSync(folder, { recursive: true });
});

beforeEach(async () => {
  open = new AsyncDisposableStack();
  home = `home-${randomUUID()}`;
  await claimName(api.services.database.pool, home);
  ({ world, calls } = await createWorldCalls(api.services));
  await waitFor('the feed to hear', () => api.services.feed.ready);
});

afterEach(() => open.disposeAsync());

interface Heard {
  readonly heard: (ChangeEvent | 'ready')[];
  /** How many streams were opened. */
  readonly opened: () => number;
}

/** A controller that listens. `wrap` slows what it reads. */
function listen(
  url = `http://127.0.0.1:${api.port}`,
  wrap = (parts: AsyncIterable<string>): AsyncIterable<string> => parts,
): Heard {
  const heard: Heard['heard'] = [];
  let opened = 0;
  const transport = new HttpsTransport({ url, caFile: undefined, tokenFile, cluster: () => home });
  const events = new ServerEvents({
    transport: {
      stream: async (path, signal) => {
        const parts = await transport.stream(path, signal);
        opened += 1;
        return wrap(parts);
      },
    },
    clock: systemClock,
    logger: createLogger('silent'),
    random: () => 0.01,
  });
  open.defer(events.subscribe({ onEvent: (event) => void heard.push(event), onReady: () => void heard.push('ready') }));
  return { heard, opened: () => opened };
}

async function presentOf(cluster: string): Promise<string | undefined> {
  const { changes } = api.services.clusterPorts.of(cluster);
  const { environments } = await changes.compare({ environmentIds: [world.environment.id] });
  return environments.get(world.environment.id);
}

/** Notifies of so many snapshots of the world's organization, whose ids are in their order. */
async function notify(count: number): Promise<void> {
  const ids = Array.from(
    { length: count },
    (_, number) => `00000000-0000-4000-8000-${String(number).padStart(12, '0')}`,
  );
  await inTransaction(api.services.database, async (tx) => notifySnapshots(tx, world.organization.id, ids));
}

test('a controller that reads too slowly is cut off, and a comparison finds what it missed', async () => {
  const gate = Promise.withResolvers<void>();
  let count = 0;
  const { heard, opened } = listen(undefined, async function* slow(parts) {
    for await (const part of parts) {
      yield part;
      count += 1;
      if (count === 1) await gate.promise;
    }
  });
  await waitFor('the first answer', () => heard.length > 0);
  const present = api.services.clusterStreams.open;
  for (let round = 0; round < 20 && api.services.clusterStreams.open === present; round += 1) await notify(10_000);
  await waitFor('the end of the stream', () => api.services.clusterStreams.open < present);
  const { revisionId } = await calls.put('KEY', '1');
  gate.resolve();
  await waitFor('another stream', () => heard.filter((event) => event === 'ready').length === 2);
  expect(opened()).toBe(2);
  expect(heard.some((event) => event !== 'ready' && event.kind === 'environment')).toBe(false);
  expect(await presentOf(home)).toBe(revisionId);
});

test('a controller that reads 20,000 notifications of one moment misses none', async () => {
  const { heard, opened } = listen();
  await waitFor('the first answer', () => heard.length > 0);
  await notify(20_000);
  await waitFor('all of them', () => heard.length > 20_000);
  expect(opened()).toBe(1);
  const last = heard.at(-1);
  expect(last).toMatchObject({ snapshotId: '00000000-0000-4000-8000-000000019999' });
});

test('a controller notices that the server lost its connection for notifications, and hears again what comes later', async () => {
  const { heard, opened } = listen();
  await waitFor('the first answer', () => heard.length > 0);
  await api.services.database.pool.query(
    `SELECT pg_terminate_backend(pid) FROM pg_stat_activity
       WHERE datname = current_database() AND application_name = 'keyframe-listener'`,
  );
  await waitFor('the next answer', () => heard.length === 2);
  expect([heard, opened()]).toEqual([['ready', 'ready'], 2]);
  const { revisionId } = await calls.put('KEY', '1');
  await waitFor('the commit', () => heard.length === 3);
  expect(heard[2]).toMatchObject({ revisionId });
});

test('a controller connects again after its connection broke, and while the server is away', async () => {
  const proxy = await BreakableProxy.start(api.port);
  open.defer(() => proxy.close());
  const { heard } = listen(proxy.url);
  await waitFor('the first answer', () => heard.length > 0);
  proxy.stop();
  const { revisionId } = await calls.put('KEY', '1');
  await pause(300);
  expect(heard).toEqual(['ready']);
  await proxy.resume();
  await waitFor('the next answer', () => heard.length === 2);
  expect(await presentOf(home)).toBe(revisionId);
});
