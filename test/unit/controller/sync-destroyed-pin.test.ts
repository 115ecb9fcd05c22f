import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { prod } from './controller-harness.ts';
import { claimedSnapshot } from './fake-snapshots.ts';
import { PinHarness, first, second, third } from './pin-harness.ts';

let harness: PinHarness;

beforeEach(() => {
  harness = new PinHarness();
});

afterEach(() => harness.controller.stop());

describe('a pin to a state with a destroyed value', () => {
  test('leaves the Secret as it is, with a word on which value and what to do, when the destruction is heard of', async () => {
    await harness.syncedWith({ revision: 2 });
    harness.services.destroy(prod, 2, ['B']);
    await harness.calls();
    expect(harness.ready()).toMatchObject({ status: 'False', reason: 'VersionDestroyed' });
    expect(harness.ready()?.message).toMatch(/: B \(version 1\)\. .* spec\.keys\.exclude\.$/);
    expect(harness.values()).toEqual(second);
  });

  test('never drops the key from a Secret that is written again', async () => {
    await harness.syncedWith({ revision: 1 });
    harness.services.destroy(prod, 2, ['B']);
    await harness.pin({ revision: 2 });
    expect(harness.ready()?.reason).toBe('VersionDestroyed');
    expect(harness.values()).toEqual(first);
    await harness.pin({ revision: 3, maxDeletedKeys: '100%' });
    expect(harness.values()).toEqual(third);
  });

  test('is found out by the next comparison if its notification was missed, and then not asked for again', async () => {
    await harness.syncedWith({ revision: 2 });
    harness.services.destroy(prod, 2, ['B'], { missed: true });
    harness.services.ready();
    await harness.calls();
    expect(harness.ready()?.reason).toBe('VersionDestroyed');
    harness.services.reads.splice(0);
    harness.services.ready();
    harness.services.change(prod, { A: 'new' });
    expect(await harness.calls()).toEqual([]);
    expect(harness.services.reads).toEqual([]);
  });

  test('is no matter where the Secret does not take that key', async () => {
    await harness.syncedWith({ revision: 2, keys: { exclude: ['B'] } });
    harness.services.destroy(prod, 2, ['B']);
    expect((await harness.calls()).filter((call) => !call.startsWith('GET '))).toEqual([]);
    expect(harness.ready()).toMatchObject({ status: 'True', reason: 'Synced' });
    await harness.pin({ revision: 2, keys: { exclude: ['B', 'C'] } });
    expect(harness.values()).toEqual({ A: '2', D: '2' });
  });

  test('to a SecretSnapshot is refused alike, and goes on with another one', async () => {
    harness.putSnapshot('good', claimedSnapshot(2));
    harness.putSnapshot('older', claimedSnapshot(1));
    await harness.syncedWith({ snapshotRef: { name: 'good' } });
    harness.services.destroy(prod, 2, ['C', 'A']);
    await harness.calls();
    expect(harness.ready()?.reason).toBe('VersionDestroyed');
    expect(harness.ready()?.message).toContain('C (version 1), A (version 1)');
    expect(harness.values()).toEqual(second);
    await harness.pin({ snapshotRef: { name: 'older' } });
    expect(harness.values()).toEqual(first);
    expect(harness.ready()?.reason).toBe('Synced');
  });
});

test('a SecretSync without a pin does not mind what of the past is destroyed', async () => {
  await harness.syncedWith({ maxDeletedKeys: '100%' });
  harness.services.destroy(prod, 2, ['D']);
  expect(await harness.calls()).toEqual([]);
  expect(harness.values()).toEqual(third);
  expect(harness.ready()?.reason).toBe('Synced');
});
