import { beforeEach, describe, expect, test } from '@jest/globals';
import type { GrantRule } from '../../../src/domain/grants.ts';
import { type Action, rules } from '../../../src/domain/policy.ts';
import type { Caller } from '../../../src/domain/principal.ts';
import type { UpdatedEnvironment } from '../../../src/services/tenancy/environments.ts';
import { LockSession } from '../../support/database/locks.ts';
import type { TestDatabase } from '../../support/database/postgres.ts';
import { resourceCaller } from '../../support/api/resource-caller.ts';
import { RoleCalls } from '../../support/api/role-calls.ts';
import { type SecretCalls, secretCalls } from '../../support/api/secret-calls.ts';
import type { TestServices, World } from '../../support/api/services.ts';
import { type SnapshotCalls, snapshotCalls } from '../../support/api/snapshot-calls.ts';
import { ruleFor, TokenResource } from '../../support/api/token-resource.ts';
import { outcomeOf } from '../../support/api/outcome.ts';
import { withWorlds } from '../../support/api/with-services.ts';
import { prismaOf } from '../../support/database/prisma.ts';

let database: TestDatabase;
let services: TestServices;
let world: World;
let ofOwner: { readonly secrets: SecretCalls; readonly snapshots: SnapshotCalls };

withWorlds((given) => ({ database, services, world } = given));

beforeEach(async () => {
  const { caller } = world.owner;
  ofOwner = { secrets: secretCalls(services, world, caller), snapshots: snapshotCalls(services, world, caller) };
  await ofOwner.secrets.put('KEY', 'first');
});

async function protect(caller: Caller = world.owner.caller, more: object = {}): Promise<UpdatedEnvironment> {
  const access = await world.onEnvironment(caller, 'environment.update');
  return services.environments.update(access, { isProtected: true, ...more });
}

const restricted: readonly Action[] = [
  'environment.copy',
  'secret.write',
  'secret.delete',
  'version.rollback',
  'snapshot.restore',
  'change.revert',
];

/** What a caller may do in the environment, of all that writers may do in one that is not protected. */
async function allowed(caller: Caller): Promise<readonly string[]> {
  const asked = [...restricted, 'snapshot.create', 'secret.read'] as const;
  const outcomes = await Promise.all(
    asked.map(async (action) => [action, await outcomeOf(world.onEnvironment(caller, action as 'secret.write'))]),
  );
  return outcomes.flatMap(([action, outcome]) => (outcome === 'done' ? [String(action)] : []));
}

