import { afterAll, afterEach, beforeAll, expect, test } from '@jest/globals';
import type { Cluster } from '../../tools/devcluster/cluster/cluster.ts';
import { KubeHttp } from '../../tools/devcluster/cluster/kube-http.ts';
import { createNamespace } from '../support/cluster/cluster.ts';
import { chartFolder, neededValues, runHelm } from '../support/cluster/helm.ts';
import { startOwnCluster } from '../support/cluster/own-cluster.ts';

/** What the chart finds in the cluster and refuses to change: other installations, and a recovery that has begun. */

const resources = new AsyncDisposableStack();
const withoutDefinitions = ['--set', 'crds.install=false'];
let cluster: Cluster;
let admin: KubeHttp;

beforeAll(async () => {
  // The chart brings the definitions itself.
  cluster = await startOwnCluster(resources, { withoutDefinitions: true });
  admin = new KubeHttp(cluster.kubeconfig);
  resources.defer(() => admin.close());
  for (const name of ['team-a', 'team-b']) await createNamespace(admin, name);
});

afterEach(async () => {
  for (const namespace of ['first', 'second'])
    await runHelm(['uninstall', 'keyframe', '--namespace', namespace, '--ignore-not-found'], cluster);
});

afterAll(() => resources.disposeAsync());

/** Runs helm for the release keyframe of a namespace; returns what helm reports if it refuses that, else `done`. */
async function helm(
  command: 'install' | 'upgrade',
  namespace: string,
  watchNamespaces: readonly string[],
  more: readonly string[] = [],
): Promise<string> {
  const place = ['keyframe', chartFolder, '--namespace', namespace, '--create-namespace'];
  // No Job would run in this cluster.
  const without = 'init.enabled=false,preDelete.enabled=false';
  const secrets = 'controller.token.existingSecret=token,clusterTls.existingSecret=tls';
  const values = ['--set', `${without},${secrets}`, ...neededValues];
  const watched = ['--set-json', `watchNamespaces=${JSON.stringify(watchNamespaces)}`];
  return await runHelm([command, ...place, ...values, ...watched, ...more], cluster).then(
    () => 'done',
    (error: { stderr?: string }) => error.stderr ?? '',
  );
}

test('a second one is refused beside one that serves all namespaces, which the message names', async () => {
  expect(await helm('install', 'first', [])).toBe('done');
  const refusal = 'the installation keyframe in the namespace first serves all namespaces of this cluster.';
  expect(await helm('install', 'second', [])).toContain(refusal);
  expect(await helm('install', 'second', ['team-a'], withoutDefinitions)).toContain(refusal);
  // Its own roles of another name are not another installation.
  expect(await helm('upgrade', 'first', [], ['--set', 'fullnameOverride=renamed'])).toBe('done');
});

test('a second one is accepted if no namespace is served by both', async () => {
  expect(await helm('install', 'first', ['team-a'])).toBe('done');
  const first = 'the installation keyframe in the namespace first serves';
  const install = async (watched: string[]): Promise<string> =>
    await helm('install', 'second', watched, withoutDefinitions);
  expect(await install([])).toContain(`watchNamespaces is empty, and ${first} some namespaces`);
  expect(await install(['team-b', 'team-a'])).toContain(`watchNamespaces has team-a, which ${first}.`);
  expect(await install(['team-b'])).toBe('done');
  expect(await helm('upgrade', 'first', ['team-a', 'team-b'])).toContain(
    'watchNamespaces has team-b, which the installation keyframe in the namespace second serves.',
  );
});

test('a server does not become an agent, because it would lose its database', async () => {
  expect(await helm('install', 'first', [])).toBe('done');
  const agent = 'mode=agent,server.url=https://keyframe.example.com,server.instance=abcdefghijklmnopqrstuvwxyz';
  const withoutSecrets = 'controller.token.existingSecret=,clusterTls.existingSecret=';
  const values = ['--set', `${agent},clusterName=fra-1,bootstrap.adminEmail=,${withoutSecrets}`];
  expect(await helm('upgrade', 'first', [], values)).toContain(
    'this release was installed with mode server, and would lose its server and its database',
  );
});

test('a recovery with other values than its Job has is refused, and with the same values runs once', async () => {
  const recovery = (...more: readonly string[]): string[] => ['--set', ['recovery.enabled=true', ...more].join(',')];
  const job = async (): Promise<string | undefined> => {
    const path = '/apis/batch/v1/namespaces/first/jobs/keyframe-recovered';
    return (await admin.find({ path }))?.metadata.uid;
  };
  expect(await helm('install', 'first', [], recovery('recovery.newInstance=true'))).toBe('done');
  const first = await job();
  const refused = await helm('upgrade', 'first', [], recovery());
  expect(refused).toContain('`kubectl -n first delete job keyframe-recovered`');
  expect(refused).not.toContain('Invalid value');
  expect(await helm('upgrade', 'first', [], recovery('recovery.newInstance=true'))).toBe('done');
  expect([first, await job()]).toEqual([expect.any(String), first]);
});
