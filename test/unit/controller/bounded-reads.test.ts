import { beforeEach, describe, expect, test } from '@jest/globals';
import type { Allowance } from '../../../src/controller/kinds/secret-sync/model.ts';
import { type BoundedReads, runBounded } from '../../../src/controller/kinds/secret-sync/read/bounded-reads.ts';
import type { SecretSyncSpec } from '../../../src/controller/generated/secret-sync.ts';
import { MemoryBudget } from '../../../src/lib/memory-budget.ts';
import type { EnvironmentAccess } from '../../../src/services/access/access.ts';
import type { FindOptions, FoundState } from '../../../src/services/secrets/secret-reader.ts';
import { Harness, prod, secrets as secretsPath, syncs } from './controller-harness.ts';

const mebibyte = 1024 * 1024;
const accessTo = (environmentId: string): EnvironmentAccess<'secret.list'> =>
  ({ environmentId }) as unknown as EnvironmentAccess<'secret.list'>;

let budget: MemoryBudget;
/** The most bytes that were held at once. */
let peak: number;
let finds: [environmentId: string, options: FindOptions][];
/** How many keys an environment has. */
let keys: number;
let needed: Allowance | undefined;

beforeEach(() => {
  [budget, peak, finds, keys, needed] = [new MemoryBudget({ maxBytes: 128 * mebibyte }), 0, [], 3, undefined];
});

const reader = {
  find: async (access: EnvironmentAccess<'secret.list'>, options: FindOptions) => {
    finds.push([access.environmentId, options]);
    peak = Math.max(peak, budget.held);
    const secrets = Array.from({ length: keys }, (_, index) => ({ key: `KEY_${index}`, bytes: 10 }));
    const state: Omit<FoundState, 'environmentId' | 'secrets'> = {
      revision: 1,
      revisionId: 'r1',
      destroyed: [],
      deletedSince: [],
    };
    const found = { ...state, environmentId: access.environmentId, secrets };
    return await Promise.resolve(keys > options.maxKeys ? { keys } : found);
  },
  read: async () => await Promise.resolve(new Map()),
};

async function run<T>(work: (beginReads: () => BoundedReads) => Promise<T>, states = 1): Promise<T> {
  const bounded = { budget, reader, namespace: 'ns', states, needed };
  return await runBounded(bounded, work, (allowance) => {
    needed = allowance;
  });
}

describe('reads within a budget', () => {
  test('find each state once, whichever sources name it', async () => {
    await run(async (beginReads) => {
      const reads = beginReads();
      const found = [await reads.find(accessTo('one')), await reads.find(accessTo('one'))];
      await reads.find(accessTo('two'));
      await reads.find(accessTo('one'), { revision: 1 });
      expect(found[0]).toBe(found[1]);
    }, 4);
    expect(finds.map(([environmentId, { revision }]) => [environmentId, revision])).toEqual([
      ['one', undefined],
      ['two', undefined],
      ['one', 1],
    ]);
  });

  test('find a state again when they start again, because what was seen meanwhile may be newer', async () => {
    await run(async (beginReads) => {
      for (let look = 0; look < 2; look += 1) await beginReads().find(accessTo('one'));
    });
    expect(finds).toHaveLength(2);
  });

  test('reserve little, and begin again with more for an environment of many keys', async () => {
    await run(async (beginReads) => await beginReads().find(accessTo('one')));
    expect(peak).toBeLessThan(4 * mebibyte);
    keys = 10_000;
    let begun = 0;
    await run(async (beginReads) => {
      begun += 1;
      expect(budget.held).toBeGreaterThan(0);
      return await beginReads().find(accessTo('one'));
    });
    expect(begun).toBe(2);
    expect(peak).toBeGreaterThan(5 * mebibyte);
    // It is known from then on, until it is over.
    await run(async (beginReads) => await beginReads().find(accessTo('one')));
    expect(finds).toHaveLength(4);
    keys = 3;
    await run(async (beginReads) => await beginReads().find(accessTo('one')));
    expect(needed).toEqual({ maxKeys: 1_000, maxValueBytes: 128 * 1024 });
    expect(budget.held).toBe(0);
  });

  test('reserve as much as the values need before they are read', async () => {
    let begun = 0;
    await run(async (beginReads) => {
      begun += 1;
      const reads = beginReads();
      await reads.find(accessTo('one'));
      reads.expectValues(mebibyte);
      expect(budget.held).toBeGreaterThan(8 * mebibyte);
      return await Promise.resolve();
    });
    expect(begun).toBe(2);
    expect(budget.held).toBe(0);
  });

  test('give everything back when the work throws', async () => {
    const fault = new Error('no');
    await expect(run(() => Promise.reject(fault))).rejects.toBe(fault);
    expect(budget.held).toBe(0);
  });

  test('of the largest SecretSync that there can be fit in the share of a namespace', async () => {
    keys = 10_000;
    await run(async (beginReads) => {
      const reads = beginReads();
      for (let source = 0; source < 8; source += 1) await reads.find(accessTo(`${source}`));
      reads.expectValues(mebibyte);
    }, 8);
    expect(peak).toBeLessThanOrEqual(64 * mebibyte);
  });
});

describe('a SecretSync', () => {
  test('has no value read of what is too large for its Secret, nor what it does not get', async () => {
    const harness = new Harness();
    await harness.synced();
    harness.services.change(prod, { A: 'a', B: 'b'.repeat(1_100_000) });
    harness.services.reads.splice(0);
    await harness.clock.advance(1000);
    expect(harness.ready()).toMatchObject({ reason: 'TooLarge' });
    expect(harness.ready()?.message).toContain(' 1100001 bytes');
    expect(harness.services.reads.map(({ keys: read }) => read)).toEqual([[]]);
    expect(harness.status()).toMatchObject({ wantedRevision: 2 });
    harness.putSync({ spec: { keys: { include: ['A'] } } });
    await harness.calls();
    expect(harness.values()).toEqual({ A: 'a' });
    expect(harness.services.reads.at(-1)?.keys).toEqual(['A']);
  });

  test('whose sources name one token and one environment asks for both once, and has each source audited', async () => {
    const harness = new Harness();
    await harness.synced();
    harness.services.reads.splice(0);
    const source = (name: string, key: string): object => ({
      name,
      environmentRef: { organization: 'acme', project: 'web', name: 'prod' },
      tokenSecretRef: { name: 'token', key: 'token' },
      keys: { include: [key] },
    });
    const sources = [source('one', 'A'), source('two', 'B'), source('three', 'NONE')] as SecretSyncSpec['sources'];
    harness.cluster.put(syncs, 'app', (object) => {
      object['spec'] = { sources, target: { type: 'Opaque' } };
    });
    const calls = await harness.calls();
    expect(calls.filter((call) => call === `GET ${secretsPath}/token`)).toHaveLength(1);
    expect(harness.values()).toEqual({ A: 'alpha', B: 'beta' });
    expect(harness.services.reads.map(({ keys: read }) => read)).toEqual([['A'], ['B'], []]);
  });
});
