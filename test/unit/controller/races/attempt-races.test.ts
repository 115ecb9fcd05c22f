import { expect, test } from '@jest/globals';
import { Harness, prod } from '../controller-harness.ts';
import { settled } from '../fake-clock.ts';
import { lostAt } from './interleaving.ts';

/** Another controller writes a newer state during a reconcile: no attempt of the reconcile replaces it with an older one. */

const order = ['alpha', 'second', 'third'];

/** Notes the value of A in the Secret after each call of any controller. */
class WatchedHarness extends Harness {
  readonly held: string[] = [];

  static async synced(): Promise<WatchedHarness> {
    const harness = new WatchedHarness();
    const { cluster } = harness;
    const request = cluster.request.bind(cluster);
    cluster.request = async (call) => {
      try {
        return await request(call);
      } finally {
        const value = harness.values()?.['A'];
        if (value !== undefined && value !== harness.held.at(-1)) harness.held.push(value);
      }
    };
    await harness.synced();
    return harness;
  }
}

/** Commits a third state, and has another controller lead until it has written it. */
async function thirdByAnother({ cluster, services }: Harness): Promise<void> {
  services.change(prod, { A: 'third', B: 'beta' });
  const other = new Harness({ cluster, services });
  other.controller.start();
  await settled();
  if (other.values()?.['A'] !== 'third') throw new Error('the other controller must have written');
  await other.controller.stop();
}

test('a Secret never goes back to an older state, whenever another controller writes a newer one', async () => {
  const lost = await lostAt({
    prepare: async () => await WatchedHarness.synced(),
    begin: ({ services }) => services.change(prod, { A: 'second', B: 'beta' }),
    event: thirdByAnother,
    // The other controller compares at its start.
    comparisons: 'any',
    check: ({ held }) => {
      expect(held.at(-1)).toBe('third');
      expect(held).toEqual(order.filter((value) => held.includes(value)));
    },
  });
  expect(lost).toEqual([]);
});