describe('a protected environment', () => {
  test('is written by admins and tokens of its own scope alone; snapshots and reads stay', async () => {
    const roles = new RoleCalls(services, world);
    const { caller: ownScope } = await world.serviceToken();
    const { caller: wide } = await world.serviceToken({ scope: 'organization' });
    const { caller: ofProject } = await world.serviceToken({ scope: 'project', projectId: world.project.id });
    const [adminThere, developerThere] = [
      await roles.user('environment', 'admin'),
      await roles.user('project', 'developer'),
    ];
    const everything = [...restricted, 'snapshot.create', 'secret.read'];
    const before = [world.developer.caller, ownScope, wide, ofProject, developerThere.caller];
    for (const caller of before) expect(await allowed(caller)).toEqual(everything);
    await protect();
    for (const { caller } of [world.owner, world.admin, adminThere]) expect(await allowed(caller)).toEqual(everything);
    expect(await allowed(ownScope)).toEqual(everything);
    for (const caller of [world.developer.caller, wide, ofProject, developerThere.caller]) {
      expect(await allowed(caller)).toEqual(['snapshot.create', 'secret.read']);
    }
  });

  test('restricts every action that writes secrets', () => {
    const writes = (Object.keys(rules) as Action[]).filter((action) => rules[action].serviceToken === 'read_write');
    const unrestricted = ['snapshot.create', 'consumer.locate'];
    expect(writes.filter((action) => !unrestricted.includes(action)).toSorted()).toEqual(restricted.toSorted());
  });

  test('says why it refuses, and audits it', async () => {
    await protect();
    const { caller } = world.developer;
    await expect(world.onEnvironment(caller, 'secret.write')).rejects.toThrow(/is protected; ask an owner or admin/);
    const { caller: wide } = await world.serviceToken({ scope: 'organization' });
    await expect(world.onEnvironment(wide, 'secret.write')).rejects.toThrow(/is protected, so secret.write needs/);
    const where = { action: 'secret.write', outcome: 'denied', organizationId: world.organization.id } as const;
    expect(await prismaOf(services.database).auditEntry.count({ where })).toBe(2);
  });

  test('lists the live tokens that lose access, also in a dry run, which changes nothing', async () => {
    const losing = [
      await world.serviceToken({ scope: 'organization', name: 'a-wide' }),
      await world.serviceToken({ scope: 'project', projectId: world.project.id, name: 'b-project' }),
    ];
    await world.serviceToken({ scope: 'organization', permission: 'read' });
    await world.serviceToken();
    const revoked = await world.serviceToken({ scope: 'organization' });
    const revocation = await world.onOrganization(world.owner.caller, 'service_token.revoke');
    await services.serviceTokens.revoke(revocation, revoked.id);
    const expected = losing.map(({ id }) => id);
    const planned = await protect(world.owner.caller, { dryRun: true });
    expect(planned.tokensWithoutAccess.map(({ id }) => id)).toEqual(expected);
    expect(planned.environment.isProtected).toBe(true);
    expect(await outcomeOf(world.onEnvironment(world.developer.caller, 'secret.write'))).toBe('done');
    const { tokensWithoutAccess } = await protect();
    expect(tokensWithoutAccess.map(({ id }) => id)).toEqual(expected);
    expect((await protect()).tokensWithoutAccess).toEqual([]);
  });

  test('is made so by admins there, and made open again', async () => {
    expect(await outcomeOf(protect(world.developer.caller))).toBe('forbidden');
    expect(await outcomeOf(protect(world.admin.caller))).toBe('done');
    const access = await world.onEnvironment(world.admin.caller, 'environment.update');
    const { environment } = await services.environments.update(access, { isProtected: false });
    expect(environment.isProtected).toBe(false);
    expect(await outcomeOf(world.onEnvironment(world.developer.caller, 'secret.write'))).toBe('done');
  });

  test('refuses a write that was under way when it became protected', async () => {
    const session = await LockSession.begin(database.url);
    await session.run('UPDATE environment SET protected = true WHERE id = $1', [world.environment.id]);
    const written = outcomeOf(secretCalls(services, world, world.developer.caller).put('KEY', 'late'));
    await session.waitForBlocked(1);
    await session.commit();
    expect(await written).toBe('forbidden');
    expect(await ofOwner.secrets.readOne('KEY')).toBe('first');
  });
});

describe('a custom resource and a protected environment', () => {
  const byStar = (kind: 'ServiceToken' | 'SnapshotRestore'): GrantRule[] => [
    ruleFor(world, { environments: ['*'], kinds: [kind] }),
    ruleFor(world, { project: '*', kinds: [kind] }),
  ];

  test('gets a token that writes only if its grant names the environment; one that reads anyway', async () => {
    const own = new TokenResource(services, world);
    own.grants = byStar('ServiceToken');
    expect(await outcomeOf(own.minted())).toBe('done');
    await protect();
    expect(await outcomeOf(own.mint({ serial: 2 }))).toBe('forbidden');
    expect(await outcomeOf(own.resume())).toBe('forbidden');
    expect(await outcomeOf(own.mint({ serial: 2, permission: 'read' }))).toBe('done');
    own.grants = [ruleFor(world)];
    expect(await outcomeOf(own.mint({ serial: 2 }))).toBe('done');
  });

  test('restores it only if its grant names it, and says so', async () => {
    const { id: snapshotId } = await ofOwner.snapshots.create();
    let grants = byStar('SnapshotRestore');
    const caller = resourceCaller({ kind: 'SnapshotRestore', grantsNow: () => grants });
    const ask = (): Promise<unknown> =>
      services.resourceAccess.mayRestore(caller, { snapshotId, secretSnapshotUid: null });
    expect(await outcomeOf(ask())).toBe('done');
    await protect();
    await expect(ask()).rejects.toThrow(/by name, as a protected environment requires/);
    grants = [ruleFor(world, { kinds: ['SnapshotRestore'] })];
    expect(await outcomeOf(ask())).toBe('done');
  });

  test('that waits while it becomes protected is refused at its end', async () => {
    const own = new TokenResource(services, world);
    own.grants = byStar('ServiceToken');
    const session = await LockSession.begin(database.url);
    await session.run('UPDATE environment SET protected = true WHERE id = $1', [world.environment.id]);
    const minted = outcomeOf(own.mint());
    await session.waitForBlocked(1);
    await session.commit();
    expect(await minted).toBe('forbidden');
  });
});
