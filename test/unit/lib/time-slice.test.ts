import { setImmediate as nextTurn } from 'node:timers/promises';
import { beforeEach, expect, jest, test } from '@jest/globals';
import { mapInSlices, TimeSlice } from '../../../src/lib/time-slice.ts';

// The clock stands still unless a test moves it: a busy machine must not use up a slice. The event loop is the real one.
beforeEach(() => {
  jest.useFakeTimers({ doNotFake: ['setImmediate', 'nextTick', 'queueMicrotask'] });
});

function keepBusy(ms: number): void {
  jest.advanceTimersByTime(ms);
}

test('a short computation ends in the turn in which it began', async () => {
  let turns = 0;
  const count = async (): Promise<void> => {
    for (;;) {
      await nextTurn();
      turns += 1;
      if (turns === 100) return;
    }
  };
  const counted = count();
  await expect(mapInSlices([1, 2, 3], (number) => number * 2)).resolves.toEqual([2, 4, 6]);
  expect(turns).toBe(0);
  await counted;
});

test('of several long computations one continues in a turn, in their order', async () => {
  let turn = 0;
  const stop = new AbortController();
  const counted = (async () => {
    while (!stop.signal.aborted) {
      await nextTurn();
      turn += 1;
    }
  })();
  const seen: { readonly name: string; readonly turn: number }[] = [];
  const compute = async (name: string): Promise<void> => {
    const slice = new TimeSlice();
    for (let part = 0; part < 4; part += 1) {
      keepBusy(15);
      expect(slice.isOver).toBe(true);
      await slice.next();
      expect(slice.isOver).toBe(false);
      seen.push({ name, turn });
    }
  };
  await Promise.all([compute('a'), compute('b'), compute('c')]);
  stop.abort();
  await counted;
  expect(seen.map(({ name }) => name).join('')).toBe('abcabcabcabc');
  expect(new Set(seen.map((each) => each.turn)).size).toBe(seen.length);
});

test('what fails in a slice fails the whole', async () => {
  const failing = mapInSlices([1], () => {
    throw new RangeError('wrong');
  });
  await expect(failing).rejects.toThrow(RangeError);
});
