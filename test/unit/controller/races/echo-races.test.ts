import { describe, expect, test } from '@jest/globals';
import { Harness, prod, secrets, syncs } from '../controller-harness.ts';
import type { AnyObject } from '../fake-cluster.ts';
import { settled } from '../fake-clock.ts';
import { serviceToken } from '../fake-services.ts';
import { lostAt } from './interleaving.ts';

/** What watches show late, or in another order than it was written. */

const [app, token, sync] = [`${secrets}/app`, `${secrets}/token`, `${syncs}/app`];

class LaggingHarness extends Harness {
  release: () => void = () => {};
  /** The objects at rest, before the reconcile. */
  readonly older = new Map<string, AnyObject>();

  static async synced(): Promise<LaggingHarness> {
    const harness = new LaggingHarness();
    await harness.synced({ spec: { maxDeletedKeys: '100%' } });
    for (const path of [app, token, sync]) {
      const object = harness.cluster.get(path);
      if (object !== undefined) harness.older.set(path, object);
    }
    return harness;
  }

  /** The same, while what was written last has not been shown by any watch. */
  static async lagging(): Promise<LaggingHarness> {
    const harness = await LaggingHarness.synced();
    harness.release = harness.cluster.holdWatches();
    for (const value of ['2', '3', '4']) {
      harness.services.change(prod, { A: value });
      await settled();
    }
    harness.reconciled.splice(0);
    return harness;
  }

  /** Has the watches show the versions from before the reconcile, and those of now behind them. */
  showOlder(): void {
    for (const [path, version] of this.older) {
      this.cluster.show(path, version);
      const newest = this.cluster.get(path);
      if (newest !== undefined) this.cluster.show(path, newest);
    }
  }
}

function expectSynced(harness: LaggingHarness, values: Record<string, string>, revision: number): void {
  expect(harness.values()).toEqual(values);
  expect(harness.ready()?.reason).toBe('Synced');
  const { resourceVersion } = harness.target()?.metadata ?? {};
  expect(harness.status()).toMatchObject({ syncedRevision: revision, target: { resourceVersion } });
  expect(harness.status().observedGeneration).toBe(harness.cluster.get(sync)?.metadata.generation);
}

const commit = ({ services }: Harness): void => services.change(prod, { A: 'last' });

/** Changes the values of the Secret as someone else. */
const edit = (harness: Harness): void =>
  harness.edit((secret) => {
    secret['data'] = { A: Buffer.from('edited').toString('base64') };
  });

describe('the echoes of own writes', () => {
  test('that come late, at any step, cause no reconcile', async () => {
    const lost = await lostAt({
      prepare: () => LaggingHarness.lagging(),
      begin: commit,
      event: (harness) => harness.release(),
      check: (harness) => {
        expectSynced(harness, { A: 'last' }, 5);
        expect(harness.reconciled).toEqual(['Synced']);
      },
    });
    expect(lost).toEqual([]);
  });

  test('that come after the end cause no reconcile', async () => {
    const harness = await LaggingHarness.lagging();
    commit(harness);
    await settled();
    harness.release();
    await harness.clock.advance(10_000);
    expectSynced(harness, { A: 'last' }, 5);
    expect(harness.reconciled).toEqual(['Synced']);
    await harness.controller.stop();
  });

  test('that come late do not hide the edit of someone else', async () => {
    const lost = await lostAt({
      prepare: () => LaggingHarness.lagging(),
      begin: commit,
      event: edit,
      later: (harness) => harness.release(),
      check: (harness) => {
        expectSynced(harness, { A: 'last' }, 5);
        expect(harness.reconciled.length).toBeLessThanOrEqual(3);
      },
    });
    expect(lost).toEqual([]);
  });

  test('that come late do not hide a deletion by someone else', async () => {
    const lost = await lostAt({
      prepare: () => LaggingHarness.lagging(),
      begin: commit,
      event: (harness) => harness.cluster.remove(app),
      later: (harness) => harness.release(),
      check: (harness) => {
        expectSynced(harness, { A: 'last' }, 5);
        expect(harness.reconciled.length).toBeLessThanOrEqual(4);
      },
    });
    expect(lost).toEqual([]);
  });

  test('that come late do not hide an edit of the spec', async () => {
    const lost = await lostAt({
      prepare: () => LaggingHarness.lagging(),
      begin: commit,
      event: (harness) => harness.putSync({ spec: { revision: 1, maxDeletedKeys: '100%' } }),
      restMs: 2_000,
      later: (harness) => harness.release(),
      check: (harness) => expectSynced(harness, { A: 'alpha', B: 'beta' }, 1),
    });
    expect(lost).toEqual([]);
  });
});

describe('older versions that a watch shows after newer ones', () => {
  test('at any step of a reconcile leave the newest state', async () => {
    const lost = await lostAt({
      prepare: () => LaggingHarness.synced(),
      begin: commit,
      event: (harness) => harness.showOlder(),
      check: (harness) => {
        expectSynced(harness, { A: 'last' }, 2);
        expect(harness.reconciled.length).toBeLessThanOrEqual(3);
      },
    });
    expect(lost).toEqual([]);
  });

  test('at any step of the reconcile of a new spec leave what that asks for', async () => {
    const lost = await lostAt({
      prepare: () => LaggingHarness.synced(),
      begin: (harness) => harness.putSync({ spec: { keys: { include: ['A'] }, maxDeletedKeys: '100%' } }),
      event: (harness) => harness.showOlder(),
      later: (harness) => harness.showOlder(),
      check: (harness) => {
        expectSynced(harness, { A: 'alpha' }, 1);
        expect(harness.reconciled.length).toBeLessThanOrEqual(6);
      },
    });
    expect(lost).toEqual([]);
  });

  test('after a new token leave what that opens', async () => {
    const lost = await lostAt({
      prepare: async () => {
        const harness = await LaggingHarness.synced();
        harness.services.tokens.set('kf_svc_good', 'the token was revoked');
        harness.services.tokens.set('kf_svc_next', serviceToken('next'));
        return harness;
      },
      begin: (harness) => {
        harness.services.change(prod, { A: 'last' });
        harness.putToken('kf_svc_next');
      },
      event: (harness) => harness.showOlder(),
      check: (harness) => expectSynced(harness, { A: 'last' }, 2),
    });
    expect(lost).toEqual([]);
  });
});
