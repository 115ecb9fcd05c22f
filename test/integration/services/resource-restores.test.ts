import { randomUUID } from 'node:crypto';
import { beforeEach, describe, expect, test } from '@jest/globals';
import type { GrantRule } from '../../../src/domain/grants.ts';
import type { AnyCaller, ResourceCaller } from '../../../src/domain/principal.ts';
import { prismaOf } from '../../support/database/prisma.ts';
import { type PostgresProxy, runs } from '../../support/faults/postgres-proxy.ts';
import { resourceCaller } from '../../support/api/resource-caller.ts';
import {
  type ResourceRestoreCalls,
  resourceRestoreCalls,
  restoreRule,
} from '../../support/api/resource-restore-calls.ts';
import type { SecretCalls } from '../../support/api/secret-calls.ts';
import type { TestServices, World } from '../../support/api/services.ts';
import type { SnapshotCalls } from '../../support/api/snapshot-calls.ts';
import { createWorldCalls, withProxiedWorlds } from '../../support/api/with-services.ts';

let proxy: PostgresProxy;
let services: TestServices;
let world: World;
let calls: SecretCalls;
let snapshots: SnapshotCalls;
let resource: ResourceCaller;

withProxiedWorlds((given) => ({ proxy, services, world, calls, snapshots } = given));

beforeEach(() => {
  resource = restoreResource();
});

function rule(more: Partial<GrantRule> = {}): GrantRule {
  return restoreRule(world, more);
}

/** A SnapshotRestore whose namespace is granted the world's environment by default. */
function restoreResource(grants: readonly GrantRule[] = [rule()], more: object = {}): ResourceCaller {
  return resourceCaller({ kind: 'SnapshotRestore', grants, name: `back-${randomUUID()}`, ...more });
}

function of(caller: AnyCaller = resource): ResourceRestoreCalls {
  return resourceRestoreCalls(services, caller);
}

/** A snapshot to which something has been added, changed and deleted since; the environment is at revision 2. */
async function makeSnapshot(): Promise<string> {
  await calls.patch({ CHANGED: 'old', GONE: '1', SAME: '1' });
  const { id } = await snapshots.create({ name: 'good' });
  await calls.patch({ CHANGED: 'new', LATER: '1' }, ['GONE']);
  return id;
}

async function valuesNow(): Promise<Record<string, string>> {
  const { secrets } = await calls.read();
  return Object.fromEntries(Object.entries(secrets).map(([key, [value]]) => [key, value]));
}

async function revisionNow(): Promise<number> {
  return (await calls.read()).revision;
}

async function audited(): Promise<{ outcome: string; target: unknown }[]> {
  return prismaOf(services.database).auditEntry.findMany({
    where: { action: 'snapshot.restore', actorId: resource.principal.id },
    select: { outcome: true, target: true },
    orderBy: { id: 'asc' },
  });
}

const keysOf = (...keys: string[]): object => ({ count: keys.length, keys });

describe('a plan', () => {
  test('shows counts and keys, restores nothing, and is audited where it is new', async () => {
    const id = await makeSnapshot();
    const plan = await of().plan(id, { prune: true, skipUnchanged: true });
    const { organization, project, environment } = world.slugs;
    expect(plan).toEqual({
      snapshotId: id,
      environmentId: world.environment.id,
      environment: `${organization}/${project}/${environment}`,
      planHash: expect.stringMatching(/^[A-Za-z0-9_-]{43}$/),
      revision: 2,
      revisionId: (await calls.read()).revisionId,
      restored: keysOf('CHANGED'),
      recreated: keysOf(),
      unchanged: keysOf('SAME'),
      skipped: keysOf('GONE'),
      destroyed: keysOf(),
      pruned: keysOf('LATER'),
    });
    expect(await of().plan(id, { prune: true, skipUnchanged: true }, plan.planHash)).toEqual(plan);
    const target = { snapshotId: id, dryRun: true, restored: 1, unchanged: 1, skipped: 1, pruned: 1 };
    expect(await audited()).toEqual([{ outcome: 'success', target: expect.objectContaining(target) }]);
    expect(await of().plan(id, {}, plan.planHash)).toMatchObject({ pruned: keysOf() });
    expect(await audited()).toHaveLength(2);
    expect(await revisionNow()).toBe(2);
  });

  test('names 100 keys of each list and counts all', async () => {
    const keys = Array.from({ length: 130 }, (_, index) => `KEY_${String(index).padStart(3, '0')}`);
    await calls.patch(Object.fromEntries(keys.map((key) => [key, '1'])));
    const { id } = await snapshots.create();
    expect((await of().plan(id)).restored).toEqual({ count: 130, keys: keys.slice(0, 100) });
    const { planHash } = await of().plan(id);
    const done = await of().restore(id, planHash);
    expect(done.restored).toEqual({ count: 130, keys: keys.slice(0, 100) });
    expect(Object.values(await valuesNow())).toHaveLength(130);
  });

  test('has a hash of the resource’s own, which is neither another one’s nor the API’s', async () => {
    const id = await makeSnapshot();
    const { id: uid } = resource.principal;
    const others = [restoreResource(), restoreResource([rule()], { uid, cluster: 'rebuilt' })];
    const options = { prune: false, skipUnchanged: false, backup: true };
    const hashes = [
      await of().plan(id),
      ...(await Promise.all(others.map((other) => of(other).plan(id)))),
      await snapshots.plan(id, options),
    ].map(({ planHash }) => planHash);
    expect(new Set(hashes).size).toBe(4);
    for (const hash of hashes.slice(1)) {
      await expect(of().restore(id, hash)).rejects.toMatchObject({ code: 'plan_outdated' });
    }
    expect(await of().find()).toBeUndefined();
    expect(await revisionNow()).toBe(2);
  });
});

