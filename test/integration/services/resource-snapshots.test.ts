import { createHash, randomUUID } from 'node:crypto';
import { beforeEach, describe, expect, test } from '@jest/globals';
import { Client } from 'pg';
import type { GrantRule } from '../../../src/domain/grants.ts';
import type { AnyCaller, ResourceCaller } from '../../../src/domain/principal.ts';
import { notifyChannel } from '../../../src/store/notify.ts';
import type { TestDatabase } from '../../support/database/postgres.ts';
import { prismaOf } from '../../support/database/prisma.ts';
import { type PostgresProxy, runs } from '../../support/faults/postgres-proxy.ts';
import { resourceCaller } from '../../support/api/resource-caller.ts';
import {
  type ResourceSnapshotCalls,
  resourceSnapshotCalls,
  snapshotRule,
} from '../../support/api/resource-snapshot-calls.ts';
import type { SecretCalls } from '../../support/api/secret-calls.ts';
import type { TestServices, World } from '../../support/api/services.ts';
import { snapshotCalls } from '../../support/api/snapshot-calls.ts';
import { withProxiedWorlds } from '../../support/api/with-services.ts';

let database: TestDatabase;
let proxy: PostgresProxy;
let services: TestServices;
let world: World;
let calls: SecretCalls;
let resource: ResourceCaller;

withProxiedWorlds((given) => ({ database, proxy, services, world, calls } = given));

beforeEach(() => {
  resource = snapshotResource();
});

function rule(more: Partial<GrantRule> = {}): GrantRule {
  return snapshotRule(world, more);
}

/** A SecretSnapshot whose namespace is granted the world's environment by default. */
function snapshotResource(grants: readonly GrantRule[] = [rule()]): ResourceCaller {
  return resourceCaller({ kind: 'SecretSnapshot', grants, name: 'before-deploy' });
}

function of(caller: AnyCaller = resource): ResourceSnapshotCalls {
  return resourceSnapshotCalls(services, world, caller);
}

async function countSnapshots(): Promise<number> {
  return prismaOf(services.database).snapshot.count({ where: { environmentId: world.environment.id } });
}

async function audited(action: string, outcome = 'success'): Promise<unknown[]> {
  return prismaOf(services.database).auditEntry.findMany({
    where: { action, outcome, organizationId: world.organization.id },
    select: { actorType: true, actorId: true, actorName: true, cluster: true, target: true },
    orderBy: { id: 'asc' },
  });
}

async function purgeEnvironment(): Promise<void> {
  const { caller } = world.owner;
  await services.environments.delete(await world.onEnvironment(caller, 'environment.delete'));
  await services.environments.purge(await services.access.instance(caller, 'environment.purge'), world.slugs);
}

