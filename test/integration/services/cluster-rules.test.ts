import { randomUUID } from 'node:crypto';
import { beforeEach, describe, expect, test } from '@jest/globals';
import { connectLocally } from '../../../src/compose/local-backend.ts';
import type { ClusterRule } from '../../../src/domain/cluster-ceiling.ts';
import { DomainError } from '../../../src/domain/errors/domain-error.ts';
import { ClusterCalls, clusterRule } from '../../support/api/cluster-calls.ts';
import { resourceCaller } from '../../support/api/resource-caller.ts';
import { resourceSnapshotCalls, snapshotRule } from '../../support/api/resource-snapshot-calls.ts';
import type { SecretCalls } from '../../support/api/secret-calls.ts';
import { createWorld, type TestServices, type World } from '../../support/api/services.ts';
import { codeOf, TestSyncReader } from '../../support/api/sync-reader.ts';
import { ruleFor, TokenResource } from '../../support/api/token-resource.ts';
import { withWorlds } from '../../support/api/with-services.ts';
import { waitFor } from '../../support/fixtures/wait-for.ts';
import { prismaOf } from '../../support/database/prisma.ts';

let services: TestServices;
let world: World;
let calls: SecretCalls;
let own: TestSyncReader;
let clusters: ClusterCalls;

withWorlds((given) => ({ services, world, calls } = given));

beforeEach(async () => {
  await calls.put('API_KEY', 'value');
  own = new TestSyncReader(services, world);
  clusters = new ClusterCalls(services, world);
  // The cluster is known from its first read on.
  await own.read();
});

const value = { API_KEY: 'value' };

describe('rules of an organization', () => {
  test('are set, replaced and removed with a version that never returns', async () => {
    const accepted = { generation: null, acceptedGeneration: null, isOutdated: false };
    expect(await clusters.get()).toEqual({ name: 'test', isHome: true, rules: null, version: 0, ...accepted });
    const rule = clusterRule(world);
    expect(await clusters.set([rule], { expectedVersion: 0 })).toEqual({ ...(await clusters.get()), version: 1 });
    expect(await clusters.set([rule], { expectedVersion: 0 }).catch(codeOf)).toBe('version_mismatch');
    // The same rules again are no change.
    expect((await clusters.set([rule])).version).toBe(1);
    expect(await clusters.set(null)).toMatchObject({ rules: null, version: 2 });
    expect(await clusters.set(null)).toMatchObject({ rules: null, version: 2 });
    expect(await clusters.set([rule])).toMatchObject({ rules: [rule], version: 3 });
  });

  test('are notified of, and compared by their version', async () => {
    const events: unknown[] = [];
    services.feed.start();
    const leave = services.feed.subscribe({ onEvent: (event) => void events.push(event), onReady: () => undefined });
    await waitFor('the feed to hear', () => services.feed.ready);
    await clusters.set([]);
    await clusters.disable();
    await waitFor('two events', () => events.length === 2);
    leave();
    const organizationId = world.organization.id;
    expect(events).toEqual([
      { kind: 'cluster_rules', organizationId, cluster: 'test', version: 1, isNothing: true },
      { kind: 'cluster', cluster: 'test', state: 'disabled', isHome: true },
    ]);
    const compared = await connectLocally(services)(() => 'test').changes.compare({ rulesOf: [organizationId] });
    expect([compared.clusterState, compared.clusterRules]).toEqual(['disabled', new Map([[organizationId, 1]])]);
    const other = await connectLocally(services)(() => 'other').changes.compare({ rulesOf: [organizationId] });
    expect([other.clusterState, other.clusterRules]).toEqual(['enabled', new Map()]);
    await clusters.enable();
  });

  test('are shown to their own organization only', async () => {
    await clusters.set([clusterRule(world)]);
    const other = await createWorld(services);
    const access = await other.onOrganization(other.admin.caller, 'cluster.list');
    const listed = await services.clusterRules.list(access);
    expect(listed).toContainEqual(expect.objectContaining({ name: 'test', isHome: true, rules: null, version: 0 }));
    expect(JSON.stringify(listed)).not.toContain(world.slugs.project);
  });

  test('are audited with what they were before', async () => {
    await clusters.set([clusterRule(world)]);
    await clusters.set(null);
    const entries = await prismaOf(services.database).auditEntry.findMany({
      where: { organizationId: world.organization.id, action: 'cluster.set_rules' },
      orderBy: { id: 'asc' },
    });
    const { project, environment } = world.slugs;
    const text = `Read on ${project}/${environment} for SecretSync`;
    expect(entries.map(({ target }) => target)).toEqual([
      expect.objectContaining({ cluster: 'test', rules: [text], from: null, version: 1 }),
      expect.objectContaining({ cluster: 'test', rules: null, from: [text], version: 2 }),
    ]);
  });

  test.each<[string, (rule: ClusterRule) => readonly ClusterRule[], string]>([
    ['all projects with one environment', (rule) => [{ ...rule, project: '*' }], 'rules.0.environments'],
    ['all environments beside one', (rule) => [{ ...rule, environments: ['*', 'prod'] }], 'rules.0.environments'],
    ['no kind', (rule) => [{ ...rule, kinds: [] }], 'rules.0.kinds'],
    ['more than 100', (rule) => Array.from({ length: 101 }, () => rule), 'rules'],
  ])('are refused: %s', async (_case, rules, field) => {
    const refusal = clusters.set(rules(clusterRule(world)));
    await expect(refusal).rejects.toMatchObject({ code: 'invalid_input', fields: [{ field }] });
  });

  test('are for clusters that are known', async () => {
    expect(await clusters.set([], { cluster: 'no-such-cluster' }).catch(codeOf)).toBe('not_found');
  });
});

