/** The command that `cluster create` prints installs a controller that works through the server alone. */
import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { checkoutDirectory } from '../../tools/checkout.ts';
import { ensureBinaries } from '../../tools/devcluster/cluster/build.ts';
import { type Cluster, startCluster } from '../../tools/devcluster/cluster/cluster.ts';
import { requestToken } from '../../tools/devcluster/cluster/controller-account.ts';
import { KubeHttp, type KubeObject } from '../../tools/devcluster/cluster/kube-http.ts';
import { writeKubeconfigFor } from '../../tools/devcluster/cluster/kubeconfig.ts';
import type { ClusterView } from '../../src/wire/clusters.ts';
import { ServerProcess } from '../support/api/server-process.ts';
import { CliRunner } from '../support/cli/cli.ts';
import type { CommandEnd } from '../support/cli/running-command.ts';
import { createNamespace } from '../support/cluster/cluster.ts';
import { Stack } from '../support/cluster/stack.ts';
import { SyncSite } from '../support/cluster/sync-site.ts';
import { waitFor } from '../support/fixtures/wait-for.ts';

const resources = new AsyncDisposableStack();
const account = { namespace: 'keyframe', name: 'keyframe-controller' };
/** The cluster's name where its context has it. */
const name = 'fra-1';
const deployment = '/apis/apps/v1/namespaces/keyframe/deployments/keyframe-controller';
let cluster: Cluster;
let kube: KubeHttp;
let stack: Stack;
let cli: CliRunner;
/** What helm said after the installation. */
let notes: string;

interface Controller extends KubeObject {
  readonly spec: {
    readonly template: {
      readonly spec: {
        readonly serviceAccountName: string;
        readonly initContainers?: readonly object[];
        readonly containers: readonly {
          readonly args: readonly string[];
          readonly env: readonly { readonly name: string; readonly value: string }[];
          readonly volumeMounts: readonly object[];
        }[];
        readonly volumes: readonly {
          readonly name: string;
          readonly projected?: {
            readonly sources: readonly { readonly serviceAccountToken: { readonly audience: string } }[];
          };
        }[];
      };
    };
  };
}

beforeAll(async () => {
  // The server is in another cluster. The chart brings the definitions itself.
  stack = await Stack.start(resources, { namespaces: 1 });
  cluster = await startCluster({ sources: ['built'], output: { write: () => true } });
  resources.defer(() => cluster.stop());
  kube = new KubeHttp(cluster.kubeconfig);
  resources.defer(() => kube.close());
  await createNamespace(kube, 'team-a');
  cli = await CliRunner.create({ url: stack.api.url, token: { reveal: () => stack.adminToken } });
  resources.defer(() => {
    cli.remove();
  });
  const tools = join(cli.folder, 'tools');
  mkdirSync(tools);
  const programs = await ensureBinaries(['kubectl', 'helm'], { env: process.env, output: process.stderr });
  for (const [program, path] of Object.entries(programs)) symlinkSync(path, join(tools, program));
  const { stderr } = await run(`keyframe cluster create ${name} --kube-context keyframe`);
  notes = await helm(stderr.split('run where the chart is:\n')[1] ?? '');
});

afterAll(() => resources.disposeAsync());

/** Runs a command as the cluster's administrator where the chart is. */
async function run(command: string): Promise<CommandEnd> {
  const script = `set -euo pipefail; PATH=${join(cli.folder, 'tools')}:$PATH; cd ${checkoutDirectory}\n${command}`;
  return await cli.bash(script, { env: { KUBECONFIG: cluster.kubeconfig }, limitMs: 60_000 });
}

/** What helm says to a command, in which its user has replaced what the command cannot know. */
async function helm(command: string): Promise<string> {
  const { stdout, stderr } = await run(
    command.replace('<registry>', 'registry.example.com').replace('<address of the server>', 'keyframe.example.com'),
  );
  return stdout + stderr;
}

async function registered(): Promise<ClusterView> {
  const { clusters } = await stack.admin.call<{ clusters: ClusterView[] }>('GET', '/clusters');
  const found = clusters.find((one) => one.name === name);
  if (found === undefined) throw new Error('The cluster is not registered.');
  return found;
}

async function controllerPod(): Promise<Controller['spec']['template']['spec']> {
  return (await kube.json<Controller>({ path: deployment })).spec.template.spec;
}

