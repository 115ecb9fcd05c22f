import { describe, expect, test } from '@jest/globals';
import { Interrupt } from '../../../src/lib/interrupt.ts';

const never = (): Promise<void> => new Promise(() => undefined);

describe('an interrupt', () => {
  test('leaves nothing of a wait that is over, however it ended', async () => {
    const interrupt = new Interrupt();
    for (let turn = 0; turn < 1_000; turn += 1) {
      const { promise, resolve } = Promise.withResolvers<void>();
      const waiting = interrupt.during(promise);
      expect(interrupt.waiting).toBe(1);
      resolve();
      await waiting;
      await expect(interrupt.during(Promise.reject(new Error('failed')))).rejects.toThrow('failed');
      expect(interrupt.waiting).toBe(0);
    }
  });

  test('ends every wait when it is fired, those to come as well', async () => {
    const interrupt = new Interrupt();
    const waits = [interrupt.during(never()), interrupt.during(never())];
    interrupt.fire();
    await Promise.all([...waits, interrupt.during(never())]);
    expect(interrupt.waiting).toBe(0);
  });

  test('makes the waits throw the reason it was fired with first', async () => {
    const interrupt = new Interrupt();
    const wait = interrupt.during(never());
    interrupt.fire(new Error('first'));
    interrupt.fire(new Error('second'));
    await expect(wait).rejects.toThrow('first');
    await expect(interrupt.during(never())).rejects.toThrow('first');
    expect(interrupt.waiting).toBe(0);
  });

  test('ignores what work throws that it no longer waits for', async () => {
    const interrupt = new Interrupt();
    const { promise, reject } = Promise.withResolvers<void>();
    const wait = interrupt.during(promise);
    interrupt.fire();
    await wait;
    reject(new Error('too late'));
    // An unhandled rejection would end the process by now.
    await new Promise((resolve) => setImmediate(resolve));
    expect(interrupt.waiting).toBe(0);
  });
});
