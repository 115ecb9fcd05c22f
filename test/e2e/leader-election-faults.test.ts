import { setTimeout as pause } from 'node:timers/promises';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { leaseDurationSeconds } from '../../src/controller/frame/leadership.ts';
import type { LeaseObject } from '../../src/kube/lease.ts';
import { isWrite } from '../support/faults/api-exchange.ts';
import { createNamespace, discardNamespace } from '../support/cluster/cluster.ts';
import { CountedSite } from '../support/cluster/counted-site.ts';
import { LeaderPair, type Member, isLeader } from '../support/cluster/leader-pair.ts';
import { runs } from '../support/faults/postgres-proxy.ts';
import { writesOf } from '../support/api/secret-requests.ts';
import { Stack } from '../support/cluster/stack.ts';
import type { SyncSite } from '../support/cluster/sync-site.ts';
import { waitFor } from '../support/fixtures/wait-for.ts';

const resources = new AsyncDisposableStack();
// The Lease's duration, and the time until a stand-by looks.
const takeoverMs = (leaseDurationSeconds + 3) * 1000;
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

const roles = (): ReturnType<LeaderPair['roles']> => pair.roles();

/** How many reconciliations of SecretSyncs a controller has ended. */
async function endedReconciles({ server }: Member): Promise<number> {
  const counts = (await server.metrics()).matchAll(
    /^keyframe_reconcile_duration_seconds_count\{kind="SecretSync",.*\} (\d+)$/gm,
  );
  return Array.from(counts, ([, count]) => Number(count)).reduce((sum, count) => sum + count, 0);
}

describe('of two controllers', () => {
  test('the other takes over when the Lease of a killed leader has ended', async () => {
    const { leader, standby } = await roles();
    await leader.server.kill();
    await site.environment.change({ COUNT: '1' });
    const beganMs = performance.now();
    await waitFor('the other one to write', () => counted.holds('1'));
    const tookMs = performance.now() - beganMs;
    leader.server = await pair.startServer(leader);
    expect(await isLeader(standby)).toBe(true);
    await site.waitUntilSynced({ COUNT: '1' });
    expect(counted.history()).toEqual([0, 1]);
    // Twice what it takes, for a busy machine.
    expect(tookMs).toBeLessThan(2 * takeoverMs);
  });
});

describe('a leader that is frozen past its Lease and thawed', () => {
  test('writes nothing of what it had read before, and stands by', async () => {
    const { leader, standby } = await roles();
    // The environment has been read when its reading is audited.
    const hold = leader.database.hold(runs(/INSERT INTO\s+"?audit_entry/i));
    await site.environment.change({ COUNT: '1' });
    await hold.arrived();
    const ended = await endedReconciles(leader);
    leader.server.suspend();
    await site.environment.change({ COUNT: '2' });
    await site.waitUntilSynced({ COUNT: '2' });
    const written = await site.existingSecret();
    const before = leader.api.count(isWrite);
    hold.release();
    leader.server.resume();
    await waitFor('the thawed one to know', async () => !(await isLeader(leader)));
    await waitFor('the reading that was held to lead to its end', async () => (await endedReconciles(leader)) > ended);
    expect(leader.api.count(isWrite)).toBe(before);
    expect(await isLeader(standby)).toBe(true);
    expect((await site.existingSecret()).metadata.resourceVersion).toBe(written.metadata.resourceVersion);
    expect(counted.history()).toEqual([0, 2]);
  });

  test('has its write that was on the way refused', async () => {
    const { leader } = await roles();
    const hold = leader.api.hold(writesOf(site, 'PUT'));
    await site.environment.change({ COUNT: '1' });
    await hold.arrived();
    leader.server.suspend();
    await site.environment.change({ COUNT: '2' });
    await site.waitUntilSynced({ COUNT: '2' });
    hold.release();
    leader.server.resume();
    await waitFor('the thawed one to know', async () => !(await isLeader(leader)));
    await site.environment.change({ COUNT: '3' });
    await site.waitUntilSynced({ COUNT: '3' });
    expect(counted.history()).toEqual([0, 2, 3]);
  });
});

describe('the API server', () => {
  test('is away for longer than a Lease lasts: the leader stops, none leads, and one continues when it is back', async () => {
    const { leader, standby } = await roles();
    for (const { api } of [leader, standby]) {
      api.refuse();
      api.kill();
    }
    const beganMs = performance.now();
    await site.environment.change({ COUNT: '1' });
    await waitFor('the leader to stop', async () => !(await isLeader(leader)));
    expect((performance.now() - beganMs) / 1000).toBeLessThan(leaseDurationSeconds);
    // By then a stand-by that reached the API server would have led.
    await pause(takeoverMs - (performance.now() - beganMs));
    expect([await isLeader(leader), await isLeader(standby)]).toEqual([false, false]);
    expect(await standby.server.isReady()).toBe(true);
    await Promise.all([leader.api.accept(), standby.api.accept()]);
    await site.waitUntilSynced({ COUNT: '1' });
    await roles();
    expect(counted.history()).toEqual([0, 1]);
  });
});

describe('the Lease', () => {
  test('that is given to another holder by hand stops the leader at once, and is taken when that one stays silent', async () => {
    const { leader } = await roles();
    const contentType = 'application/merge-patch+json';
    const body = { spec: { holderIdentity: 'another' } };
    await stack.kube.json({ method: 'PATCH', path: pair.leasePath, contentType, body });
    await waitFor('the leader to stop', async () => !(await isLeader(leader)), { timeoutMs: 5_000 });
    await site.environment.change({ COUNT: '1' });
    await site.waitUntilSynced({ COUNT: '1' });
    expect(counted.history()).toEqual([0, 1]);
  });

  test('that a hand deletes is made again', async () => {
    await roles();
    await stack.kube.json({ method: 'DELETE', path: pair.leasePath });
    const made = await waitFor('a new Lease', () => stack.kube.find<LeaseObject>({ path: pair.leasePath }));
    expect(made.spec?.holderIdentity).toMatch(/_[0-9a-f-]{36}$/);
    await site.environment.change({ COUNT: '1' });
    await site.waitUntilSynced({ COUNT: '1' });
  });

  test('that the account may not hold is reported by readiness, with the rules to apply', async () => {
    const foreign = await createNamespace(stack.kube);
    resources.defer(() => discardNamespace(foreign, stack.kube));
    const server = await stack.spawnController({ name: 'without rights', env: { NAMESPACE: foreign } });
    const readiness = async (): Promise<boolean> => {
      const answer = await fetch(`${server.metricsUrl}/readyz`);
      expect(await answer.text()).toContain(`hold its Lease keyframe-controller in the namespace ${foreign}`);
      return answer.status === 503;
    };
    await waitFor('readiness to report', readiness);
    await server.stop();
  });
});
