import { expect, test } from '@jest/globals';
import { Readiness } from '../../../src/http/health/readiness.ts';
import type { Clock } from '../../../src/lib/clock.ts';

/** A clock that stands still until the test moves it. */
class ManualClock implements Clock {
  #now = 0;
  #timers: { at: number; callback: () => void }[] = [];

  now(): number {
    return this.#now;
  }

  after(delayMs: number, callback: () => void): () => void {
    const timer = { at: this.#now + delayMs, callback };
    this.#timers.push(timer);
    return () => {
      this.#timers = this.#timers.filter((other) => other !== timer);
    };
  }

  get pending(): number {
    return this.#timers.length;
  }

  pass(ms: number): void {
    this.#now += ms;
    const due = this.#timers.filter(({ at }) => at <= this.#now);
    this.#timers = this.#timers.filter(({ at }) => at > this.#now);
    for (const { callback } of due) callback();
  }
}

test('it is ready when no check has a fault, and names the first that has one', async () => {
  const clock = new ManualClock();
  const faults: (string | undefined)[] = [undefined, undefined];
  const readiness = new Readiness({ clock, checks: faults.map((_, index) => () => Promise.resolve(faults[index])) });
  expect(await readiness.blocker()).toBeUndefined();
  expect(clock.pending).toBe(0);
  clock.pass(200);
  faults[1] = 'the second waits';
  expect(await readiness.blocker()).toBe('the second waits');
});

test('however often it is asked, it checks five times a second at most', async () => {
  const clock = new ManualClock();
  let checks = 0;
  const check = (): Promise<undefined> => {
    checks += 1;
    return Promise.resolve(undefined);
  };
  const readiness = new Readiness({ clock, checks: [check] });
  await Promise.all([readiness.blocker(), readiness.blocker()]);
  clock.pass(199);
  await readiness.blocker();
  expect(checks).toBe(1);
  clock.pass(1);
  await readiness.blocker();
  expect(checks).toBe(2);
});

test('a check that fails is reported without its message, and one that hangs is not waited for', async () => {
  const clock = new ManualClock();
  const failing = new Readiness({ clock, checks: [() => Promise.reject(new Error('canary'))] });
  expect(await failing.blocker()).toBe('the database cannot be reached');
  const hanging = new Readiness({ clock, checks: [() => new Promise(() => {})] });
  const blocker = hanging.blocker();
  clock.pass(2000);
  expect(await blocker).toBe('the database did not respond in time');
});

test('it is not ready from the moment of shutting down, whatever was found before', async () => {
  const readiness = new Readiness({ clock: new ManualClock(), checks: [() => Promise.resolve(undefined)] });
  expect(await readiness.blocker()).toBeUndefined();
  readiness.shutDown();
  expect(await readiness.blocker()).toBe('this process is shutting down');
});
