import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { checkoutDirectory } from '../../tools/checkout.ts';
import { ensureBinaries } from '../../tools/devcluster/cluster/build.ts';
import { Api } from '../../tools/start/api.ts';
import { applyQuickstart, awaitSecret } from '../../tools/start/quickstart.ts';
import { makeSample } from '../../tools/start/sample.ts';
import { applyStaging, makeStaging } from '../../tools/start/staging.ts';
import { CliRunner } from '../support/cli/cli.ts';
import { documentedCommands } from '../support/cli/documented-commands.ts';
import { Stack } from '../support/cluster/stack.ts';
import { type SecretObject, secretValues } from '../support/cluster/secret-watch.ts';
import { buildPatienceMs } from '../support/cluster/cluster-cache.ts';
import { npmStandIn } from '../support/cli/npm-stand-in.ts';
import { startOwnCluster } from '../support/cluster/own-cluster.ts';
import { waitFor } from '../support/fixtures/wait-for.ts';

// A reader who follows README.md, and then the page that it names.
const pages = ['README.md', 'docs/tutorial-cluster.md'].map((path) =>
  readFileSync(join(checkoutDirectory, path), 'utf8'),
);
const resources = new AsyncDisposableStack();
let stack: Stack;
let adminKubeconfig: string;
let namespace: string;
let staging: string;
let cli: CliRunner;
let api: Api;

// What `npm start` has done before a reader comes to the commands.
beforeAll(async () => {
  // SecretEnvironments are the whole cluster's: the controllers of other tests would make them too.
  const { kubeconfig } = await startOwnCluster(resources);
  adminKubeconfig = kubeconfig;
  stack = await Stack.start(resources, { namespaces: 2, adminKubeconfig });
  namespace = stack.takeNamespace();
  staging = stack.takeNamespace();
  await stack.startController();
  api = new Api(stack.api.url, stack.adminToken);
  await makeSample(api);
  await makeStaging(api);
  await applyQuickstart(stack.kube, { namespace });
  await awaitSecret(stack.kube, namespace);
  await applyStaging(stack.kube, api, staging);
  cli = await CliRunner.create();
  resources.defer(() => cli.remove());
  mkdirSync(join(cli.folder, '.dev'));
  writeFileSync(join(cli.folder, '.dev', 'admin-token'), stack.adminToken, { mode: 0o600 });
  mkdirSync(join(cli.folder, 'examples'));
  const example = readFileSync(join(checkoutDirectory, 'examples', 'quickstart.yaml'), 'utf8');
  writeFileSync(join(cli.folder, 'examples', 'quickstart.yaml'), inNamespace(example));
}, 60_000 + buildPatienceMs);

afterAll(() => resources.disposeAsync());

/** The same for the test's namespace. */
function inNamespace(text: string): string {
  return text.replaceAll('namespace: default', `namespace: ${namespace}`).replaceAll('[default]', `[${namespace}]`);
}

async function secretOf(name: string): Promise<Record<string, string>> {
  const secret = await stack.kube.find<SecretObject>({ path: `/api/v1/namespaces/${namespace}/secrets/${name}` });
  return secret === undefined ? {} : Object.fromEntries(secretValues(secret));
}

describe('the sample of npm start', () => {
  test('has a history of two people, a snapshot and a leaked token that still works, and is made once', async () => {
    await makeStaging(api);
    const place = 'demo/shop/staging';
    const { changes } = await api.call<{ changes: { by: { name: string } }[] }>('GET', `/changes/${place}`);
    expect(changes).toHaveLength(5);
    expect(new Set(changes.map((change) => JSON.stringify(change).includes('ann@localhost')))).toEqual(
      new Set([true, false]),
    );
    expect(await api.call('GET', `/snapshots/${place}`)).toMatchObject({
      snapshots: [{ name: 'before-new-checkout' }],
    });
    const { serviceTokens } = await api.call<{ serviceTokens: { name: string; revokedAt: string | null }[] }>(
      'GET',
      '/service-tokens/demo',
    );
    const tokens = serviceTokens.filter(({ name }) => name.startsWith('staging '));
    expect(tokens.map(({ revokedAt }) => revokedAt)).toEqual([null, null]);
  });

  test('has a SecretSync that works, one that fails, and a restore that waits for approval', async () => {
    const base = `/apis/keyframe.dev/v1alpha1/namespaces/${staging}`;
    const ready = async (path: string) => {
      const found = await stack.kube.json<{ status?: { conditions?: { type: string; reason: string }[] } }>({ path });
      return found.status?.conditions?.map(({ reason }) => reason) ?? [];
    };
    await waitFor('the SecretSync to work', async () =>
      (await ready(`${base}/secretsyncs/staging-app`)).includes('Synced'),
    );
    await waitFor('the SecretSync to fail', async () =>
      (await ready(`${base}/secretsyncs/staging-mail`)).includes('TemplateKeyMissing'),
    );
    await waitFor('the plan of the restore', async () =>
      (await ready(`${base}/snapshotrestores/old-checkout`)).includes('Planned'),
    );
    await waitFor('the fleet to have it', async () => {
      const fleet = await api.call<object>('GET', '/fleet/demo');
      return JSON.stringify(fleet).includes('TemplateKeyMissing');
    });
  });
});

describe('README.md and the tutorial with a cluster', () => {
  test('go as they say', async () => {
    const { kubectl } = await ensureBinaries(['kubectl'], { env: process.env, output: process.stderr });
    const blocks = pages.flatMap(documentedCommands).map(({ command }) => command);
    expect(blocks).toHaveLength(2);
    const script = inNamespace([npmStandIn, ...blocks].join('')).replaceAll('http://127.0.0.1:8700', stack.api.url);
    const env = { KUBECTL: kubectl, ADMIN_KUBECONFIG: adminKubeconfig, NAMESPACE: namespace };
    const { code, stdout, stderr } = await cli.bash(script, { env, limitMs: 80_000 });
    expect({ code, errors: stderr.match(/^error: .*$/gm) }).toEqual({ code: 0, errors: null });
    expect(stdout).toMatch(/v3 +updated .*quieter\nv2 +updated/);
    expect(stdout).toMatch(/\nhello\n$/);
    expect(stdout).toContain('no AccessGrant allows that');
    expect(stdout).toContain('kind: AccessGrant');
    expect(stdout).not.toContain('kf_svc_');
    await waitFor('the Secret to follow', async () => {
      const { LOG_LEVEL, FEATURE } = await secretOf('quickstart');
      return LOG_LEVEL === 'info' && FEATURE === 'on';
    });
    expect(await secretOf('staging')).toEqual({ GREETING: 'hello' });
  });
});
