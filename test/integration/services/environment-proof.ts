import { expect } from '@jest/globals';
import { type ModelState, stateDiff } from '../../support/api/environment-model.ts';
import type { ModelledEnvironment } from '../../support/api/modelled-environment.ts';
import { secretCalls } from '../../support/api/secret-calls.ts';
import type { TestServices } from '../../support/api/services.ts';
import { snapshotCalls } from '../../support/api/snapshot-calls.ts';
import { readHistory } from '../../support/database/stored-history.ts';

/**
 * Expects every past revision, the history, its audit, the snapshots and the tokens of an environment that is not deleted
 * to be as its model has them.
 */
export async function expectAsModelled(services: TestServices, environment: ModelledEnvironment): Promise<void> {
  const { model, world } = environment;
  const calls = secretCalls(services, world, world.viewer.caller);
  expect((await calls.read()).secrets).toEqual(Object.fromEntries(model.present));
  const { versions, faults } = await readHistory(services, world);
  expect(faults).toEqual([]);
  expect(versions).toEqual(model.versions);
  await Promise.all([
    expectPast(services, environment),
    expectSnapshots(services, environment),
    expectStandings(services, environment),
    expectTokens(services, environment),
  ]);
}

async function expectPast(services: TestServices, { model, revisionIds, world }: ModelledEnvironment): Promise<void> {
  const expectAt = async (state: ModelState, revision: number): Promise<void> => {
    // Revision 0 is not known any more after the first change.
    if (revision === 0) return;
    const revisionId = revisionIds[revision] ?? '';
    const access = await world.onEnvironment(world.viewer.caller, 'secret.list');
    const list = await services.secrets.list(access, { revision: revision % 2 === 0 ? revision : revisionId });
    expect(list).toMatchObject({ revision, revisionId });
    expect(list.secrets.map(({ key, value, version }) => [key, [value.reveal(), version]])).toEqual(byKey(state));
  };
  await Promise.all(model.states.map(expectAt));
}

async function expectSnapshots(
  services: TestServices,
  { model, snapshots, world }: ModelledEnvironment,
): Promise<void> {
  const calls = snapshotCalls(services, world, world.viewer.caller);
  const kept = snapshots.filter(({ goneIn }) => goneIn === undefined);
  const listed = (await calls.list()).snapshots.map(({ id }) => id);
  expect(listed.toSorted()).toEqual(kept.map(({ id }) => id).toSorted());
  const expectDiff = async ({ id, state }: (typeof kept)[number]): Promise<void> =>
    expect(await calls.diff(id)).toMatchObject(stateDiff(state, model.present));
  await Promise.all(kept.map(expectDiff));
}

/** Each deletion and undeletion that changed something is audited once, and no other one. */
async function expectStandings(services: TestServices, { standing, world }: ModelledEnvironment): Promise<void> {
  const { organization, slugs } = world;
  const { rows } = await services.database.pool.query<{ deletions: number; undeletions: number }>(
    `SELECT count(*) FILTER (WHERE action = 'environment.delete')::int AS deletions,
      count(*) FILTER (WHERE action = 'environment.undelete' AND NOT target ? 'changed')::int AS undeletions
    FROM audit_entry WHERE organization_id = $1 AND outcome = 'success' AND target @> $2`,
    [organization.id, JSON.stringify({ project: slugs.project, environment: slugs.environment })],
  );
  expect(rows).toEqual([standing.total]);
}

/** No token that an undeletion ended is valid again; the present one is. */
async function expectTokens(
  { authentication }: TestServices,
  { clients: { ended: endedTokens, token } }: ModelledEnvironment,
): Promise<void> {
  const faults = await Promise.all(
    endedTokens.map(async (ended) =>
      authentication.authenticate(ended.token.reveal()).then(
        () => 'none',
        ({ fault }: { fault: string }) => fault,
      ),
    ),
  );
  expect(faults).toEqual(endedTokens.map(() => 'revoked'));
  if (!endedTokens.includes(token)) await authentication.authenticate(token.token.reveal());
}

function byKey(state: ModelState): (readonly [string, readonly [string, number]])[] {
  return [...state].toSorted(([a], [b]) => (a < b ? -1 : 1));
}
