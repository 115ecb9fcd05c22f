import { expect, test } from '@jest/globals';
import { WakeThrottle } from '../../../src/controller/wake-throttle.ts';
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
