import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { MemoryBudget, type MemoryHolder, type MemoryOwner } from '../../../src/lib/memory-budget.ts';

const ownerOf = (name: string): MemoryOwner => `namespace ${name}`;
const settled = (): Promise<void> => new Promise((resolve) => void setImmediate(resolve));

interface Job {
  readonly owner: string;
  readonly bytes: number;
  readonly number: number;
  end: (fault?: Error) => void;
}

/** Work under a budget that lasts until the test ends it. */
class Site {
  readonly budget: MemoryBudget;
  /** In the order in which they began. */
  readonly running: Job[] = [];
  readonly began: number[] = [];
  readonly asked: Omit<Job, 'end'>[] = [];
  readonly results: Promise<unknown>[] = [];

  constructor(maxBytes: number) {
    this.budget = new MemoryBudget({ maxBytes });
  }

  async ask(owner: string, bytes: number): Promise<void> {
    const number = this.asked.length;
    this.asked.push({ owner, bytes, number });
    this.results.push(this.#run({ owner, bytes, number }).catch((error: unknown) => error));
    await settled();
  }

  async #run({ owner, bytes, number }: Omit<Job, 'end'>): Promise<number> {
    using holder = this.budget.holder(ownerOf(owner));
    await holder.reserve(bytes);
    const { promise, resolve, reject } = Promise.withResolvers<number>();
    this.began.push(number);
    const end = (fault?: Error): void => (fault === undefined ? resolve(number) : reject(fault));
    this.running.push({ owner, bytes, number, end });
    return await promise;
  }

  async end(index: number, fault?: Error): Promise<void> {
    this.running.splice(index, 1)[0]?.end(fault);
    await settled();
  }

  /** Bytes that run, of one owner or of all. */
  bytes(owner?: string): number {
    const own = this.running.filter((job) => owner === undefined || job.owner === owner);
    return own.reduce((total, { bytes }) => total + bytes, 0);
  }
}

describe('a budget', () => {
  test('runs what fits at once and the rest when bytes are released', async () => {
    const site = new Site(100);
    for (const [owner, bytes] of [
      ['a', 40],
      ['b', 50],
      ['c', 20],
    ] as const)
      await site.ask(owner, bytes);
    expect(site.began).toEqual([0, 1]);
    expect(site.budget.held).toBe(90);
    await site.end(0);
    expect(site.began).toEqual([0, 1, 2]);
  });

  test('leaves half of it to other owners', async () => {
    const site = new Site(100);
    for (let count = 0; count < 5; count += 1) await site.ask('busy', 20);
    expect(site.bytes('busy')).toBe(40);
    await site.ask('quiet', 50);
    expect(site.bytes('quiet')).toBe(50);
  });

  test('releases the bytes of work that throws, and passes its error on', async () => {
    const site = new Site(100);
    await site.ask('a', 50);
    await site.ask('a', 50);
    const fault = new Error('cut off');
    await site.end(0, fault);
    expect(await site.results[0]).toBe(fault);
    expect(site.began).toEqual([0, 1]);
    await site.end(0);
    expect(site.budget.held).toBe(0);
  });

  test('admits what exceeds it alone while nothing else is held', async () => {
    const site = new Site(100);
    await site.ask('a', 500);
    await site.ask('b', 1);
    expect(site.began).toEqual([0]);
    await site.end(0);
    expect(site.began).toEqual([0, 1]);
  });

  test('does not let small work of the same owner keep large work waiting for ever', async () => {
    const site = new Site(120);
    await site.ask('a', 30);
    await site.ask('a', 60);
    // Before any of it ends, more of it comes.
    for (let round = 0; round < 60 && !site.began.includes(1); round += 1) {
      await site.ask('a', 30);
      await site.end(0);
    }
    expect(site.began).toContain(1);
  });

  test('does not let small work of many owners keep large work waiting for ever', async () => {
    const site = new Site(120);
    for (const owner of ['b', 'c']) await site.ask(owner, 40);
    await site.ask('a', 60);
    for (let round = 0; round < 60 && !site.began.includes(2); round += 1) {
      await site.ask(`owner-${round}`, 40);
      await site.end(0);
    }
    expect(site.began).toContain(2);
  });

  test('lets small work pass large work that waits for its own owner', async () => {
    const site = new Site(100);
    await site.ask('busy', 30);
    await site.ask('busy', 40);
    expect(site.budget.waiting).toBe(1);
    for (let count = 0; count < 100; count += 1) {
      await site.ask('quiet', 30);
      expect(site.bytes('quiet')).toBe(30);
      await site.end(1);
    }
  });
});

