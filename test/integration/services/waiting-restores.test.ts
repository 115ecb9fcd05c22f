import { randomUUID } from 'node:crypto';
import { describe, expect, test } from '@jest/globals';
import type { Caller } from '../../../src/domain/principal.ts';
import type { ReportedPlan } from '../../../src/domain/fleet.ts';
import type { WaitingRestoreList } from '../../../src/services/fleet/waiting-restores.ts';
import type { PageRequest } from '../../../src/services/kernel/page.ts';
import type { TestServices, World } from '../../support/api/services.ts';
import { waitingPlan } from '../../support/api/waiting-plans.ts';
import { createWorldCalls, withWorlds } from '../../support/api/with-services.ts';

let services: TestServices;
let world: World;
let cluster: string;

withWorlds((given) => {
  ({ services, world } = given);
  cluster = `cluster-${randomUUID()}`;
});

function plan(given: Partial<ReportedPlan> = {}): ReportedPlan {
  return waitingPlan({ environmentId: world.environment.id, ...given });
}

async function report(...plans: readonly ReportedPlan[]): Promise<void> {
  for (const one of plans) await services.waitingRestores.report(cluster, one);
}

async function list(request: PageRequest = {}, caller: Caller = world.developer.caller): Promise<WaitingRestoreList> {
  return services.waitingRestores.list(await world.onOrganization(caller, 'fleet.list'), request);
}

async function names(request: PageRequest = {}, caller?: Caller): Promise<string[]> {
  return (await list(request, caller)).restores.map(({ name }) => name);
}

async function rows(): Promise<unknown[]> {
  const text = 'SELECT uid, xmin, xmax, ctid FROM waiting_restore WHERE cluster = $1 ORDER BY uid';
  return (await services.database.pool.query<object>(text, [cluster])).rows;
}

describe('a plan', () => {
  test('is listed with everything that it says, until it is dropped', async () => {
    const waiting = plan();
    await report(waiting);
    const place = { project: world.project.slug, environment: world.environment.slug };
    const seen = { cluster, clusterSeenAt: null, isStale: true, changedAt: expect.any(Date) };
    expect(await list()).toEqual({ restores: [{ ...waiting, ...place, ...seen }], nextCursor: null });
    await services.syncStates.seen(cluster);
    expect((await list()).restores).toMatchObject([{ isStale: false, clusterSeenAt: expect.any(Date) }]);
    await services.waitingRestores.forget(cluster, [waiting.uid]);
    expect(await names()).toEqual([]);
  });

  test('that is the same writes nothing, not even a lock of a row; another one takes its place', async () => {
    const waiting = plan();
    await report(waiting);
    const before = await rows();
    await report(waiting);
    expect(await rows()).toEqual(before);
    const other = { ...waiting, planHash: 'other', revision: 4 };
    await report(other);
    expect((await list()).restores).toMatchObject([{ planHash: 'other', revision: 4 }]);
  });

  test('of an environment that is purged has no effect', async () => {
    await report(plan({ environmentId: randomUUID() }));
    expect(await services.waitingRestores.reported(cluster)).toEqual([]);
  });

  test('is listed with others by the uids of their SnapshotRestores, in pages', async () => {
    const plans = [plan(), plan(), plan()];
    await report(...plans);
    const uids = plans.map(({ uid }) => uid).toSorted();
    const page = async (after: string | null): Promise<string[]> =>
      (await services.waitingRestores.reported(cluster, { after, limit: 2 })).map(({ uid }) => uid);
    expect(await page(null)).toEqual(uids.slice(0, 2));
    expect(await page(uids[1] ?? null)).toEqual(uids.slice(2));
    expect(await page(uids[2] ?? null)).toEqual([]);
  });

  test('is dropped only for its own cluster, and with a cluster that was not seen for 30 days', async () => {
    const waiting = plan();
    await report(waiting);
    await services.waitingRestores.forget('another', [waiting.uid]);
    expect(await services.waitingRestores.reported(cluster)).toEqual([{ uid: waiting.uid, namespace: 'team-a' }]);
    await services.syncStates.seen(cluster);
    const text = "UPDATE cluster_state SET seen_at = clock_timestamp() - interval '31 days' WHERE cluster = $1";
    await services.database.pool.query(text, [cluster]);
    await services.syncStates.seen(`${cluster}-2`);
    expect(await services.waitingRestores.reported(cluster)).toEqual([]);
  });
});

describe('the list', () => {
  test('pages by cluster and name, whatever the namespace', async () => {
    await report(plan({ name: 'c', namespace: 'a' }), plan({ name: 'a', namespace: 'b' }), plan({ name: 'b' }));
    const first = await list({ limit: 2 });
    expect(first.restores.map(({ name }) => name)).toEqual(['a', 'b']);
    expect(await list({ limit: 2, cursor: first.nextCursor ?? '' })).toMatchObject({
      restores: [{ name: 'c' }],
      nextCursor: null,
    });
  });

  test.each(['x', Buffer.from('["consumers","a","b","c"]').toString('base64url')])(
    'refuses the cursor %s',
    async (cursor) => {
      await expect(list({ cursor })).rejects.toMatchObject({ code: 'invalid_input' });
    },
  );

  test('has the plans of the organization alone, and for a token those of its scope', async () => {
    const foreign = await createWorldCalls(services);
    const access = await world.onProject(world.admin.caller, 'environment.create');
    const { id } = await services.environments.create(access, { slug: 'second' });
    await report(
      plan({ name: 'first' }),
      plan({ name: 'second', environmentId: id }),
      plan({ name: 'foreign', environmentId: foreign.world.environment.id }),
    );
    expect(await names()).toEqual(['first', 'second']);
    const token = await world.serviceToken({ permission: 'read', scope: 'environment', environmentId: id });
    expect(await names({}, token.caller)).toEqual(['second']);
  });

  test('shows namespaces from the role developer upwards', async () => {
    await report(plan());
    expect((await list()).restores).toMatchObject([{ namespace: 'team-a' }]);
    expect((await list({}, world.viewer.caller)).restores).toMatchObject([{ namespace: null, name: 'back' }]);
  });

  test('is refused to strangers, and the call of a service token is audited', async () => {
    await report(plan());
    await expect(list({}, world.stranger.caller)).rejects.toMatchObject({ code: 'not_found' });
    await list({}, (await world.serviceToken({ permission: 'read' })).caller);
    const access = await world.onOrganization(world.admin.caller, 'audit.list');
    const { entries } = await services.auditEntries.list(access, { action: 'fleet.list' });
    expect(entries).toMatchObject([{ outcome: 'success', label: '[Service Token]', target: { restores: 1 } }]);
  });
});
