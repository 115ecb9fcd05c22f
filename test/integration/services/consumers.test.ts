import { randomUUID } from 'node:crypto';
import { describe, expect, test } from '@jest/globals';
import type { Caller } from '../../../src/domain/principal.ts';
import type { Consumer, ConsumerList, ConsumersRequest } from '../../../src/services/fleet/consumers.ts';
import type { SyncStateReport } from '../../../src/domain/fleet.ts';
import type { SecretCalls } from '../../support/api/secret-calls.ts';
import { callerOf, type TestServices, type World } from '../../support/api/services.ts';
import { rolloutReport, stateReport } from '../../support/api/state-reports.ts';
import { TenantCalls } from '../../support/api/tenant-calls.ts';
import { createWorldCalls, withWorlds } from '../../support/api/with-services.ts';

let services: TestServices;
let world: World;
let calls: SecretCalls;
let cluster: string;

withWorlds((given) => {
  ({ services, world, calls } = given);
  cluster = `cluster-${randomUUID()}`;
});

/** A report about the world's environment. */
function report(given: Partial<SyncStateReport> = {}): SyncStateReport {
  return stateReport({ environmentId: world.environment.id, ...given });
}

async function store(...reports: readonly SyncStateReport[]): Promise<void> {
  await services.syncStates.report(cluster, reports);
}

async function list(request: ConsumersRequest = {}, caller: Caller = world.developer.caller): Promise<ConsumerList> {
  return services.consumers.list(await world.onEnvironment(caller, 'consumer.list'), request);
}

async function fleet(request: ConsumersRequest = {}, caller: Caller = world.developer.caller): Promise<ConsumerList> {
  return services.consumers.listFleet(await world.onOrganization(caller, 'fleet.list'), request);
}

async function only(): Promise<Consumer> {
  const { consumers } = await list();
  expect(consumers).toHaveLength(1);
  return consumers[0] as Consumer;
}

/** What PostgreSQL changes with each write of a row. */
async function writesOf(): Promise<unknown[]> {
  const text = 'SELECT uid, source, xmin, xmax, ctid FROM sync_state WHERE cluster = $1 ORDER BY uid, source';
  return (await services.database.pool.query<object>(text, [cluster])).rows;
}

async function age(interval: string): Promise<void> {
  const text = 'UPDATE cluster_state SET seen_at = clock_timestamp() - $2::interval WHERE cluster = $1';
  await services.database.pool.query(text, [cluster, interval]);
}

