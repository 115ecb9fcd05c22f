import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { type ModelState, type RestoreLists, restoreLists } from '../../support/api/environment-model.ts';
import { EnvironmentRun } from '../../support/api/environment-run.ts';
import { anyRounds, selections } from '../../support/api/environment-steps.ts';
import type { KnownSnapshot } from '../../support/api/modelled-environment.ts';
import { resourceCaller } from '../../support/api/resource-caller.ts';
import { resourceRestoreCalls, restoreRule } from '../../support/api/resource-restore-calls.ts';
import { type SecretCalls, secretCalls } from '../../support/api/secret-calls.ts';
import { RunOrganizations } from '../../support/api/run-organizations.ts';
import type { TestServices, World } from '../../support/api/services.ts';
import { withServices } from '../../support/api/with-services.ts';
import { expectInLanes } from '../../support/fixtures/property-lanes.ts';

const scale =
  process.env['KEYFRAME_TEST_SCALE'] === 'full' ? { runs: 300, limitMs: 1_200_000 } : { runs: 15, limitMs: 900_000 };

let services: TestServices;

withServices((given) => ({ services } = given), { poolSize: 20 });

const anyRestores = fc.array(
  fc.record({
    which: fc.nat(20),
    prune: fc.boolean(),
    skipUnchanged: fc.boolean(),
    backup: fc.boolean(),
    includeDeleted: fc.boolean(),
    selection: fc.constantFrom('all', ...selections.keys()),
    /** Whether a commit comes between the plan and the restore. */
    isOvertaken: fc.boolean(),
  }),
  { minLength: 1, maxLength: 4 },
);
type WantedRestore = typeof anyRestores extends fc.Arbitrary<(infer R)[]> ? R : never;

/** An environment with a history, and a reader of it. */
interface Ground {
  readonly world: World;
  readonly calls: SecretCalls;
}

const keysOf = (keys: readonly string[]): object => ({ count: keys.length, keys });

/** Plans and restores as one SnapshotRestore, and proves that the environment is what the plan said. */
async function expectAsPlanned(
  { world, calls }: Ground,
  snapshot: KnownSnapshot,
  wanted: WantedRestore,
): Promise<void> {
  const { which: _, isOvertaken, selection, ...choices } = wanted;
  const [keySelection, selected] = selections.get(selection) ?? [undefined, /./];
  const options = { ...choices, keys: keySelection };
  const resource = resourceRestoreCalls(
    services,
    resourceCaller({ kind: 'SnapshotRestore', grants: [restoreRule(world)] }),
  );
  const overtaken = isOvertaken ? [await resource.plan(snapshot.id, options)] : [];
  if (isOvertaken) await calls.put('A', 'overtaken');
  const plan = await resource.plan(snapshot.id, options);
  const before = await calls.read();
  expect([plan.revision, plan.revisionId]).toEqual([before.revision, before.revisionId]);
  const present = new Map(Object.entries(before.secrets));
  const lists = restoreLists(present, {
    ...choices,
    snapshot: snapshot.state,
    isSelected: (key) => selected.test(key),
  });
  expect(plan).toMatchObject(Object.fromEntries(Object.entries(lists).map(([list, keys]) => [list, keysOf(keys)])));
  for (const { planHash } of overtaken) {
    const refused = { code: 'plan_outdated' };
    await expect(resource.restore(snapshot.id, planHash, options)).rejects.toMatchObject(refused);
  }
  expect(await resource.find()).toBeUndefined();
  const done = await resource.restore(snapshot.id, plan.planHash, options);
  const { planHash, restored, recreated, unchanged, skipped, destroyed, pruned } = plan;
  expect(done).toMatchObject({ planHash, restored, recreated, unchanged, skipped, destroyed, pruned });
  const isChange = lists.restored.length + lists.recreated.length + lists.pruned.length > 0;
  expect(done.revision).toBe(before.revision + Number(isChange));
  expect(done.backupSnapshotId !== null).toBe(isChange && options.backup);
  const after = stateAfter(present, snapshot, lists);
  for (const key of lists.recreated) {
    after.set(key, [snapshot.state.get(key)?.[0] ?? '', (await calls.history(key)).length]);
  }
  expect((await calls.read()).secrets).toEqual(Object.fromEntries(after));
}

/** What a restore leaves of a state, without the keys that it recreates: each restored key one version on. */
function stateAfter(
  before: ModelState,
  { state }: KnownSnapshot,
  { restored, pruned }: RestoreLists,
): Map<string, readonly [string, number]> {
  const after = new Map(before);
  for (const key of restored) after.set(key, [state.get(key)?.[0] ?? '', (before.get(key)?.[1] ?? 0) + 1]);
  for (const key of pruned) after.delete(key);
  return after;
}

test('whatever an environment has been through, what is carried out is what the plan said, or nothing', async () => {
  await expectInLanes(() => {
    const organizations = new RunOrganizations(services);
    return fc.asyncProperty(anyRounds, anyRestores, async (rounds, restores) => {
      const run = await EnvironmentRun.start(services, await organizations.next());
      await run.round([{ step: { kind: 'snapshot' }, client: 0, environment: 0 }]);
      for (const calls of rounds) await run.round(calls);
      await run.finish();
      const [{ world, snapshots }] = run.environments;
      const ground = { world, calls: secretCalls(services, world, world.developer.caller) };
      const there = snapshots.filter(({ goneIn }) => goneIn === undefined);
      for (const wanted of restores) {
        const snapshot = there[wanted.which % there.length];
        if (snapshot !== undefined) await expectAsPlanned(ground, snapshot, wanted);
      }
    });
  }, scale);
}, 1_260_000);
