import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import type { ServerProcess } from '../support/api/server-process.ts';
import { waitFor } from '../support/fixtures/wait-for.ts';
import { Stack } from '../support/cluster/stack.ts';
import type { SyncSite } from '../support/cluster/sync-site.ts';

const resources = new AsyncDisposableStack();
const values = { PASSWORD: 'right', USER: 'app' };
let stack: Stack;
let controller: ServerProcess;

interface Damage {
  readonly what: string;
  readonly inflict: (site: SyncSite) => Promise<unknown>;
}

const damages: readonly Damage[] = [
  { what: 'edited', inflict: (site) => site.patchSecret({ stringData: { PASSWORD: 'wrong', EXTRA: 'x' } }) },
  { what: 'emptied', inflict: (site) => site.patchSecret({ data: null }) },
  { what: 'deleted', inflict: (site) => site.deleteSecret() },
  { what: 'deprived of a key', inflict: (site) => site.patchSecret({ data: { USER: null } }) },
  {
    what: 'deprived of the label by which the controller finds it',
    inflict: (site) =>
      site.patchSecret({ metadata: { labels: { 'keyframe.dev/target': null } }, data: { USER: null } }),
  },
  {
    what: 'edited and made immutable',
    inflict: (site) => site.patchSecret({ stringData: { PASSWORD: 'wrong' }, immutable: true }),
  },
];

beforeAll(async () => {
  stack = await Stack.start(resources, { namespaces: 2 });
  controller = await stack.startController();
});

afterAll(() => resources.disposeAsync());

describe('while the controller runs', () => {
  test('a Secret that was edited and made immutable is repaired', async () => {
    const site = await stack.makeSite({ values });
    await site.waitUntilSynced(values);
    await site.patchSecret({ stringData: { PASSWORD: 'wrong' }, immutable: true });
    const repaired = await site.waitUntilSynced(values);
    expect(repaired.metadata.labels).toMatchObject({ 'keyframe.dev/target': 'true' });
    expect((repaired as { immutable?: boolean }).immutable).not.toBe(true);
    const path = `/apis/events.k8s.io/v1/namespaces/${site.namespace}/events`;
    const drifts = async (): Promise<readonly { readonly note: string }[]> => {
      const { items } = await stack.kube.json<{ items: { reason: string; note: string }[] }>({ path });
      return items.filter(({ reason }) => reason === 'DriftRepaired');
    };
    await waitFor('the Event', async () => (await drifts()).length > 0);
    // The name of the test's own client, as the API server has it in managedFields.
    expect(await drifts()).toMatchObject([
      {
        note: expect.stringMatching(
          /^(?!Another|keyframe)\S+ wrote Secret \S+: added or changed the keys PASSWORD; made it immutable\. /,
        ),
      },
    ]);
  });
});

describe('while no controller runs', () => {
  test('Secrets are damaged and environments change; the next controller repairs and updates them all', async () => {
    const namespace = stack.takeNamespace();
    const sites: SyncSite[] = [];
    for (const [index] of damages.entries())
      sites.push(await stack.makeSite({ namespace, name: `app-${index}`, values }));
    const changed = await stack.makeSite({ namespace, name: 'changed', values });
    const untouched = await stack.makeSite({ namespace, name: 'untouched', values });
    await Promise.all([...sites, changed].map((site) => site.waitUntilSynced(values)));
    const before = await untouched.waitUntilSynced(values);
    expect(await controller.stop()).toEqual({ code: 0, signal: null });
    for (const [index, { inflict }] of damages.entries()) await inflict(sites[index] ?? changed);
    await changed.environment.change({ USER: 'new' });
    await stack.startController();
    await Promise.all(sites.map((site) => site.waitUntilSynced(values)));
    await changed.waitUntilSynced({ ...values, USER: 'new' });
    await untouched.expectStays(async () => expect(await untouched.existingSecret()).toEqual(before));
  });
});
