import { describe, expect, test } from '@jest/globals';
import { Throttle, editThrottle } from '../../../src/controller/frame/throttle.ts';
import { FakeClock } from './fake-clock.ts';

function rig(): { clock: FakeClock; throttle: Throttle; enqueued: string[] } {
  const clock = new FakeClock();
  const enqueued: string[] = [];
  return { clock, enqueued, throttle: new Throttle({ clock, intervalMs: 1000, enqueue: (key) => enqueued.push(key) }) };
}

test('the first event is enqueued at once, and all that follow within the interval enqueue once at its end', async () => {
  const { clock, throttle, enqueued } = rig();
  for (let event = 0; event < 5; event += 1) throttle.enqueue('a');
  expect(enqueued).toEqual(['a']);
  await clock.advance(999);
  expect(enqueued).toEqual(['a']);
  await clock.advance(1);
  expect(enqueued).toEqual(['a', 'a']);
});

test('keys do not hold each other up', () => {
  const { throttle, enqueued } = rig();
  throttle.enqueue('a');
  throttle.enqueue('b');
  expect(enqueued).toEqual(['a', 'b']);
});

test('unending events enqueue once an interval, and nothing is left when they cease', async () => {
  const { clock, throttle, enqueued } = rig();
  for (let tenth = 0; tenth < 30; tenth += 1) {
    throttle.enqueue('a');
    await clock.advance(100);
  }
  await clock.advance(5000);
  expect(enqueued).toHaveLength(4);
  expect(clock.pending).toEqual([]);
});

describe('edits of a resource', () => {
  function editRig(): { clock: FakeClock; throttle: Throttle; enqueued: string[] } {
    const clock = new FakeClock();
    const enqueued: string[] = [];
    return { clock, enqueued, throttle: editThrottle(clock, (key) => enqueued.push(key)) };
  }

  test('enqueue at once if there are five or fewer in a row, and again after a rest', async () => {
    const { clock, throttle, enqueued } = editRig();
    for (let edit = 0; edit < 5; edit += 1) throttle.enqueue('a');
    expect(enqueued).toHaveLength(5);
    await clock.advance(10_000);
    expect(clock.pending).toEqual([]);
    for (let edit = 0; edit < 5; edit += 1) throttle.enqueue('a');
    expect(enqueued).toHaveLength(10);
  });

  test('enqueue once a second if they do not end, and the last edit always enqueues', async () => {
    const { clock, throttle, enqueued } = editRig();
    for (let edit = 0; edit < 100; edit += 1) {
      throttle.enqueue('a');
      await clock.advance(100);
    }
    const duringEdits = enqueued.length;
    expect(duringEdits).toBeLessThanOrEqual(5 + 10);
    expect(duringEdits).toBeGreaterThanOrEqual(10);
    throttle.enqueue('a');
    await clock.advance(1000);
    expect(enqueued).toHaveLength(duringEdits + 1);
  });

  test('of a resource that was forgotten enqueue at once, and leave no timer', async () => {
    const { clock, throttle, enqueued } = editRig();
    for (let edit = 0; edit < 9; edit += 1) throttle.enqueue('a');
    throttle.forget('a');
    expect(clock.pending).toEqual([]);
    throttle.enqueue('a');
    expect(enqueued).toHaveLength(6);
    await clock.advance(10_000);
    expect(enqueued).toHaveLength(6);
  });
});
