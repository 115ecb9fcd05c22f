import { describe, expect, test } from '@jest/globals';
import { type Harness, prod } from '../controller-harness.ts';
import { bad, good, recordedBack, rolledBack } from '../rollback-harness.ts';
import { lostAt } from './interleaving.ts';

/** What is committed between the reading of what a spec asks for and the reading of what a Secret is taken back to. */

const better = { ...bad, A: 'better' };

async function takenBack(): Promise<Harness> {
  const harness = await recordedBack(rolledBack(), { maxDeletedKeys: '100%' });
  expect(harness.values()).toEqual(good);
  harness.reconciled.splice(0);
  return harness;
}

/** Has the Secret reconciled: its data is put right. */
function edit(harness: Harness): void {
  harness.edit((secret) => {
    secret['data'] = { A: Buffer.from('edited').toString('base64') };
  });
}

function expectForward(harness: Harness, values: Record<string, string>, revision: number): void {
  expect(harness.values()).toEqual(values);
  expect(harness.ready()?.reason).toBe('Synced');
  expect(harness.status()).toMatchObject({ syncedRevision: revision, wantedRevision: revision });
  expect(harness.status()).not.toHaveProperty('rolledBack');
}

function expectBack(harness: Harness, wantedRevision: number): void {
  expect(harness.values()).toEqual(good);
  expect(harness.ready()?.reason).toBe('RolledBack');
  expect(harness.status()).toMatchObject({ syncedRevision: 1, wantedRevision });
}

describe('during a reconcile of a Secret that was taken back', () => {
  test('a commit of other data is synced', async () => {
    const lost = await lostAt({
      prepare: takenBack,
      begin: edit,
      event: ({ services }) => services.change(prod, better),
      check: (harness) => expectForward(harness, better, 3),
    });
    expect(lost).toEqual([]);
  });

  test('a missed commit of other data is found when the feed is back', async () => {
    const lost = await lostAt({
      prepare: takenBack,
      begin: edit,
      event: ({ services }) => services.change(prod, better, { missed: true }),
      later: ({ services }) => services.ready(),
      comparisons: 1,
      check: (harness) => expectForward(harness, better, 3),
    });
    expect(lost).toEqual([]);
  });

  test('a commit of the same data leaves it taken back, and is reported', async () => {
    const lost = await lostAt({
      prepare: takenBack,
      begin: edit,
      event: ({ services }) => services.change(prod, { ...bad }),
      check: (harness) => expectBack(harness, 3),
    });
    expect(lost).toEqual([]);
  });

  test('the destruction of a value that it was taken back to lets it go on', async () => {
    const lost = await lostAt({
      prepare: takenBack,
      begin: edit,
      event: ({ services }) => services.destroy(prod, 1, ['A']),
      check: (harness) => expectForward(harness, bad, 2),
    });
    expect(lost).toEqual([]);
  });

  test('a missed destruction of such a value is found when the feed is back', async () => {
    const lost = await lostAt({
      prepare: takenBack,
      begin: edit,
      event: ({ services }) => services.destroy(prod, 1, ['A'], { missed: true }),
      later: ({ services }) => services.ready(),
      comparisons: 1,
      check: (harness) => expectForward(harness, bad, 2),
    });
    expect(lost).toEqual([]);
  });

  test('a commit to the data that it was taken back to, and one back to what failed, are followed', async () => {
    const lost = await lostAt({
      prepare: takenBack,
      begin: edit,
      event: ({ services }) => {
        services.change(prod, good);
        services.change(prod, better);
      },
      check: (harness) => expectForward(harness, better, 4),
    });
    expect(lost).toEqual([]);
  });
});