describe('a restore', () => {
  test('does what the plan said, with a backup in the same revision, and remembers what it did', async () => {
    const id = await makeSnapshot();
    const options = { prune: true, skipUnchanged: true };
    const { planHash, revision, revisionId, ...lists } = await of().plan(id, options);
    const done = await of().restore(id, planHash, options);
    expect(done).toMatchObject({ ...lists, planHash, from: { revision, revisionId }, revision: 3 });
    expect(await valuesNow()).toEqual({ CHANGED: 'old', SAME: '1' });
    const backup = await snapshots.get(done.backupSnapshotId ?? '');
    expect(backup).toMatchObject({
      name: 'before restore of good',
      revision: 2,
      createdByType: 'resource',
      createdBy: resource.principal.id,
      createdByCluster: resource.principal.cluster,
    });
    expect(done.completedAt.getTime()).toBeGreaterThanOrEqual(done.startedAt.getTime());
    expect(await of().find()).toEqual(done);
    const [, entry] = await audited();
    const target = { snapshotId: id, restoredKeys: ['CHANGED'], prunedKeys: ['LATER'], revision: 3 };
    expect(entry).toEqual({ outcome: 'success', target: expect.objectContaining(target) });
    const { cluster } = resource.principal;
    const version = await prismaOf(services.database).secretVersion.findFirst({
      where: { changedById: resource.principal.id },
    });
    const comment = `restored from snapshot ${id} by ${resource.principal.name}`;
    expect(version).toMatchObject({
      changeType: 'rolled_back',
      changedByType: 'resource',
      changedByCluster: cluster,
      comment,
    });
    const revisions = await prismaOf(services.database).environmentRevision.findMany({
      where: { environmentId: world.environment.id },
      orderBy: { number: 'asc' },
    });
    expect(revisions.map(({ actorCluster }) => actorCluster)).toEqual([null, null, cluster]);
  });

  test('is one, of 10 calls at once', async () => {
    const id = await makeSnapshot();
    const { planHash } = await of().plan(id);
    const answers = await Promise.all(Array.from({ length: 10 }, () => of().restore(id, planHash)));
    for (const answer of answers) expect(answer).toEqual(answers[0]);
    expect(await revisionNow()).toBe(3);
    expect((await snapshots.list()).snapshots).toHaveLength(2);
  });

  test('is not done again, whatever is asked for later and whatever has changed', async () => {
    const id = await makeSnapshot();
    const { planHash } = await of().plan(id);
    const done = await of().restore(id, planHash);
    await calls.put('CHANGED', 'newest');
    const other = await snapshots.create();
    expect(await of().restore(id, planHash)).toEqual(done);
    expect(await of().restore(id, null)).toEqual(done);
    expect(await of().restore(other.id, (await of().plan(other.id)).planHash)).toEqual(done);
    expect(await valuesNow()).toMatchObject({ CHANGED: 'newest' });
  });

  test('where there is nothing to change makes neither revision nor backup, and is done all the same', async () => {
    await calls.put('KEY', '1');
    const { id } = await snapshots.create();
    const options = { skipUnchanged: true };
    const done = await of().restore(id, (await of().plan(id, options)).planHash, options);
    expect(done).toMatchObject({ restored: keysOf(), unchanged: keysOf('KEY'), backupSnapshotId: null, revision: 1 });
    expect(await of().find()).toEqual(done);
  });

  test('is refused, and leaves nothing, once anything has moved since the plan', async () => {
    const id = await makeSnapshot();
    const { planHash } = await of().plan(id);
    const outdated = { code: 'plan_outdated' };
    for (const options of [{ prune: true }, { skipUnchanged: true }, { backup: false }]) {
      await expect(of().restore(id, planHash, options)).rejects.toMatchObject(outdated);
    }
    await calls.put('UNRELATED', '1');
    await expect(of().restore(id, planHash)).rejects.toMatchObject(outdated);
    expect(await of().find()).toBeUndefined();
    expect(await revisionNow()).toBe(3);
    expect((await snapshots.list()).snapshots).toHaveLength(1);
    const fresh = await of().plan(id);
    expect(await of().restore(id, fresh.planHash)).toMatchObject({ revision: 4 });
  });

  test('survives the deletion and the purge of its environment as what was done', async () => {
    const id = await makeSnapshot();
    const done = await of().restore(id, null);
    const { caller } = world.owner;
    await services.environments.delete(await world.onEnvironment(caller, 'environment.delete'));
    expect(await of().find()).toEqual(done);
    await services.environments.purge(await services.access.instance(caller, 'environment.purge'), world.slugs);
    expect(await of().find()).toEqual(done);
  });
});

