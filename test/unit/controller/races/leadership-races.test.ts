import { describe, expect, test } from '@jest/globals';
import { Harness, prod, secrets, syncs } from '../controller-harness.ts';
import { settled } from '../fake-clock.ts';
import { type Race, lostAt } from './interleaving.ts';

/** A controller that loses the Lease during a reconcile and has it again before that ends. */

async function synced(): Promise<Harness> {
  const harness = new Harness();
  await harness.synced({ spec: { maxDeletedKeys: '100%' } });
  return harness;
}

/** Has another process lead while `happen` happens. */
async function standingBy(harness: Harness, happen: () => void | Promise<void>): Promise<void> {
  const isLeader = (): boolean => !harness.logs.some(({ msg }) => msg === 'this controller no longer leads');
  harness.lease.isTaken = true;
  await harness.clock.advance(3_000);
  if (isLeader()) throw new Error('the controller must have lost the Lease');
  await happen();
  await settled();
  harness.lease.isTaken = false;
  await harness.clock.advance(3_000);
}

/** Another controller leads for a moment: it reconciles everything and stops. */
async function leadOnce({ cluster, services }: Harness): Promise<void> {
  const other = new Harness({ cluster, services });
  other.controller.start();
  await settled();
  if (other.reconciled.length === 0) throw new Error('the other controller must have reconciled');
  await other.controller.stop();
}

function expectSynced(harness: Harness, values: Record<string, string>, revision: number): void {
  expect(harness.values()).toEqual(values);
  expect(harness.ready()?.reason).toBe('Synced');
  const { generation, resourceVersion } = {
    ...harness.target()?.metadata,
    generation: harness.status().observedGeneration,
  };
  expect(harness.status()).toMatchObject({ syncedRevision: revision, target: { resourceVersion } });
  expect(generation).toBe(harness.cluster.get(`${syncs}/app`)?.metadata.generation);
}

type Change = Pick<Race<Harness>, 'check'> & { readonly happen: (harness: Harness) => void | Promise<void> };

const changes: readonly (readonly [what: string, change: Change])[] = [
  ['nothing', { happen: () => {}, check: (harness) => expectSynced(harness, { A: 'second' }, 2) }],
  [
    'a commit',
    {
      happen: ({ services }) => services.change(prod, { A: 'third' }),
      check: (harness) => expectSynced(harness, { A: 'third' }, 3),
    },
  ],
  [
    'an edit of the spec',
    {
      happen: (harness) => harness.putSync({ spec: { revision: 1 } }),
      check: (harness) => expectSynced(harness, { A: 'alpha', B: 'beta' }, 1),
    },
  ],
  [
    'a deletion of the Secret',
    {
      happen: ({ cluster }) => cluster.remove(`${secrets}/app`),
      check: (harness) => expectSynced(harness, { A: 'second' }, 2),
    },
  ],
  [
    'a commit that another leader syncs',
    {
      happen: async (harness) => {
        harness.services.change(prod, { A: 'third' });
        await leadOnce(harness);
      },
      check: (harness) => expectSynced(harness, { A: 'third' }, 3),
    },
  ],
  [
    'an edit of the spec that another leader follows',
    {
      happen: async (harness) => {
        harness.putSync({ spec: { revision: 1 } });
        await leadOnce(harness);
      },
      check: (harness) => expectSynced(harness, { A: 'alpha', B: 'beta' }, 1),
    },
  ],
];

describe('leadership that is lost and regained during a reconcile', () => {
  test.each(changes)('with %s in between leaves the newest state, at once', async (_, { happen, check }) => {
    const lost = await lostAt({
      prepare: synced,
      begin: ({ services }) => services.change(prod, { A: 'second' }),
      event: (harness) => standingBy(harness, () => happen(harness)),
      restMs: 0,
      check,
    });
    expect(lost).toEqual([]);
  });
});

describe('leadership that is lost during a reconcile', () => {
  const isWrite = (call: string): boolean => !call.startsWith('GET');
  /** The versions of all that the controller writes. */
  const versionsOf = ({ cluster }: Harness): unknown[] =>
    [`${secrets}/app`, `${syncs}/app`].map((path) => cluster.get(path)?.metadata.resourceVersion);
  const versions = new WeakMap<Harness, unknown[]>();

  test('ends all writes, and begins no other reconcile until it is regained', async () => {
    const lost = await lostAt({
      prepare: synced,
      begin: ({ services }) => services.change(prod, { A: 'second' }),
      event: async (harness) => {
        harness.lease.isTaken = true;
        await harness.clock.advance(3_000);
        harness.cluster.takeCalls();
        versions.set(harness, versionsOf(harness));
      },
      later: async (harness) => {
        expect(harness.cluster.takeCalls().filter(isWrite)).toEqual([]);
        // What was under way is cut as well.
        expect(versionsOf(harness)).toEqual(versions.get(harness));
        harness.services.change(prod, { A: 'third' });
        await harness.clock.advance(10_000);
        expect(harness.cluster.takeCalls()).toEqual([]);
        harness.lease.isTaken = false;
        await harness.clock.advance(3_000);
      },
      check: (harness) => expectSynced(harness, { A: 'third' }, 3),
    });
    expect(lost).toEqual([]);
  });
});

describe('a Secret that was written just before', () => {
  test('leadership was lost, and deleted while another led, is written again', async () => {
    const harness = await synced();
    const release = harness.cluster.holdWatches();
    harness.services.change(prod, { A: 'second' });
    await settled();
    await standingBy(harness, () => {
      harness.cluster.remove(`${secrets}/app`);
      release();
    });
    expectSynced(harness, { A: 'second' }, 2);
    await harness.controller.stop();
  });

  test('its SecretSync was suspended, and deleted meanwhile, is written again', async () => {
    const harness = await synced();
    let release = (): void => {};
    harness.cluster.before(/^PUT/, () => {
      harness.putSync({ spec: { suspend: true, maxDeletedKeys: '100%' } });
      release = harness.cluster.holdWatches();
    });
    harness.services.change(prod, { A: 'second' });
    await harness.clock.advance(5_000);
    harness.cluster.remove(`${secrets}/app`);
    release();
    await harness.clock.advance(5_000);
    expect(harness.ready()?.reason).toBe('Suspended');
    harness.putSync({ spec: { maxDeletedKeys: '100%' } });
    await harness.clock.advance(5_000);
    expectSynced(harness, { A: 'second' }, 2);
    await harness.controller.stop();
  });
});