/** What the kubelet gives the pod, and the variables that the chart does. */
async function startController(): Promise<ServerProcess> {
  const { containers, volumes } = await controllerPod();
  const [source] = volumes.flatMap(({ projected }) => projected?.sources ?? []);
  const audience = source?.serviceAccountToken.audience ?? '';
  const files = { token: join(cluster.runFolder, 'cluster-token'), kubeconfig: join(cluster.runFolder, 'agent') };
  writeFileSync(files.token, await requestToken(kube, { ...account, seconds: 3600, audience }));
  const token = await requestToken(kube, { ...account, seconds: 3600 });
  writeKubeconfigFor(files.kubeconfig, cluster.kubeconfig, { name: account.name, token });
  const given = containers.flatMap(({ env }) => env.map(({ name: variable, value }) => [variable.slice(9), value]));
  const env = {
    ...(Object.fromEntries(given) as Record<string, string>),
    NAMESPACE: account.namespace,
    KUBECONFIG_FILE: files.kubeconfig,
    CLUSTER_TOKEN_FILE: files.token,
    // The server of this test has no certificate.
    SERVER_URL: stack.api.url,
  };
  return await ServerProcess.start(resources, { role: 'controller', env, name: 'agent' });
}

test('the pod of the controller has a token for its server, and nothing of a database or a root key', async () => {
  const { registration } = await registered();
  expect(notes).toContain(`is installed as the controller of the cluster ${name}`);
  expect(registration?.subject).toBe(`system:serviceaccount:${account.namespace}:${account.name}`);
  const pod = await controllerPod();
  expect(pod.serviceAccountName).toBe(account.name);
  expect(pod.initContainers).toBeUndefined();
  expect(pod.containers.map(({ args, env, volumeMounts }) => ({ args, env, volumeMounts }))).toEqual([
    {
      args: ['controller'],
      env: [
        { name: 'KEYFRAME_LOG_LEVEL', value: 'info' },
        { name: 'KEYFRAME_SHUTDOWN_DELAY', value: '5s' },
        { name: 'KEYFRAME_SERVER_URL', value: 'https://keyframe.example.com' },
        { name: 'KEYFRAME_CLUSTER_TOKEN_FILE', value: '/etc/keyframe/cluster-token/token' },
        { name: 'KEYFRAME_ROLLOUTS', value: 'false' },
        { name: 'KEYFRAME_CLUSTER_NAME', value: name },
      ],
      volumeMounts: [{ name: 'cluster-token', mountPath: '/etc/keyframe/cluster-token', readOnly: true }],
    },
  ]);
  const serviceAccountToken = { audience: registration?.audience, expirationSeconds: 3600, path: 'token' };
  expect(pod.volumes).toEqual([
    { name: 'cluster-token', projected: { defaultMode: 0o644, sources: [{ serviceAccountToken }] } },
  ]);
  expect(JSON.stringify(pod)).not.toMatch(/database|postgres|root-?key/i);
});

test('it becomes ready through the server, and syncs what the organization allows its cluster', async () => {
  const agent = await startController();
  const { isHome, seenAt, controller } = await registered();
  expect({ isHome, seen: seenAt !== null }).toEqual({ isHome: false, seen: true });
  expect(controller?.kinds).toContain('SecretSync');
  const values = { GREETING: 'hello' };
  const site = await SyncSite.make({ kube, admin: stack.admin }, { namespace: 'team-a', values });
  const refused = await waitFor('the refusal', async () => {
    const condition = await site.condition('Ready');
    return condition?.reason === 'ClusterNotAllowed' ? condition : undefined;
  });
  const allow = /`(keyframe cluster allow [^`]+)`/.exec(refused.message)?.[1] ?? '';
  expect((await run(allow)).code).toBe(0);
  await site.waitForValues(values);
  expect(await agent.stop()).toMatchObject({ code: 0 });
});

describe('the mode stays:', () => {
  const upgrade = 'helm upgrade keyframe charts/keyframe -n keyframe';

  test('an upgrade without the values of the agent is refused, because it would install a server', async () => {
    const values = '--set image.repository=registry.example.com/keyframe --set bootstrap.adminEmail=ann@keyframe.test';
    expect(await helm(`${upgrade} ${values}`)).toContain(
      'this release was installed with mode agent, and would become a server with an empty database',
    );
  });

  test('an upgrade with the values that the release has succeeds', async () => {
    expect(await helm(`${upgrade} --reset-then-reuse-values --set rollouts=true`)).toContain('has been upgraded');
  });
});
