import { randomUUID } from 'node:crypto';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import type { Backend } from '../../../src/controller/backend/backend.ts';
import type { Asker } from '../../../src/domain/asker.ts';
import { DomainError } from '../../../src/domain/errors/domain-error.ts';
import type { GrantRule } from '../../../src/domain/grants.ts';
import type { ResourceKindName } from '../../../src/domain/kinds.ts';
import { portAdapters } from '../../support/api/adapters.ts';
import { type ConnectedPort, connectThrough } from '../../support/api/port-adapters.ts';
import { claimName } from '../../support/database/cluster-credentials.ts';
import { restoreRule } from '../../support/api/resource-restore-calls.ts';
import { snapshotRule } from '../../support/api/resource-snapshot-calls.ts';
import type { SecretCalls } from '../../support/api/secret-calls.ts';
import { createWorld, type TestServices, type World } from '../../support/api/services.ts';
import type { SnapshotCalls } from '../../support/api/snapshot-calls.ts';
import { ruleFor } from '../../support/api/token-resource.ts';
import { withProxiedWorlds } from '../../support/api/with-services.ts';
import { prismaOf } from '../../support/database/prisma.ts';
import { type PostgresProxy, runs } from '../../support/faults/postgres-proxy.ts';

/**
 * What custom resources do through the port, with both adapters: each call is admitted, acts once, and is audited once. The
 * services behind it have tests of their own.
 */

