import { beforeEach, describe, expect, test } from '@jest/globals';
import * as fc from 'fast-check';
import { randomBytes, randomUUID } from 'node:crypto';
import { type DataKeyLimits, DataKeys, defaultDataKeyLimits } from '../../../src/crypto/data-keys.ts';
import type { KeyStore } from '../../../src/crypto/key-store.ts';
import { RootKeys } from '../../../src/crypto/root-keys.ts';
import { MemoryKeyStore } from '../../support/database/memory-key-store.ts';

const rootKeys = RootKeys.parse(`k:${randomBytes(32).toString('base64')}`);
const project = randomUUID();
let store: MemoryKeyStore;

beforeEach(() => {
  store = new MemoryKeyStore();
});

function replica(limits?: DataKeyLimits): DataKeys {
  return new DataKeys(limits === undefined ? { rootKeys, store } : { rootKeys, store, limits });
}

function reserved(): bigint[] {
  return store.dataKeys.map((key) => key.usesReserved);
}

/** A replica that counts what it was granted and what the test says it used of each key. */
function countingReplica(limits: DataKeyLimits = defaultDataKeyLimits): {
  keys: DataKeys;
  granted: Map<string, number>;
  used: Map<string, number>;
} {
  const [granted, used] = [new Map<string, number>(), new Map<string, number>()];
  const counting = {
    findActiveDataKey: (projectId: string) => store.findActiveDataKey(projectId),
    findDataKeys: (ids: readonly string[]) => store.findDataKeys(ids),
    replaceDataKey: (...args: Parameters<KeyStore['replaceDataKey']>) => store.replaceDataKey(...args),
    reserveUses: async (id: string, count: number) => {
      const total = await store.reserveUses(id, count);
      if (total !== undefined) add(granted, id, count);
      return total;
    },
  };
  return { keys: new DataKeys({ rootKeys, store: counting, limits }), granted, used };
}

function add(counts: Map<string, number>, id: string, count: number): void {
  counts.set(id, (counts.get(id) ?? 0) + count);
}

describe('the uses of a data key', () => {
  test('are reserved in blocks of 1024, so that most sealers ask nothing of the store', async () => {
    const keys = replica();
    await keys.allot(project, 1);
    expect(store.calls).toEqual(['findActiveDataKey', 'replaceDataKey', 'reserveUses']);
    for (let use = 2; use <= 1024; use += 1) await keys.allot(project, 1);
    expect(store.calls.length).toBe(3);
    await keys.allot(project, 1);
    expect(store.calls.slice(3)).toEqual(['reserveUses']);
    expect(reserved()).toEqual([2048n]);
  });

  test('are reserved all at once where a sealer needs more than a block', async () => {
    await replica().allot(project, 10_000);
    expect(reserved()).toEqual([10_000n]);
  });

  test('are all taken from the block, and a new block is added to what is left', async () => {
    const keys = replica({ usesPerKey: 1000, usesPerBlock: 10 });
    const counts = [4, 4, 4, 8, 1];
    const totals: bigint[] = [];
    for (const count of counts) {
      await keys.allot(project, count);
      totals.push(...reserved());
    }
    expect(totals).toEqual([10n, 10n, 20n, 20n, 30n]);
  });

  test('only overcount when a process ends without using its block', async () => {
    for (let start = 0; start < 3; start += 1) await replica().allot(project, 1);
    expect(reserved()).toEqual([3072n]);
    expect(store.dataKeys.length).toBe(1);
  });

  test('are by default far fewer than the 2^32 that random nonces allow', () => {
    expect(defaultDataKeyLimits).toEqual({ usesPerKey: 2 ** 28, usesPerBlock: 1024 });
  });

  test('come with a new key when they are used up, and the old one still decrypts', async () => {
    const keys = replica({ usesPerKey: 10, usesPerBlock: 5 });
    const ids: string[] = [];
    for (let use = 0; use < 30; use += 1) ids.push((await keys.allot(project, 1)).id);
    expect([...new Set(ids)].map((id) => ids.filter((other) => other === id).length)).toEqual([10, 10, 10]);
    expect(store.dataKeys.map((key) => key.retired)).toEqual([true, true, false]);
    expect([...(await replica().load(ids)).keys()].toSorted()).toEqual([...new Set(ids)].toSorted());
  });

  test('left of a key that was replaced are not taken from the new one', async () => {
    const keys = replica({ usesPerKey: 10, usesPerBlock: 4 });
    for (const count of [3, 3, 4]) await keys.allot(project, count);
    expect(reserved()).toEqual([12n, 4n]);
    await keys.allot(project, 2);
    expect(reserved()).toEqual([12n, 8n]);
  });

  test('of a key that another replica retired are not asked for again', async () => {
    const limits = { usesPerKey: 100, usesPerBlock: 10 };
    const [one, two] = [replica(limits), replica(limits)];
    const first = await one.allot(project, 10);
    await two.allot(project, 100);
    const second = await one.allot(project, 10);
    expect(second.id).not.toBe(first.id);
    expect(reserved()[0]).toBeLessThanOrEqual(110n);
    expect(store.dataKeys.length).toBe(3);
  });

  test('that the caller asks for must be a number that a key can give', async () => {
    const keys = replica({ usesPerKey: 10, usesPerBlock: 5 });
    for (const count of [0, -1, 1.5, 11, Number.NaN]) {
      await expect(keys.allot(project, count)).rejects.toThrow('uses of a data key');
    }
    await keys.allot(project, 10);
  });

  test.each([
    [0, 1],
    [10, 0],
    [10, 11],
    [1.5, 1],
    [2 ** 32 + 1, 1],
  ])('cannot be limited to %p a key in blocks of %p', (usesPerKey, usesPerBlock) => {
    expect(() => replica({ usesPerKey, usesPerBlock })).toThrow('data key limits');
  });
});

