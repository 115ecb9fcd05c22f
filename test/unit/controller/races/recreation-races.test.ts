import { describe, expect, test } from '@jest/globals';
import type { SyncOptions } from '../builders.ts';
import { Harness, prod, syncs } from '../controller-harness.ts';
import { lostAt } from './interleaving.ts';

/** A SecretSync that is deleted, or made again under its name, while it is reconciled. */

const staging = 'acme/web/staging';
const base: SyncOptions = { spec: { maxDeletedKeys: '100%' }, target: { deletionPolicy: 'Delete' } };
const elsewhere: SyncOptions = {
  ...base,
  spec: { ...base.spec, environmentRef: { organization: 'acme', project: 'web', name: 'staging' } },
};

class RecreationHarness extends Harness {
  release: () => void = () => {};

  static async synced(): Promise<RecreationHarness> {
    const harness = new RecreationHarness();
    harness.services.create(staging, 'staging', { S: 'staging' });
    await harness.synced(base);
    return harness;
  }

  /** Deletes the SecretSync and makes another one of its name. */
  recreate(options: SyncOptions): void {
    this.cluster.remove(`${syncs}/app`);
    this.putSync(options);
  }
}

/** Expects that the SecretSync of now owns its Secret, which holds these values, and says so. */
function expectSynced(harness: RecreationHarness, values: Record<string, string>, revision: number): void {
  const { uid, generation } = harness.cluster.get(`${syncs}/app`)?.metadata ?? {};
  expect(harness.values()).toEqual(values);
  expect(harness.target()?.metadata.ownerReferences).toMatchObject([{ kind: 'SecretSync', name: 'app', uid }]);
  expect(harness.ready()).toMatchObject({ reason: 'Synced', observedGeneration: generation });
  const target = harness.target()?.metadata ?? { uid: '', resourceVersion: '' };
  expect(harness.status()).toMatchObject({
    syncedRevision: revision,
    target: { uid: target.uid, resourceVersion: target.resourceVersion },
  });
  expect(harness.reconciled.length).toBeLessThanOrEqual(5);
}

const commitSecond = ({ services }: Harness): void => services.change(prod, { A: 'second' });

describe('during its reconcile', () => {
  test('a SecretSync that is made again with the same spec gets its own status and Secret', async () => {
    const lost = await lostAt({
      prepare: () => RecreationHarness.synced(),
      begin: commitSecond,
      event: (harness) => harness.recreate(base),
      check: (harness) => expectSynced(harness, { A: 'second' }, 2),
    });
    expect(lost).toEqual([]);
  });

  test('a SecretSync that is made again with another spec gets what that asks for', async () => {
    const lost = await lostAt({
      prepare: () => RecreationHarness.synced(),
      begin: commitSecond,
      event: (harness) => harness.recreate(elsewhere),
      later: ({ services }) => services.change(staging, { S: 'next' }),
      check: (harness) => expectSynced(harness, { S: 'next' }, 2),
    });
    expect(lost).toEqual([]);
  });

  test('a SecretSync that is made again gets what its spec asks for though the watches are late', async () => {
    const lost = await lostAt({
      prepare: () => RecreationHarness.synced(),
      begin: commitSecond,
      event: (harness) => {
        harness.release = harness.cluster.holdWatches();
        harness.recreate(elsewhere);
      },
      restMs: 3000,
      later: (harness) => harness.release(),
      check: (harness) => expectSynced(harness, { S: 'staging' }, 1),
    });
    expect(lost).toEqual([]);
  });

  test('a SecretSync that is made again twice and suspended at last writes nothing more', async () => {
    const lost = await lostAt({
      prepare: () => RecreationHarness.synced(),
      begin: commitSecond,
      event: (harness) => {
        harness.recreate(elsewhere);
        harness.recreate({ ...elsewhere, spec: { ...elsewhere.spec, suspend: true } });
      },
      later: ({ services }) => services.change(prod, { A: 'third' }),
      check: (harness) => {
        expect(harness.ready()?.reason).toBe('Suspended');
        expect([{ A: 'alpha', B: 'beta' }, { A: 'second' }]).toContainEqual(harness.values());
      },
    });
    expect(lost).toEqual([]);
  });

  test('a SecretSync that is deleted is followed no more, and leaves no timer', async () => {
    const lost = await lostAt({
      prepare: () => RecreationHarness.synced(),
      begin: commitSecond,
      event: ({ cluster }) => cluster.remove(`${syncs}/app`),
      later: (harness) => {
        harness.cluster.takeCalls();
        harness.services.change(prod, { A: 'third' });
        harness.services.notify({ kind: 'service_token', serviceTokenId: 'good' });
      },
      check: (harness) => {
        expect(harness.cluster.takeCalls()).toEqual([]);
        expect(harness.status()).toEqual({});
        expect([{ A: 'alpha', B: 'beta' }, { A: 'second' }]).toContainEqual(harness.values());
        expect(harness.cluster.openWatches.filter((watch) => watch.includes('metadata.name'))).toEqual([]);
      },
    });
    expect(lost).toEqual([]);
  });
});
