import { randomUUID } from 'node:crypto';
import { beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { DomainError } from '../../../src/domain/errors/domain-error.ts';
import type { ResourceCaller } from '../../../src/domain/principal.ts';
import type { EnsuredEnvironment, EnvironmentOrGone } from '../../../src/domain/resources/environments.ts';
import { resourceCaller } from '../../support/api/resource-caller.ts';
import { createUser, type TestServices, type TestUser } from '../../support/api/services.ts';
import { withProxiedServices } from '../../support/api/with-services.ts';
import { prismaOf } from '../../support/database/prisma.ts';
import { type PostgresProxy, runs } from '../../support/faults/postgres-proxy.ts';

/** A SecretEnvironment that is deleted hands its environment over to another one, which then counts as its creator. */

let proxy: PostgresProxy;
let services: TestServices;
let admin: TestUser;
let first: ResourceCaller;
let second: ResourceCaller;
let slugs: { organization: string; project: string; environment: string };

withProxiedServices((given) => ({ proxy, services } = given));

beforeAll(async () => {
  admin = await createUser(services, { instanceAdmin: true });
});

beforeEach(() => {
  slugs = { organization: `org-${randomUUID().slice(0, 8)}`, project: 'web', environment: 'prod' };
  [first, second] = [newResource('prod'), newResource('blue-prod')];
});

function newResource(name: string): ResourceCaller {
  return resourceCaller({ kind: 'SecretEnvironment', name });
}

async function ensure(caller: ResourceCaller): Promise<EnsuredEnvironment> {
  return services.resourceEnvironments.ensure(await services.resourceAccess.mayEnsureEnvironment(caller), slugs);
}

async function find(caller: ResourceCaller): Promise<EnvironmentOrGone | undefined> {
  return services.resourceEnvironments.find(await services.resourceAccess.owner(caller, 'environment.read'));
}

async function remove(caller: ResourceCaller): Promise<boolean> {
  return services.resourceEnvironments.delete(await services.resourceAccess.owner(caller, 'environment.delete'), slugs);
}

async function handOver(caller: ResourceCaller, to: ResourceCaller): Promise<boolean> {
  const access = await services.resourceAccess.owner(caller, 'environment.hand_over');
  const { id: uid, name } = to.principal;
  const successor = { uid, name: name.replace('SecretEnvironment ', '') };
  return services.resourceEnvironments.handOver(access, { ...slugs, successor });
}

/** The successful and failed ends of environments in the audit. */
async function ends(...callers: readonly ResourceCaller[]): Promise<string[]> {
  const entries = await prismaOf(services.database).auditEntry.findMany({
    where: {
      actorId: { in: callers.map(({ principal }) => principal.id) },
      action: { in: ['environment.delete', 'environment.hand_over'] },
    },
    orderBy: { id: 'asc' },
  });
  return entries.map(({ action, outcome, actorName }) => `${actorName}: ${action} ${outcome}`);
}

async function deletedAt(environmentId: string): Promise<Date | null> {
  const row = await prismaOf(services.database).environment.findUniqueOrThrow({ where: { id: environmentId } });
  return row.deletedAt;
}

async function purge(): Promise<void> {
  await services.environments.purge(await services.access.instance(admin.caller, 'environment.purge'), slugs);
}

describe('an environment that is handed over', () => {
  test('stays, and counts as created by the successor, which deletes it later', async () => {
    const { environmentId } = await ensure(first);
    await ensure(second);
    expect(await handOver(first, second)).toBe(true);
    expect([await find(first), await find(second)]).toEqual(['gone', expect.objectContaining({ environmentId })]);
    expect(await deletedAt(environmentId)).toBeNull();
    expect(await remove(first)).toBe(false);
    expect(await deletedAt(environmentId)).toBeNull();
    expect(await remove(second)).toBe(true);
    expect(await deletedAt(environmentId)).toEqual(expect.any(Date));
    expect(await ends(first, second)).toEqual([
      'SecretEnvironment prod: environment.hand_over success',
      'SecretEnvironment blue-prod: environment.delete success',
    ]);
  });

  test('is audited with the successor, in the chain of the organization', async () => {
    const { environmentId } = await ensure(first);
    await handOver(first, second);
    const [entry] = await prismaOf(services.database).auditEntry.findMany({
      where: { actorId: first.principal.id, action: 'environment.hand_over' },
    });
    const successor = { successor: 'SecretEnvironment blue-prod', successorUid: second.principal.id };
    expect(entry).toMatchObject({
      organizationId: expect.any(String),
      target: { ...slugs, environmentId, ...successor },
    });
  });

  test('is handed on', async () => {
    const third = newResource('green-prod');
    const { environmentId } = await ensure(first);
    await handOver(first, second);
    expect(await handOver(second, third)).toBe(true);
    expect([await find(second), await find(third)]).toEqual(['gone', expect.objectContaining({ environmentId })]);
  });

  test('goes to a successor whose former environment was purged', async () => {
    await ensure(second);
    await prismaOf(services.database).environment.updateMany({
      where: { project: { organization: { slug: slugs.organization } } },
      data: { deletedAt: new Date() },
    });
    await purge();
    const { environmentId } = await ensure(first);
    expect(await handOver(first, second)).toBe(true);
    expect(await find(second)).toMatchObject({ environmentId });
  });
});

describe('handing over', () => {
  test('does nothing for a resource that found its environment there', async () => {
    const { environmentId } = await ensure(first);
    await ensure(second);
    expect(await handOver(second, newResource('green-prod'))).toBe(false);
    expect(await find(first)).toMatchObject({ environmentId });
    expect(await ends(first, second)).toEqual([]);
  });

  test.each(['deleted', 'handed over'] as const)(
    'is refused for a successor that was %s, and keeps the environment',
    async (end) => {
      const { environmentId } = await ensure(first);
      await ensure(second);
      await (end === 'deleted' ? remove(second) : handOver(second, newResource('green-prod')));
      await expect(handOver(first, second)).rejects.toMatchObject({
        code: 'conflict',
        detail: 'SecretEnvironment blue-prod was deleted, so it takes no environment over',
      });
      expect(await find(first)).toMatchObject({ environmentId });
      expect(await ends(first, second)).toEqual(['SecretEnvironment prod: environment.hand_over failed']);
      // The refused call did not end the resource.
      expect(await handOver(newResource('other'), first)).toBe(false);
      expect(await remove(first)).toBe(true);
    },
  );

  test('is refused for the resource itself, a malformed uid, and slugs that it does not name', async () => {
    const { environmentId } = await ensure(first);
    const access = await services.resourceAccess.owner(first, 'environment.hand_over');
    const call = (input: object): Promise<boolean> =>
      services.resourceEnvironments.handOver(access, {
        ...slugs,
        successor: { name: 'blue-prod', uid: second.principal.id },
        ...input,
      });
    await expect(handOver(first, first)).rejects.toMatchObject({ code: 'conflict' });
    await expect(call({ successor: { name: 'blue-prod', uid: 'none' } })).rejects.toMatchObject({
      code: 'invalid_input',
    });
    await expect(call({ environment: 'stage' })).rejects.toMatchObject({ code: 'invalid_input' });
    expect(await find(first)).toMatchObject({ environmentId });
  });

  test('does not end a resource of another cluster with the same uid', async () => {
    const { environmentId } = await ensure(first);
    const { id: uid } = second.principal;
    await remove(resourceCaller({ kind: 'SecretEnvironment', uid, cluster: 'other' }));
    expect(await handOver(first, second)).toBe(true);
    expect(await find(second)).toMatchObject({ environmentId });
  });

  test('waits for a successor that ends at the same moment, and then finds that it has ended', async () => {
    const { environmentId } = await ensure(first);
    // Under the lock of the environment.
    const held = proxy.hold(runs(/INSERT INTO resource_claim/));
    const ending = remove(second);
    await held.arrived();
    const handing = handOver(first, second);
    const isDone = await Promise.race([
      handing.then(
        () => true,
        () => true,
      ),
      new Promise<boolean>((resolve) => setTimeout(() => resolve(false), 300)),
    ]);
    expect(isDone).toBe(false);
    held.release();
    expect(await ending).toBe(false);
    await expect(handing).rejects.toMatchObject({ code: 'conflict' });
    expect(await find(first)).toMatchObject({ environmentId });
  });

  test.each(['before', 'after'] as const)(
    'loses nothing, whichever of its statements the connection is lost %s',
    async (when) => {
      const statements = runs(/^(?!SET )(?![^]*(?:unnest|SKIP LOCKED))/);
      const start = async (organization: string): Promise<string> => {
        slugs = { ...slugs, organization };
        [first, second] = [newResource('prod'), newResource('blue-prod')];
        return (await ensure(first)).environmentId;
      };
      const { organization } = slugs;
      await start(`${organization}-0`);
      const before = proxy.count(statements);
      await handOver(first, second);
      const count = proxy.count(statements) - before;
      expect(count).toBeGreaterThan(9);
      for (let nth = 1; nth <= count; nth += 1) {
        const environmentId = await start(`${organization}-${when}-${nth}`);
        const struck = proxy.cut(statements, when, { nth });
        await expect(handOver(first, second)).rejects.toMatchObject({ code: 'store_unavailable' });
        await struck.arrived();
        expect(await handOver(first, second)).toBe(!(when === 'after' && nth === count));
        expect([await find(first), await find(second)]).toEqual(['gone', expect.objectContaining({ environmentId })]);
        expect(await deletedAt(environmentId)).toBeNull();
        expect((await ends(first)).filter((entry) => entry.endsWith('success'))).toHaveLength(1);
      }
    },
    60_000,
  );
});

describe('two SecretEnvironments that are deleted at the same moment, beside a new one', () => {
  /** Ends a resource as the controller does: it judges again after a conflict, and then knows who is deleted. */
  async function end(caller: ResourceCaller, successors: readonly (ResourceCaller | undefined)[]): Promise<void> {
    for (const successor of successors) {
      try {
        await (successor === undefined ? remove(caller) : handOver(caller, successor));
        return;
      } catch (error) {
        if (!(error instanceof DomainError) || error.code !== 'conflict') throw error;
      }
    }
  }

  test('leave the environment to the new one, or delete it exactly once', async () => {
    const results = new Set<string>();
    for (let round = 1; round <= 56; round += 1) {
      slugs = { ...slugs, organization: `org-${randomUUID().slice(0, 8)}` };
      [first, second] = [newResource('prod'), newResource('blue-prod')];
      const third = newResource('green-prod');
      const { environmentId } = await ensure(first);
      await ensure(second);
      // What the controller knows at each deletion: that the second one exists, and that the new one exists.
      const [knowsSecond, firstKnowsThird, secondKnowsThird] = [1, 2, 4].map((bit) => (round & bit) !== 0);
      const ofFirst = [...(knowsSecond ? [second] : []), firstKnowsThird ? third : undefined];
      const ofSecond = [secondKnowsThird ? third : undefined];
      await Promise.all([
        end(first, ofFirst),
        end(second, ofSecond),
        // A conflict: the environment was deleted before, and still has its slug.
        ensure(third).catch((error: unknown) => {
          if (!(error instanceof DomainError) || error.code !== 'conflict') throw error;
        }),
      ]);
      const isDeleted = (await deletedAt(environmentId)) !== null;
      const own = await find(third);
      const deletions = (await ends(first, second)).filter((entry) => entry.endsWith('environment.delete success'));
      const isOwn = own !== undefined && own !== 'gone' && own.environmentId === environmentId;
      expect({ round, deletions: deletions.length, isOwn }).toEqual({
        round,
        deletions: isDeleted ? 1 : 0,
        isOwn: !isDeleted,
      });
      results.add(isDeleted ? 'deleted' : 'handed over');
    }
    expect(results).toEqual(new Set(['deleted', 'handed over']));
  }, 60_000);
});
