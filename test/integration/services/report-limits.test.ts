import { randomUUID } from 'node:crypto';
import { describe, expect, test } from '@jest/globals';
import type { RefusedReports, SyncStateReport } from '../../../src/domain/fleet.ts';
import { SyncStates } from '../../../src/services/fleet/sync-states.ts';
import type { TestServices, World } from '../../support/api/services.ts';
import { stateReport } from '../../support/api/state-reports.ts';
import { createWorldCalls, withWorlds } from '../../support/api/with-services.ts';

/** What a cluster may report: sources of SecretSyncs in an organization, and namespaces for an environment. */

let services: TestServices;
let world: World;
let cluster: string;

withWorlds((given) => {
  ({ services, world } = given);
  cluster = `cluster-${randomUUID()}`;
});

function states(sources: number, namespaces = 1_000): SyncStates {
  return new SyncStates(services.database, { sources, namespaces });
}

function report(given: Partial<SyncStateReport> = {}): SyncStateReport {
  return stateReport({ environmentId: world.environment.id, ...given });
}

function reports(count: number, given: (index: number) => Partial<SyncStateReport> = () => ({})): SyncStateReport[] {
  return Array.from({ length: count }, (_, index) => report(given(index)));
}

/** What is stored of the cluster, by uid and source. */
async function stored(): Promise<Record<string, { reason: string; environmentId: string }>> {
  const text = 'SELECT uid, source, reason, environment_id AS "environmentId" FROM sync_state WHERE cluster = $1';
  const { rows } = await services.database.pool.query<{
    uid: string;
    source: string;
    reason: string;
    environmentId: string;
  }>(text, [cluster]);
  return Object.fromEntries(rows.map(({ uid, source, ...row }) => [`${uid}${source}`, row]));
}

function uidsOf(refused: readonly RefusedReports[]): string[] {
  return refused.flatMap(({ uids }) => uids).toSorted();
}

async function secondEnvironment(): Promise<string> {
  const access = await world.onProject(world.admin.caller, 'environment.create');
  return (await services.environments.create(access, { slug: 'second' })).id;
}

describe('the sources of a cluster in an organization', () => {
  test('are stored up to the limit, and a refusal says which are not, why, and what to do', async () => {
    const first = reports(3);
    expect(await states(5).report(cluster, first)).toEqual([]);
    const more = reports(4).toSorted((a, b) => (a.uid < b.uid ? -1 : 1));
    const refused = await states(5).report(cluster, more);
    const late = more.slice(2).map(({ uid }) => uid);
    expect(refused).toEqual([{ uids: expect.any(Array), code: 'quota_exceeded', detail: expect.any(String) }]);
    expect(uidsOf(refused)).toEqual(late);
    const kept = [...first, ...more.slice(0, 2)].map(({ uid }) => uid);
    expect(Object.keys(await stored()).toSorted()).toEqual(kept.toSorted());
    expect((await services.syncStates.report(cluster, more)).length).toBe(0);
  });

  test('change at the limit like below it, beside new ones that are refused', async () => {
    const first = reports(3);
    await states(3).report(cluster, first);
    const changed = first.map((one) => ({ ...one, reason: 'Changed' }));
    const added = report();
    expect(uidsOf(await states(3).report(cluster, [added, ...changed]))).toEqual([added.uid]);
    expect(Object.values(await stored()).map(({ reason }) => reason)).toEqual(['Changed', 'Changed', 'Changed']);
  });

  test('move between environments of the organization at the limit, and not into another one', async () => {
    const [one, ...others] = reports(3) as [SyncStateReport, ...SyncStateReport[]];
    await states(3).report(cluster, [one, ...others]);
    const environmentId = await secondEnvironment();
    expect(await states(3).report(cluster, [{ ...one, environmentId }])).toEqual([]);
    expect((await stored())[one.uid]).toMatchObject({ environmentId });
    const other = await createWorldCalls(services);
    const foreign = reports(3, () => ({ environmentId: other.world.environment.id }));
    await states(3).report(cluster, foreign);
    const moved = { ...one, environmentId: other.world.environment.id };
    expect(uidsOf(await states(3).report(cluster, [moved]))).toEqual([one.uid]);
    // What was stored before stays.
    expect((await stored())[one.uid]).toMatchObject({ environmentId });
    expect(Object.keys(await stored())).toHaveLength(6);
  });

  test('give way to those that take their place in the same report', async () => {
    const uid = randomUUID();
    await states(2).report(cluster, [report({ uid, source: 'a' }), report({ uid, source: 'b' })]);
    expect(await states(2).report(cluster, [report({ uid, source: 'b' }), report({ uid, source: 'c' })])).toEqual([]);
    expect(Object.keys(await stored()).toSorted()).toEqual([`${uid}b`, `${uid}c`]);
  });

  test('count for their own cluster and organization alone', async () => {
    await states(2).report(cluster, reports(2));
    expect(await states(2).report(`${cluster}-2`, reports(2))).toEqual([]);
    const other = await createWorldCalls(services);
    const foreign = reports(2, () => ({ environmentId: other.world.environment.id }));
    expect(await states(2).report(cluster, foreign)).toEqual([]);
    expect(uidsOf(await states(2).report(cluster, reports(1)))).toHaveLength(1);
  });

  test('that are forgotten make room', async () => {
    const first = reports(2);
    await states(2).report(cluster, first);
    await states(2).forget(cluster, [first[0]?.uid ?? '']);
    expect(await states(2).report(cluster, reports(1))).toEqual([]);
  });

  test('never exceed the limit, however many processes report at once', async () => {
    for (let round = 0; round < 10; round += 1) {
      cluster = `cluster-${randomUUID()}`;
      const all = Array.from({ length: 6 }, () => reports(4));
      const refused = await Promise.all(all.map((batch) => states(10).report(cluster, batch)));
      expect(Object.keys(await stored())).toHaveLength(10);
      expect(refused.flatMap(uidsOf)).toHaveLength(14);
    }
  });
});

