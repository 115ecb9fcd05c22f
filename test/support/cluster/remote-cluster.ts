import { symlink } from 'node:fs/promises';
import { join } from 'node:path';
import type { SecretSync } from '../../../src/controller/generated/secret-sync.ts';
import { ensureBinaries } from '../../../tools/devcluster/cluster/build.ts';
import type { Cluster } from '../../../tools/devcluster/cluster/cluster.ts';
import { KubeHttp } from '../../../tools/devcluster/cluster/kube-http.ts';
import { machineName, type NetworkSpace, spaceFault } from '../../../tools/devcluster/cluster/network-space.ts';
import { startRelay } from '../../../tools/start/relay.ts';
import { ControllerToken, remoteVariables } from '../../../tools/start/remote-cluster.ts';
import { ServerProcess } from '../api/server-process.ts';
import type { ApiEnvironment } from '../api/api-client.ts';
import type { CliRunner } from '../cli/cli.ts';
import type { ControllerPort } from './controller-port.ts';
import { startOwnCluster } from './own-cluster.ts';
import { ResourceSite } from './resource-site.ts';
import { type SecretObject, secretValues } from './secret-watch.ts';

/**
 * A cluster with an API server of its own, registered as a remote one, and its controller, which reaches the server over
 * HTTPS. If the machine allows it, both are in a network of their own.
 */
export class RemoteCluster {
  readonly kube: KubeHttp;
  readonly tokenFile: string;
  readonly controller: ServerProcess;
  readonly cluster: Cluster;

  private constructor(cluster: Cluster, kube: KubeHttp, parts: { tokenFile: string; controller: ServerProcess }) {
    this.cluster = cluster;
    this.kube = kube;
    this.tokenFile = parts.tokenFile;
    this.controller = parts.controller;
  }

  /** Undefined if the machine allows it no network of its own. */
  get network(): NetworkSpace | undefined {
    return this.cluster.network;
  }

  /** Starts the API server, registers it by the command, and starts the controller. */
  static async start(
    resources: AsyncDisposableStack,
    { name, port, cli }: { readonly name: string; readonly port: ControllerPort; readonly cli: CliRunner },
  ): Promise<RemoteCluster> {
    const cluster = await startOwnCluster(resources, { isApart: spaceFault() === undefined });
    const { network, runFolder } = cluster;
    if (network !== undefined) {
      const relay = await startRelay(network.machineAddress, port.port);
      resources.defer(() => relay.stop());
    }
    const kube = new KubeHttp(cluster.kubeconfig);
    resources.defer(() => kube.close());
    const audience = await register(cluster, name, cli);
    const tokenFile = join(runFolder, 'cluster-token');
    const token = await ControllerToken.keep(kube, { audience, file: tokenFile });
    resources.defer(() => token.stop());
    const url = `https://${network === undefined ? 'localhost' : machineName}:${port.port}`;
    const controller = await ServerProcess.start(resources, {
      role: 'controller',
      name: `controller of ${name}`,
      env: {
        ...remoteVariables({ url, caFile: port.caFile, tokenFile }),
        CLUSTER_NAME: name,
        NAMESPACE: 'keyframe',
        KUBECONFIG_FILE: join(runFolder, 'controller.kubeconfig'),
        LOG_LEVEL: 'debug',
      },
      network,
    });
    return new RemoteCluster(cluster, kube, { tokenFile, controller });
  }

  /** A SecretSync in the namespace `default` for an environment, which an AccessGrant allows. */
  async sync(name: string, environment: ApiEnvironment): Promise<RemoteSync> {
    const { organization, project, name: slug } = environment.ref;
    const rules = [{ organization, project, environments: [slug], kinds: ['SecretSync'] }];
    const grant = { apiVersion: 'keyframe.dev/v1alpha1', kind: 'AccessGrant', metadata: { name } };
    const body = { ...grant, spec: { namespaces: ['default'], rules } };
    await this.kube.json({ method: 'POST', path: '/apis/keyframe.dev/v1alpha1/accessgrants', body });
    const sync = new RemoteSync(this.kube, name);
    await sync.syncs.create({ environmentRef: environment.ref }, name);
    return sync;
  }
}

/** A SecretSync of a remote cluster, and its Secret. */
export class RemoteSync {
  readonly name: string;
  readonly syncs: ResourceSite<SecretSync>;
  readonly #kube: KubeHttp;

  constructor(kube: KubeHttp, name: string) {
    this.#kube = kube;
    this.name = name;
    this.syncs = new ResourceSite({ kube, kind: 'SecretSync', plural: 'secretsyncs', namespace: 'default' });
  }

  /** What the Secret holds; undefined without one. */
  async values(): Promise<Record<string, string> | undefined> {
    const secret = await this.#kube.find<SecretObject>({ path: `/api/v1/namespaces/default/secrets/${this.name}` });
    return secret === undefined ? undefined : Object.fromEntries(secretValues(secret));
  }
}

/** Registers a cluster as its users do, with kubectl; returns the audience of the controller's token. */
async function register({ kubeconfig, runFolder }: Cluster, name: string, cli: CliRunner): Promise<string> {
  const { kubectl } = await ensureBinaries(['kubectl'], { env: process.env, output: process.stderr });
  await symlink(kubectl, join(runFolder, 'kubectl'));
  const env = { KUBECONFIG: kubeconfig, PATH: [runFolder, process.env['PATH'] ?? ''].join(':') };
  await cli.output(['cluster', 'create', name, '--kube-context', 'keyframe'], { env });
  const shown = await cli.json<{ registration: { audience: string } }>(['cluster', 'show', name, '--all']);
  return shown.registration.audience;
}