describe('a report', () => {
  test('is listed with everything that it says', async () => {
    const ids = await calls.put('A', '1');
    const syncedAt = new Date('2027-01-01T00:00:00Z');
    const rollout = rolloutReport({ converged: ids });
    const sent = report({ source: 'db', isPinned: true, wanted: ids, synced: ids, syncedAt, secretName: 's', rollout });
    await services.syncStates.seen(cluster);
    await store(sent);
    expect(await only()).toEqual({
      environmentId: world.environment.id,
      project: world.project.slug,
      environment: world.environment.slug,
      isEnvironmentDeleted: false,
      environmentRevision: 1,
      environmentRevisionId: ids.revisionId,
      cluster,
      clusterSeenAt: expect.any(Date),
      isStale: false,
      uid: sent.uid,
      namespace: 'team-a',
      name: 'app',
      source: 'db',
      isPinned: true,
      health: 'healthy',
      state: 'ready',
      reason: 'Synced',
      wantedRevision: 1,
      wantedRevisionId: ids.revisionId,
      syncedRevision: 1,
      syncedRevisionId: ids.revisionId,
      syncedAt,
      secretName: 's',
      rolloutState: 'converged',
      rolloutReason: 'Converged',
      convergedRevision: 1,
      convergedRevisionId: ids.revisionId,
      workloads: rollout.workloads,
      changedAt: expect.any(Date),
    });
  });

  test('that says the same again writes nothing, not even a lock of a row', async () => {
    const ids = await calls.put('A', '1');
    const all = [report({ wanted: ids, synced: ids, rollout: rolloutReport() }), report({ source: 'b' }), report()];
    await store(...all);
    const before = await writesOf();
    await store(...all);
    expect(await writesOf()).toEqual(before);
    const [first] = all;
    await store({ ...(first as SyncStateReport), reason: 'Other' });
    expect(await writesOf()).not.toEqual(before);
  });

  test('of a failure keeps what the Secret holds, and what the workloads converged with', async () => {
    const ids = await calls.put('A', '1');
    const rollout = rolloutReport({ converged: ids });
    const good = report({ wanted: ids, synced: ids, syncedAt: new Date(0), rollout });
    await store(good);
    const failed = { state: 'stalled', reason: 'AccessDenied', wanted: null, synced: null, syncedAt: null } as const;
    const stuck = rolloutReport({ state: 'stalled', reason: 'RolloutStuck' });
    await store({ ...good, ...failed, environmentId: null, rollout: stuck });
    expect(await only()).toMatchObject({
      environmentId: world.environment.id,
      health: 'stalled',
      wantedRevision: null,
      wantedRevisionId: null,
      syncedRevision: 1,
      syncedAt: new Date(0),
      convergedRevision: 1,
    });
    await store({ ...good, ...failed, environmentId: null, rollout: null });
    expect(await only()).toMatchObject({ rolloutState: null, convergedRevision: null, convergedRevisionId: null });
  });

  test('of another environment keeps nothing of the one before', async () => {
    const ids = await calls.put('A', '1');
    const sent = report({ synced: ids, rollout: rolloutReport({ converged: ids }) });
    await store(sent);
    const other = await createWorldCalls(services);
    await store({ ...sent, environmentId: other.world.environment.id, synced: null, rollout: rolloutReport() });
    expect((await list()).consumers).toEqual([]);
    const access = await other.world.onEnvironment(other.world.developer.caller, 'consumer.list');
    const { consumers } = await services.consumers.list(access);
    expect(consumers).toMatchObject([{ uid: sent.uid, syncedRevisionId: null, convergedRevisionId: null }]);
  });

  test('of a source that was never admitted to an environment has no row', async () => {
    await store(report({ environmentId: null, state: 'stalled', reason: 'AccessDenied' }));
    expect(await services.syncStates.reported(cluster)).toEqual([]);
  });

  test('is listed with others by the uids of their SecretSyncs, in pages', async () => {
    const sent = Array.from({ length: 5 }, () => report());
    await store(...sent, report({ uid: sent[0]?.uid ?? '', source: 'b' }));
    const uids = sent.map(({ uid }) => uid).toSorted();
    const page = async (after: string | null): Promise<string[]> =>
      (await services.syncStates.reported(cluster, { after, limit: 2 })).map(({ uid }) => uid);
    expect(await page(null)).toEqual(uids.slice(0, 2));
    expect(await page(uids[1] ?? null)).toEqual(uids.slice(2, 4));
    expect(await page(uids[3] ?? null)).toEqual(uids.slice(4));
    expect(await page(uids[4] ?? null)).toEqual([]);
  });

  test('replaces all sources of its SecretSync', async () => {
    const uid = randomUUID();
    const others = report();
    await store(report({ uid, source: 'a' }), report({ uid, source: 'b' }), others);
    await store(report({ uid, source: 'b' }), report({ uid, source: 'c' }));
    const { consumers } = await list();
    const sources = consumers.filter((consumer) => consumer.uid === uid).map(({ source }) => source);
    expect(sources).toEqual(['b', 'c']);
    expect(consumers.map((consumer) => consumer.uid)).toContain(others.uid);
  });

  test('of an environment that is purged has no effect, and the row of one that was purged goes with it', async () => {
    const other = await createWorldCalls(services);
    const { environment } = other.world;
    const sent = report({ environmentId: environment.id });
    await store(sent);
    await new TenantCalls(services, other.world).remove('environment');
    const admin = await instanceAdmin(other.world);
    await new TenantCalls(services, other.world).purge('environment', admin);
    expect(await services.syncStates.reported(cluster)).toEqual([]);
    await store(sent, report());
    expect(await only()).not.toMatchObject({ uid: sent.uid });
  });

  test('of many SecretSyncs at the same time, in any order, meets no deadlock', async () => {
    const all = Array.from({ length: 300 }, () => report());
    const turn = async (round: number): Promise<void> =>
      store(...all.toSorted(() => Math.random() - 0.5).map((one) => ({ ...one, reason: `Round${round}` })));
    // The second time, all connections are open.
    for (let time = 0; time < 2; time += 1) await Promise.all(Array.from({ length: 4 }, (_, round) => turn(round)));
    expect((await list()).consumers).toHaveLength(300);
  });

  test('of a revision that the environment lost with a recovery names no number', async () => {
    const ids = await calls.put('A', '1');
    const lost = { revision: 7, revisionId: randomUUID() };
    await store(report({ wanted: ids, synced: lost, rollout: rolloutReport({ converged: lost }) }));
    expect(await only()).toMatchObject({
      wantedRevision: 1,
      syncedRevision: null,
      syncedRevisionId: lost.revisionId,
      convergedRevision: null,
    });
    const empty = { revision: 0, revisionId: world.environment.revisionId };
    await store(report({ name: 'empty', wanted: empty, synced: empty }));
    expect((await list()).consumers).toContainEqual(expect.objectContaining({ name: 'empty', syncedRevision: 0 }));
  });
});

