import { randomUUID } from 'node:crypto';
import { beforeEach, describe, expect, test } from '@jest/globals';
import type { GrantRule } from '../../../src/domain/grants.ts';
import type { AnyCaller, ResourceCaller } from '../../../src/domain/principal.ts';
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

let proxy: PostgresProxy;
let services: TestServices;
let world: World;
let calls: SecretCalls;
let resource: ResourceCaller;

withProxiedWorlds((given) => ({ proxy, services, world, calls } = given));

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

/** Each call on a snapshot. */
function callsOf(caller: AnyCaller): readonly (() => Promise<unknown>)[] {
  const own = of(caller);
  return [() => own.take(), () => own.find(), () => own.remove(), () => own.adopt(randomUUID())];
}

describe('a resource that is not granted it', () => {
  const lacking: readonly (readonly [string, () => readonly GrantRule[]])[] = [
    ['without any grant', () => []],
    ['with a grant for reading', () => [rule({ permission: 'read' })]],
    ['with a grant for another environment', () => [rule({ environments: ['other'] })]],
    ['with a grant for another project', () => [rule({ project: 'other', environments: ['*'] })]],
    [
      'with a grant in another organization',
      () => [rule({ organization: 'other', project: '*', environments: ['*'] })],
    ],
    ['with a grant for another kind', () => [rule({ kinds: ['ServiceToken'] })]],
  ];

  test.each(lacking)('takes nothing (%s), and learns which grant is missing', async (_name, grants) => {
    const error = expect.objectContaining({
      code: 'forbidden',
      message: expect.stringMatching(/kind: AccessGrant[^]*permission: ReadWrite\n\s+kinds: \[SecretSnapshot\]/),
    });
    const caller = snapshotResource(grants());
    await expect(of(caller).take()).rejects.toEqual(error);
    expect(await countSnapshots()).toBe(0);
    const denials = await prismaOf(services.database).auditEntry.findMany({
      where: { actorId: caller.principal.id, outcome: 'denied', action: 'snapshot.create' },
    });
    expect(denials).toHaveLength(1);
  });

  test('takes nothing where the grant is narrowed while it waits for the lock', async () => {
    let grants: readonly GrantRule[] = [rule()];
    const caller = resourceCaller({ kind: 'SecretSnapshot', grantsNow: () => grants });
    const access = await services.resourceAccess.maySnapshot(caller, world.slugs);
    const held = proxy.hold(runs(/INSERT INTO resource_claim/));
    const taking = services.resourceSnapshots.take(access);
    await held.arrived();
    grants = [rule({ permission: 'read' })];
    held.release();
    await expect(taking).rejects.toMatchObject({ code: 'forbidden' });
    expect(await countSnapshots()).toBe(0);
    expect(await of(caller).find()).toBeUndefined();
  });

  test('does not take over a snapshot, nor learn that it is there', async () => {
    const { id } = await snapshotCalls(services, world, world.developer.caller).create();
    const message = (snapshotId: string): string =>
      `snapshot ${snapshotId} does not exist, or no AccessGrant for SecretSnapshot covers its environment, or its organization does not allow cluster test to use it: check the id, or have an admin of the cluster grant the environment, and an admin of the organization allow it`;
    for (const snapshotId of [id, randomUUID()]) {
      const refused = { code: 'not_found', message: message(snapshotId) };
      await expect(of(snapshotResource([])).adopt(snapshotId)).rejects.toMatchObject(refused);
      await expect(of(snapshotResource([rule({ environments: ['other'] })])).adopt(snapshotId)).rejects.toMatchObject(
        refused,
      );
    }
  });

  test.each(['ServiceToken', 'SecretEnvironment'] as const)(
    'is a %s, and takes, finds and deletes nothing',
    async (kind) => {
      const caller = resourceCaller({ kind, grants: [rule({ kinds: [kind, 'SecretSnapshot'] })] });
      for (const call of callsOf(caller)) {
        await expect(call()).rejects.toMatchObject({ code: 'forbidden' });
      }
    },
  );

  test('is no resource at all, but a person', async () => {
    const { caller } = world.owner;
    for (const call of callsOf(caller)) {
      await expect(call()).rejects.toMatchObject({ code: 'forbidden' });
    }
  });
});

describe('taking over', () => {
  const reading = (): ResourceCaller => snapshotResource([rule({ permission: 'read' })]);

  test('stands for a snapshot that is there, with a grant for reading, and never deletes it', async () => {
    await calls.put('A', '1');
    const made = await snapshotCalls(services, world, world.developer.caller).create({ name: 'by hand' });
    const caller = reading();
    const adopted = await of(caller).adopt(made.id);
    expect(adopted).toMatchObject({ ...made, adopted: true, createdByType: 'user' });
    expect(await of(caller).adopt(made.id)).toEqual(adopted);
    expect(await of(caller).find()).toEqual(adopted);
    expect(await of(caller).remove()).toBe(false);
    expect(await countSnapshots()).toBe(1);
  });

  test('stands for one alone, and takes none itself', async () => {
    const api = snapshotCalls(services, world, world.developer.caller);
    const [first, second] = [await api.create(), await api.create()];
    await of().adopt(first.id);
    await expect(of().adopt(second.id)).rejects.toMatchObject({ code: 'conflict' });
    expect(await of().take()).toMatchObject({ id: first.id, adopted: true });
    expect(await countSnapshots()).toBe(2);
  });

  test('what another resource took leaves it to that one to delete', async () => {
    const { id } = await of().taken();
    const caller = reading();
    expect(await of(caller).adopt(id)).toMatchObject({ id, adopted: true });
    expect(await of(caller).remove()).toBe(false);
    expect(await of().remove()).toBe(true);
    expect(await of(caller).find()).toBe('gone');
    await expect(of(reading()).adopt(id)).rejects.toMatchObject({ code: 'not_found' });
  });
});
