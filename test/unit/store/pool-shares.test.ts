import { beforeEach, describe, expect, test } from '@jest/globals';
import { setImmediate as turn } from 'node:timers/promises';
import type pg from 'pg';
import { inShare, presentOwner, workFor } from '../../../src/store/pool-shares.ts';

let pool: pg.Pool;
/** Who uses a connection now, in the order in which they began. */
let using: { readonly owner: string | undefined; readonly end: () => void }[];

beforeEach(() => {
  pool = { options: { max: 10 } } as unknown as pg.Pool;
  using = [];
});

async function use(owner: string | undefined, of: pg.Pool = pool): Promise<void> {
  await workFor(owner, () =>
    inShare(of, async () => {
      const { promise, resolve } = Promise.withResolvers<void>();
      const own = { owner, end: resolve };
      using.push(own);
      await promise;
      using = using.filter((one) => one !== own);
    }),
  );
}

const owners = (): (string | undefined)[] => using.map(({ owner }) => owner);

describe('an owner that asks for a thousand connections', () => {
  test('uses a third of the pool, and leaves the others to others', async () => {
    const busy = Array.from({ length: 1_000 }, () => use('busy'));
    const others = [use('other'), use(undefined)];
    await turn();
    expect(owners()).toEqual(['busy', 'busy', 'busy', 'other', undefined]);
    let most = 0;
    while (using.length > 0) {
      most = Math.max(most, owners().filter((owner) => owner === 'busy').length);
      using[0]?.end();
      await turn();
    }
    await Promise.all([...busy, ...others]);
    expect(most).toBe(3);
  });

  test('uses two connections of a small pool', async () => {
    const small = { options: { max: 2 } } as unknown as pg.Pool;
    const busy = Array.from({ length: 5 }, () => use('busy', small));
    await turn();
    expect(owners()).toEqual(['busy', 'busy']);
    while (using.length > 0) {
      using[0]?.end();
      await turn();
    }
    await Promise.all(busy);
  });

  test('has a share of each pool', async () => {
    const other = { options: { max: 6 } } as unknown as pg.Pool;
    const all = [pool, other].flatMap((one) => Array.from({ length: 4 }, () => use('busy', one)));
    await turn();
    expect(owners()).toHaveLength(5);
    while (using.length > 0) {
      using[0]?.end();
      await turn();
    }
    await Promise.all(all);
  });
});

test('work for everyone has no owner, although work with an owner began it', async () => {
  await workFor('busy', async () => {
    await turn();
    expect(presentOwner()).toBe('busy');
    await workFor(undefined, async () => {
      await turn();
      expect(presentOwner()).toBeUndefined();
    });
    expect(presentOwner()).toBe('busy');
  });
});
