import { afterEach, describe, expect, jest, test } from '@jest/globals';
import { markAnnotation } from '../../../src/controller/kinds/rollout/restart-mark.ts';
import { settled } from './fake-clock.ts';
import { RolloutHarness, rolloutOf } from './rollout-harness.ts';

const second = 1000;
const minute = 60 * second;
const hour = 60 * minute;

let harness: RolloutHarness;

afterEach(() => harness.stop());

async function converged(...names: readonly string[]): Promise<void> {
  harness = new RolloutHarness(names.length === 0 ? ['web'] : names);
  await harness.converged();
}

describe('a change of the data', () => {
  test('restarts each workload once, when it has settled', async () => {
    await converged('web', 'worker');
    await harness.hold('b');
    await harness.clock.advance(1_500);
    await harness.hold('c');
    await harness.clock.advance(1_900);
    expect(harness.takeRestarts()).toEqual([]);
    await harness.clock.advance(100);
    expect(harness.takeRestarts()).toEqual(['web', 'worker']);
    expect(harness.mark()).toBe('c');
    for (const name of ['web', 'worker']) harness.finish(name);
    await harness.clock.advance(hour);
    expect(harness.takeRestarts()).toEqual([]);
    expect(harness.reported.at(-1)).toMatchObject({
      reason: 'Converged',
      workloads: [{ revision: 3 }, { revision: 3 }],
    });
  });

  test('restarts although the time to settle ends while it is being looked at, as where a timer fires early', async () => {
    await converged();
    await harness.hold('b');
    await harness.clock.advance(1_999);
    const now = jest.spyOn(harness.clock, 'now').mockReturnValueOnce(harness.clock.now());
    await harness.clock.advance(second);
    expect(now).toHaveBeenCalled();
    now.mockRestore();
    expect(harness.takeRestarts()).toEqual(['web']);
  });

  test('that does not end for a while restarts at last', async () => {
    await converged();
    for (let count = 0; count < 40; count += 1) {
      await harness.hold(count % 2 === 0 ? 'b' : 'c');
      await harness.clock.advance(second);
    }
    expect(harness.takeRestarts()).toEqual(['web']);
  });

  test('restarts once though the watch shows the restart late', async () => {
    await converged();
    const show = harness.cluster.holdWatches();
    await harness.hold('b');
    await harness.clock.advance(20 * second);
    expect(harness.takeRestarts()).toEqual(['web']);
    show();
    await harness.clock.advance(20 * second);
    expect(harness.takeRestarts()).toEqual([]);
  });

  test('that comes while a rollout is under way waits for its end, or for the timeout', async () => {
    await converged();
    await harness.hold('b');
    await harness.clock.advance(2 * second);
    await harness.hold('c');
    await harness.clock.advance(minute);
    expect(harness.takeRestarts()).toEqual(['web']);
    harness.finish('web');
    await settled();
    expect(harness.takeRestarts()).toEqual(['web']);
    await harness.hold('d');
    await harness.clock.advance(10 * minute - second);
    expect(harness.takeRestarts()).toEqual([]);
    await harness.clock.advance(2 * second);
    expect(harness.takeRestarts()).toEqual(['web']);
    expect(harness.mark()).toBe('d');
  });

  test('joins the rollout that another SecretSync has just begun', async () => {
    await converged();
    await harness.hold('b');
    await harness.clock.advance(second);
    harness.put('web', (annotations) => {
      const at = new Date(harness.clock.now()).toISOString().replace('.000', '');
      annotations[markAnnotation('other')] = `1/${'e'.repeat(32)}/${at}`;
    });
    await settled();
    await harness.clock.advance(second);
    expect(harness.takeRestarts()).toEqual(['web']);
  });

  test('reaches a workload that was recreated, and none that is gone or was taken out of the spec', async () => {
    await converged('web', 'worker');
    harness.remove('web');
    await harness.hold('b');
    harness.sync = { ...harness.sync, spec: { ...harness.sync.spec, ...rolloutOf(['web']) } };
    await harness.hold('b');
    await harness.clock.advance(minute);
    expect(harness.takeRestarts()).toEqual([]);
    expect(harness.reported.at(-1)?.reason).toBe('WorkloadNotFound');
    harness.put('web', () => {});
    harness.finish('web');
    await harness.clock.advance(second);
    expect(harness.takeRestarts()).toEqual(['web']);
  });

  test('restarts nothing while the SecretSync is suspended, and once when it goes on', async () => {
    await converged();
    const { sync } = harness;
    harness.sync = { ...sync, spec: { ...sync.spec, suspend: true } };
    harness.rollouts.learn(harness.sync, { held: undefined });
    await settled();
    expect(harness.cluster.openWatches).toEqual([]);
    harness.sync = sync;
    await harness.hold('b');
    await harness.clock.advance(minute);
    expect(harness.takeRestarts()).toEqual(['web']);
  });

  test('is restarted for although the data is what it was, for a pod may have started in between', async () => {
    await converged();
    await harness.hold('b');
    await harness.clock.advance(second);
    await harness.hold('a');
    await harness.clock.advance(minute);
    expect(harness.takeRestarts()).toEqual(['web']);
    harness.finish('web');
    await harness.hold('a');
    await harness.clock.advance(minute);
    expect(harness.takeRestarts()).toEqual([]);
    expect(harness.reported.at(-1)?.reason).toBe('Converged');
  });
});

