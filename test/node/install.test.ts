import { afterAll, beforeAll, describe, expect, jest, test } from '@jest/globals';
import { applyQuickstart, awaitSecret } from '../../scripts/start/quickstart.ts';
import { makeSample } from '../../scripts/start/sample.ts';
import { NodeSite } from '../support/node-site.ts';
import { Release } from '../support/release.ts';

jest.setTimeout(180_000);

const resources = new AsyncDisposableStack();
const site = new NodeSite(resources);
let release: Release;

beforeAll(async () => {
  release = await Release.install(site, resources);
});

afterAll(() => resources.disposeAsync());

describe('The chart, installed on a node', () => {
  test('runs in pods that are ready and never had to start again, under «restricted»', async () => {
    const { items } = await site.kube.json<{ items: readonly PodObject[] }>({
      path: `/api/v1/namespaces/${release.namespace}/pods`,
    });
    const told = items.map(({ metadata, status }) => ({
      component: metadata.labels?.['app.kubernetes.io/component'],
      ready: status.conditions.find(({ type }) => type === 'Ready')?.status,
      restarts: status.containerStatuses.map(({ restartCount }) => restartCount),
    }));
    expect(told.toSorted((a, b) => String(a.component).localeCompare(String(b.component)))).toEqual([
      { component: 'postgres', ready: 'True', restarts: [0] },
      { component: 'server', ready: 'True', restarts: [expect.any(Number)] },
    ]);
  });

  test('answers through its Service, as the first administrator whose token its pod holds', async () => {
    const { client } = await release.admin();
    expect(await client.call('GET', '/me')).toMatchObject({ type: 'user', instanceAdmin: true });
    expect((await client.as('nonsense').send('GET', '/me')).status).toBe(401);
  });

  test('gives an application what the quickstart syncs, as variables and as files', async () => {
    const { api, client } = await release.admin();
    await makeSample(api);
    const namespace = await site.makeNamespace('restricted');
    await applyQuickstart(site.kube, namespace);
    const keys = await awaitSecret(site.kube, namespace);
    const { secrets } = await client.call<{ secrets: readonly { key: string }[] }>(
      'GET',
      '/secrets/demo/shop/production',
    );
    expect(keys).toEqual(secrets.map(({ key }) => key).sort());
    const script = `setInterval(() => {}, 1e9)`;
    await site.runPod(namespace, { name: 'app', script, secretEnv: 'quickstart', secretFiles: 'quickstart' });
    const read = `const names = ${JSON.stringify(keys)};
      const file = (name) => require('node:fs').readFileSync('/etc/secret/' + name, 'utf8');
      console.log(JSON.stringify(names.map((name) => [name, process.env[name], file(name)])))`;
    const found = JSON.parse(await site.exec(namespace, 'pod/app', ['node', '-e', read])) as string[][];
    for (const [key = '', variable, file] of found) {
      const { value } = await client.call<{ value: string }>('GET', `/secrets/demo/shop/production/${key}`);
      expect([variable, file]).toEqual([value, value]);
    }
  });
});

interface PodObject {
  readonly metadata: { readonly labels?: Readonly<Record<string, string>> };
  readonly status: {
    readonly conditions: readonly { readonly type: string; readonly status: string }[];
    readonly containerStatuses: readonly { readonly restartCount: number }[];
  };
}