async function instanceAdmin(of: World): Promise<Caller> {
  await services.database.pool.query('UPDATE app_user SET instance_admin = true WHERE id = $1', [of.owner.id]);
  return callerOf(await services.authentication.authenticate(of.owner.token.reveal()));
}

describe('the health', () => {
  test.each([
    ['ready', null, 'healthy'],
    ['ready', 'converged', 'healthy'],
    ['ready', 'progressing', 'progressing'],
    ['ready', 'suspended', 'progressing'],
    ['ready', 'stalled', 'stalled'],
    ['progressing', 'converged', 'progressing'],
    ['progressing', 'stalled', 'stalled'],
    ['stalled', null, 'stalled'],
    ['suspended', 'stalled', 'suspended'],
  ] as const)('of a SecretSync that is %s with a rollout that is %s is %s', async (state, rolloutState, health) => {
    await store(report({ state, rollout: rolloutState === null ? null : rolloutReport({ state: rolloutState }) }));
    expect(await only()).toMatchObject({ health });
    expect((await list({ health })).consumers).toHaveLength(1);
    const other = health === 'stalled' ? 'healthy' : 'stalled';
    expect((await list({ health: other })).consumers).toEqual([]);
  });
});

describe('a cluster', () => {
  test('is stale before it was seen, and 3 minutes after it was', async () => {
    await store(report());
    expect(await only()).toMatchObject({ clusterSeenAt: null, isStale: true });
    await services.syncStates.seen(cluster);
    expect(await only()).toMatchObject({ clusterSeenAt: expect.any(Date), isStale: false });
    await age('2 minutes 50 seconds');
    expect(await only()).toMatchObject({ isStale: false });
    await age('3 minutes 1 second');
    expect(await only()).toMatchObject({ isStale: true });
    await services.syncStates.seen(cluster);
    expect(await only()).toMatchObject({ isStale: false });
  });

  test('is dropped with its rows once it was not seen for 30 days, by any other', async () => {
    await store(report());
    await services.syncStates.seen(cluster);
    await age('29 days 23 hours');
    await services.syncStates.seen('another');
    await only();
    await age('30 days 1 minute');
    await services.syncStates.seen('another');
    expect((await list()).consumers).toEqual([]);
  });

  test('drops only its own SecretSyncs', async () => {
    const uid = randomUUID();
    await store(report({ uid }));
    await services.syncStates.report(`${cluster}-2`, [report({ uid })]);
    await services.syncStates.forget(cluster, [uid]);
    expect(await only()).toMatchObject({ cluster: `${cluster}-2` });
  });
});

