import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { NodeSite } from '../support/node/node-site.ts';
import { Release } from '../support/node/release.ts';
import { SyncSite } from '../support/cluster/sync-site.ts';

const resources = new AsyncDisposableStack();
const site = new NodeSite(resources);
let watched: string;
let release: Release;

beforeAll(async () => {
  watched = await site.makeNamespace('restricted');
  release = await Release.install(site, resources, {
    'controller.separate': 'true',
    watchNamespaces: `{${watched}}`,
  });
});

afterAll(() => resources.disposeAsync());

describe('The controller in pods of its own, for some namespaces', () => {
  test('is ready beside the API, and serves those namespaces alone', async () => {
    const template = '{range .items[*]}{.metadata.name} {.status.readyReplicas}{"\\n"}{end}';
    const list = ['-n', release.namespace, 'get', 'deployments', '-o', `jsonpath=${template}`];
    expect(await site.kubectl(list)).toBe('keyframe 1\nkeyframe-controller 2\n');
    const { client: admin } = await release.admin();
    const make = async (namespace: string): Promise<SyncSite> =>
      await SyncSite.make({ kube: site.kube, admin }, { namespace, values: { A: 'one' } });
    const elsewhere = await make(await site.makeNamespace('restricted'));
    const here = await make(watched);
    await here.waitForValues({ A: 'one' });
    expect(await elsewhere.secret()).toBeUndefined();
  });

  test('passes helm’s test, which without a controller fails and says that none has looked', async () => {
    expect(await release.test()).toMatch(/Phase: +Succeeded/);
    await site.kubectl(['-n', release.namespace, 'scale', 'deployment/keyframe-controller', '--replicas=0']);
    const failure = await release.test().then(String, ({ stdout }: { stdout: string }) => stdout);
    expect(failure).toMatch(/Phase: +Failed/);
    expect(failure).toMatch(/the Secret does not hold the value, and no controller has reconciled the SecretSync/);
  });
});
