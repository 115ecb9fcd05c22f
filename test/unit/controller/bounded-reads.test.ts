import { beforeEach, describe, expect, test } from '@jest/globals';
import { Seen } from '../../../src/controller/frame/dependencies.ts';
import { SyncMemories } from '../../../src/controller/kinds/secret-sync/memory.ts';
import type { SyncContext, SyncMemory } from '../../../src/controller/kinds/secret-sync/model.ts';
import {
  type BeginReads,
  type BoundedReads,
  ReadMemory,
} from '../../../src/controller/kinds/secret-sync/read/bounded-reads.ts';
import type { SecretSyncSpec } from '../../../src/controller/generated/secret-sync.ts';
import { MemoryBudget, type MemoryHolder } from '../../../src/lib/memory-budget.ts';
import type { FoundState } from '../../../src/domain/secret-states.ts';
import { secretSync } from './builders.ts';
import { Harness, prod, secrets as secretsPath, syncs } from './controller-harness.ts';
import { settled } from './fake-clock.ts';
import { serviceToken } from './fake-services.ts';

const mebibyte = 1024 * 1024;
const deferred = expect.objectContaining({ isDeferred: true, next: expect.objectContaining({ kind: 'when' }) });

let budget: MemoryBudget;
/** The most bytes that were held at once. */
let peak: number;
/** How many keys each find was to return at most. */
let finds: number[];
/** How many keys an environment has. */
let keys: number;
let memory: SyncMemory;

beforeEach(() => {
  budget = new MemoryBudget({ maxBytes: 128 * mebibyte, maxOvertaken: 0 });
  [peak, finds, keys, memory] = [0, [], 3, new SyncMemories().ensure('ns/app')];
});

function find(reads: BoundedReads): FoundState {
  const { maxKeys } = reads;
  finds.push(maxKeys);
  peak = Math.max(peak, budget.held);
  const secrets = Array.from({ length: keys }, (_, index) => ({ key: `KEY_${index}`, bytes: 10 }));
  const found = { environmentId: 'one', revision: 1, revisionId: 'r1', destroyed: [], deletedSince: [], secrets };
  return reads.take(keys > maxKeys ? { keys } : found);
}

const namedSource = (name: string): NonNullable<SecretSyncSpec['sources']>[number] => ({
  name,
  environmentRef: { organization: 'acme', project: 'web', name: 'prod' },
});

async function run(
  work: (beginReads: BeginReads) => Promise<unknown>,
  { states = 1, of = memory }: { readonly states?: number; readonly of?: SyncMemory } = {},
): Promise<unknown> {
  const sources = Array.from({ length: states }, (_, index) => namedSource(`s${index}`));
  const resource = secretSync({ spec: states === 1 ? {} : { sources } });
  const context: SyncContext = {
    key: 'ns/app',
    resource,
    requestId: 'r',
    seen: new Seen(),
    isForced: false,
    memory: of,
  };
  return await new ReadMemory({ budget }).reserve(context, work);
}

const findOne = async (beginReads: BeginReads): Promise<FoundState> => await Promise.resolve(find(beginReads()));

/** Bytes that another namespace holds. */
function holding(bytes: number): MemoryHolder {
  const holder = budget.holder('namespace other');
  holder.force(bytes);
  return holder;
}

/** Whether the wait of an outcome ended. */
function waitOf(outcome: unknown): { readonly isOver: () => boolean; readonly cancel: () => void } {
  let isOver = false;
  const { next } = outcome as { next: { wait: (ready: () => void) => () => void } };
  const cancel = next.wait(() => (isOver = true));
  return { isOver: () => isOver, cancel };
}