describe('the list', () => {
  test('pages by cluster, name, uid and source, whatever the namespace', async () => {
    const uid = randomUUID();
    const named = ['b', 'aa', 'a-z'].map((name) => report({ name, namespace: `ns-${name}` }));
    await store(...named, report({ uid, name: 'c', source: 'y' }), report({ uid, name: 'c', source: 'x' }));
    await services.syncStates.report(`${cluster}-2`, [report({ name: '0' })]);
    const pages: ConsumerList[] = [await list({ limit: 2 })];
    for (let cursor = pages[0]?.nextCursor ?? null; cursor !== null; cursor = pages.at(-1)?.nextCursor ?? null)
      pages.push(await list({ limit: 2, cursor }));
    const labels = pages.map(({ consumers }) => consumers.map(({ name, source }) => `${name}${source}`));
    expect(labels).toEqual([
      ['a-z', 'aa'],
      ['b', 'cx'],
      ['cy', '0'],
    ]);
    const cursors = pages.map(({ nextCursor }) => Buffer.from(nextCursor ?? '', 'base64url').toString());
    expect(cursors.join()).not.toContain('ns-');
  });

  test('is filtered by cluster and by reason', async () => {
    await store(report({ name: 'good' }), report({ name: 'bad', reason: 'TokenRevoked', state: 'stalled' }));
    await services.syncStates.report(`${cluster}-2`, [report({ name: 'other' })]);
    const names = async (request: ConsumersRequest): Promise<string[]> =>
      (await list(request)).consumers.map(({ name }) => name);
    expect(await names({ cluster })).toEqual(['bad', 'good']);
    expect(await names({ reason: 'TokenRevoked' })).toEqual(['bad']);
    expect(await names({ cluster, reason: 'Synced', health: 'healthy' })).toEqual(['good']);
    expect(await names({ cluster: 'unknown' })).toEqual([]);
  });

  test.each(['x', Buffer.from('["consumers","a","b","c","d"]').toString('base64url')])(
    'refuses the cursor %s',
    async (cursor) => {
      const error = { code: 'invalid_input', fields: [{ field: 'cursor' }] };
      await expect(list({ cursor })).rejects.toMatchObject(error);
      const nul = ['consumers', cluster, 'a\u0000', randomUUID(), ''];
      const unreadable = Buffer.from(JSON.stringify(nul)).toString('base64url');
      await expect(list({ cursor: unreadable })).rejects.toMatchObject(error);
      await expect(list({ limit: 0 })).rejects.toMatchObject({ fields: [{ field: 'limit' }] });
    },
  );

  test('shows namespaces from the role developer upwards, and to tokens that may write', async () => {
    await store(report());
    const token = async (permission: 'read' | 'read_write'): Promise<Caller> =>
      (await world.serviceToken({ permission })).caller;
    const namespaces = async (caller: Caller): Promise<unknown[]> => {
      const lists = [await list({}, caller), await fleet({}, caller)];
      return lists.flatMap(({ consumers }) => consumers.map(({ namespace }) => namespace));
    };
    const shown = ['team-a', 'team-a'];
    const hidden = [null, null];
    expect(await namespaces(world.owner.caller)).toEqual(shown);
    expect(await namespaces(world.admin.caller)).toEqual(shown);
    expect(await namespaces(world.developer.caller)).toEqual(shown);
    expect(await namespaces(world.viewer.caller)).toEqual(hidden);
    expect(await namespaces(await token('read_write'))).toEqual(shown);
    expect(await namespaces(await token('read'))).toEqual(hidden);
  });

  test('is refused to strangers, and the call of a service token is audited', async () => {
    await store(report());
    const { stranger, admin } = world;
    await expect(list({}, stranger.caller)).rejects.toMatchObject({ code: 'not_found' });
    await expect(fleet({}, stranger.caller)).rejects.toMatchObject({ code: 'not_found' });
    await list({}, (await world.serviceToken({ permission: 'read' })).caller);
    const access = await world.onOrganization(admin.caller, 'audit.list');
    const { entries } = await services.auditEntries.list(access, { action: 'consumer.list' });
    expect(entries).toMatchObject([{ outcome: 'success', label: '[Service Token]', target: { consumers: 1 } }]);
  });
});

describe('the fleet', () => {
  test('has the newest revision of each environment, beside the one that a Secret holds', async () => {
    const first = await calls.patch({ A: 'one' });
    await store(report({ synced: first }));
    const second = await calls.patch({ A: 'two' });
    expect((await fleet()).consumers).toMatchObject([
      {
        health: 'healthy',
        syncedRevision: first.revision,
        environmentRevision: second.revision,
        environmentRevisionId: second.revisionId,
      },
    ]);
  });

  test('has the consumers of the whole organization and of no other', async () => {
    const foreign = await createWorldCalls(services);
    const { id } = await services.environments.create(await world.onProject(world.admin.caller, 'environment.create'), {
      slug: 'second',
    });
    await store(
      report({ name: 'first' }),
      report({ name: 'second', environmentId: id }),
      report({ name: 'foreign', environmentId: foreign.world.environment.id }),
    );
    const { consumers } = await fleet();
    expect(consumers.map(({ name, environment }) => [name, environment])).toEqual([
      ['first', world.environment.slug],
      ['second', 'second'],
    ]);
    const { projectId, environmentId } = { projectId: world.project.id, environmentId: id };
    const inScope = async (input: Parameters<World['serviceToken']>[0]): Promise<string[]> => {
      const { caller } = await world.serviceToken({ permission: 'read', ...input });
      return (await fleet({}, caller)).consumers.map(({ name }) => name);
    };
    expect(await inScope({ scope: 'organization' })).toEqual(['first', 'second']);
    expect(await inScope({ scope: 'project', projectId })).toEqual(['first', 'second']);
    expect(await inScope({ scope: 'environment', environmentId })).toEqual(['second']);
  });

  test.each(['environment', 'project'] as const)(
    'shows what read a deleted %s to those who may list it',
    async (level) => {
      await store(report());
      const tenants = new TenantCalls(services, world);
      await tenants.remove(level);
      expect((await fleet()).consumers).toEqual([]);
      const seen = await fleet({}, world.admin.caller);
      expect(seen.consumers).toMatchObject([{ isEnvironmentDeleted: true, environment: world.environment.slug }]);
      await tenants.undelete(level);
      expect((await fleet()).consumers).toMatchObject([{ isEnvironmentDeleted: false }]);
    },
  );
});