describe('the namespaces of a cluster for an environment', () => {
  const namespaced = (count: number, prefix: string): SyncStateReport[] =>
    reports(count, (index) => ({ namespace: `${prefix}-${index}` }));

  test('are stored up to the limit, each with all its SecretSyncs', async () => {
    expect(await states(100, 3).report(cluster, [...namespaced(3, 'a'), ...namespaced(3, 'a')])).toEqual([]);
    const added = report({ namespace: 'b' });
    const more = report({ namespace: 'a-1' });
    const refused = await states(100, 3).report(cluster, [added, more]);
    expect(refused).toMatchObject([
      { uids: [added.uid], code: 'quota_exceeded', detail: expect.stringContaining('namespaces') },
    ]);
    expect(Object.keys(await stored())).toHaveLength(7);
  });

  test('count for each environment by itself', async () => {
    await states(100, 2).report(cluster, namespaced(2, 'a'));
    const environmentId = await secondEnvironment();
    const others = namespaced(2, 'b').map((one) => ({ ...one, environmentId }));
    expect(await states(100, 2).report(cluster, others)).toEqual([]);
    expect(uidsOf(await states(100, 2).report(cluster, namespaced(1, 'c')))).toHaveLength(1);
  });

  test('are refused to a SecretSync that moves in, whose row stays where it was', async () => {
    const environmentId = await secondEnvironment();
    const [one = report()] = namespaced(1, 'c').map((first) => ({ ...first, environmentId }));
    await states(100, 2).report(cluster, [one, ...namespaced(2, 'a')]);
    const moved = { ...one, environmentId: world.environment.id };
    expect(uidsOf(await states(100, 2).report(cluster, [moved]))).toEqual([one.uid]);
    expect((await stored())[one.uid]).toMatchObject({ environmentId });
  });

  test('never exceed the limit, however many processes report at once', async () => {
    for (let round = 0; round < 10; round += 1) {
      cluster = `cluster-${randomUUID()}`;
      await Promise.all(['a', 'b', 'c', 'd'].map((prefix) => states(100, 5).report(cluster, namespaced(3, prefix))));
      expect(Object.keys(await stored())).toHaveLength(5);
    }
  });
});