describe('reads within a budget', () => {
  test('of many keys are deferred, hold nothing, and fit with a quarter on top the next time', async () => {
    await run(findOne);
    expect(peak).toBeLessThan(4 * mebibyte);
    keys = 6_000;
    expect(await run(findOne)).toEqual(deferred);
    expect(memory.needed).toEqual({ maxKeys: 7_500, maxValueBytes: 128 * 1024 });
    expect(budget.held).toBe(0);
    keys = 7_500;
    expect(await run(findOne)).toMatchObject({ revisionId: 'r1' });
    expect(peak).toBeGreaterThan(4 * mebibyte);
    expect(finds).toHaveLength(3);
    // They are known from then on, until they are gone.
    keys = 3;
    await run(findOne);
    expect(memory).toMatchObject({ needed: { maxKeys: 1_000, maxValueBytes: 128 * 1024 }, deferrals: 0 });
    expect(budget.held).toBe(0);
  });

  test('of large values are deferred before a value is read', async () => {
    const work = async (beginReads: BeginReads): Promise<string> => {
      const reads = beginReads();
      find(reads);
      reads.expectValues(mebibyte);
      expect(budget.held).toBeGreaterThan(8 * mebibyte);
      return await Promise.resolve('read');
    };
    expect(await run(work)).toEqual(deferred);
    expect(memory.needed).toEqual({ maxKeys: 1_000, maxValueBytes: 1.25 * mebibyte });
    expect(await run(work)).toBe('read');
    expect(budget.held).toBe(0);
  });

  test('that were refused do not make what they need forgotten', async () => {
    keys = 6_000;
    await run(findOne);
    await run(async (beginReads) => await Promise.resolve(void beginReads()));
    expect(memory.needed).toMatchObject({ maxKeys: 7_500 });
  });

  test('give everything back when the work throws', async () => {
    const fault = new Error('no');
    await expect(run(() => Promise.reject(fault))).rejects.toBe(fault);
    expect(budget.held).toBe(0);
  });

  test('of more keys than an environment can have are too large, whatever is free', async () => {
    keys = 10_001;
    await expect(run(findOne)).rejects.toMatchObject({ code: 'target_too_large' });
    const work = async (beginReads: BeginReads): Promise<void> =>
      await Promise.resolve(beginReads().expectValues(13 * mebibyte));
    await expect(run(work)).rejects.toMatchObject({ code: 'target_too_large' });
    expect(budget.held).toBe(0);
  });

  test('of the largest SecretSync that there can be fit in the share of a namespace', async () => {
    keys = 10_000;
    const work = async (beginReads: BeginReads): Promise<string> => {
      const reads: BoundedReads = beginReads();
      for (let index = 0; index < 8; index += 1) find(reads);
      reads.expectValues(mebibyte);
      return await Promise.resolve('read');
    };
    for (let pass = 0; pass < 2; pass += 1) expect(await run(work, { states: 8 })).toEqual(deferred);
    expect(await run(work, { states: 8 })).toBe('read');
    expect(peak).toBeLessThanOrEqual(64 * mebibyte);
  });
});

describe('a deferred reconcile', () => {
  test('does not start while its memory is used, and is taken again when that is free', async () => {
    const holder = holding(126 * mebibyte);
    const outcome = await run(findOne);
    expect(outcome).toEqual(deferred);
    expect(finds).toEqual([]);
    const { isOver } = waitOf(outcome);
    await settled();
    expect(isOver()).toBe(false);
    holder.release();
    await settled();
    expect(isOver()).toBe(true);
    expect(await run(findOne)).toMatchObject({ revisionId: 'r1' });
    expect(memory.deferrals).toBe(0);
  });

  test('runs alone if it needs more than the whole budget', async () => {
    budget = new MemoryBudget({ maxBytes: mebibyte, maxOvertaken: 0 });
    const holder = holding(1);
    expect(await run(findOne)).toEqual(deferred);
    holder.release();
    expect(await run(findOne)).toMatchObject({ revisionId: 'r1' });
  });

  test('has the next free memory kept for it after three deferrals', async () => {
    const holders = [holding(63 * mebibyte), holding(63 * mebibyte)];
    for (let count = 0; count < 3; count += 1) expect(await run(findOne)).toEqual(deferred);
    const kept = run(findOne);
    await settled();
    expect(finds).toEqual([]);
    // What would fit must not go first.
    const other = new SyncMemories().ensure('ns/other');
    expect(budget.holder('namespace small').tryReserve(1)).toBe('all');
    expect(await run(findOne, { of: other })).toEqual(deferred);
    holders[0]?.release();
    expect(await kept).toMatchObject({ revisionId: 'r1' });
    expect(memory.deferrals).toBe(0);
    expect(await run(findOne, { of: other })).toMatchObject({ revisionId: 'r1' });
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

describe('many SecretSyncs of a large environment', () => {
  const names = Array.from({ length: 6 }, (_, index) => `app-${index}`);
  const large = (value: string): Record<string, string> =>
    Object.fromEntries(Array.from({ length: 1_100 }, (_, index) => [`KEY_${index}`, index === 0 ? value : 'same']));

  /** A controller that has memory for one of them at a time. */
  async function started(): Promise<Harness> {
    const harness = new Harness({ reconcileBytes: 4 * mebibyte });
    harness.services.create(prod, 'env', large('first'));
    harness.services.tokens.set('kf_svc_good', serviceToken('good'));
    harness.putToken('kf_svc_good');
    for (const name of names) harness.putSync({ name });
    await harness.start();
    return harness;
  }

  test('all become ready without a failure, a status in between or a delay', async () => {
    const harness = await started();
    for (const name of names) expect(harness.values(name)?.['KEY_0']).toBe('first');
    expect(new Set(harness.reconciled)).toEqual(new Set(['Synced']));
  });

  test('all follow a commit, also one that comes while they wait for memory', async () => {
    const harness = await started();
    let isCommitted = false;
    harness.services.duringRead = () => {
      if (!isCommitted) harness.services.change(prod, large('third'));
      isCommitted = true;
    };
    harness.services.change(prod, large('second'));
    await settled();
    expect(isCommitted).toBe(true);
    for (const name of names) expect(harness.values(name)?.['KEY_0']).toBe('third');
  });
});
