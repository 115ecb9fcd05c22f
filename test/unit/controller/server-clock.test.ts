import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import type { Backend } from '../../../src/controller/backend/backend.ts';
import { ServerClock } from '../../../src/controller/frame/server-clock.ts';
import { childName } from '../../../src/controller/kinds/snapshot-schedule/child.ts';
import { createLogger } from '../../../src/observability/logger.ts';
import { Harness, prod } from './controller-harness.ts';
import { settled } from './fake-clock.ts';
import { noResources, serviceToken } from './fake-services.ts';

const hourMs = 3_600_000;
const snapshots = '/apis/keyframe.dev/v1alpha1/namespaces/ns/secretsnapshots';
const schedulesPath = '/apis/keyframe.dev/v1alpha1/namespaces/ns/snapshotschedules';

describe('the clock of the database', () => {
  let wallMs: number;
  let steadyMs: number;
  let logs: string[];
  let steps: number;
  let server: ServerClock;

  beforeEach(() => {
    [wallMs, steadyMs, logs, steps] = [Date.UTC(2026, 0, 1), 5_000, [], 0];
    const write = (line: string): void => void logs.push((JSON.parse(line) as { msg: string }).msg);
    const logger = createLogger('debug', { write });
    server = new ServerClock({
      clock: { now: () => wallMs },
      steadyNow: () => steadyMs,
      logger,
      onStep: () => (steps += 1),
    });
  });

  /** An answer with a time this far ahead of the wall clock in the middle of its round trip. */
  function answer(aheadMs: number, roundTripMs = 0): void {
    server.note(new Date(wallMs - roundTripMs / 2 + aheadMs), steadyMs - roundTripMs);
  }

  test('is that of the process before the first answer', () => {
    expect([server.now(), server.skewMs, server.warning]).toEqual([wallMs, 0, undefined]);
  });

  test.each([0, 1_000, 10_000])('is known from an answer after %i ms', (roundTripMs) => {
    answer(hourMs, roundTripMs);
    expect([server.now() - wallMs, server.skewMs]).toEqual([hourMs, -hourMs]);
  });

  test('says when an answer moves it by more than a second', () => {
    answer(1_000);
    answer(0);
    expect(steps).toBe(0);
    answer(1_001);
    expect(steps).toBe(1);
    answer(-hourMs, 2_001);
    expect(steps).toBe(1);
    answer(-hourMs);
    expect(steps).toBe(2);
  });

  test('does not move with a step of the wall clock', () => {
    answer(0);
    const before = server.now();
    [wallMs, steadyMs] = [wallMs + hourMs, steadyMs + 7_000];
    expect([server.now() - before, server.skewMs]).toEqual([7_000, hourMs - 7_000]);
  });

  test('is not taken from a slow answer if it is known', () => {
    answer(0);
    answer(hourMs, 2_001);
    expect(server.skewMs).toBe(0);
    answer(hourMs, 2_000);
    expect(server.skewMs).toBe(-hourMs);
  });

  test('causes one warning while it differs by more than 30 seconds', () => {
    answer(30_000);
    expect([server.warning, logs]).toEqual([undefined, []]);
    for (let time = 0; time < 2; time += 1) answer(31_000);
    expect(logs).toEqual([server.warning]);
    expect(server.warning).toContain("31 seconds behind the database's");
    answer(0);
    answer(-31_000);
    expect(logs).toHaveLength(2);
    expect(server.warning).toContain("31 seconds ahead of the database's");
  });
});

describe('with a clock of the database that is an hour ahead', () => {
  let current: Harness;

  beforeEach(() => {
    current = new Harness();
    current.serverAheadMs = hourMs;
    current.cluster.put('/api/v1/namespaces', 'kube-system', () => {});
  });

  afterEach(() => current.controller.stop());

  test('the controller reports it', async () => {
    await current.synced();
    expect(current.clockSkewMs()).toBe(-hourMs);
    expect(current.controller.warnings()).toEqual([expect.stringContaining('3600 seconds behind')]);
    current.serverAheadMs = 0;
    await current.clock.advance(60_000);
    expect([current.clockSkewMs(), current.controller.warnings()]).toEqual([0, []]);
  });

  test('a standby reports it', async () => {
    current.lease.isTaken = true;
    await current.synced();
    await current.clock.advance(1_000);
    expect(current.clockSkewMs()).toBeCloseTo(-hourMs, -1);
  });

  test('the times in a status and in a report are of that clock', async () => {
    await current.synced();
    await current.clock.advance(2_000);
    const nowMs = current.clock.now() + hourMs;
    const syncedMs = Date.parse(current.status().lastSyncTime ?? '');
    expect(Math.abs(nowMs - syncedMs)).toBeLessThan(10_000);
    const [report] = current.services.syncStates.rows.values();
    expect(report?.syncedAt?.getTime()).toBe(syncedMs);
  });

  test('a token expires by that clock', async () => {
    const expiresAt = new Date(current.clock.now() + hourMs + 300_000);
    current.services.create(prod, 'env', { A: 'alpha' });
    current.services.tokens.set('kf_svc_good', serviceToken('good', expiresAt));
    current.putToken('kf_svc_good');
    current.putSync();
    await current.start();
    current.services.tokens.set('kf_svc_good', 'the token has expired');
    await current.clock.advance(290_000);
    expect(current.ready()?.reason).toBe('Synced');
    await current.clock.advance(20_000);
    expect(current.ready()?.reason).toBe('AuthenticationFailed');
  });
});

test('a SnapshotSchedule follows that clock, and its step at once', async () => {
  const none = async (): Promise<void> => await Promise.resolve();
  const schedules: Backend['schedules'] = {
    list: async () => await Promise.resolve([]),
    admit: async (_, slugs) => await Promise.resolve({ ...slugs, environmentId: 'env' }),
    record: none,
    extend: none,
  };
  const harness = new Harness({ resources: { ...noResources, schedules }, clusterName: 'uid' });
  harness.serverAheadMs = hourMs;
  const answer = Promise.withResolvers<void>();
  harness.helloGate = answer.promise;
  const isTaken = (dueMs: number): boolean =>
    harness.cluster.get(`${snapshots}/${childName('half-past', dueMs)}`) !== undefined;
  const [first, second] = [Date.UTC(2026, 0, 1, 0, 30), Date.UTC(2026, 0, 1, 1, 30)];
  try {
    harness.cluster.put('/api/v1/namespaces', 'kube-system', () => {});
    harness.cluster.put(schedulesPath, 'half-past', (object) => {
      // A minute before the clock of the process.
      object.metadata.creationTimestamp = '2025-12-31T23:59:00Z';
      const environmentRef = { organization: 'acme', project: 'web', name: 'prod' };
      const template = { spec: { source: { environmentRef }, deletionPolicy: 'Delete' } };
      object['spec'] = { schedule: '30 * * * *', timeZone: 'UTC', suspend: false, skipUnchanged: false, template };
    });
    await harness.start();
    await harness.clock.advance(5_000);
    expect(isTaken(first)).toBe(false);
    answer.resolve();
    await settled();
    expect(isTaken(first)).toBe(true);
    await harness.clock.advance(1_500_000);
    expect(isTaken(second)).toBe(false);
    await harness.clock.advance(300_000);
    expect(isTaken(second)).toBe(true);
  } finally {
    await harness.controller.stop();
  }
});
