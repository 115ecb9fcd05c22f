import { expect } from '@jest/globals';
import { type ModelState, stateDiff } from '../../support/api/environment-model.ts';
import type { EnvironmentRun } from '../../support/api/environment-run.ts';
import { secretCalls } from '../../support/api/secret-calls.ts';
import type { TestServices, World } from '../../support/api/services.ts';
import { snapshotCalls } from '../../support/api/snapshot-calls.ts';
import { readHistory } from '../../support/database/stored-history.ts';

type Known = Pick<EnvironmentRun, 'model' | 'revisionIds' | 'snapshots'>;

/** Expects every past revision, the history, its audit and the snapshots of an environment to be as its model has them. */
export async function expectAsModelled(services: TestServices, world: World, known: Known): Promise<void> {
  const { model } = known;
  const calls = secretCalls(services, world, world.viewer.caller);
  expect((await calls.read()).secrets).toEqual(Object.fromEntries(model.present));
  await expectPast(services, world, known);
  const { versions, faults } = await readHistory(services, world);
  expect(faults).toEqual([]);
  expect(versions).toEqual(model.versions);
  await expectSnapshots(services, world, known);
}

async function expectPast(services: TestServices, world: World, { model, revisionIds }: Known): Promise<void> {
  for (const [revision, state] of model.states.entries()) {
    // Revision 0 is not known any more after the first change.
    if (revision === 0) continue;
    const revisionId = revisionIds[revision] ?? '';
    const access = await world.onEnvironment(world.viewer.caller, 'secret.list');
    const list = await services.secrets.list(access, { revision: revision % 2 === 0 ? revision : revisionId });
    expect(list).toMatchObject({ revision, revisionId });
    expect(list.secrets.map(({ key, value, version }) => [key, [value.reveal(), version]])).toEqual(byKey(state));
  }
}

async function expectSnapshots(services: TestServices, world: World, { model, snapshots }: Known): Promise<void> {
  const calls = snapshotCalls(services, world, world.viewer.caller);
  const kept = snapshots.filter(({ goneIn }) => goneIn === undefined);
  const listed = (await calls.list()).snapshots.map(({ id }) => id);
  expect(listed.toSorted()).toEqual(kept.map(({ id }) => id).toSorted());
  for (const { id, state } of kept) expect(await calls.diff(id)).toMatchObject(stateDiff(state, model.present));
}

function byKey(state: ModelState): (readonly [string, readonly [string, number]])[] {
  return [...state].toSorted(([a], [b]) => (a < b ? -1 : 1));
}
