import { describe, expect, test } from '@jest/globals';
import { Harness, prod, secrets } from '../controller-harness.ts';
import type { AnyObject } from '../fake-cluster.ts';
import { rest } from './interleaving.ts';

/** More events during one reconcile than the event log keeps: a reconcile must be repeated if the log has dropped events. */

const others = 100_000;

async function synced(): Promise<Harness> {
  const harness = new Harness();
  await harness.synced({ spec: { maxDeletedKeys: '100%' } });
  return harness;
}

/** Notifies of commits to environments that no SecretSync reads. */
function commitToOthers({ services }: Harness): void {
  for (let count = 0; count < others; count += 1) {
    services.notify({ kind: 'environment', environmentId: `other-${count}`, revisionId: `other-${count}-r1` });
  }
}

const third = ({ services }: Harness): void => services.change(prod, { A: 'third' });

const orders: readonly (readonly [place: string, event: (harness: Harness) => void])[] = [
  [
    'first',
    (harness) => {
      third(harness);
      commitToOthers(harness);
    },
  ],
  [
    'last',
    (harness) => {
      commitToOthers(harness);
      third(harness);
    },
  ],
];

const moments: readonly (readonly [moment: string, at: (harness: Harness, happen: () => void) => void])[] = [
  ['authentication', ({ services }, happen) => void (services.duringAuthentication = happen)],
  ['look-up', ({ services }, happen) => void (services.duringLookup = happen)],
  ['reading', ({ services }, happen) => void (services.duringRead = happen)],
  ['write', ({ cluster }, happen) => cluster.beforeAnswer(/^PUT/, happen)],
  ['report', ({ cluster }, happen) => cluster.beforeAnswer(/^PATCH .*status$/, happen)],
];

describe.each(orders)('of 100 000 events the one that matters is not lost if it is the %s of them', (_, event) => {
  test.each(moments)('during the %s of a reconcile', async (__, at) => {
    const harness = await synced();
    let hasHappened = false;
    at(harness, () => {
      hasHappened = true;
      event(harness);
    });
    harness.services.change(prod, { A: 'second' });
    await rest(harness);
    expect(hasHappened).toBe(true);
    expect(harness.values()).toEqual({ A: 'third' });
    expect(harness.status()).toMatchObject({ syncedRevision: 3 });
    // The first one, that for the commit, and one more if too much came during that.
    expect(harness.reconciled.length).toBeLessThanOrEqual(3);
    expect(harness.services.comparisons).toBe(1);
    await harness.controller.stop();
  });
});

test('an edit is seen whose event was dropped, even if it has a version that an own write replaced', async () => {
  const harness = await synced();
  const replaced = harness.target()?.metadata.resourceVersion;
  harness.cluster.beforeAnswer(/^PUT/, () => {
    const edit = (secret: AnyObject): void => {
      secret['data'] = { A: 'eA==' };
    };
    harness.cluster.put(secrets, 'app', edit, replaced);
    commitToOthers(harness);
  });
  harness.services.change(prod, { A: 'second' });
  await rest(harness);
  expect(harness.values()).toEqual({ A: 'second' });
  await harness.controller.stop();
});
