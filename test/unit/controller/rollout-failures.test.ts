import * as messages from '../../../src/controller/kinds/rollout/messages.ts';
import { afterEach, describe, expect, test } from '@jest/globals';
import { ApiError } from '../../../src/kube/client/api-error.ts';
import { settled } from './fake-clock.ts';
import { RolloutHarness, rolloutOf } from './rollout-harness.ts';

const second = 1000;
const minute = 60 * second;

let harness: RolloutHarness;

afterEach(() => harness.stop());

/** Workloads that run with `a`, of which a change to `b` makes the first one fail for a reason. */
async function failing(
  names: readonly string[],
  reason: string,
  onFailure: 'Hold' | 'Rollback' = 'Hold',
): Promise<void> {
  harness = new RolloutHarness(names);
  await harness.converged();
  harness.sync = { ...harness.sync, spec: { ...harness.sync.spec, ...rolloutOf(names, '10m', onFailure) } };
  harness.recordConverged();
  await harness.hold('b');
  await harness.clock.advance(2 * second);
  expect(harness.takeRestarts()).toEqual(names);
  const [first = '', ...others] = names;
  for (const name of others) harness.finish(name);
  harness.putPod(first, reason);
  harness.giveUpOn(first);
  await settled();
}

const message = (): string => harness.reported.at(-1)?.message ?? '';

describe('a workload that failed', () => {
  test('is restarted first for newer data, and the others when it has converged', async () => {
    await failing(['api', 'web'], 'CrashLoopBackOff');
    await harness.clock.advance(second);
    expect(message()).toContain(messages.othersWait('container main: CrashLoopBackOff', 'ns'));
    await harness.hold('c');
    await harness.clock.advance(minute);
    expect(harness.takeRestarts()).toEqual(['api']);
    expect(harness.reported.at(-1)?.reason).toBe('RolloutBlocked');
    harness.finish('api');
    await harness.clock.advance(second);
    expect(harness.takeRestarts()).toEqual(['web']);
  });

  test('holds no workload back if it fails for another reason', async () => {
    await failing(['api', 'web'], 'ImagePullBackOff');
    await harness.clock.advance(second);
    expect(message()).toContain('container main: ImagePullBackOff');
    await harness.hold('c');
    await harness.clock.advance(minute);
    expect(harness.takeRestarts()).toEqual(['api', 'web']);
  });

  test('is looked at again, ever more rarely, until it fails of the data', async () => {
    await failing(['api'], 'ImagePullBackOff', 'Rollback');
    expect(harness.abandoned).toBe(0);
    harness.putPod('api', 'CrashLoopBackOff');
    await harness.clock.advance(9 * second);
    expect(harness.abandoned).toBe(0);
    await harness.clock.advance(2 * second);
    expect(harness.abandoned).toBe(1);
    await harness.clock.advance(60 * minute);
    expect(harness.abandoned).toBe(1);
    expect(harness.rollouts.abandoned(harness.sync)?.reason).toBe('Deployment api, container main: CrashLoopBackOff');
  });

  test('is given up for each restart that fails, and not before the pods could be looked at', async () => {
    await failing(['api'], 'ContainerCreating', 'Rollback');
    harness.putPod('api', 'CrashLoopBackOff');
    harness.cluster.before(/^GET .*\/pods$/, () => {
      throw new ApiError('GET', 500, 'InternalError');
    });
    await harness.clock.advance(11 * second);
    expect(harness.abandoned).toBe(0);
    await harness.clock.advance(21 * second);
    expect(harness.abandoned).toBe(1);
    await harness.hold('c');
    await harness.clock.advance(2 * second);
    harness.putPod('api', 'CrashLoopBackOff');
    harness.giveUpOn('api');
    await settled();
    expect(harness.abandoned).toBe(2);
  });

  test('with the data that all converged with is stuck, and nothing is given up', async () => {
    await failing(['api'], 'CrashLoopBackOff', 'Rollback');
    await harness.hold('a');
    await harness.clock.advance(2 * second);
    expect(harness.takeRestarts()).toEqual(['api']);
    harness.putPod('api', 'CrashLoopBackOff');
    harness.giveUpOn('api');
    await harness.clock.advance(minute);
    expect(harness.reported.at(-1)?.reason).toBe('RolloutStuck');
    expect(message()).toContain(messages.convergedBefore);
    expect([harness.abandoned, harness.takeRestarts()]).toEqual([1, []]);
  });
});

test('a refusal to go back is reported until the next reconcile finds another one, or none', async () => {
  await failing(['api'], 'CrashLoopBackOff', 'Rollback');
  const { held } = harness.rollouts.abandoned(harness.sync) ?? {};
  harness.rollouts.learn(harness.sync, { held, rollbackRefusal: 'B was deleted since' });
  await harness.clock.advance(second);
  expect(harness.reported.at(-1)?.reason).toBe('RollbackImpossible');
  expect(message()).toContain(': B was deleted since;');
  harness.rollouts.learn(harness.sync, { held });
  await harness.clock.advance(second);
  expect(harness.reported.at(-1)?.reason).toBe('RolloutStuck');
});