describe('a SecretSync that reads without a token', () => {
  test('needs a grant of its namespace and a rule of the organization', async () => {
    await clusters.set([clusterRule(world)]);
    expect(await own.outcome()).toEqual(value);
    await clusters.set([]);
    expect(await own.outcome()).toBe('cluster_not_allowed');
    await clusters.set([clusterRule(world)]);
    expect(await own.outcome()).toEqual(value);
    own.grants = [];
    expect(await own.outcome()).toBe('forbidden');
  });

  test('is refused with the command that allows it, whatever exists', async () => {
    const { organization, project, environment } = world.slugs;
    own.grants = [ruleFor(world, { project: '*', environments: ['*'], kinds: ['SecretSync'] })];
    await clusters.set([]);
    const details = await Promise.all(
      [environment, 'no-such-thing'].map(async (slug) => {
        const place = { organization, project, environment: slug };
        const refusal = await services.keyless.admit(own.reader, place).catch((error: unknown) => error);
        expect(refusal).toBeInstanceOf(DomainError);
        const { detail } = refusal as DomainError;
        expect(detail).toContain(`keyframe cluster allow test -o ${organization} -p ${project} -e ${slug}`);
        return detail.replaceAll(slug, '…');
      }),
    );
    expect(new Set(details).size).toBe(1);
  });

  test('gets nothing through a cluster that is no home cluster before a rule allows it', async () => {
    const cluster = await clusters.addRemote();
    const remote = new TestSyncReader(services, world, { cluster });
    expect(await remote.outcome()).toBe('cluster_not_allowed');
    const absent = { organization: 'no-such-thing', project: 'a', environment: 'b' };
    remote.grants = [...remote.grants, ruleFor(world, { ...absent, environments: ['b'], kinds: ['SecretSync'] })];
    expect(await services.keyless.admit(remote.reader, absent).catch(codeOf)).toBe('cluster_not_allowed');
    await clusters.set([clusterRule(world)], { cluster });
    expect(await remote.outcome()).toEqual(value);
    await clusters.set(null, { cluster });
    expect(await remote.outcome()).toBe('cluster_not_allowed');
  });

  test('is audited as denied, once for each refusal', async () => {
    await clusters.set([]);
    await own.outcome();
    await own.outcome();
    const denied = await prismaOf(services.database).auditEntry.findMany({
      where: { actorId: own.reader.uid, outcome: 'denied' },
    });
    expect(denied.map(({ target }) => target)).toEqual([
      expect.objectContaining({ error: 'cluster_not_allowed', cluster: 'test' }),
    ]);
  });
});

