import { randomUUID } from 'node:crypto';
import { beforeEach, describe, expect, test } from '@jest/globals';
import type { GrantRule } from '../../../src/domain/grants.ts';
import type { AnyCaller, ResourceCaller } from '../../../src/domain/principal.ts';
import { prismaOf } from '../../support/database/prisma.ts';
import { type PostgresProxy, runs } from '../../support/faults/postgres-proxy.ts';
import { resourceCaller } from '../../support/api/resource-caller.ts';
import { resourceRestoreCalls, restoreRule } from '../../support/api/resource-restore-calls.ts';
import { resourceSnapshotCalls, snapshotRule } from '../../support/api/resource-snapshot-calls.ts';
import { secretCalls } from '../../support/api/secret-calls.ts';
import type { TestServices, World } from '../../support/api/services.ts';
import { snapshotCalls } from '../../support/api/snapshot-calls.ts';
import { withProxiedWorlds } from '../../support/api/with-services.ts';

let proxy: PostgresProxy;
let services: TestServices;
let world: World;
let snapshotId: string;

withProxiedWorlds((given) => ({ proxy, services, world } = given));

// An environment at revision 1, with a snapshot of it.
beforeEach(async () => {
  await secretCalls(services, world, world.developer.caller).put('KEY', '1');
  ({ id: snapshotId } = await snapshotCalls(services, world, world.developer.caller).create());
});

function rule(more: Partial<GrantRule> = {}): GrantRule {
  return restoreRule(world, more);
}

const restoreResource = (grants: readonly GrantRule[]): ResourceCaller =>
  resourceCaller({ kind: 'SnapshotRestore', grants });

async function revisionNow(): Promise<number> {
  return (await secretCalls(services, world, world.developer.caller).read()).revision;
}

/** Each call of a restore. */
function callsOf(caller: AnyCaller): readonly (() => Promise<unknown>)[] {
  const own = resourceRestoreCalls(services, caller);
  return [() => own.plan(snapshotId), () => own.restore(snapshotId, null), () => own.find()];
}

describe('a SnapshotRestore that is not granted it', () => {
  test.each<[string, () => readonly GrantRule[]]>([
    ['with a grant for reading', () => [rule({ permission: 'read' })]],
    ['with a grant for another kind', () => [rule({ kinds: ['SecretSnapshot'] })]],
  ])('restores and plans nothing (%s), and learns which grant is missing', async (_name, grants) => {
    const caller = restoreResource(grants());
    const refused = {
      code: 'forbidden',
      message: expect.stringMatching(/kind: AccessGrant[^]*permission: ReadWrite\n\s+kinds: \[SnapshotRestore\]/),
    };
    for (const call of callsOf(caller).slice(0, 2)) await expect(call()).rejects.toMatchObject(refused);
    const denied = { actorId: caller.principal.id, outcome: 'denied', action: 'snapshot.restore' };
    expect(await prismaOf(services.database).auditEntry.count({ where: denied })).toBe(2);
    expect(await revisionNow()).toBe(1);
  });

  test('nor anything else there, does not learn that the snapshot is there, unless its namespace has it', async () => {
    const caller = restoreResource([rule({ environments: ['other'] })]);
    for (const id of [snapshotId, randomUUID()]) {
      const message = `snapshot ${id} does not exist, or no AccessGrant for SnapshotRestore covers its environment, or its organization does not allow cluster test to use it: check the id, or have an admin of the cluster grant the environment, and an admin of the organization allow it`;
      const planning = resourceRestoreCalls(services, caller).plan(id);
      await expect(planning).rejects.toMatchObject({ code: 'not_found', message });
    }
    const holder = resourceCaller({ kind: 'SecretSnapshot', grants: [snapshotRule(world)] });
    await resourceSnapshotCalls(services, world, holder).adopt(snapshotId);
    const source = { snapshotId, secretSnapshotUid: holder.principal.id };
    const asKnown = services.resourceAccess.mayRestore(caller, source);
    await expect(asKnown).rejects.toMatchObject({ code: 'forbidden', message: expect.stringContaining('AccessGrant') });
  });

  test('any more restores nothing where the grant is narrowed while it waits for the lock', async () => {
    let grants: readonly GrantRule[] = [rule()];
    const caller = resourceCaller({ kind: 'SnapshotRestore', grantsNow: () => grants });
    const held = proxy.hold(runs(/INSERT INTO resource_claim/));
    const restoring = resourceRestoreCalls(services, caller).restore(snapshotId, null);
    await held.arrived();
    grants = [rule({ permission: 'read' })];
    held.release();
    await expect(restoring).rejects.toMatchObject({ code: 'forbidden' });
    expect(await resourceRestoreCalls(services, caller).find()).toBeUndefined();
    expect(await revisionNow()).toBe(1);
  });
});

describe('a caller that is no SnapshotRestore', () => {
  test.each(['ServiceToken', 'SecretSnapshot', 'SecretEnvironment'] as const)(
    'but a %s neither plans, restores nor finds anything',
    async (kind) => {
      const caller = resourceCaller({ kind, grants: [rule({ kinds: [kind, 'SnapshotRestore'] })] });
      for (const call of callsOf(caller)) await expect(call()).rejects.toMatchObject({ code: 'forbidden' });
      expect(await revisionNow()).toBe(1);
    },
  );

  test('but a person neither plans, restores nor finds anything', async () => {
    for (const call of callsOf(world.owner.caller)) await expect(call()).rejects.toMatchObject({ code: 'forbidden' });
  });
});
