import { describe, expect, test } from '@jest/globals';
import { Harness, prod, syncs } from '../controller-harness.ts';
import { serviceToken } from '../fake-services.ts';
import { lostAt } from './interleaving.ts';

/** What becomes of an environment between its look-up and the end of the reconcile. */

async function synced(): Promise<Harness> {
  const harness = new Harness();
  await harness.synced({ spec: { maxDeletedKeys: '100%' } });
  return harness;
}

/** A SecretSync that waits for its environment. */
async function waiting(): Promise<Harness> {
  const harness = new Harness();
  harness.services.tokens.set('kf_svc_good', serviceToken('good'));
  harness.putToken('kf_svc_good');
  harness.putSync();
  await harness.start();
  return harness;
}

const commitSecond = ({ services }: Harness): void => services.change(prod, { A: 'second' });

function askAgain({ cluster }: Harness): void {
  cluster.put(syncs, 'app', ({ metadata }) => {
    metadata.annotations = { ...metadata.annotations, 'keyframe.dev/reconcile-at': 'now' };
  });
}

function expectSynced(harness: Harness, values: Record<string, string>, revision: number): void {
  expect(harness.values()).toEqual(values);
  expect(harness.ready()?.reason).toBe('Synced');
  expect(harness.status()).toMatchObject({ syncedRevision: revision, wantedRevision: revision });
}

/** Expects that the Secret holds what it was permitted to hold last. */
function expectKept(harness: Harness, reason: string): void {
  expect(harness.ready()?.reason).toBe(reason);
  expect([{ A: 'alpha', B: 'beta' }, { A: 'second' }]).toContainEqual(harness.values());
}

describe('during a reconcile', () => {
  test('a commit is synced', async () => {
    const lost = await lostAt({
      prepare: synced,
      begin: commitSecond,
      event: ({ services }) => services.change(prod, { A: 'third' }),
      check: (harness) => {
        expectSynced(harness, { A: 'third' }, 3);
        expect(harness.reconciled.length).toBeLessThanOrEqual(2);
      },
    });
    expect(lost).toEqual([]);
  });

  test('the last of several commits is synced, in few reconciles', async () => {
    const lost = await lostAt({
      prepare: synced,
      begin: commitSecond,
      event: ({ services }) => {
        for (let count = 0; count < 20; count += 1) services.change(prod, { A: `${count}` });
      },
      check: (harness) => {
        expectSynced(harness, { A: '19' }, 22);
        expect(harness.reconciled.length).toBeLessThanOrEqual(2);
      },
    });
    expect(lost).toEqual([]);
  });

  test('a commit is synced during the very first one', async () => {
    const lost = await lostAt({
      prepare: async () => {
        const harness = await waiting();
        await harness.controller.stop();
        harness.services.create(prod, 'env', { A: 'first' });
        return new Harness(harness);
      },
      begin: (harness) => harness.start(),
      event: ({ services }) => services.change(prod, { A: 'second' }),
      comparisons: 1,
      check: (harness) => expectSynced(harness, { A: 'second' }, 2),
    });
    expect(lost).toEqual([]);
  });

  test('the deletion of the environment is reported, and the Secret keeps its values', async () => {
    const lost = await lostAt({
      prepare: synced,
      begin: commitSecond,
      event: ({ services }) => services.end(prod),
      check: (harness) => expectKept(harness, 'NotFound'),
    });
    expect(lost).toEqual([]);
  });

  test('a deletion and creation of the environment is reported, and the Secret keeps its values', async () => {
    const lost = await lostAt({
      prepare: synced,
      begin: commitSecond,
      event: ({ services }) => {
        services.end(prod);
        services.appear(prod, 'another', { A: 'another' });
      },
      check: (harness) => expectKept(harness, 'SourceReplaced'),
    });
    expect(lost).toEqual([]);
  });

  test('the creation of the environment is found by a SecretSync that waits for it', async () => {
    const lost = await lostAt({
      prepare: waiting,
      begin: askAgain,
      event: ({ services }) => services.appear(prod, 'env', { A: 'first' }),
      check: (harness) => expectSynced(harness, { A: 'first' }, 1),
    });
    expect(lost).toEqual([]);
  });

  test('the creation of the environment that a new spec names is found', async () => {
    const lost = await lostAt({
      prepare: synced,
      begin: (harness) => {
        const environmentRef = { organization: 'acme', project: 'web', name: 'late' };
        harness.putSync({ spec: { environmentRef, maxDeletedKeys: '100%' } });
      },
      event: ({ services }) => services.appear('acme/web/late', 'late', { L: 'late' }),
      check: (harness) => expectSynced(harness, { L: 'late' }, 1),
    });
    expect(lost).toEqual([]);
  });

  test('a creation, with a commit and a deletion behind it, is followed to its end', async () => {
    const lost = await lostAt({
      prepare: waiting,
      begin: askAgain,
      event: ({ services }) => {
        services.appear(prod, 'env', { A: 'first' });
        services.change(prod, { A: 'second' });
        services.end(prod);
      },
      later: ({ services }) => services.appear(prod, 'another', { A: 'again' }),
      check: (harness) => expectSynced(harness, { A: 'again' }, 1),
    });
    expect(lost).toEqual([]);
  });
});
