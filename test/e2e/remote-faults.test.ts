/** A controller over HTTPS loses nothing and leaves nothing stale, whatever happens between it and the server. */
import { setTimeout as pause } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { unpackFormer } from '../support/api/program-folder.ts';
import { RemoteWorld } from '../support/cluster/remote-world.ts';
import { drawOf, isFull, seed } from '../support/fixtures/test-size.ts';
import { waitFor } from '../support/fixtures/wait-for.ts';

/**
 * A model: whatever happens, in whatever order, in the end each Secret equals its environment, the one value of the
 * ServiceToken works, and no Secret was written twice with the same content. The seed decides about the order, and by default
 * about what happens.
 */

const resources = new AsyncDisposableStack();
const limitMs = isFull ? 3_600_000 : 400_000;
/** Longer than the controller waits for an answer; in the full size longer than for a stream, too. */
const silenceMs = isFull ? 60_000 : 11_000;
const delayMs = 200;
let world: RemoteWorld;
let isLate = false;

beforeAll(async () => {
  world = await RemoteWorld.start(resources);
  world.way.delay(() => isLate, delayMs, { times: Infinity });
}, 240_000);

afterAll(() => resources.disposeAsync());

type Fault = () => Promise<void>;

const faults: Readonly<Record<string, Fault>> = {
  'all connections are cut': async () => {
    world.way.kill();
    await world.change();
    world.way.kill();
  },
  'no connection is taken for a while': async () => {
    world.way.refuse();
    world.way.kill();
    await world.change();
    await pause(1_500);
    await world.way.accept();
  },
  'everything is late': async () => {
    isLate = true;
    await world.change();
    await world.settle();
    isLate = false;
  },
  'everything is swallowed for a while': async () => {
    world.way.freeze();
    await world.change();
    await world.requestReconciles();
    await pause(silenceMs);
    world.way.thaw();
  },
  'the server is restarted': async () => {
    await world.change();
    await world.server.stop();
    await world.startServer();
    await world.change();
  },
  'the rules are narrowed and widened': async () => {
    await world.deny(0);
    await world.waitForReason(0, 'ClusterNotAllowed');
    const before = await world.held();
    await world.change();
    await world.deny(1);
    await world.waitForReason(1, 'ClusterNotAllowed');
    expect((await world.held()).slice(0, 2)).toEqual(before.slice(0, 2));
    await world.allow(1);
    await world.allow(0);
  },
  'the cluster is disabled and enabled': async () => {
    await world.decide('disable');
    await world.waitForReason(2, 'ClusterDisabled');
    const before = await world.held();
    await world.change();
    await pause(500);
    expect(await world.held()).toEqual(before);
    await world.decide('enable');
  },
  'the server is replaced by the former release': replaceByFormer,
  'the server is restored from a backup': restoreFromBackup,
};

/** It answers hello with 404: its controllers are not ready and do not lead, and Secrets stay. */
async function replaceByFormer(): Promise<void> {
  const { program } = await unpackFormer(resources);
  const before = await world.held();
  await world.killController();
  await world.server.stop();
  await world.startServer(program);
  await world.startController({ isRefused: true });
  const { controller } = world;
  await waitFor('the refusal', async () => (await controller?.unreadiness())?.includes('of an older release'));
  await world.change();
  await pause(500);
  expect(await controller?.unreadiness()).toContain('of an older release');
  expect(await controller?.metrics()).not.toMatch(/^keyframe_controller_leader 1$/m);
  expect(await world.held()).toEqual(before);
  await world.server.stop();
  await world.startServer();
  await controller?.ready();
}

/** What was committed after the backup is gone, and Secrets follow the environments as they are then. */
async function restoreFromBackup(): Promise<void> {
  await world.server.stop();
  const backup = await world.backUp();
  await world.startServer();
  await world.change();
  await world.settle();
  const before = await world.held();
  await world.server.stop();
  await world.startRecovered(backup);
  await world.waitForReason(1, 'ClusterDisabled');
  expect(await world.held()).toEqual(before);
  await world.decide('enable');
}

/** Kills at different messages, until so many came. */
function killsOf(victim: 'controller' | 'server', count: number): Fault[] {
  const point = fc.record({
    of: fc.constantFrom('call', 'call', ...(victim === 'server' ? [] : (['request'] as const))),
    nth: fc.integer({ min: 1, max: 9 }),
    moment: fc.constantFrom('before' as const, 'after' as const),
  });
  return fc.sample(point, { seed: seed + victim.length, numRuns: count }).map((drawn) => async () => {
    for (let nth: number = drawn.nth; nth >= 1; nth = Math.floor(nth / 2)) {
      if (await world.kill(victim, { ...drawn, nth })) return;
    }
    throw new Error(`No ${drawn.of} came, at which the ${victim} could have been killed.`);
  });
}

/** Everything that happens, in the order of the seed. */
function drawHistory(): readonly (readonly [what: string, fault: Fault])[] {
  const rounds = isFull ? 3 : 1;
  const happened = Array.from({ length: rounds }, () => drawOf(Object.entries(faults), 4)).flat();
  const kills = { controller: isFull ? 25 : 2, server: isFull ? 25 : 1 };
  const all = [
    ...happened,
    ...killsOf('controller', kills.controller).map((fault) => ['the controller is killed', fault] as const),
    ...killsOf('server', kills.server).map((fault) => ['the server is killed', fault] as const),
  ];
  const [drawn = []] = fc.sample(fc.shuffledSubarray(all, { minLength: all.length }), { seed, numRuns: 1 });
  return drawn;
}

test(
  'each Secret equals its environment after each fault, and none is written in vain',
  async () => {
    const past: string[] = [];
    for (const [what, fault] of drawHistory()) {
      past.push(what);
      try {
        await fault();
        await world.settle();
      } catch (error) {
        throw new Error(`After ${past.join('; ')}: ${String(error)}`, { cause: error });
      }
    }
    expect(past.length).toBeGreaterThanOrEqual(6);
  },
  limitMs,
);