describe('taking', () => {
  test('makes the snapshot that all members see over the API, made by the resource', async () => {
    await calls.patch({ A: '1', B: '2' });
    const snapshot = await of().taken({ name: 'before 1.2', description: 'by CI' });
    const { digest, adopted, organizationId, environmentId, environmentDeleted, ...rest } = snapshot;
    const { organization, project, environment, ...record } = rest;
    expect({ organization, project, environment }).toEqual(world.slugs);
    expect({ organizationId, environmentId }).toEqual({
      organizationId: world.organization.id,
      environmentId: world.environment.id,
    });
    expect({ adopted, environmentDeleted }).toEqual({ adopted: false, environmentDeleted: false });
    expect(digest).toMatch(/^[0-9a-f]{64}$/);
    expect(record).toMatchObject({
      name: 'before 1.2',
      description: 'by CI',
      createdBy: resource.principal.id,
      createdByType: 'resource',
      createdByName: 'SecretSnapshot team-a/before-deploy',
      createdByCluster: 'test',
      secretCount: 2,
      revision: 1,
    });
    expect(await snapshotCalls(services, world, world.developer.caller).get(snapshot.id)).toEqual(record);
    const token = await world.serviceToken({ permission: 'read' });
    for (const { caller } of [world.viewer, token]) {
      const shown = { ...record, createdByName: 'SecretSnapshot before-deploy', createdByCluster: null };
      expect(await snapshotCalls(services, world, caller).get(snapshot.id)).toEqual(shown);
    }
    expect(await of().find()).toEqual(snapshot);
    expect(await audited('snapshot.create')).toEqual([
      expect.objectContaining({ actorType: 'resource', actorId: resource.principal.id, cluster: 'test' }),
    ]);
  });

  test('once, of 10 calls at once', async () => {
    await calls.put('A', '1');
    const answers = await Promise.all(Array.from({ length: 10 }, () => of().taken()));
    expect(new Set(answers.map(({ id }) => id)).size).toBe(1);
    expect(await countSnapshots()).toBe(1);
  });

  test('and again answers the first, whatever has changed and whatever is asked for', async () => {
    await calls.put('A', '1');
    const first = await of().taken({ name: 'first' });
    await calls.put('A', '2');
    expect(await of().take({ name: 'second' })).toEqual(first);
    expect(await countSnapshots()).toBe(1);
  });

  test('is for each cluster and uid by itself', async () => {
    const { id: uid } = resource.principal;
    const elsewhere = resourceCaller({ kind: 'SecretSnapshot', grants: [rule()], uid, cluster: 'other' });
    const ids = [await of().taken(), await of(elsewhere).taken(), await of(snapshotResource()).taken()].map(
      ({ id }) => id,
    );
    expect(new Set(ids).size).toBe(3);
  });

  test('answers that it is gone where it was deleted, and takes no other', async () => {
    const { id } = await of().taken();
    await snapshotCalls(services, world, world.admin.caller).delete(id);
    expect(await of().take()).toBe('gone');
    expect(await of().find()).toBe('gone');
    expect(await of().remove()).toBe(false);
    expect(await countSnapshots()).toBe(0);
  });

  test('answers that it is gone where the environment was purged and recreated', async () => {
    await of().taken();
    await purgeEnvironment();
    expect(await of().find()).toBe('gone');
    const creation = await world.onProject(world.owner.caller, 'environment.create');
    await services.environments.create(creation, { slug: world.slugs.environment });
    expect(await of().take()).toBe('gone');
  });

  test('of an environment that is not there is not_found, with a grant', async () => {
    const access = services.resourceAccess.maySnapshot(snapshotResource([rule({ environments: ['*'] })]), {
      ...world.slugs,
      environment: 'none',
    });
    await expect(access).rejects.toMatchObject({ code: 'not_found' });
  });

  test('refuses a bad name and keeps nothing of it', async () => {
    await expect(of().take({ name: 'two\nlines' })).rejects.toMatchObject({ code: 'invalid_input' });
    expect(await of().find()).toBeUndefined();
  });
});

describe('taking while the connection is lost', () => {
  // The statements of a take: not the settings of new connections, nor what the door looks up and what is audited of a
  // failure, nor the notes of when a token was used, which come in their own time.
  const statements = runs(/^(?!SET )(?![^]*(?:unnest|SKIP LOCKED))/);

  test.each(['before', 'after'] as const)(
    '%s any of its statements makes one snapshot in the end',
    async (when) => {
      await calls.put('A', '1');
      await of(snapshotResource()).taken();
      const before = proxy.count(statements);
      await of(snapshotResource()).taken();
      const count = proxy.count(statements) - before;
      expect(count).toBeGreaterThan(6);
      for (let nth = 1; nth <= count; nth += 1) {
        const caller = snapshotResource();
        const present = await countSnapshots();
        const access = await services.resourceAccess.maySnapshot(caller, world.slugs);
        const struck = proxy.cut(statements, when, { nth });
        await expect(services.resourceSnapshots.take(access)).rejects.toMatchObject({ code: 'store_unavailable' });
        await struck.arrived();
        // Cut after its commit, it is there already.
        expect(await countSnapshots()).toBe(present + (when === 'after' && nth === count ? 1 : 0));
        const { id } = await of(caller).taken();
        expect(await countSnapshots()).toBe(present + 1);
        expect(await of(caller).find()).toMatchObject({ id });
      }
    },
    60_000,
  );
});