describe('a workload that the API server shows late', () => {
  test.each([
    ['is restarted as soon as it is seen', true, 'RollingOut'],
    ['is reported as missing as soon as that is known', false, 'WorkloadNotFound'],
  ])('%s', async (_, isThere, reason) => {
    harness = new RolloutHarness();
    if (isThere) harness.put('web', () => {});
    if (isThere) harness.finish('web');
    const listed = Promise.withResolvers<void>();
    harness.cluster.before(/^GET .*deployments$/, () => listed.promise);
    await harness.hold('a');
    await harness.clock.advance(5 * second);
    listed.resolve();
    await settled();
    expect(harness.reported.at(-1)?.reason).toBe(reason);
    expect(harness.takeRestarts()).toEqual(isThere ? ['web'] : []);
  });
});

describe('the status', () => {
  test('follows pods no quicker than once a second, and is silent in the end', async () => {
    await converged();
    await harness.hold('b');
    await harness.clock.advance(2 * second);
    harness.reported.splice(0);
    for (let count = 0; count < 50; count += 1) {
      harness.finish('web', 0);
      await harness.clock.advance(100);
      harness.put('web', () => {});
    }
    expect(harness.reported.length).toBeLessThanOrEqual(7);
    harness.finish('web');
    await harness.clock.advance(minute);
    const reports = harness.reported.length;
    await harness.clock.advance(hour);
    expect(harness.reported).toHaveLength(reports);
    expect(harness.reported.at(-1)?.reason).toBe('Converged');
    expect(harness.clock.pending).toHaveLength(1);
  });
});

test('who leads again restarts nothing for what was held before another led', async () => {
  await converged();
  harness.rollouts.stopLeading();
  harness.put('web', (annotations) => {
    annotations[markAnnotation('app')] = `9/${'b'.repeat(32)}/2026-01-01T00:00:30Z`;
  });
  harness.finish('web');
  await settled();
  harness.rollouts.startLeading();
  await harness.clock.advance(minute);
  expect(harness.takeRestarts()).toEqual([]);
  await harness.hold('b');
  await harness.clock.advance(minute);
  expect(harness.takeRestarts()).toEqual([]);
});

test('what is forgotten leaves no watch, no timer and no work', async () => {
  await converged();
  await harness.hold('b');
  harness.rollouts.forget(harness.key);
  await settled();
  expect(harness.cluster.openWatches).toEqual([]);
  expect(harness.rollouts.queueLength).toBe(0);
  expect(harness.clock.pending).toEqual([]);
  await harness.clock.advance(hour);
  expect(harness.takeRestarts()).toEqual([]);
});
