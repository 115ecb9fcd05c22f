import { afterAll, beforeAll, expect, test } from '@jest/globals';
import fc from 'fast-check';
import type { RestoreInput } from '../../../src/services/restores.ts';
import { createTestDatabase, type TestDatabase } from '../../support/postgres.ts';
import { type SecretCalls, secretCalls } from '../../support/secret-calls.ts';
import { createWorld, startServices, type TestServices } from '../../support/services.ts';
import { type SnapshotCalls, snapshotCalls } from '../../support/snapshot-calls.ts';

let database: TestDatabase;
let services: TestServices;

beforeAll(async () => {
  database = await createTestDatabase();
  services = await startServices(database.url);
});

afterAll(async () => {
  await services.close();
  await database.drop();
});

const key = fc.constantFrom('A', 'B', 'C', 'D');
const anyStep = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.record({ kind: fc.constant('put' as const), key, value: fc.constantFrom('1', '2', '33') }),
  },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('delete' as const), key }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('snapshot' as const) }) },
  {
    weight: 3,
    arbitrary: fc.record({
      kind: fc.constant('restore' as const),
      which: fc.nat(),
      prune: fc.boolean(),
      skipUnchanged: fc.boolean(),
      backup: fc.boolean(),
    }),
  },
);
type Step = typeof anyStep extends fc.Arbitrary<infer S> ? S : never;
type RestoreStep = Extract<Step, { kind: 'restore' }>;

/** Keys with their values, as whoever only knows docs/interface.md 4.3 would keep them. */
class Model {
  readonly live = new Map<string, string>();
  /** The number of each key's newest version, also of a deleted one. */
  readonly versions = new Map<string, number>();
  readonly snapshots: { readonly id: string; readonly values: ReadonlyMap<string, string> }[] = [];

  write(written: string, value: string): void {
    this.live.set(written, value);
    this.versions.set(written, (this.versions.get(written) ?? 0) + 1);
  }

  restore(values: ReadonlyMap<string, string>, { prune, skipUnchanged }: RestoreStep): Record<string, string[]> {
    const has = [...values.keys()].toSorted();
    const isEqual = (name: string): boolean => skipUnchanged && this.live.get(name) === values.get(name);
    const lists = {
      skipped: has.filter((name) => !this.live.has(name)),
      unchanged: has.filter((name) => this.live.has(name) && isEqual(name)),
      restored: has.filter((name) => this.live.has(name) && !isEqual(name)),
      pruned: prune ? [...this.live.keys()].filter((name) => !values.has(name)).toSorted() : [],
    };
    for (const name of lists.restored) this.write(name, values.get(name) ?? '');
    for (const name of lists.pruned) this.live.delete(name);
    return lists;
  }
}

async function restoreBoth(snapshots: SnapshotCalls, model: Model, step: RestoreStep): Promise<void> {
  const snapshot = model.snapshots[step.which % model.snapshots.length];
  if (snapshot === undefined) return;
  const { prune, skipUnchanged, backup } = step;
  const options: Omit<RestoreInput, 'snapshotId'> = { prune, skipUnchanged, backup };
  const lists = model.restore(snapshot.values, step);
  const { planHash, revision, revisionId: _planned, ...planned } = await snapshots.plan(snapshot.id, options);
  expect(planned).toEqual(lists);
  const done = await snapshots.restore(snapshot.id, { ...options, planHash });
  expect(done).toMatchObject(lists);
  const isChange = [lists['restored'], lists['pruned']].some((list) => list?.length !== 0);
  expect(done.revision).toBe(revision + Number(isChange));
  expect(done.backupSnapshotId !== null).toBe(isChange && backup);
}

async function replay(steps: readonly Step[]): Promise<void> {
  const world = await createWorld(services);
  const calls: SecretCalls = secretCalls(services, world, world.developer.caller);
  const snapshots = snapshotCalls(services, world, world.developer.caller);
  const model = new Model();
  for (const step of steps) {
    if (step.kind === 'put') {
      await calls.put(step.key, step.value);
      model.write(step.key, step.value);
    } else if (step.kind === 'delete') {
      if (model.live.delete(step.key)) await calls.remove(step.key);
    } else if (step.kind === 'snapshot') {
      const { id } = await snapshots.create();
      model.snapshots.push({ id, values: new Map(model.live) });
    } else {
      await restoreBoth(snapshots, model, step);
    }
  }
  const expected = [...model.live].map(([name, value]) => [name, [value, model.versions.get(name)]]);
  expect((await calls.read()).secrets).toEqual(Object.fromEntries(expected));
}

test('whatever came before, a restore does what the interface says and its dry run told', async () => {
  await fc.assert(fc.asyncProperty(fc.array(anyStep, { minLength: 5, maxLength: 25 }), replay), { numRuns: 40 });
}, 120_000);