describe.each(portAdapters)('%s', (adapter) => {
  let proxy: PostgresProxy;
  let services: TestServices;
  let world: World;
  let calls: SecretCalls;
  let snapshots: SnapshotCalls;
  let backend: Backend;
  let port: ConnectedPort;

  withProxiedWorlds((given) => ({ proxy, services, world, calls, snapshots } = given));

  beforeEach(async () => {
    port = await connectThrough(adapter, services);
    await claimName(services.database.pool, 'cluster-a');
    await claimName(services.database.pool, 'cluster-b');
    backend = port.connect(() => 'cluster-a');
  });

  afterEach(async () => {
    await port[Symbol.asyncDispose]();
  });

  /** A custom resource as the controller describes it; its grants can be replaced. */
  interface TestAsker extends Asker {
    grants: readonly GrantRule[];
  }

  function asker(kind: ResourceKindName, grants: readonly GrantRule[] = []): TestAsker {
    const namespace = kind === 'SecretEnvironment' ? null : 'team-a';
    return { kind, namespace, name: 'own', uid: randomUUID(), requestId: randomUUID(), grants, ownGrant: undefined };
  }

  /** The actions of a resource in the audit, with their outcomes. */
  async function audited({ uid }: Asker): Promise<string[]> {
    const entries = await prismaOf(services.database).auditEntry.findMany({
      where: { actorId: uid },
      orderBy: { id: 'asc' },
    });
    return entries.map(({ action, outcome }) => `${action} ${outcome}`);
  }

  /** Returns the code of the error that a call throws. */
  async function codeOf(call: Promise<unknown>): Promise<string> {
    return await call.then(
      () => 'nothing',
      (error: unknown) => (error instanceof DomainError ? error.code : String(error)),
    );
  }

  describe('a ServiceToken', () => {
    const input = { name: 'team-a/own', serial: 1, expiresAt: null };

    test('gets a token that works, in its own name', async () => {
      const own = asker('ServiceToken', [ruleFor(world)]);
      const asked = { ...world.slugs, permission: 'read' } as const;
      const { token, tokenId } = await backend.tokens.mint(own, asked, input);
      await backend.tokens.activate(own, 1, token);
      expect(await backend.tokens.serialOf(own, token)).toBe(1);
      const principal = await services.authentication.authenticate(token.reveal());
      expect(principal).toMatchObject({ id: tokenId, permission: 'read' });
      const { clusterRules, ...place } = await backend.tokens.placeOf(own, asked);
      expect(await backend.tokens.find(own)).toMatchObject({
        tokenId,
        ...place,
        credentials: [{ serial: 1, state: 'active' }],
      });
      expect(clusterRules).toEqual({ organizationId: place.organizationId, version: 0 });
      expect(await audited(own)).toEqual(['service_token.create success', 'service_token.activate success']);
      const [entry] = await prismaOf(services.database).auditEntry.findMany({ where: { actorId: own.uid } });
      expect(entry).toMatchObject({ actorType: 'resource', actorName: 'ServiceToken team-a/own', credentialId: null });
    });

    test('whose grant is withdrawn gets nothing more, and can be suspended and revoked', async () => {
      const own = asker('ServiceToken', [ruleFor(world)]);
      const asked = { ...world.slugs, permission: 'read_write' } as const;
      await backend.tokens.mint(own, asked, input);
      own.grants = [];
      for (const call of [
        backend.tokens.mint(own, asked, { ...input, serial: 2 }),
        backend.tokens.mayMint(own, asked),
        backend.tokens.placeOf(own, asked),
        backend.tokens.update(own, asked, []),
        backend.tokens.resume(own, asked),
      ])
        expect(await codeOf(call)).toBe('forbidden');
      expect(await backend.tokens.suspend(own, 'grant_gone')).toBe(true);
      await backend.tokens.revoke(own);
      expect((await audited(own)).toSorted()).toEqual([
        'service_token.create denied',
        'service_token.create denied',
        'service_token.create success',
        'service_token.resume denied',
        'service_token.revoke success',
        'service_token.suspend success',
        'service_token.update denied',
        'service_token.update denied',
      ]);
    });

    test('is found among the live tokens of its cluster only, by its own name', async () => {
      const own = asker('ServiceToken', [ruleFor(world)]);
      const { token } = await backend.tokens.mint(own, { ...world.slugs, permission: 'read' }, input);
      await backend.tokens.activate(own, 1, token);
      const { uid, namespace, name } = own;
      const asked = { namespaces: ['team-a'], after: null };
      const { tokens, next } = await backend.tokens.live(asked);
      expect(tokens.filter((live) => live.uid === uid)).toEqual([
        { uid, namespace, name, permission: 'read', ...world.slugs },
      ]);
      expect(next).toBeNull();
      expect((await port.connect(() => 'cluster-b').tokens.live(asked)).tokens).toEqual([]);
    });
  });

  describe('a SecretSnapshot', () => {
    test('takes one snapshot in its life, also if it asks again', async () => {
      await calls.put('KEY', '1');
      const own = asker('SecretSnapshot', [snapshotRule(world)]);
      const taken = await backend.snapshots.take(own, world.slugs, { name: 'own' });
      expect(taken).toMatchObject({ adopted: false, environmentId: world.environment.id, secretCount: 1 });
      expect(await backend.snapshots.take(own, world.slugs, { name: 'own' })).toEqual(taken);
      expect(await backend.snapshots.find(own)).toEqual(taken);
      await backend.snapshots.delete(own);
      expect(await backend.snapshots.find(own)).toBe('gone');
      expect(await audited(own)).toEqual([
        'snapshot.create success',
        'snapshot.create success',
        'snapshot.delete success',
      ]);
    });

    // From elsewhere, a grant that is withdrawn after the request was sent counts as later than the change.
    const isSeen = adapter === 'in process';

    test(`takes ${isSeen ? 'nothing' : 'its snapshot'} if its grant is withdrawn while it waits for the lock`, async () => {
      const own = asker('SecretSnapshot', [snapshotRule(world)]);
      const held = proxy.hold(runs(/INSERT INTO resource_claim/));
      const taking = codeOf(backend.snapshots.take(own, world.slugs, {}));
      await held.arrived();
      own.grants = [];
      held.release();
      expect(await taking).toBe(isSeen ? 'forbidden' : 'nothing');
      expect((await backend.snapshots.find(own)) === undefined).toBe(isSeen);
      expect(await codeOf(backend.snapshots.take(own, world.slugs, {}))).toBe('forbidden');
    });

    test('adopts no snapshot of an environment that it is not granted', async () => {
      const { id } = await snapshots.create();
      const other = await createWorld(services);
      const own = asker('SecretSnapshot', [snapshotRule(other)]);
      expect(await codeOf(backend.snapshots.adopt(own, id))).toBe('not_found');
      own.grants = [snapshotRule(world, { permission: 'read' })];
      expect(await backend.snapshots.adopt(own, id)).toMatchObject({ id, adopted: true });
      expect(await audited(own)).toEqual(['snapshot.read denied', 'snapshot.read success']);
    });
  });

  describe('a SnapshotRestore', () => {
    const options = { prune: false, skipUnchanged: true, backup: false, includeDeleted: false };
    const unknownPlan = { known: undefined, approved: undefined };

    test('plans and restores the environment that it was admitted to', async () => {
      await calls.put('KEY', '1');
      const { id: snapshotId } = await snapshots.create();
      await calls.put('KEY', '2');
      const own = asker('SnapshotRestore', [restoreRule(world)]);
      const source = { snapshotId, secretSnapshotUid: null };
      const environmentId = world.environment.id;
      expect(await backend.restores.admit(own, source)).toEqual({ ...world.slugs, environmentId });
      const plan = await backend.restores.plan(own, source, options, unknownPlan);
      expect(plan).toMatchObject({ snapshotId, environmentId, restored: { count: 1, keys: ['KEY'] } });
      expect(await backend.restores.plan(own, source, options, { known: plan.planHash, approved: undefined })).toEqual(
        plan,
      );
      const done = await backend.restores.restore(own, source, options, plan.planHash);
      expect(await backend.restores.find(own)).toEqual(done);
      // The plan that was known is not audited again.
      expect(await audited(own)).toEqual(['snapshot.restore success', 'snapshot.restore success']);
    });

    test('whose plan is not approved waits, with the plan that the server made', async () => {
      await calls.put('KEY', '1');
      const { id: snapshotId } = await snapshots.create();
      await calls.put('KEY', '2');
      const own = asker('SnapshotRestore', [restoreRule(world)]);
      const source = { snapshotId, secretSnapshotUid: null };
      const listed = async (): Promise<readonly unknown[]> => {
        const access = await world.onOrganization(world.admin.caller, 'fleet.list');
        return (await services.waitingRestores.list(access)).restores;
      };
      const plan = await backend.restores.plan(own, source, options, unknownPlan);
      const { planHash, revision, revisionId } = plan;
      const { uid, namespace, name } = own;
      const none = { count: 0, keys: [] };
      const keys = { restored: { count: 1, keys: ['KEY'] }, recreated: none, unchanged: none, skipped: none };
      const expected = { uid, namespace, name, cluster: 'cluster-a', snapshotId, planHash, revision, revisionId };
      expect(await listed()).toMatchObject([{ ...expected, keys: { ...keys, destroyed: none, pruned: none } }]);
      await backend.fleet.waitingRestores.forget([uid]);
      await backend.restores.plan(own, source, options, { known: planHash, approved: planHash });
      expect(await listed()).toEqual([]);
      await backend.restores.plan(own, source, options, { known: planHash, approved: 'former' });
      expect(await listed()).toHaveLength(1);
    });

    test('whose grant is withdrawn after it was admitted plans and restores nothing', async () => {
      await calls.put('KEY', '1');
      const { id: snapshotId } = await snapshots.create();
      const own = asker('SnapshotRestore', [restoreRule(world)]);
      const holder = asker('SecretSnapshot', [snapshotRule(world)]);
      await backend.snapshots.adopt(holder, snapshotId);
      const source = { snapshotId, secretSnapshotUid: holder.uid };
      await backend.restores.admit(own, source);
      own.grants = [];
      expect(await codeOf(backend.restores.plan(own, source, options, unknownPlan))).toBe('forbidden');
      expect(await codeOf(backend.restores.restore(own, source, options, null))).toBe('forbidden');
      expect(await audited(own)).toEqual(['snapshot.restore denied', 'snapshot.restore denied']);
    });
  });

  describe('a SnapshotSchedule', () => {
    test('records what it created while it is granted the environment', async () => {
      const own = asker('SnapshotSchedule', [snapshotRule(world, { kinds: ['SnapshotSchedule', 'SecretSnapshot'] })]);
      const child = { dueAt: new Date('2026-11-10T12:00:00Z'), uid: randomUUID(), name: 'own-202611101200' };
      const environmentId = world.environment.id;
      expect(await backend.schedules.admit(own, world.slugs)).toEqual({ ...world.slugs, environmentId });
      await backend.schedules.record(own, world.slugs, { made: [child], gone: [] });
      own.grants = [];
      const later = { ...child, dueAt: new Date('2026-11-10T13:00:00Z') };
      expect(await codeOf(backend.schedules.extend(own, world.slugs, later))).toBe('forbidden');
      expect(await backend.schedules.list(own)).toEqual([
        { ...child, snapshotId: null, takenAt: null, isNewest: false },
      ]);
      expect(await audited(own)).toEqual(['schedule.run success', 'schedule.run denied']);
    });
  });

  describe('a SecretEnvironment', () => {
    test('creates its environment once, and deletes it', async () => {
      const own = asker('SecretEnvironment');
      const slugs = { ...world.slugs, environment: 'made' };
      const ensured = await backend.environments.ensure(own, slugs);
      expect(ensured).toMatchObject({ created: true, hasOwner: true });
      expect(await backend.environments.ensure(own, slugs)).toEqual({ ...ensured, created: false });
      expect(await backend.environments.find(own)).toMatchObject({ environmentId: ensured.environmentId });
      await backend.environments.delete(own, slugs);
      expect(await backend.environments.find(own)).toBe('gone');
      expect(await audited(own)).toEqual(['environment.create success', 'environment.delete success']);
    });

    test('hands its environment over to another one of its cluster', async () => {
      const [own, next] = [asker('SecretEnvironment'), asker('SecretEnvironment')];
      const slugs = { ...world.slugs, environment: 'handed-over' };
      const { environmentId } = await backend.environments.ensure(own, slugs);
      await backend.environments.handOver(own, { ...slugs, successor: { name: next.name, uid: next.uid } });
      expect(await backend.environments.find(own)).toBe('gone');
      expect(await backend.environments.find(next)).toMatchObject({ environmentId });
      expect(await audited(own)).toEqual(['environment.create success', 'environment.hand_over success']);
    });

    test('appoints no owner who is no user', async () => {
      const own = asker('SecretEnvironment');
      const organization = `org-${own.uid.slice(0, 8)}`;
      await backend.environments.ensure(own, { organization, project: 'web', environment: 'prod' });
      const owners = { organization, owners: ['absent@example.test'] };
      expect(await codeOf(backend.environments.appointOwners(own, owners))).toBe('not_found');
    });
  });

  test('a resource does what its kind may do, and nothing else', async () => {
    const own = asker('SecretSnapshot', [ruleFor(world), snapshotRule(world)]);
    const input = { name: 'team-a/own', serial: 1, expiresAt: null };
    expect(await codeOf(backend.tokens.mint(own, { ...world.slugs, permission: 'read' }, input))).toBe('forbidden');
    expect(await codeOf(backend.environments.ensure(own, world.slugs))).toBe('forbidden');
    expect(await audited(own)).toEqual(['service_token.create denied', 'environment.create denied']);
  });

  test('nothing is done, and nothing audited, while the cluster is unknown', async () => {
    const away = new DomainError('cluster_unavailable', 'the cluster is not known yet');
    const unknown = port.connect(() => {
      throw away;
    });
    const own = asker('SecretSnapshot', [snapshotRule(world)]);
    await expect(unknown.snapshots.take(own, world.slugs, {})).rejects.toBe(away);
    await expect(unknown.tokens.live({ namespaces: null, after: null })).rejects.toBe(away);
    expect(await audited(own)).toEqual([]);
  });
});
