import { describe, expect, test } from '@jest/globals';
import { prod } from '../controller-harness.ts';
import { claimedSnapshot } from '../fake-snapshots.ts';
import { PinHarness, first, second, snapshotsPath, third } from '../pin-harness.ts';
import { type Race, lostAt } from './interleaving.ts';

/** What becomes of a pinned state between its look-up and the end of the reconcile. */

class PinnedHarness extends PinHarness {
  uid = '';

  /** The environment at revision 3, the Secret at 2, and a SecretSnapshot of revision 1. */
  static async prepared({ suspend }: { readonly suspend: boolean }): Promise<PinnedHarness> {
    const harness = new PinnedHarness();
    harness.uid = harness.putSnapshot('good', claimedSnapshot(1), { suspend });
    await harness.atSecond();
    harness.services.change(prod, third, { missed: true });
    harness.reconciled.splice(0);
    return harness;
  }

  pinTo(snapshot: string): void {
    this.putSync({ spec: { snapshotRef: { name: snapshot }, maxDeletedKeys: '100%' } });
  }
}

/** Expects a reason, and that the Secret holds the state before the pin or the pinned one. */
function expectKept(harness: PinnedHarness, ...reasons: string[]): void {
  expect(reasons).toContain(harness.ready()?.reason);
  expect([first, second]).toContainEqual(harness.values());
}

type Loss = Pick<Race<PinnedHarness>, 'event' | 'check'>;

const losses: readonly (readonly [what: string, loss: Loss])[] = [
  [
    'the deletion of the SecretSnapshot',
    {
      event: ({ cluster }) => cluster.remove(`${snapshotsPath}/good`),
      check: (harness) => expectKept(harness, 'SnapshotNotFound'),
    },
  ],
  [
    'the deletion of the snapshot in the database',
    {
      event: (harness) => harness.deleteSnapshot(harness.uid, 'snapshot-1'),
      check: (harness) => expectKept(harness, 'SnapshotGone'),
    },
  ],
  [
    'the destruction of a value of the snapshot',
    {
      event: ({ services }) => services.destroy(prod, 1, ['A']),
      check: (harness) => expectKept(harness, 'VersionDestroyed'),
    },
  ],
  [
    'another SecretSnapshot of the name',
    {
      event: (harness) => {
        harness.cluster.remove(`${snapshotsPath}/good`);
        harness.putSnapshot('good', claimedSnapshot(2));
      },
      check: (harness) => {
        expect(harness.values()).toEqual(second);
        expect(harness.status()).toMatchObject({ syncedRevision: 2 });
      },
    },
  ],
  [
    'another pin',
    {
      event: (harness) => {
        harness.putSnapshot('other', claimedSnapshot(3));
        harness.pinTo('other');
      },
      check: (harness) => expect(harness.values()).toEqual(third),
    },
  ],
  [
    'the end of the pin',
    {
      event: (harness) => harness.putSync({ spec: { maxDeletedKeys: '100%' } }),
      check: (harness) => expect(harness.values()).toEqual(third),
    },
  ],
];

describe.each([false, true])('during the reconcile of a new pin (its SecretSnapshot suspended: %s)', (suspend) => {
  test.each(losses)('%s is found', async (_, loss) => {
    const lost = await lostAt({
      prepare: () => PinnedHarness.prepared({ suspend }),
      begin: (harness) => harness.pinTo('good'),
      ...loss,
    });
    expect(lost).toEqual([]);
  });
});

test('a SecretSnapshot that appears while it is looked for is found', async () => {
  const lost = await lostAt({
    prepare: () => PinnedHarness.prepared({ suspend: false }),
    begin: (harness) => harness.pinTo('late'),
    event: (harness) => void harness.putSnapshot('late', claimedSnapshot(1)),
    check: (harness) => expect(harness.values()).toEqual(first),
  });
  expect(lost).toEqual([]);
});

test('a commit that makes the revision that a pin waits for is found', async () => {
  const lost = await lostAt({
    prepare: () => PinnedHarness.prepared({ suspend: false }),
    begin: (harness) => harness.putSync({ spec: { revision: 4, maxDeletedKeys: '100%' } }),
    event: ({ services }) => services.change(prod, { A: 'fourth' }),
    check: (harness) => expect(harness.values()).toEqual({ A: 'fourth' }),
  });
  expect(lost).toEqual([]);
});

test('a value of a pinned revision that is destroyed during the reconcile is found', async () => {
  const lost = await lostAt({
    prepare: () => PinnedHarness.prepared({ suspend: false }),
    begin: (harness) => harness.putSync({ spec: { revision: 1, maxDeletedKeys: '100%' } }),
    event: ({ services }) => services.destroy(prod, 1, ['A']),
    check: (harness) => expectKept(harness, 'VersionDestroyed'),
  });
  expect(lost).toEqual([]);
});
