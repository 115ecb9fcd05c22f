import { afterAll, beforeAll, expect, test } from '@jest/globals';
import type { SecretEnvironment } from '../../src/controller/generated/secret-environment.ts';
import { keylessTokensOf } from '../support/cluster/keyless-tokens.ts';
import { startOwnCluster } from '../support/cluster/own-cluster.ts';
import { ResourceSite, readyOf } from '../support/cluster/resource-site.ts';
import type { SecretObject } from '../support/cluster/secret-watch.ts';
import { Stack } from '../support/cluster/stack.ts';
import { TokenSync } from '../support/cluster/token-sync.ts';
import { waitFor } from '../support/fixtures/wait-for.ts';

const resources = new AsyncDisposableStack();
let stack: Stack;

beforeAll(async () => {
  // Of its own: other tests' controllers on a shared cluster reconcile every SecretEnvironment, too.
  const { kubeconfig } = await startOwnCluster(resources);
  stack = await Stack.start(resources, { namespaces: 4, adminKubeconfig: kubeconfig });
  await stack.startController();
});

afterAll(() => resources.disposeAsync());

const later = { A: 'alpha', B: 'later' };

test.each(['environment', 'project', 'organization'] as const)(
  'the Secrets of a deleted %s stay, and all resources recover by themselves after its undeletion',
  async (level) => {
    const sync = await TokenSync.make(stack);
    const { site, syncs } = sync;
    const { ref, path } = site.environment;
    const environments = new ResourceSite<SecretEnvironment>({
      kube: stack.kube,
      kind: 'SecretEnvironment',
      plural: 'secretenvironments',
    });
    const environment = await environments.create({ environmentRef: ref });
    const { status } = await environments.waitForReason(environment, 'Available');
    await sync.create();
    await sync.waitForValues({ A: 'alpha' });
    await syncs.create({ environmentRef: ref, revision: 1 }, 'pinned');
    await syncs.waitForReason('pinned', 'Synced');
    await site.create();
    await site.waitForReason('Issued');
    const [value, byHand] = [await site.value(), (await site.environment.createToken()).token];
    const secrets = async (): Promise<(SecretObject | undefined)[]> => [
      await site.secret('app'),
      await site.secret('pinned'),
    ];
    const before = await secrets();
    const [keyless] = await keylessTokensOf(stack.admin, site);
    const place = {
      environment: `/environments/${ref.organization}/${ref.project}/${ref.name}`,
      project: `/projects/${ref.organization}/${ref.project}`,
      organization: `/organizations/${ref.organization}`,
    }[level];

    await stack.admin.call('DELETE', place);
    await sync.waitForReason('NotFound');
    await syncs.waitForReason('pinned', 'NotFound');
    await environments.waitForReason(environment, 'SlugTaken');
    await sync.expectStays(async () => expect(await secrets()).toEqual(before));

    await stack.admin.call('POST', `${place}/undelete`);
    const undeletedAt = Date.now();
    await syncs.waitForReason('app', 'Synced');
    await syncs.waitForReason('pinned', 'Synced');
    const again = await environments.waitForReason(environment, 'Available');
    expect(Date.now() - undeletedAt).toBeLessThan(30_000);
    expect(again.status?.environmentId).toBe(status?.environmentId);
    expect(await secrets()).toEqual(before);

    await stack.admin.call('PATCH', path, { set: { B: 'later' } });
    await sync.waitForValues(later);
    expect((await site.secret('app'))?.metadata.uid).toBe(before[0]?.metadata.uid);
    expect(await site.secret('pinned')).toEqual(before[1]);
    expect(readyOf(await syncs.get('pinned'))?.reason).toBe('Synced');
    const tokens = await keylessTokensOf(stack.admin, site);
    expect(tokens.map(({ id }) => id)).toEqual([keyless?.id]);

    await waitFor('the ServiceToken to write another value', async () => (await site.value()) !== value);
    await site.waitForReason('Issued');
    const next = await site.value();
    expect(await Promise.all([value, byHand, next].map((token) => site.answer(token)))).toEqual([401, 401, 200]);
    const events = await stack.kube.json<{ items: { reason: string }[] }>({
      path: `/api/v1/namespaces/${site.namespace}/events`,
    });
    expect(events.items.map(({ reason }) => reason)).not.toContain('SourceReplaced');
  },
);
