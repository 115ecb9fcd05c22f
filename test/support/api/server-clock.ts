import { jest } from '@jest/globals';

// All but Date.
const left = [
  'hrtime',
  'nextTick',
  'performance',
  'queueMicrotask',
  'setImmediate',
  'clearImmediate',
  'setInterval',
  'clearInterval',
  'setTimeout',
  'clearTimeout',
] as const;

/**
 * Runs `work` while the wall clock of this process, but not the database's, is off by so many milliseconds. The clock
 * stands still meanwhile; timers run on.
 */
export async function withServerClockOff<T>(byMs: number, work: () => Promise<T>): Promise<T> {
  jest.useFakeTimers({ now: Date.now() + byMs, doNotFake: [...left] });
  try {
    return await work();
  } finally {
    jest.useRealTimers();
  }
}
