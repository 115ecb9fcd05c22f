import { describe, expect, test } from '@jest/globals';
import { WakeThrottle, editThrottle } from '../../../src/controller/frame/wake-throttle.ts';
import { FakeClock } from './fake-clock.ts';

function rig(): { clock: FakeClock; throttle: WakeThrottle; woken: string[] } {
  const clock = new FakeClock();
  const woken: string[] = [];
  return { clock, woken, throttle: new WakeThrottle({ clock, intervalMs: 1000, wake: (key) => woken.push(key) }) };
}

test('the first event wakes at once, and all that follow within the interval wake once at its end', async () => {
  const { clock, throttle, woken } = rig();
  for (let event = 0; event < 5; event += 1) throttle.wake('a');
  expect(woken).toEqual(['a']);
  await clock.advance(999);
  expect(woken).toEqual(['a']);
  await clock.advance(1);
  expect(woken).toEqual(['a', 'a']);
});

test('keys do not hold each other up', () => {
  const { throttle, woken } = rig();
  throttle.wake('a');
  throttle.wake('b');
  expect(woken).toEqual(['a', 'b']);
});

test('unending events wake once an interval, and nothing is left when they cease', async () => {
  const { clock, throttle, woken } = rig();
  for (let tenth = 0; tenth < 30; tenth += 1) {
    throttle.wake('a');
    await clock.advance(100);
  }
  await clock.advance(5000);
  expect(woken).toHaveLength(4);
  expect(clock.pending).toEqual([]);
});

describe('edits of a resource', () => {
  function editRig(): { clock: FakeClock; throttle: WakeThrottle; woken: string[] } {
    const clock = new FakeClock();
    const woken: string[] = [];
    return { clock, woken, throttle: editThrottle(clock, (key) => woken.push(key)) };
  }

  test('wake at once if there are five or fewer in a row, and again after a rest', async () => {
    const { clock, throttle, woken } = editRig();
    for (let edit = 0; edit < 5; edit += 1) throttle.wake('a');
    expect(woken).toHaveLength(5);
    await clock.advance(10_000);
    expect(clock.pending).toEqual([]);
    for (let edit = 0; edit < 5; edit += 1) throttle.wake('a');
    expect(woken).toHaveLength(10);
  });

  test('wake once a second if they do not end, and the last edit always wakes', async () => {
    const { clock, throttle, woken } = editRig();
    for (let edit = 0; edit < 100; edit += 1) {
      throttle.wake('a');
      await clock.advance(100);
    }
    const duringEdits = woken.length;
    expect(duringEdits).toBeLessThanOrEqual(5 + 10);
    expect(duringEdits).toBeGreaterThanOrEqual(10);
    throttle.wake('a');
    await clock.advance(1000);
    expect(woken).toHaveLength(duringEdits + 1);
  });

  test('of a resource that was forgotten wake at once, and leave no timer', async () => {
    const { clock, throttle, woken } = editRig();
    for (let edit = 0; edit < 9; edit += 1) throttle.wake('a');
    throttle.forget('a');
    expect(clock.pending).toEqual([]);
    throttle.wake('a');
    expect(woken).toHaveLength(6);
    await clock.advance(10_000);
    expect(woken).toHaveLength(6);
  });
});