describe('at the same time', () => {
  test('sealers of a crowd reserve one block together and make one key', async () => {
    const keys = replica();
    const allotted = await Promise.all(Array.from({ length: 200 }, () => keys.allot(project, 5)));
    expect(new Set(allotted.map((key) => key.id)).size).toBe(1);
    expect(store.calls).toEqual(['findActiveDataKey', 'replaceDataKey', 'reserveUses']);
  });

  test('no key is used beyond its limit, and no replica uses more than it reserved', async () => {
    const requests = fc.array(fc.tuple(fc.nat(2), fc.nat(1), fc.integer({ min: 1, max: 12 })), { maxLength: 60 });
    const projects = [randomUUID(), randomUUID()];
    await fc.assert(
      fc.asyncProperty(requests, fc.integer({ min: 1, max: 12 }), async (counts, usesPerBlock) => {
        store = new MemoryKeyStore();
        const replicas = [1, 2, 3].map(() => countingReplica({ usesPerKey: 24, usesPerBlock }));
        await Promise.all(
          counts.map(async ([which, whose, count]) => {
            const { keys, used } = replicas[which] ?? countingReplica();
            add(used, (await keys.allot(projects[whose] ?? '', count)).id, count);
          }),
        );
        for (const { record } of store.dataKeys) {
          const uses = replicas.map(({ used }) => used.get(record.id) ?? 0);
          expect(uses.reduce((sum, each) => sum + each, 0)).toBeLessThanOrEqual(24);
          for (const [index, { granted }] of replicas.entries()) {
            expect(uses[index]).toBeLessThanOrEqual(granted.get(record.id) ?? 0);
          }
        }
      }),
      { numRuns: 60 },
    );
  });

  test('replicas that make the first key agree on one', async () => {
    const allotted = await Promise.all([1, 2, 3, 4].map(() => replica().allot(project, 1)));
    expect(new Set(allotted.map((key) => key.id)).size).toBe(1);
    expect(new Set(allotted.map(({ key }) => key.export().toString('hex'))).size).toBe(1);
    expect(reserved()).toEqual([4096n]);
  });

  test('a reservation that fails fails its sealer alone, and the next one tries again', async () => {
    const keys = replica();
    const reserve = store.reserveUses.bind(store);
    let failures = 1;
    store.reserveUses = (id, count) =>
      failures-- > 0 ? Promise.reject(new Error('connection lost')) : reserve(id, count);
    const results = await Promise.allSettled([keys.allot(project, 1), keys.allot(project, 1), keys.allot(project, 1)]);
    expect(results.map((result) => result.status)).toEqual(['rejected', 'fulfilled', 'fulfilled']);
    expect(reserved()).toEqual([1024n]);
  });

  test('a key that is retired again and again ends in an error, not in a loop', async () => {
    store.reserveUses = () => Promise.resolve(undefined);
    await expect(replica().allot(project, 1)).rejects.toMatchObject({ code: 'key_unavailable' });
  });
});
