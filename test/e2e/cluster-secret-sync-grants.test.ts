import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { ClusterSyncSite } from '../support/cluster/cluster-sync-site.ts';

const resources = new AsyncDisposableStack();
let site: ClusterSyncSite;

beforeAll(async () => {
  site = await ClusterSyncSite.make(resources);
  await site.startController();
});

afterAll(() => resources.disposeAsync());

describe('a ClusterSecretSync', () => {
  test('whose label a team gives to its namespace brings nothing that no grant allows', async () => {
    await site.createNamespaces('ungranted', 1);
    await site.stack.kube.json({
      method: 'PATCH',
      path: '/api/v1/namespaces/ungranted-0',
      contentType: 'application/merge-patch+json',
      body: { metadata: { labels: { team: null, taken: 'yes' } } },
    });
    const spec = { ...site.spec('x'), namespaceSelector: { matchLabels: { taken: 'yes' } } };
    await site.syncs.create(spec, 'shared-taken');
    await site.waitForStatus('shared-taken', 'NotReady', { selected: 1, ready: 0, blocked: 0 });
    expect(await site.stack.kube.find({ path: '/api/v1/namespaces/ungranted-0/secrets/shared-taken' })).toBeUndefined();
  });
});