describe('a holder', () => {
  /** A holder with bytes that were free. */
  const holding = (budget: MemoryBudget, owner: string, bytes: number): MemoryHolder => {
    const holder = budget.holder(ownerOf(owner));
    expect(holder.tryReserve(bytes)).toBeUndefined();
    return holder;
  };

  test('learns whether the budget or the share of its owner is used up', () => {
    const budget = new MemoryBudget({ maxBytes: 100, maxBytesOfOwner: 40 });
    holding(budget, 'a', 30);
    expect(budget.holder(ownerOf('a')).tryReserve(20)).toBe('owner');
    for (const owner of ['b', 'c']) holding(budget, owner, 30);
    expect(budget.holder(ownerOf('d')).tryReserve(20)).toBe('all');
    expect(budget.held).toBe(90);
  });

  test('grows beyond every limit while nothing else is held', () => {
    const budget = new MemoryBudget({ maxBytes: 100 });
    const holder = holding(budget, 'a', 80);
    expect(holder.tryReserve(80)).toBeUndefined();
    expect(budget.holder(ownerOf('b')).tryReserve(1)).toBe('all');
    holder.release(70);
    expect([holder.bytes, budget.held]).toEqual([90, 90]);
    holder.release();
    expect(budget.held).toBe(0);
  });

  test('gives back what it was forced to hold, and no more', () => {
    const budget = new MemoryBudget({ maxBytes: 100 });
    const other = holding(budget, 'b', 90);
    const holder = budget.holder();
    holder.force(50);
    holder.moveTo(ownerOf('a'));
    expect(budget.held).toBe(140);
    holder.release(1_000);
    holder.release();
    other.release();
    expect(budget.held).toBe(0);
    holding(budget, 'a', 100);
  });

  test('must not wait for more while it holds something', async () => {
    const budget = new MemoryBudget({ maxBytes: 100 });
    const holder = holding(budget, 'a', 10);
    await expect(holder.reserve(10)).rejects.toThrow('must not wait for more');
    expect(budget.held).toBe(10);
  });

  test('gets the error of its limit if nothing becomes free, and lets the next one start', async () => {
    const budget = new MemoryBudget({ maxBytes: 100, maxOvertaken: 0 });
    const first = holding(budget, 'a', 50);
    const late = new Error('late');
    const waiting = budget.holder(ownerOf('b')).reserve(100, { waitMs: 5, makeError: () => late });
    const next = budget.holder(ownerOf('c')).reserve(50);
    await expect(waiting).rejects.toBe(late);
    await next;
    first.release();
    expect([budget.held, budget.waiting]).toEqual([50, 0]);
  });

  test('has the next free memory kept for it if none may overtake it', async () => {
    const budget = new MemoryBudget({ maxBytes: 100, maxOvertaken: 0 });
    const first = holding(budget, 'a', 50);
    const large = budget.holder(ownerOf('b')).reserve(100);
    expect(budget.holder(ownerOf('c')).tryReserve(10)).toBe('all');
    first.release();
    await large;
    expect(budget.held).toBe(100);
  });
});

describe('a signal', () => {
  /** Notes each name when its bytes are free. */
  const signals = (budget: MemoryBudget, bytes: number, names: readonly string[]): string[] => {
    const ready: string[] = [];
    for (const name of names) budget.whenFree(ownerOf(name), bytes, () => ready.push(name));
    return ready;
  };

  test('comes at once if the bytes are free, and reserves nothing', async () => {
    const budget = new MemoryBudget({ maxBytes: 100 });
    const ready = signals(budget, 50, ['a']);
    await settled();
    expect(ready).toEqual(['a']);
    expect([budget.held, budget.waiting]).toEqual([0, 0]);
  });

  test('names no bytes that another one names at the same moment', async () => {
    const budget = new MemoryBudget({ maxBytes: 100 });
    const holder = budget.holder(ownerOf('busy'));
    holder.force(100);
    const ready = signals(budget, 40, ['a', 'b', 'c']);
    holder.release();
    await settled();
    expect(ready).toEqual(['a', 'b']);
    expect([budget.held, budget.waiting]).toEqual([0, 1]);
  });

  test('comes after the reservations that wait, and never if it was cancelled', async () => {
    const budget = new MemoryBudget({ maxBytes: 100, maxOvertaken: 0 });
    const holder = budget.holder(ownerOf('busy'));
    holder.force(100);
    const ready = signals(budget, 50, ['a']);
    const cancel = budget.whenFree(ownerOf('b'), 1, () => ready.push('b'));
    const reserved = budget.holder(ownerOf('c')).reserve(60);
    holder.release();
    cancel();
    await reserved;
    await settled();
    expect(ready).toEqual([]);
    expect(budget.waiting).toBe(1);
  });
});

type Step =
  | { readonly kind: 'ask'; readonly owner: string; readonly bytes: number }
  | { readonly kind: 'end'; readonly index: number; readonly isFault: boolean };

const step: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 3,
    arbitrary: fc.record({
      kind: fc.constant('ask' as const),
      owner: fc.constantFrom('a', 'b', 'c'),
      bytes: fc.oneof({ weight: 5, arbitrary: fc.integer({ min: 1, max: 50 }) }, fc.integer({ min: 1, max: 150 })),
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({ kind: fc.constant('end' as const), index: fc.nat(20), isFault: fc.boolean() }),
  },
);

/** What is wrong with what runs at this moment. */
function faultOf(site: Site, maxBytes: number): string | undefined {
  if (site.budget.held !== site.bytes()) return 'other bytes are held than run';
  if (site.bytes() > maxBytes && site.running.length > 1) return 'the budget is exceeded';
  const owners = new Set(site.running.map(({ owner }) => owner));
  const isOver = (owner: string): boolean =>
    site.bytes(owner) > maxBytes / 2 && site.running.filter((job) => job.owner === owner).length > 1;
  return [...owners].some(isOver) ? 'an owner has more than its share' : undefined;
}

test('a budget is never exceeded, loses no work and no bytes, and lets no work wait without end', async () => {
  const maxBytes = 100;
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 150, size: 'max' }), async (steps) => {
      const site = new Site(maxBytes);
      const faults: (string | undefined)[] = [];
      for (const one of steps) {
        if (one.kind === 'ask') await site.ask(one.owner, one.bytes);
        else if (site.running.length > 0)
          await site.end(one.index % site.running.length, one.isFault ? new Error('cut off') : undefined);
        faults.push(faultOf(site, maxBytes));
      }
      while (site.running.length > 0) {
        await site.end(0);
        faults.push(faultOf(site, maxBytes));
      }
      expect(faults.filter((fault) => fault !== undefined)).toEqual([]);
      expect(site.began.toSorted((a, b) => a - b)).toEqual(site.asked.map(({ number }) => number));
      expect([site.budget.held, site.budget.waiting]).toEqual([0, 0]);
    }),
    { numRuns: 60 },
  );
});