describe('a SecretSync that reads with a token', () => {
  const through = { cluster: 'test', name: 'SecretSync team-a/app' };

  test('needs a rule too, and the same token does not as a client', async () => {
    const { caller } = await world.serviceToken({ permission: 'read' });
    const enter = async (given: object): Promise<string> =>
      await services.access.environment({ ...caller, ...given }, 'secret.list', world.slugs).then(() => 'ok', codeOf);
    expect(await enter({ through })).toBe('ok');
    await clusters.set([clusterRule(world, { kinds: ['SecretSnapshot'] })]);
    expect(await enter({ through })).toBe('cluster_not_allowed');
    expect(await enter({})).toBe('ok');
    // What the token may not see stays hidden.
    const foreign = await createWorld(services);
    const hidden = services.access.environment({ ...caller, through }, 'secret.list', foreign.slugs);
    expect(await hidden.catch(codeOf)).toBe('not_found');
  });
});

describe('a ServiceToken', () => {
  test('is minted only as far as grant and rule both go', async () => {
    const token = new TokenResource(services, world);
    const wide = clusterRule(world, { permission: 'read_write', kinds: ['ServiceToken'] });
    await clusters.set([{ ...wide, permission: 'read' }]);
    expect(await token.mint().catch(codeOf)).toBe('cluster_not_allowed');
    expect(await token.mint({ permission: 'read' }).catch(codeOf)).toMatchObject({ serial: 1 });
    await clusters.set([wide]);
    token.grants = [];
    expect(await token.mint({ serial: 2 }).catch(codeOf)).toBe('forbidden');
  });

  test('is suspended when its rule goes, and resumed once it is back', async () => {
    const token = new TokenResource(services, world);
    const made = await token.minted();
    const other = new TokenResource(services, await createWorld(services));
    const foreign = await other.minted();
    await clusters.set([clusterRule(world)]);
    expect(await token.opens(made)).toBe('suspended');
    expect(await other.opens(foreign)).toBe('opens');
    expect(await token.resume().catch(codeOf)).toBe('cluster_not_allowed');
    const [entry] = (await token.auditOf(made.tokenId)).filter(({ action }) => action === 'service_token.suspend');
    expect(entry).toMatchObject({ actorId: world.admin.id, target: { cause: 'cluster_not_allowed', cluster: 'test' } });
    await clusters.set(null);
    await token.resume();
    expect(await token.opens(made)).toBe('opens');
  });

  test('that writes a protected environment needs a rule that names it', async () => {
    const update = await world.onEnvironment(world.admin.caller, 'environment.update');
    await services.environments.update(update, { isProtected: true });
    const token = new TokenResource(services, world);
    const rule = clusterRule(world, { permission: 'read_write', kinds: ['ServiceToken'], environments: ['*'] });
    await clusters.set([rule]);
    expect(await token.mint().catch(codeOf)).toBe('cluster_not_allowed');
    await clusters.set([{ ...rule, environments: [world.slugs.environment] }]);
    await token.mint();
  });

  test('is not minted if its rule goes before the end of the change', async () => {
    const token = new TokenResource(services, world);
    const access = await services.resourceAccess.mayMint(token.caller, token.asked());
    await clusters.set([]);
    const minting = services.resourceTokens.mint(access, { name: 'late', serial: 1, expiresAt: null });
    expect(await minting.catch(codeOf)).toBe('cluster_not_allowed');
    expect(await token.find()).toBeUndefined();
  });
});

describe('a SecretSnapshot', () => {
  test('does not learn of a snapshot that its cluster may not know', async () => {
    const { id } = await services.snapshots.create(
      await world.onEnvironment(world.developer.caller, 'snapshot.create'),
      {},
    );
    const snapshotCaller = resourceCaller({ kind: 'SecretSnapshot', grants: [snapshotRule(world)], name: 'own' });
    const snapshots = resourceSnapshotCalls(services, world, snapshotCaller);
    await clusters.set([]);
    const refusals = await Promise.all(
      [id, randomUUID()].map(async (snapshotId) => {
        const error = (await snapshots.adopt(snapshotId).catch((refusal: unknown) => refusal)) as DomainError;
        return [error.code, error.detail.replace(snapshotId, '…')];
      }),
    );
    expect(refusals[0]).toEqual(refusals[1]);
    expect(refusals[0]?.[0]).toBe('not_found');
    await clusters.set([clusterRule(world, { kinds: ['SecretSnapshot'] })]);
    expect(await snapshots.adopt(id)).toMatchObject({ id, adopted: true });
    expect(await snapshots.take().catch(codeOf)).toBe('cluster_not_allowed');
  });
});