describe('deleting', () => {
  test('takes away what the resource took, without any grant, and is audited', async () => {
    const { id } = await of().taken();
    const withdrawn = resourceCaller({ kind: 'SecretSnapshot', uid: resource.principal.id });
    expect(await of(withdrawn).remove()).toBe(true);
    expect(await countSnapshots()).toBe(0);
    expect(await of(withdrawn).remove()).toBe(false);
    expect(await audited('snapshot.delete')).toEqual([
      expect.objectContaining({
        actorId: resource.principal.id,
        target: expect.objectContaining({ ...world.slugs, snapshotId: id }),
      }),
    ]);
    expect(await of().take()).toBe('gone');
  });

  test('touches nothing of others, and nothing where there is nothing', async () => {
    await of().taken();
    const { id: uid } = resource.principal;
    expect(await of(snapshotResource()).remove()).toBe(false);
    expect(await of(resourceCaller({ kind: 'SecretSnapshot', uid, cluster: 'other' })).remove()).toBe(false);
    expect(await countSnapshots()).toBe(1);
  });

  test('before anything was taken keeps a late caller from taking it', async () => {
    const access = await services.resourceAccess.maySnapshot(resource, world.slugs);
    expect(await of().remove()).toBe(false);
    expect(await services.resourceSnapshots.take(access)).toBe('gone');
    expect(await countSnapshots()).toBe(0);
  });

  test('is not needed in a deleted environment, with which the snapshot goes', async () => {
    await of().taken();
    const { caller } = world.owner;
    await services.environments.delete(await world.onEnvironment(caller, 'environment.delete'));
    expect(await of().find()).toMatchObject({ environmentDeleted: true });
    expect(await of().remove()).toBe(false);
    await services.environments.purge(await services.access.instance(caller, 'environment.purge'), world.slugs);
    expect(await of().remove()).toBe(false);
    expect(await of().find()).toBe('gone');
  });

  test('of any snapshot is reported at the commit, and by a purge', async () => {
    const listener = new Client({ connectionString: database.url });
    await listener.connect();
    const heard: string[] = [];
    listener.on('notification', ({ payload = '' }) => heard.push(payload));
    await listener.query(`LISTEN ${notifyChannel}`);
    const ids = [
      (await of().taken()).id,
      (await of(snapshotResource()).taken()).id,
      (await of(snapshotResource()).taken()).id,
    ];
    await of().remove();
    await snapshotCalls(services, world, world.admin.caller).delete(ids[1] ?? '');
    await purgeEnvironment();
    const mark = randomUUID();
    await prismaOf(services.database).$executeRaw`SELECT pg_notify(${notifyChannel}, ${mark})`;
    while (!heard.includes(mark)) await listener.query('SELECT 1');
    await listener.end();
    expect(heard.filter((payload) => payload.includes('"s"')).map((payload) => JSON.parse(payload) as unknown)).toEqual(
      ids.map((s) => ({ o: world.organization.id, s })),
    );
  });
});

describe('the digest', () => {
  test('is the SHA-256 of each key and version id, each after its length, by key', async () => {
    await calls.patch({ B: '1', a: '2', 'A.b': '3', A_b: '4' });
    await calls.patch({}, ['A_b']);
    const { digest } = await of().taken();
    const secrets = await prismaOf(services.database).secret.findMany({
      where: { environmentId: world.environment.id, deletedAt: null },
    });
    const hash = createHash('sha256');
    const part = (bytes: Buffer): void => {
      const length = Buffer.alloc(4);
      length.writeUInt32BE(bytes.length);
      hash.update(length).update(bytes);
    };
    const byKey = secrets.toSorted((one, other) => (one.key < other.key ? -1 : 1));
    expect(byKey.map(({ key }) => key)).toEqual(['A.b', 'B', 'a']);
    for (const { key, currentVersionId } of byKey) {
      part(Buffer.from(key));
      part(Buffer.from(currentVersionId.replaceAll('-', ''), 'hex'));
    }
    expect(digest).toBe(hash.digest('hex'));
  });

  test('is equal for equal states and differs for any other', async () => {
    const digestNow = async (): Promise<string> => (await of(snapshotResource()).taken()).digest;
    const empty = await digestNow();
    expect(empty).toBe(createHash('sha256').digest('hex'));
    await calls.patch({ A: '1', B: '2' });
    const both = await digestNow();
    expect(await digestNow()).toBe(both);
    // The same value makes another version.
    await calls.put('A', '1');
    const again = await digestNow();
    await calls.remove('B');
    const one = await digestNow();
    await calls.remove('A');
    expect(await digestNow()).toBe(empty);
    expect(new Set([empty, both, again, one]).size).toBe(4);
  });
});