describe('a restore without a plan', () => {
  test('does what is to be done at that moment', async () => {
    const id = await makeSnapshot();
    expect(await of().restore(id, null)).toMatchObject({ planHash: null, restored: keysOf('CHANGED', 'SAME') });
    expect(await valuesNow()).toEqual({ CHANGED: 'old', SAME: '1', LATER: '1' });
  });

  test('is refused to a resource of the same name in a rebuilt cluster, and leaves nothing', async () => {
    const id = await makeSnapshot();
    const named = { name: 'emergency' };
    resource = restoreResource([rule()], named);
    await of().restore(id, null);
    const refused = { code: 'already_restored', detail: expect.stringContaining('another name, or plan it') };
    for (const more of [{ cluster: 'rebuilt' }, {}]) {
      const again = restoreResource([rule()], { ...named, ...more });
      await expect(of(again).restore(id, null)).rejects.toMatchObject(refused);
      expect(await of(again).find()).toBeUndefined();
    }
    expect(await revisionNow()).toBe(3);
    // What was planned for that very resource is on purpose.
    const planned = restoreResource([rule()], { ...named, cluster: 'rebuilt' });
    const { planHash } = await of(planned).plan(id);
    expect(await of(planned).restore(id, planHash)).toMatchObject({ revision: 4 });
  });

  test('of two of one name at once, in two clusters, is done by one', async () => {
    const id = await makeSnapshot();
    const clusters = ['one', 'two'].map((cluster) => restoreResource([rule()], { name: 'emergency', cluster }));
    const settled = await Promise.allSettled(clusters.map((caller) => of(caller).restore(id, null)));
    expect(settled.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected']);
    expect(await revisionNow()).toBe(3);
  });

  test('of the same name may be done in another environment', async () => {
    const id = await makeSnapshot();
    await of(restoreResource([rule()], { name: 'emergency' })).restore(id, null);
    ({ world, calls, snapshots } = await createWorldCalls(services));
    const other = await makeSnapshot();
    const done = await of(restoreResource([rule()], { name: 'emergency' })).restore(other, null);
    expect(done).toMatchObject({ revision: 3 });
  });
});

describe('a restore while the connection is lost', () => {
  // The statements of a restore: not the settings of new connections, nor what is audited of a failure, nor the notes of
  // when a token was used, which come in their own time.
  const statements = runs(/^(?!SET )(?![^]*(?:unnest|SKIP LOCKED))/);

  test.each(['before', 'after'] as const)(
    '%s any of its statements is done once in the end',
    async (when) => {
      const id = await makeSnapshot();
      const before = proxy.count(statements);
      const input = { snapshotId: id, prune: false, skipUnchanged: false, backup: true, includeDeleted: false };
      const admitted = async (caller: ResourceCaller): Promise<() => Promise<unknown>> => {
        const access = await services.resourceAccess.mayRestore(caller, { snapshotId: id, secretSnapshotUid: null });
        return () => services.resourceRestores.restore(access, input, null);
      };
      const first = await admitted(restoreResource());
      const lookups = proxy.count(statements) - before;
      await first();
      const count = proxy.count(statements) - before - lookups;
      expect(count).toBeGreaterThan(10);
      for (let nth = 1; nth <= count; nth += 1) {
        const caller = restoreResource();
        const present = await revisionNow();
        const restore = await admitted(caller);
        const struck = proxy.cut(statements, when, { nth });
        await expect(restore()).rejects.toMatchObject({ code: 'store_unavailable' });
        await struck.arrived();
        // Cut after its commit, it is done already.
        expect(await revisionNow()).toBe(present + (when === 'after' && nth === count ? 1 : 0));
        const done = await of(caller).restore(id, null);
        expect([done.revision, await revisionNow()]).toEqual([present + 1, present + 1]);
        expect(await of(caller).find()).toEqual(done);
      }
    },
    60_000,
  );
});
