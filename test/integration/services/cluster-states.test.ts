import { beforeEach, describe, expect, test } from '@jest/globals';
import { ClusterCalls, clusterRule } from '../../support/api/cluster-calls.ts';
import { resourceCaller } from '../../support/api/resource-caller.ts';
import { resourceSnapshotCalls, snapshotRule } from '../../support/api/resource-snapshot-calls.ts';
import type { SecretCalls } from '../../support/api/secret-calls.ts';
import { createUser, type TestServices, type World } from '../../support/api/services.ts';
import { stateReport } from '../../support/api/state-reports.ts';
import { codeOf, TestSyncReader } from '../../support/api/sync-reader.ts';
import { TokenResource } from '../../support/api/token-resource.ts';
import { withWorlds } from '../../support/api/with-services.ts';
import { prismaOf } from '../../support/database/prisma.ts';

let services: TestServices;
let world: World;
let calls: SecretCalls;
let own: TestSyncReader;
let token: TokenResource;
let clusters: ClusterCalls;

withWorlds((given) => ({ services, world, calls } = given));

beforeEach(async () => {
  await prismaOf(services.database).servedCluster.updateMany({ data: { disabledAt: null, forgottenAt: null } });
  await calls.put('API_KEY', 'value');
  own = new TestSyncReader(services, world);
  token = new TokenResource(services, world);
  clusters = new ClusterCalls(services, world);
  await own.read();
});

const value = { API_KEY: 'value' };

async function stateOf(cluster: string): Promise<string | undefined> {
  const { caller } = await createUser(services, { instanceAdmin: true });
  const list = await services.servedClusters.list(await services.access.instance(caller, 'cluster.list_all'));
  return list.find(({ name }) => name === cluster)?.state;
}

describe('a disabled cluster', () => {
  test('reads nothing, and its tokens are suspended until their reconciles resume them', async () => {
    const made = await token.minted();
    await clusters.disable();
    expect(await own.outcome()).toBe('cluster_disabled');
    expect(await token.opens(made)).toBe('suspended');
    expect(await token.resume().catch(codeOf)).toBe('cluster_disabled');
    expect(await token.mint({ serial: 2 }).catch(codeOf)).toBe('cluster_disabled');
    await clusters.enable();
    expect(await own.outcome()).toEqual(value);
    expect(await token.opens(made)).toBe('suspended');
    await token.resume();
    expect(await token.opens(made)).toBe('opens');
  });

  test('has keyless tokens that lists and single reads show as suspended', async () => {
    const { tokenId } = await own.enter();
    const other = new TestSyncReader(services, world, { cluster: 'other' });
    const { tokenId: otherId } = await other.enter();
    const access = await world.onOrganization(world.admin.caller, 'service_token.list');
    const shown = async (id: string): Promise<unknown[]> => {
      const { serviceTokens } = await services.serviceTokens.list(access);
      const one = await services.serviceTokens.get(access, id);
      return [one, ...serviceTokens.filter((listed) => listed.id === id)].map(({ suspendedAt }) => suspendedAt);
    };
    expect([await shown(tokenId), await shown(otherId)]).toEqual([
      [null, null],
      [null, null],
    ]);
    await clusters.disable();
    const { disabledAt } = await prismaOf(services.database).servedCluster.findUniqueOrThrow({
      where: { name: 'test' },
    });
    expect([await shown(tokenId), await shown(otherId)]).toEqual([
      [disabledAt, disabledAt],
      [null, null],
    ]);
    await clusters.enable();
    expect(await shown(tokenId)).toEqual([null, null]);
  });

  test('changes nothing of what it owns, except that it ends its tokens', async () => {
    const snapshots = resourceSnapshotCalls(
      services,
      world,
      resourceCaller({ kind: 'SecretSnapshot', grants: [snapshotRule(world)], name: 'own' }),
    );
    await snapshots.take();
    const made = await token.minted();
    await clusters.disable();
    expect(await snapshots.remove().catch(codeOf)).toBe('cluster_disabled');
    expect(await prismaOf(services.database).snapshot.count({ where: { environmentId: world.environment.id } })).toBe(
      1,
    );
    await token.revoke();
    expect(await token.opens(made)).toBe('revoked');
  });

  test('stays without a ceiling of its own when it is enabled again, and within that of the organization', async () => {
    await clusters.set([clusterRule(world, { kinds: ['SecretSnapshot'] })]);
    await clusters.disable();
    await clusters.enable();
    expect(await own.outcome()).toBe('cluster_not_allowed');
  });

  test('cannot be one that is not known', async () => {
    expect(await clusters.disable('no-such-cluster').catch(codeOf)).toBe('not_found');
    expect(await clusters.enable('no-such-cluster').catch(codeOf)).toBe('not_found');
    expect(await clusters.planForget('no-such-cluster').catch(codeOf)).toBe('not_found');
    expect(await clusters.forget('no-such-cluster').catch(codeOf)).toBe('not_found');
  });

  test('suspends tokens in batches, each audited', async () => {
    const tokens = Array.from({ length: 3 }, () => new TokenResource(services, world));
    const made = await Promise.all(tokens.map((one) => one.minted()));
    await clusters.disable();
    const opened = await Promise.all(tokens.map((one, index) => one.opens(made[index] ?? Object.create(null))));
    expect(opened).toEqual(['suspended', 'suspended', 'suspended']);
    for (const [index, one] of tokens.entries()) {
      const entries = await one.auditOf(made[index]?.tokenId ?? '');
      expect(entries.at(-1)).toMatchObject({ action: 'service_token.suspend', target: { cause: 'cluster_disabled' } });
    }
  });
});

describe('a cluster that is forgotten', () => {
  test('is planned first, then loses its tokens and reports, and names the Secrets that stay behind', async () => {
    const made = await token.minted();
    const { tokenId } = await own.enter();
    const ids = { revision: 1, revisionId: world.environment.id };
    const report = stateReport({ namespace: 'shop', environmentId: world.environment.id, wanted: ids, synced: ids });
    await services.syncStates.report('test', [report]);
    const had = await clusters.planForget();
    expect(had).toMatchObject({ secrets: [{ namespace: 'shop', name: report.secretName }], secretCount: 1 });
    expect(had.tokens).toEqual(
      expect.arrayContaining([
        expect.objectContaining({ id: made.tokenId, organization: world.slugs.organization }),
        expect.objectContaining({ id: tokenId }),
      ]),
    );
    expect(await token.opens(made)).toBe('opens');
    expect(await clusters.forget()).toEqual(had);
    expect(await token.opens(made)).toBe('revoked');
    expect(await own.outcome()).toBe('cluster_unknown');
    expect(await stateOf('test')).toBe('forgotten');
    expect(await services.syncStates.reported('test')).toEqual([]);
    expect(await clusters.get().catch(codeOf)).toBe('not_found');
    expect(await clusters.planForget().catch(codeOf)).toBe('not_found');
    // Enabled again, it has no token of before.
    await clusters.enable();
    expect(await own.outcome()).toBe('token_revoked');
  });
});
