import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { createNamespace, deleteNamespace } from '../support/cluster/cluster.ts';
import { KeylessFaultSite } from '../support/cluster/keyless-fault-site.ts';
import { keylessTokensOf } from '../support/cluster/keyless-tokens.ts';
import { runs } from '../support/faults/postgres-proxy.ts';
import { query } from '../support/cluster/resource-rows.ts';
import { parentOf } from '../support/cluster/sync-site.ts';
import { alpha, type TokenSync } from '../support/cluster/token-sync.ts';
import { waitFor } from '../support/fixtures/wait-for.ts';

/**
 * Secrets, SecretSyncs, AccessGrants and namespaces of SecretSyncs that name no token are edited and deleted, most of them
 * while no controller runs.
 */

const resources = new AsyncDisposableStack();
const next = { A: 'next' };
let site: KeylessFaultSite;

beforeAll(async () => {
  site = await KeylessFaultSite.start(resources, 20);
});

afterAll(() => resources.disposeAsync());

async function deleteSecret({ site: of }: TokenSync): Promise<void> {
  await site.stack.kube.json({ method: 'DELETE', path: of.secretPath('app') });
}

describe('while no controller runs', () => {
  test('everything may be changed and deleted, and the next one takes it as it is', async () => {
    const target = { deletionPolicy: 'Delete' };
    const [gone, kept, lost, edited, denied, replaced, revoked, remade, late] = [
      await site.makeSynced({ target }),
      await site.makeSynced(),
      await site.makeSynced(),
      await site.makeSynced(),
      await site.makeSynced(),
      await site.makeSynced(),
      await site.makeSynced(),
      await site.makeSynced(),
      await site.make(),
    ];
    await site.stopController();
    for (const { syncs } of [gone, kept]) await syncs.delete('app');
    await deleteSecret(lost);
    await edited.site.patchSecret({ stringData: { A: 'edited' } }, 'app');
    await denied.site.withdraw();
    await replace(replaced);
    await revoked.site.environment.revokeToken((await keylessTokensOf(site.stack.admin, revoked.site))[0]?.id ?? '');
    await remade.syncs.delete('app');
    await remade.syncs.waitUntilGone('app');
    await remade.create();
    await late.create();
    for (const { site: of } of [kept, lost, edited, denied, revoked, remade, late]) await of.environment.change(next);
    await site.startController();

    for (const sync of [lost, edited, remade, late]) await site.expectClean(sync, next);
    await denied.waitForReason('AccessDenied');
    await revoked.waitForReason('TokenRevoked');
    await replaced.waitForReason('SourceReplaced');
    for (const sync of [denied, revoked, replaced]) {
      await sync.expectStays(async () => expect(await sync.values()).toEqual(alpha));
    }
    await site.stack.passWitness(kept.site.namespace);
    expect(await kept.values()).toEqual(alpha);
    await waitFor('the Secret to be collected', async () => (await gone.values()) === undefined);
  });
});

/** Has the environment of a SecretSync purged, and another one made in its place. */
async function replace({ site: { environment } }: TokenSync): Promise<void> {
  const { organization, project, name } = environment.ref;
  const path = `/environments/${organization}/${project}`;
  const { admin } = site.stack;
  await admin.call('DELETE', `${path}/${name}`);
  await admin.call('POST', `${path}/${name}/purge`);
  await admin.call('POST', path, { slug: name });
  await admin.call('PATCH', environment.path, { set: next });
}

describe('a namespace that is deleted', () => {
  test('while its Secret is being created goes with everything in it, and can be made again', async () => {
    const sync = await site.make();
    const path = parentOf(sync.site.secretPath());
    const hold = site.api.hold((request) => request.method === 'POST' && request.path === path);
    await sync.create();
    await hold.arrived();
    await deleteNamespace(sync.site.namespace, site.stack.kube);
    await waitFor('the namespace to end', async () => {
      const { status } = (await sync.site.namespaceObject()) ?? {};
      return status === undefined || (status as { phase?: string }).phase === 'Terminating';
    });
    hold.release();
    await expectMadeAgain(sync);
  });

  test('while no controller runs waits for none, and can be made again', async () => {
    const sync = await site.makeSynced();
    await site.stopController();
    await sync.site.deleteNamespace();
    await site.startController();
    await expectMadeAgain(sync);
  });

  test('while a change is being read leaves nothing behind', async () => {
    const sync = await site.makeSynced();
    const hold = site.database.hold(runs(/^\s*INSERT INTO\s+"?audit_entry/i));
    await sync.site.environment.change(next);
    await hold.arrived();
    await deleteNamespace(sync.site.namespace, site.stack.kube);
    hold.release();
    await sync.site.deleteNamespace();
    await expectMadeAgain(sync, next);
  });

  /** Waits until the namespace is gone, and expects one of its name to work with the token of before. */
  async function expectMadeAgain(sync: TokenSync, values: Readonly<Record<string, string>> = alpha): Promise<void> {
    const { namespace } = sync.site;
    const sql = 'SELECT id FROM service_token WHERE namespace = $1';
    const rows = await query(site.stack.databaseUrl, sql, [namespace]);
    await sync.site.deleteNamespace();
    await createNamespace(site.stack.kube, namespace);
    await sync.create();
    await site.expectClean(sync, values);
    expect(await query(site.stack.databaseUrl, sql, [namespace])).toEqual(rows);
  }
});
