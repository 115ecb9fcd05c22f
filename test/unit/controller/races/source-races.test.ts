import { describe, expect, test } from '@jest/globals';
import { SourceHarness, ownValues, pathOf, sharedValues, sourceOf, united } from '../source-harness.ts';
import { lostAt } from './interleaving.ts';

/** What becomes of one source of a SecretSync while another one is read. */

async function synced(): Promise<SourceHarness> {
  const harness = new SourceHarness();
  await harness.syncedWith(undefined, { maxDeletedKeys: '100%' });
  return harness;
}

/** Expects both sources at these revisions, and their values united. */
function expectSynced(harness: SourceHarness, values: Record<string, string>, revisions: number[]): void {
  expect(harness.values()).toEqual(values);
  expect(harness.ready()?.reason).toBe('Synced');
  expect(harness.status().sources?.map(({ syncedRevision }) => syncedRevision)).toEqual(revisions);
  expect(harness.reconciled.length).toBeLessThanOrEqual(3);
}

const nextShared = { ...sharedValues, A: 'next a' };
const nextOwn = { ...ownValues, D: 'next d' };

describe.each(['shared', 'own'])('during the reading for a commit of %s', (name) => {
  const isShared = name === 'shared';

  test('a commit of the other source is synced', async () => {
    const lost = await lostAt({
      prepare: synced,
      begin: (harness) => harness.change(name, isShared ? nextShared : nextOwn),
      event: (harness) => (isShared ? harness.change('own', nextOwn) : harness.change('shared', nextShared)),
      check: (harness) => expectSynced(harness, { ...united, A: 'next a', D: 'next d' }, [2, 2]),
    });
    expect(lost).toEqual([]);
  });

  test('a commit of each of them is synced', async () => {
    const lost = await lostAt({
      prepare: synced,
      begin: (harness) => harness.change(name, isShared ? nextShared : nextOwn),
      event: (harness) => {
        harness.change('own', { D: 'last' });
        harness.change('shared', { A: 'last' });
      },
      check: (harness) => expectSynced(harness, { A: 'last', D: 'last' }, isShared ? [3, 2] : [2, 3]),
    });
    expect(lost).toEqual([]);
  });

  test('the deletion of the other source is reported with its name', async () => {
    const other = isShared ? 'own' : 'shared';
    const lost = await lostAt({
      prepare: synced,
      begin: (harness) => harness.change(name, isShared ? nextShared : nextOwn),
      event: (harness) => harness.services.end(pathOf(other)),
      check: (harness) => {
        expect(harness.ready()?.reason).toBe('NotFound');
        expect(harness.ready()?.message).toContain(`Source ${other}: `);
      },
    });
    expect(lost).toEqual([]);
  });

  test('the creation of the other source, which is waited for, is followed', async () => {
    const other = isShared ? 'own' : 'shared';
    const lost = await lostAt({
      prepare: async () => {
        const harness = await synced();
        harness.services.end(pathOf(other));
        harness.edit((secret) => void delete secret.metadata.annotations?.['keyframe.dev/sources']);
        await harness.calls();
        harness.reconciled.splice(0);
        return harness;
      },
      begin: (harness) => harness.put([sourceOf('shared'), sourceOf('own')], { maxDeletedKeys: '99%' }),
      event: (harness) => {
        harness.makeEnvironment(other, { N: 'new' }, `${other}-again`);
        harness.services.notify({
          kind: 'environment',
          environmentId: `${other}-again`,
          revisionId: `${other}-again-r1`,
          appeared: true,
        });
      },
      check: (harness) => {
        expect(harness.values()).toEqual({ ...(isShared ? sharedValues : ownValues), N: 'new' });
        expect(harness.ready()?.reason).toBe('Synced');
      },
    });
    expect(lost).toEqual([]);
  });
});

test('a commit is synced that comes while one environment is read as two sources, at a pin and as it is', async () => {
  const lost = await lostAt({
    prepare: async () => {
      const harness = new SourceHarness();
      const pinned = { ...sourceOf('own', { revision: 1 }), name: 'pinned' };
      await harness.syncedWith([pinned, sourceOf('own', { keys: { include: ['D'] } })], { maxDeletedKeys: '100%' });
      return harness;
    },
    begin: (harness) => harness.change('own', { D: 'second' }),
    event: (harness) => harness.change('own', { D: 'third' }),
    check: (harness) => expectSynced(harness, { ...ownValues, D: 'third' }, [1, 3]),
  });
  expect(lost).toEqual([]);
});
