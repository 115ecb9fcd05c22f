/** @default Of two controllers one works by its Lease; the other one takes over when the leader is stopped in order. */
import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { leaseDurationSeconds } from '../../src/controller/frame/leadership.ts';
import { isWrite } from '../support/faults/api-exchange.ts';
import { CountedSite } from '../support/cluster/counted-site.ts';
import { LeaderPair, isLeader } from '../support/cluster/leader-pair.ts';
import { Stack } from '../support/cluster/stack.ts';
import type { SyncSite } from '../support/cluster/sync-site.ts';
import { waitFor } from '../support/fixtures/wait-for.ts';

const resources = new AsyncDisposableStack();
let stack: Stack;
let pair: LeaderPair;
let namespace: string;
let sites = 0;
let site: SyncSite;
let counted: CountedSite;

beforeAll(async () => {
  stack = await Stack.start(resources, { namespaces: 1 });
  namespace = stack.takeNamespace();
  pair = await LeaderPair.start(resources, stack);
});

afterAll(() => resources.disposeAsync());

beforeEach(async () => {
  sites += 1;
  counted = await CountedSite.make(resources, stack, { namespace, name: `app-${sites}` });
  ({ site } = counted);
});

describe('of two controllers', () => {
  test('one works; the other is ready, watches, and writes nothing', async () => {
    const { leader, standby } = await pair.roles();
    const before = leader.api.count(isWrite);
    await site.environment.change({ COUNT: '1' });
    await site.waitUntilSynced({ COUNT: '1' });
    expect(await standby.server.isReady()).toBe(true);
    expect(await standby.server.metrics()).toMatch(/^keyframe_controller_leader 0$/m);
    expect(standby.api.count(isWrite)).toBe(0);
    // Of the eight kinds, of namespaces, and of the Secrets that are targets or hold tokens.
    expect(standby.api.countOpen(({ isWatch }) => isWatch)).toBe(11);
    expect(leader.api.count(isWrite)).toBeGreaterThan(before);
    expect(counted.history()).toEqual([0, 1]);
  });

  test('the other takes over before the Lease ends when the leader is stopped in order, also where that serves on', async () => {
    const { leader, standby } = await pair.roles();
    const stopped = leader.server.stop();
    await site.environment.change({ COUNT: '1' });
    const beganMs = performance.now();
    await waitFor('the other one to write', () => counted.holds('1'), { pollMs: 20 });
    const tookMs = performance.now() - beganMs;
    // Sooner than the stopped one is done with its delay.
    const isStopping = leader.server.captured.isRunning;
    expect(await stopped).toEqual({ code: 0, signal: null });
    expect(await isLeader(standby)).toBe(true);
    leader.server = await pair.startServer(leader);
    expect(await isLeader(leader)).toBe(false);
    expect(isStopping).toBe(true);
    expect(tookMs).toBeLessThan(leaseDurationSeconds * 1000);
  });
});
