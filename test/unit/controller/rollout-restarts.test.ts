import { afterEach, describe, expect, test } from '@jest/globals';
import { ApiError } from '../../../src/kube/client/api-error.ts';
import { markAnnotation } from '../../../src/controller/kinds/rollout/restart-mark.ts';
import { RolloutHarness, restartOf } from './rollout-harness.ts';

const second = 1000;
const minute = 60 * second;
const hour = 60 * minute;

let harness: RolloutHarness;

afterEach(() => harness.stop());

async function converged(...names: readonly string[]): Promise<void> {
  harness = new RolloutHarness(names.length === 0 ? ['web'] : names);
  await harness.converged();
}

const refuse = (status: number) => (): never => {
  throw new ApiError('PATCH', status, 'Refused');
};

/** Takes the annotation away as soon as the workload carries it, for so long; answers how many restarts there were. */
async function strippedFor(ms: number, stepMs: number): Promise<number> {
  let restarts = 0;
  for (let passed = 0; passed < ms; passed += stepMs) {
    if (harness.mark() !== undefined) {
      harness.put('web', (annotations) => delete annotations[markAnnotation('app')]);
      harness.finish('web');
    }
    await harness.clock.advance(stepMs);
    restarts += harness.takeRestarts().length;
  }
  return restarts;
}

describe('a restart that is undone', () => {
  test('is made once more at once, and then with growing pauses, with a reason that says so', async () => {
    await converged();
    expect(await strippedFor(minute, second)).toBe(2);
    expect(harness.reported.at(-1)?.reason).toBe('RolloutUndone');
    expect(await strippedFor(24 * hour, 5 * minute)).toBeLessThan(11);
    await harness.hold('b');
    await harness.clock.advance(2 * second);
    expect(harness.takeRestarts()).toEqual(['web']);
  });

  test('by something that leaves the workload as it was costs no write a second', async () => {
    await converged();
    let patches = 0;
    harness.put('web', (annotations) => delete annotations[markAnnotation('app')]);
    harness.finish('web');
    for (let passed = 0; passed < 900; passed += 1) {
      harness.cluster.before(restartOf('web'), ({ body }) => {
        patches += 1;
        delete (body as { spec?: unknown }).spec;
      });
      await harness.clock.advance(second);
      harness.cluster.mend();
    }
    expect(patches).toBe(3);
  });

  test('long after it was made is made again at once, however often', async () => {
    await converged();
    for (let count = 0; count < 3; count += 1) {
      await harness.clock.advance(7 * hour);
      expect(await strippedFor(3 * second, 3 * second)).toBe(1);
      expect(await strippedFor(3 * second, 3 * second)).toBe(1);
      expect(await strippedFor(3 * second, 3 * second)).toBe(0);
      await harness.clock.advance(hour);
      expect(harness.takeRestarts()).toEqual(['web']);
      harness.finish('web');
    }
  });
});

describe('a restart that fails', () => {
  test('holds up no other workload, and is tried ever more rarely whatever the workload does', async () => {
    await converged('web', 'worker');
    let tries = 0;
    const refusing = (): void =>
      harness.cluster.before(restartOf('web'), () => {
        tries += 1;
        refusing();
        refuse(403)();
      });
    refusing();
    await harness.hold('b');
    for (let passed = 0; passed < 5 * 60; passed += 1) {
      harness.finish('web', passed % 2);
      await harness.clock.advance(second);
    }
    expect(harness.takeRestarts().filter((name) => name === 'worker')).toEqual(['worker']);
    expect(tries).toBeLessThan(20);
    expect(harness.reported.at(-1)?.reason).toBe('RolloutsForbidden');
    harness.finish('worker');
    await harness.hold('c');
    await harness.clock.advance(second);
    await harness.hold('d');
    await harness.clock.advance(second);
    expect(harness.takeRestarts()).not.toContain('worker');
    await harness.clock.advance(second);
    expect(harness.takeRestarts()).toContain('worker');
  });

  test('is tried at once for the next change of the data', async () => {
    await converged();
    let isRefused = true;
    const refusing = (): void =>
      harness.cluster.before(restartOf('web'), () => {
        if (!isRefused) return;
        refusing();
        refuse(403)();
      });
    refusing();
    await harness.hold('b');
    await harness.clock.advance(10 * minute);
    isRefused = false;
    await harness.hold('c');
    await harness.clock.advance(2 * second);
    expect(harness.mark()).toBe('c');
  });

  test('because the workload was changed meanwhile is made again', async () => {
    await converged();
    harness.cluster.before(restartOf('web'), refuse(409));
    await harness.hold('b');
    await harness.clock.advance(5 * second);
    expect(harness.mark()).toBe('b');
  });
});
